package object

import (
	"fmt"
	"hash/maphash"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/arena"
	"godwit/internal/testseed"
)

// TestZWalk compares walks over both forms with a sorted slice.
func TestZWalk(t *testing.T) {
	r := testseed.Rand(t)
	h := NewHeap(arena.New(), maphash.MakeSeed(), r,
		&Limits{ZSetMaxListpackEntries: 128, ZSetMaxListpackValue: 64})
	defer h.A.Close()
	var w ZWalk
	for range 60 {
		withSortedSet(t, h, func(x *Edit) {
			z := AsZSet(x)
			var want []scored
			for i := range r.IntN(400) {
				s := scored{fmt.Sprint("m", i), float64(r.IntN(300))}
				z.Add(s.score, []byte(s.member), 0)
				want = append(want, s)
			}
			sortScored(want)
			w.Open(z)
			var starts []float64
			for range r.IntN(12) {
				starts = append(starts, float64(r.IntN(320)-10))
			}
			w.SeekAll(starts)
			for i, s := range starts {
				w.Start(i)
				checkWalk(t, &w, want, s)
			}
			w.Seek(150)
			checkWalk(t, &w, want, 150)
			w.Close()
		})
	}
}

// checkWalk goes to the end from where the first score from s on must be.
func checkWalk(t *testing.T, w *ZWalk, want []scored, s float64) {
	t.Helper()
	at := slices.IndexFunc(want, func(x scored) bool { return x.score >= s })
	if at < 0 {
		at = len(want)
	}
	for _, x := range want[at:] {
		score, ok := w.Score()
		require.True(t, ok)
		require.Equal(t, x, scored{string(w.Member(w.Place()).Append(nil)), score})
		w.Next()
	}
	_, ok := w.Score()
	require.False(t, ok)
}
