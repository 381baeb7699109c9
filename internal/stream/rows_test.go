package stream

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/arena"
	"godwit/internal/testseed"
)

// rowsLife is rows of any number of columns, and their model: a sorted slice.
type rowsLife struct {
	t     *testing.T
	rng   *rand.Rand
	x     rows
	total tally
	model []row
	like  row // what values are near
}

// TestRows holds rows with values from one end of their range to the other against a sorted slice.
func TestRows(t *testing.T) {
	rng := testseed.Rand(t)
	for range 60 {
		sh := &Shared{A: arena.New()}
		l := &rowsLife{t: t, rng: rng}
		l.x.init(sh, &l.total, 2+rng.IntN(maxCols-1), uint8(rng.Uint32()))
		for step := range 1500 {
			l.step()
			if step%50 == 0 {
				l.check()
			}
		}
		l.check()
		for len(l.model) > 0 {
			l.remove(rng.IntN(len(l.model)))
		}
		require.Equal(t, 1, l.x.blocks, "one block stays")
		l.check()
		l.x.drop()
		require.Zero(t, l.total.n)
		require.Zero(t, sh.GoBytes)
		require.Zero(t, sh.A.Used())
		sh.A.Close()
	}
}

// value returns a number that is near to another, or anywhere.
func (l *rowsLife) value(like uint64) uint64 {
	switch l.rng.IntN(400) {
	case 0:
		return 0
	case 1:
		return math.MaxUint64
	case 2:
		return 1<<63 - 1 + l.rng.Uint64N(2)
	case 3:
		return l.rng.Uint64()
	}
	return like + l.rng.Uint64N(1<<l.rng.IntN(12))
}

func (l *rowsLife) row() (r row) {
	if l.rng.IntN(200) == 0 {
		for c := range l.like {
			l.like[c] = l.rng.Uint64() >> l.rng.IntN(64)
		}
	}
	for c := range l.x.cols {
		r[c] = l.value(l.like[c])
	}
	if l.rng.IntN(2) == 0 {
		l.like[0] = r[0] // so that many come at the end
	}
	return r
}

func (l *rowsLife) find(id ID) (int, bool) {
	return slices.BinarySearchFunc(l.model, id, func(r row, id ID) int {
		return r.id().Compare(id)
	})
}

func (l *rowsLife) step() {
	r := l.row()
	if n := len(l.model); n > 0 && l.rng.IntN(3) == 0 {
		old := l.model[l.rng.IntN(n)]
		r[0], r[1] = old[0], old[1]
	}
	at, has := l.find(r.id())
	var p place
	require.Equal(l.t, has, l.x.seekFrame(&p, r.id()))
	switch {
	case !has:
		l.x.insertAt(&p, &r)
		l.model = slices.Insert(l.model, at, r)
	case l.rng.IntN(3) == 0:
		l.x.set(&p, &r)
		l.model[at] = r
	case l.rng.IntN(8) == 0:
		for n := min(l.rng.IntN(200), len(l.model)-at); n > 0; n-- {
			l.remove(at)
		}
	default:
		var got row
		p.get(&got)
		require.Equal(l.t, l.model[at], got)
	}
}

func (l *rowsLife) remove(at int) {
	var p place
	require.True(l.t, l.x.seek(&p, l.model[at].id()))
	l.x.remove(&p)
	l.model = slices.Delete(l.model, at, at+1)
}

func (l *rowsLife) check() {
	var sum int64
	require.NoError(l.t, l.x.check(&sum))
	require.Equal(l.t, sum, l.total.n)
	require.Equal(l.t, len(l.model), l.x.n)
	i := 0
	for it := l.x.walk(ID{}, MaxID); it.next(); i++ {
		var got row
		it.at.get(&got)
		require.Equal(l.t, l.model[i], got)
	}
	require.Equal(l.t, len(l.model), i)
}

// TestRowsStaySmall removes most rows at random: what is left takes little room.
func TestRowsStaySmall(t *testing.T) {
	rng := testseed.Rand(t)
	var x rows
	var total tally
	x.init(&Shared{A: arena.New()}, &total, ownedCols, ownedRising)
	const n = 100_000
	for i := range n {
		x.insert(&row{uint64(i / 10), uint64(i % 10)})
	}
	require.Less(t, total.n, int64(4*n), "bytes while all are there")
	for _, i := range rng.Perm(n)[n/10:] {
		var at place
		require.True(t, x.seek(&at, ID{uint64(i / 10), uint64(i % 10)}))
		x.remove(&at)
	}
	require.Less(t, total.n, int64(n))
	x.drop()
}
