package object

import (
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

// TestRangesWithLimits compares walks over ranges of large sets, short and long ones, with a slice
// of all members.
func TestRangesWithLimits(t *testing.T) {
	r := testseed.Rand(t)
	h := NewHeap(arena.New(), maphash.MakeSeed(), r, &Limits{})
	defer h.A.Close()
	for _, n := range []int{1, 2, 33, 400} {
		withSortedSet(t, h, func(x *Edit) {
			z := AsZSet(x)
			var all []scored
			for i := range n {
				s := scored{fmt.Sprintf("%03d", i), float64(i / 4)}
				z.Add(s.score, []byte(s.member), 0)
				all = append(all, s)
			}
			for range 1500 {
				reverse := r.IntN(2) == 0
				offset, limit := r.IntN(90)-2, r.IntN(90)-2
				sr := ScoreRange{randomScore(r, n), randomScore(r, n), r.IntN(2) == 0,
					r.IntN(2) == 0}
				want := naive(all, reverse, offset, limit, func(s scored) bool {
					return sr.Has(s.score)
				})
				if got := walked(z.ByScore(sr, reverse, offset, limit)); !slices.Equal(got, want) {
					t.Fatalf("n %d, %+v, reverse %v, limit %d %d:\n got %v\nwant %v", n, sr,
						reverse, offset, limit, got, want)
				}
				lr := LexRange{randomLex(r, n), randomLex(r, n)}
				want = naive(all, reverse, offset, limit, func(s scored) bool {
					return !lr.Empty() && lr.Has(listpack.Str([]byte(s.member)))
				})
				if got := walked(z.ByLex(lr, reverse, offset, limit)); !slices.Equal(got, want) {
					t.Fatalf("n %d, %+v, reverse %v, limit %d %d:\n got %v\nwant %v", n, lr,
						reverse, offset, limit, got, want)
				}
			}
		})
	}
}

func randomScore(r *rand.Rand, n int) float64 {
	switch r.IntN(8) {
	case 0:
		return math.Inf(-1)
	case 1:
		return math.Inf(1)
	}
	return float64(r.IntN(n/4+2)) - 0.5*float64(r.IntN(2))
}

func randomLex(r *rand.Rand, n int) LexBound {
	if i := r.IntN(8); i < 2 {
		return LexBound{Inf: int8(2*i - 1), Ex: true}
	}
	return LexBound{Ex: r.IntN(2) == 0, Value: fmt.Appendf(nil, "%03d", r.IntN(n+1))}
}

func walked(it ZIter) []scored {
	var out []scored
	for n := it.Len(); it.Next(); n-- {
		if it.Len() != n-1 {
			panic("the length does not count down")
		}
		out = append(out, scored{string(it.Member.Append(nil)), it.Score})
	}
	return out
}

func naive(all []scored, reverse bool, offset, limit int, in func(scored) bool) []scored {
	var out []scored
	for _, s := range all {
		if in(s) {
			out = append(out, s)
		}
	}
	if reverse {
		slices.Reverse(out)
	}
	if offset < 0 {
		offset += len(out)
	}
	if offset < 0 || offset >= len(out) {
		return nil
	}
	out = out[offset:]
	if limit >= 0 {
		out = out[:min(limit, len(out))]
	}
	return out
}
