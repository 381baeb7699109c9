package object

import (
	"fmt"
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/listpack"
)

// chiSquare fails when the counts of equally likely outcomes deviate more than six standard
// deviations from what is expected. That is once in a billion runs, and never with fixed seeds.
func chiSquare(t *testing.T, counts map[string]int, outcomes int, what string) {
	t.Helper()
	total := 0
	for _, c := range counts {
		total += c
	}
	share := float64(total) / float64(outcomes)
	chi := float64(outcomes-len(counts)) * share
	for _, c := range counts {
		chi += (float64(c) - share) * (float64(c) - share) / share
	}
	if limit := float64(outcomes) + 6*math.Sqrt(2*float64(outcomes)); chi > limit {
		t.Errorf("%s: chi-square %.0f of %d outcomes, at most %.0f", what, chi, outcomes, limit)
	}
}

// randomSets returns sets of every encoding, large ones in tables of several loads. setHeap's
// random source is seeded, the hashes are not: every table has to be fair.
func randomSets(t *testing.T) map[string]func(seed uint64) Members {
	build := func(n int, format string, limits ...int) func(uint64) Members {
		return func(seed uint64) Members {
			s := newSet(setHeap(t, seed, limits...))
			for i := range n {
				s.Add(fmt.Appendf(nil, format, i))
			}
			return s
		}
	}
	return map[string]func(uint64) Members{
		"intset":    build(20, "%d"),
		"listpack":  build(20, "m%d"),
		"one":       build(1, "m%d", 0, 0, 0),
		"small":     build(20, "m%d", 0, 0, 0),
		"hashtable": build(300, "m%d", 0, 0, 0),
		"sparse": func(seed uint64) Members {
			s := build(800, "m%d", 0, 0, 0)(seed)
			for i := 150; i < 800; i++ {
				s.Remove(fmt.Appendf(nil, "m%d", i))
			}
			return s
		},
	}
}

func TestRandomIsUniform(t *testing.T) {
	for name, build := range randomSets(t) {
		s := build(1)
		n := s.Len()
		counts := map[string]int{}
		for range 200 * n {
			counts[memberText(s.Random())]++
		}
		chiSquare(t, counts, n, name)
		s.Discard()
	}
}

// TestSampleIsUniform checks that every member is in a sample equally often, and that samples have
// no member twice, whichever way they are drawn.
func TestSampleIsUniform(t *testing.T) {
	for name, build := range randomSets(t) {
		s := build(2)
		n := s.Len()
		for _, k := range []int{1, 2, n / 20, n / 3, n - 1, n} {
			if k < 1 || k > n {
				continue
			}
			counts := map[string]int{}
			for range 200 * n / k {
				seen := map[string]bool{}
				s.Sample(k, func(v listpack.Value) { seen[memberText(v)] = true })
				require.Len(t, seen, k, name)
				for m := range seen {
					counts[m]++
				}
			}
			chiSquare(t, counts, n, fmt.Sprintf("%s, %d of %d", name, k, n))
		}
		s.Discard()
	}
}

// TestPairsAreUniform checks that subsets are equally likely, not only members.
func TestPairsAreUniform(t *testing.T) {
	for _, limits := range [][]int{{512, 0, 0}, {0, 128, 64}, {0, 0, 0}} {
		h := setHeap(t, 3, limits...)
		counts := map[string]int{}
		for range 100 * 15 {
			s := newSet(h, "1", "2", "3", "4", "5", "6")
			pair := 0
			s.Pop(2, func(v listpack.Value) {
				m, err := strconv.Atoi(memberText(v))
				require.NoError(t, err)
				pair |= 1 << m
			})
			require.Equal(t, 4, s.Len())
			counts[strconv.Itoa(pair)]++
			s.Discard()
		}
		chiSquare(t, counts, 15, fmt.Sprint(limits))
	}
}

// TestPop checks that what is taken is gone and the rest is there, in all encodings and for all
// counts.
func TestPop(t *testing.T) {
	for name, build := range randomSets(t) {
		whole := build(0)
		n := whole.Len()
		whole.Discard()
		for _, k := range []int{1, 2, n / 20, n / 8, n / 2, n - 1, n} {
			if k < 1 || k > n {
				continue
			}
			s := build(uint64(k))
			left := map[string]bool{}
			for _, m := range s.members() {
				left[m] = true
			}
			s.Pop(k, func(v listpack.Value) {
				require.True(t, left[memberText(v)], "%s: %q is taken twice", name, memberText(v))
				delete(left, memberText(v))
			})
			require.Len(t, left, n-k, "%s, %d of %d", name, k, n)
			s.check(t, left)
			s.Discard()
		}
	}
}

// TestPopAllByOnes drains a large table in the order in which it likes to give members out.
func TestPopAllByOnes(t *testing.T) {
	s := newSet(setHeap(t, 5, 0, 0, 0))
	for i := range 5000 {
		s.Add(fmt.Appendf(nil, "m%d", i))
	}
	seen := map[string]bool{}
	for s.Len() > 0 {
		s.Pop(1, func(v listpack.Value) { seen[memberText(v)] = true })
	}
	require.Len(t, seen, 5000)
	s.Discard()
}
