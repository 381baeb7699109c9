package sim

import (
	"testing"

	"github.com/stretchr/testify/require"
	"godwit/internal/cluster/topology"
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
			w.stop(old, stopPlan{within: int64(Timeout)})
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
			w.stop(old, stopPlan{within: int64(Timeout), abort: true})
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

// TestEndingReplica has all replicas of a shard but one save before they end, which takes long.
// When its master dies then, the one that does not end takes over, though it has less.
func TestEndingReplica(t *testing.T) {
	killed := 0
	for s := uint64(1); s <= 16; s++ {
		within(t, Options{Seed: s, Nodes: 7, Confirm: -1, Settled: true}, func(w *World) {
			w.clients()
			w.runFor(2 * Timeout)
			old := w.masterOf(0)
			var replicas []*host
			for _, id := range old.server.state.Members(old.server.shard().ID) {
				if id != old.id {
					replicas = append(replicas, w.net.find(id, topology.Address{}))
				}
			}
			if len(replicas) < 2 {
				return
			}
			stays := replicas[s%uint64(len(replicas))]
			stays.server.lags = true
			w.runFor(Timeout / 10)
			for _, h := range replicas {
				if h != stays {
					w.stop(h, stopPlan{saves: 10 * int64(Timeout)})
				}
			}
			w.runFor(Timeout / 5)
			w.killMaster(3 * Timeout / 2)
			if by := w.check.by[0]; by != stays {
				w.fail("%v is the master, not %v", by, stays)
			}
			killed++
		})
	}
	t.Logf("%d masters killed", killed)
	require.NotZero(t, killed)
}
