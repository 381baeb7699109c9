package object

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"godwit/internal/arena"
	"godwit/internal/listpack"
	"godwit/internal/testseed"
)

// oneSlot is a table of one entry.
type oneSlot struct{ ref arena.Ref }

func (s *oneSlot) Moved(_, to arena.Ref) { s.ref = to }
func (s *oneSlot) Changing(Entry)        {}

// withSortedSet runs f on a new, empty sorted set and frees it, which must leave nothing in the
// arena.
func withSortedSet(t *testing.T, h *Heap, f func(x *Edit)) {
	t.Helper()
	used := h.A.Used()
	var x Edit
	v := PackedValue(h.A, ZSet, EncListpack, listpack.Empty())
	x.Reset(h, Build(h.A, []byte("key"), &v, Meta{}), &oneSlot{})
	f(&x)
	o := h.Take(x.E)
	o.Free(h)
	x.E.FreeBlock(h.A)
	if h.A.Used() != used {
		t.Errorf("%d bytes leaked", h.A.Used()-used)
	}
}

type scored struct {
	member string
	score  float64
}

func sortScored(s []scored) {
	slices.SortFunc(s, func(a, b scored) int {
		switch {
		case a.score < b.score:
			return -1
		case a.score > b.score:
			return 1
		}
		return bytes.Compare([]byte(a.member), []byte(b.member))
	})
}

// builderCase draws members and scores that collide, tie and share prefixes as much as the case
// says.
func builderCase(r *rand.Rand, kind int) (member string, score float64) {
	switch kind % 4 {
	case 0:
		member = fmt.Sprintf("member:%09d", r.IntN(3000))
	case 1:
		member = string(bytes.Repeat([]byte{byte(r.IntN(2))}, r.IntN(30))) + fmt.Sprint(r.IntN(50))
	case 2:
		member = fmt.Sprint(r.IntN(5000) - 2500)
	default:
		member = "the same long prefix of all of them " + string(rune('a'+r.IntN(26))) +
			string(make([]byte, r.IntN(12)))
	}
	switch kind / 4 {
	case 0:
		score = 1
	case 1:
		score = float64(r.IntN(20) - 10)
	case 2:
		score = r.NormFloat64() * math.Pow(10, float64(r.IntN(40)-20))
	default:
		score = []float64{math.Inf(-1), math.Inf(1), 0, math.Copysign(0, -1), math.MaxFloat64,
			-math.SmallestNonzeroFloat64}[r.IntN(6)]
	}
	return member, score
}

func TestZBuilder(t *testing.T) {
	r := testseed.Rand(t)
	lim := &Limits{ZSetMaxListpackEntries: 100, ZSetMaxListpackValue: 64}
	h := NewHeap(arena.New(), maphash.MakeSeed(), r, lim)
	defer h.A.Close()
	for kind := range 16 {
		for _, n := range []int{1, 2, 31, 32, 33, 100, 300, 5000} {
			b := NewZBuilder(h, n)
			b.Merging(n, func(have, score float64) float64 { return math.Max(have, score) })
			model := map[string]float64{}
			for range n {
				m, s := builderCase(r, kind)
				b.Merge(listpack.Str([]byte(m)), s)
				if have, ok := model[m]; ok {
					s = math.Max(have, s)
				}
				model[m] = s
			}
			checkBuilt(t, h, b, model)
			if t.Failed() {
				t.Fatalf("kind %d, %d calls", kind, n)
			}
		}
	}
}

// checkBuilt stores what was built and compares it with the model, and with what single additions
// make of it.
func checkBuilt(t *testing.T, h *Heap, b *ZBuilder, model map[string]float64) {
	t.Helper()
	var want []scored
	for m, s := range model {
		want = append(want, scored{m, s})
	}
	sortScored(want)
	if b.Len() != len(want) || !b.Has([]byte(want[0].member)) || b.Has([]byte("absent")) {
		t.Fatalf("%d members, want %d", b.Len(), len(want))
	}
	withSortedSet(t, h, func(x *Edit) {
		b.Store(x)
		z := AsZSet(x)
		wantKind := EncSkiplist
		if len(want) <= h.Lim.ZSetMaxListpackEntries && b.longest <= h.Lim.ZSetMaxListpackValue {
			wantKind = EncListpack
		}
		if x.Base() != wantKind {
			t.Errorf("encoding %v of %d members, longest %d", x.Base(), len(want), b.longest)
		}
		i := 0
		z.Each(func(m listpack.Value, score float64) bool {
			name := string(m.Append(nil))
			if name != want[i].member || score != want[i].score {
				t.Errorf("rank %d: %q %v, want %q %v", i, name, score, want[i].member,
					want[i].score)
			}
			if at, ok := z.Score([]byte(name)); !ok || at != score {
				t.Errorf("score of %q is %v %v, want %v", name, at, ok, score)
			}
			if rank, _, _ := z.Rank([]byte(name), false); rank != i {
				t.Errorf("rank of %q is %d, want %d", name, rank, i)
			}
			i++
			return !t.Failed()
		})
		if l, ok := z.large(); ok {
			if err := l.list.Check(); err != nil {
				t.Error(err)
			}
			if err := l.dict.Check(); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestZBuilderInOrder adds members that come sorted, in either direction, and once each.
func TestZBuilderInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	h := NewHeap(arena.New(), maphash.MakeSeed(), r,
		&Limits{ZSetMaxListpackEntries: 4, ZSetMaxListpackValue: 64})
	defer h.A.Close()
	for _, down := range []bool{false, true} {
		b := NewZBuilder(h, 0)
		for i := range int64(1000) {
			if down {
				i = 999 - i
			}
			b.Add(listpack.Int(i), float64(i/10))
		}
		if down {
			b.Reverse()
		}
		withSortedSet(t, h, func(x *Edit) {
			b.Store(x)
			if n, ok := AsZSet(x).Score([]byte("517")); !ok || n != 51 {
				t.Errorf("down %v: score of 517 is %v", down, n)
			}
			m, score := b.At(999)
			if string(m) != "999" || score != 99 {
				t.Errorf("down %v: last is %s %v", down, m, score)
			}
		})
	}
}
