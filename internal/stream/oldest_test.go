package stream

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/arena"
	"godwit/internal/testseed"
)

// TestOldest delivers entries of many pages again, at random and in order, with many equal times.
func TestOldest(t *testing.T) {
	rng := testseed.Rand(t)
	s := New(&Shared{A: arena.New()})
	g := s.CreateGroup([]byte("g"), ID{}, 0)
	c := g.CreateConsumer([]byte("c"), 0)
	times := make([]int64, 40_000)
	set := func(i int, time int64) {
		g.Set(Pending{ID{uint64(i), 1}, c, time, 1})
		times[i] = time
	}
	oldest := func() int {
		best := 0
		for i, time := range times {
			if time < times[best] {
				best = i
			}
		}
		return best
	}
	for i := range times {
		set(i, int64(i/5000))
	}
	for round := range int64(40) {
		switch rng.IntN(3) {
		case 0: // in order
			from := rng.IntN(len(times))
			for i := from; i < len(times); i++ {
				set(i, times[i]+round)
			}
		case 1: // at random
			for range 20_000 {
				set(rng.IntN(len(times)), 10+rng.Int64N(20)*round)
			}
		case 2: // the oldest ones
			for range 100 {
				p, _ := g.Oldest()
				set(int(p.ID.Ms), p.Time+1+rng.Int64N(3))
			}
		}
		p, ok := g.Oldest()
		require.True(t, ok)
		require.Equal(t, Pending{ID{uint64(oldest()), 1}, c, times[oldest()], 1}, p)
	}
	for i := range times {
		set(i, math.MaxInt64)
	}
	p, _ := g.Oldest()
	require.Equal(t, ID{0, 1}, p.ID)
	require.NoError(t, s.Check())
	for !s.Drain(1000) {
	}
}

// TestBoundsFollowClaims claims all entries of many pages in a scattered order. That leaves no
// bound behind, so Oldest need not put thousands of them right at once.
func TestBoundsFollowClaims(t *testing.T) {
	s := New(&Shared{A: arena.New()})
	g := s.CreateGroup([]byte("g"), ID{}, 0)
	c := g.CreateConsumer([]byte("c"), 0)
	const n, step, late = 50_000, 7919, 1000
	for i := range n {
		g.Set(Pending{ID{uint64(i), 1}, c, int64(i / 1000), 1})
	}
	for i := range n {
		g.Set(Pending{ID{uint64(i * step % n), 1}, c, late, 2})
	}
	for i := range g.pending.pages {
		require.Equal(t, int64(late), g.pending.pages[i].low, "page %d", i)
	}
	require.NoError(t, s.Check())
	for !s.Drain(1000) {
	}
}
