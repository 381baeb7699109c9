package sim

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHandOver has masters stop. Another node must confirm writes long before a node timeout has
// passed, no write of the old one may be missing, though nobody waits for replicas, and the leader
// of the Raft group that stops is followed by another one. It must not matter that a node is down.
func TestHandOver(t *testing.T) {
	handed, leaders := 0, 0
	var longest int64
	for s := uint64(1); s <= 16; s++ {
		within(t, Options{Seed: s, Nodes: 7, Confirm: -1}, func(w *World) {
			w.clients()
			w.runFor(2 * Timeout)
			old := w.masterOf(0)
			members := old.server.state.Members(old.server.shard().ID)
			if len(members) < 3 {
				return
			}
			if s%2 == 0 {
				for _, h := range w.hosts {
					if h != old && h.id != members[0] && h.id != members[1] && h.id != members[2] {
						h.crash()
						w.runFor(2 * Timeout)
						break
					}
				}
			}
			if old.node.Leads() {
				leaders++
			}
			began := w.now
			w.check.by[0] = nil
			w.insist(0)
			w.stop(old, int64(Timeout), false)
			if !w.runUntil(Timeout/4, func() bool {
				return w.check.by[0] != nil && w.check.by[0] != old
			}) {
				w.fail("no write is confirmed %v after the master was told to stop", Timeout/4)
				return
			}
			longest, handed = max(longest, w.now-began), handed+1
			if !w.runUntil(Timeout/4, func() bool { return old.node == nil && w.leader() != nil }) {
				w.fail("the old master does not end, or nobody leads")
			}
			next := w.masterOf(0).server.data
			if !next.extends(old.server.saved.last()) {
				w.fail("writes of the old master are missing")
			}
			w.restart(old, 1)
			if !w.runUntil(2*Timeout, w.served) {
				w.fail("not all slots are served")
			}
		})
	}
	t.Logf("%d handed over, %d of them led, %.0f ms at most", handed, leaders,
		float64(longest)/1e6)
	require.NotZero(t, leaders)
	require.Less(t, leaders, handed)
}

// TestHandOverTakenBack has a master that was told to stop go on before a replica has everything.
func TestHandOverTakenBack(t *testing.T) {
	stayed := 0
	for s := uint64(1); s <= 8; s++ {
		within(t, Options{Seed: s, Nodes: 5, Confirm: -1, Calm: true}, func(w *World) {
			w.clients()
			w.runFor(Timeout)
			old := w.masterOf(0)
			w.stop(old, int64(Timeout), true)
			w.runFor(Timeout / 2)
			if !w.runUntil(Timeout, w.served) {
				w.fail("not all slots are served after a stop that was taken back")
			}
			if w.masterOf(0) == old {
				stayed++
			}
		})
	}
	t.Logf("%d of 8 have stayed masters", stayed)
	require.NotZero(t, stayed)
}
