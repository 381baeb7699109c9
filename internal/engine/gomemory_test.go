package engine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestGiveBackAfterLoad checks that what was garbage or free at the look after the last give-back
// is tried once more when the load has ended, and then ever more rarely.
func TestGiveBackAfterLoad(t *testing.T) {
	const mb = 1 << 20
	fresh := GoMemory{Objects: 3 * mb, Runtime: 2 * mb, Cycles: 1}
	b := giveBack{slack: fresh.InUse(), start: fresh.InUse(), cycles: fresh.Cycles}
	look := func(g GoMemory) bool { return b.due(g, 0, b.next) }
	require.False(t, look(fresh))
	require.True(t, look(GoMemory{Objects: 90 * mb, Runtime: 2 * mb, Cycles: 4}),
		"the heap has grown")

	done := func(left GoMemory) {
		b.left = left
		b.took.Store(int64(time.Millisecond))
	}
	busy := GoMemory{Objects: 20 * mb, Free: 15 * mb, Runtime: 2 * mb, Cycles: 6}
	done(busy)
	require.False(t, look(busy), "it was just done")
	require.False(t, look(busy), "no collection since: this is what is left")
	for range 5 {
		busy.Cycles++
		require.False(t, look(busy), "the load makes as much garbage again")
	}
	require.True(t, look(busy), "the load has ended")

	tries := 0
	for done(busy); b.next < int64(20*time.Minute); {
		if look(busy) { // more cannot be given back, but something may have held it
			tries++
			done(busy)
		}
	}
	require.Greater(t, tries, 5)
	require.Less(t, tries, 20, "ever more rarely")
	busy.Cycles++
	require.False(t, look(busy))
	require.True(t, look(busy))

	done(fresh)
	require.False(t, look(busy), "garbage came before the first look")
	require.True(t, look(busy))
}

// TestGiveBackAtRest checks that slack that is too little for a busy server is given back once when
// the collector has not run for a while. It is given back again only after the collector has run.
func TestGiveBackAtRest(t *testing.T) {
	const mb = 1 << 20
	fresh := GoMemory{Objects: 3 * mb, Runtime: 2 * mb, Cycles: 1}
	b := giveBack{slack: fresh.InUse(), start: fresh.InUse(), cycles: fresh.Cycles}
	look := func(g GoMemory) bool { return b.due(g, 0, b.next) }
	g := GoMemory{Objects: 3 * mb, Free: 4 * mb, Runtime: 2 * mb, Cycles: 1}
	for range 20 {
		g.Cycles++
		require.False(t, look(g), "the collector runs")
	}
	for range 3 {
		for range restLooks - 1 {
			require.False(t, look(g))
		}
		require.True(t, look(g))
		g.Cycles++ // its own
		b.left = g
		b.took.Store(int64(time.Millisecond))
		for range 20 {
			require.False(t, look(g), "it frees nothing")
		}
		g.Cycles++
		require.False(t, look(g))
	}
	g.Free = 2 * mb
	for range 20 {
		require.False(t, look(g), "that is too little")
	}
}
