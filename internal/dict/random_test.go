package dict

import (
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/arena"
	"godwit/internal/testseed"
)

// TestSparse checks that in a table that is far too large every choice ends after a bounded number
// of looks, and that looking shrinks the table.
func TestSparse(t *testing.T) {
	r := testseed.Rand(t)
	for name, choose := range map[string]func(d *Dict, rnd func() uint64) arena.Ref{
		"Random":  (*Dict).Random,
		"Uniform": (*Dict).Uniform,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.d.Expand(1 << 20)
			w.insert(1)
			w.insert(2)
			large := w.d.TableBytes()
			looks := 0
			rnd := func() uint64 { looks++; return r.Uint64() }
			for range 100 {
				looks = 0
				got := choose(w.d, rnd)
				require.Contains(t, []arena.Ref{w.model[1], w.model[2]}, got)
				require.LessOrEqual(t, looks, 2*uniformLooks)
			}
			require.Less(t, w.d.TableBytes(), large/50)
			w.checkAll()
			w.close()
		})
	}
}

// TestSampleGivesUp checks that Sample looks at few buckets, whatever it finds.
func TestSampleGivesUp(t *testing.T) {
	r := testseed.Rand(t)
	w := newWorld(t)
	w.d.Expand(1 << 20)
	w.d.Pause++ // it stays large
	w.insert(1)
	empty := 0
	var dst [5]arena.Ref
	for range 100 {
		if w.d.Sample(r.Uint64, dst[:]) == 0 {
			empty++
		}
	}
	require.Greater(t, empty, 50)
	w.d.Pause--
	w.close()
}
