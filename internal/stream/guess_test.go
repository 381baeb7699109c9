package stream

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/arena"
	"godwit/internal/testseed"
)

// TestFindFromGuess searches for the first IDs of blocks and their neighbours, where blocks come at
// an even pace, in bursts, within one ms, and as far from each other as can be. A Warmup for all of
// them finds as many.
func TestFindFromGuess(t *testing.T) {
	rng := testseed.Rand(t)
	for name, draw := range map[string]func(i int) ID{
		"even":    func(i int) ID { return ID{uint64(1000 + 7*i), rng.Uint64N(100)} },
		"dense":   func(i int) ID { return ID{uint64(1000 + i/3), uint64(i % 3 * 100)} },
		"one ms":  func(i int) ID { return ID{7, uint64(i * 100)} },
		"bursts":  func(i int) ID { return ID{uint64(i / 50 * 1_000_000), uint64(i % 50)} },
		"squares": func(i int) ID { return ID{uint64(i * i), 0} },
		"far":     func(i int) ID { return ID{math.MaxUint64 - uint64(i)<<53, math.MaxUint64} },
		"any":     func(int) ID { return ID{rng.Uint64(), rng.Uint64()} },
	} {
		t.Run(name, func(t *testing.T) {
			s := New(&Shared{A: arena.New()})
			defer s.sh.A.Close()
			x := &s.entries
			var firsts []ID
			for i := range 1000 {
				firsts = append(firsts, draw(i))
			}
			slices.SortFunc(firsts, ID.Compare)
			firsts = slices.Compact(firsts)
			for _, id := range firsts {
				x.insert(x.alloc(id, 8))
			}
			var w Warmup
			seek := func(id ID, want int) {
				w.Entry(s, id)
				if w.n == WarmupMax {
					w.Run()
				}
				p, ok := x.find(id)
				require.Equal(t, want >= 0, ok, "%v", id)
				if ok {
					require.Equal(t, firsts[want], x.at(p).first, "%v", id)
				}
			}
			for i, id := range firsts {
				seek(id, i)
				if prev, ok := id.Prev(); ok && (i == 0 || prev != firsts[i-1]) {
					seek(prev, i-1)
				}
			}
			seek(MaxID, len(firsts)-1)
			w.Run()
			x.empty()
		})
	}
}

// TestLargeCounted counts streams that are large, whether they were filled, copied or built, until
// they are drained.
func TestLargeCounted(t *testing.T) {
	sh := &Shared{A: arena.New()}
	defer sh.A.Close()
	s, small := New(sh), New(sh)
	small.Append(ID{1, 1}, [][]byte{[]byte("f"), []byte("v")}, benchLimits)
	require.Zero(t, sh.Large)
	for i := uint64(1); !s.WarmupWorth(); i++ {
		s.Append(ID{i, 0}, [][]byte{[]byte("f"), make([]byte, 1000)}, benchLimits)
	}
	require.Equal(t, 1, sh.Large)
	all := []*Stream{s, s.Clone(sh), small.Clone(sh), small}
	require.Equal(t, 2, sh.Large)
	b := NewBuilder(benchLimits)
	s.EachPart(func(p *Part) bool {
		if p.Kind == PartEntries {
			lp, master := p.AppendListpack(nil)
			require.NoError(t, b.Listpack(master, lp))
		}
		return true
	})
	require.NoError(t, b.Finish())
	all = append(all, b.Build(sh))
	require.Equal(t, 3, sh.Large)
	for _, s := range all {
		for !s.Drain(10) {
		}
	}
	require.Zero(t, sh.Large)
}
