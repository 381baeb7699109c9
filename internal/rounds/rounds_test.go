package rounds

import (
	"math/rand/v2"
	"testing"

	"godwit/internal/testseed"
)

type thing struct {
	m      Member
	busy   bool
	visits int
}

func (x *thing) Round() *Member { return &x.m }

// TestRounds checks against a model that exactly those things are in the set that were stirred or
// busy lately, and that each of them is visited in the course of a round, whoever leaves meanwhile.
func TestRounds(t *testing.T) {
	r := rand.New(rand.NewPCG(testseed.New(t), 1))
	var s Set[*thing]
	things := make([]*thing, 50)
	for i := range things {
		things[i] = &thing{}
		s.Stir(things[i])
	}
	visit := func(x *thing) bool {
		x.visits++
		return !x.busy
	}
	if n := s.Share(10); n != len(things)/10+1 {
		t.Errorf("%d of %d in one of ten turns", n, len(things))
	}
	for round := range 300 {
		in := map[*thing]bool{}
		for _, x := range things {
			x.visits, x.busy = 0, r.IntN(10) == 0
			in[x] = x.m.at != 0
		}
		s.next = 0
		for left := s.Len(); left > 0; {
			n := 1 + r.IntN(left)
			s.Visit(n, visit)
			left -= n
			if x := things[r.IntN(len(things))]; r.IntN(4) == 0 {
				s.Remove(x)
				delete(in, x)
			}
		}
		for i, x := range things {
			if in[x] && x.visits == 0 {
				t.Fatalf("round %d: thing %d was left out", round, i)
			}
		}
		s.Stir(things[r.IntN(len(things))])
	}
	for _, x := range things {
		x.busy = false
	}
	s.Stir(things[0])
	s.Visit(s.Len(), visit)
	if things[0].m.at == 0 {
		t.Error("left after one visit")
	}
	s.Visit(s.Len(), visit)
	if s.Len() != 0 {
		t.Errorf("%d things are still visited at rest", s.Len())
	}
}

// TestVisitOnce checks that a visit of more than there are is one round, and that a thing which is
// stirred by its own visit stays.
func TestVisitOnce(t *testing.T) {
	var s Set[*thing]
	x, y := &thing{busy: true}, &thing{}
	s.Stir(x)
	s.Stir(y)
	for range 5 {
		s.Visit(10, func(x *thing) bool { x.visits++; return !x.busy })
	}
	if x.visits != 5 || y.visits != Rest || s.Len() != 1 || y.m.Stirred() {
		t.Errorf("%d and %d visits, %d left", x.visits, y.visits, s.Len())
	}
	s.Visit(1, func(x *thing) bool { s.Remove(x); return true })
	if s.Len() != 0 {
		t.Error("removed by its visit, and still there")
	}
}
