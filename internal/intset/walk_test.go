package intset

import (
	"slices"
	"testing"

	"godwit/internal/listpack"
	"godwit/internal/testseed"
)

// TestWalk asks sets of all widths for ascending integers that are near to what they hold.
func TestWalk(t *testing.T) {
	rng := testseed.Rand(t)
	for range 2000 {
		bits := []int{4, 8, 20, 40}[rng.IntN(4)]
		s := &listpack.Slice{B: Empty()}
		for range rng.IntN(60) {
			Add(s, rng.Int64N(1<<bits)-1<<(bits-1))
		}
		var ask []int64
		for range rng.IntN(60) {
			ask = append(ask, rng.Int64N(1<<bits)-1<<(bits-1))
		}
		for i := range Len(s.B) {
			if rng.IntN(2) == 0 {
				ask = append(ask, At(s.B, i))
			}
		}
		slices.Sort(ask)
		w := NewWalk(s.B)
		for _, n := range ask {
			if got, want := w.Has(n), Has(s.B, n); got != want {
				t.Fatalf("Has(%d) = %v, a search says %v", n, got, want)
			}
		}
	}
}
