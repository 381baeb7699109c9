package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"godwit/internal/cluster/core"
	"godwit/internal/cluster/topology"
)

// within builds a cluster and runs a test in its world.
func within(t *testing.T, opt Options, test func(w *World)) {
	t.Helper()
	opt.Verbose = true
	r := runWorld(opt, func(w *World) {
		w.build()
		if w.failure == "" {
			test(w)
		}
	})
	if r.Failure != "" {
		t.Fatal(r.String())
	}
}

// TestDeterministic wants the same seed to give the same run.
func TestDeterministic(t *testing.T) {
	for s := uint64(1); s <= 2; s++ {
		a, b := Run(Options{Seed: s}), Run(Options{Seed: s})
		require.Equal(t, a, b)
		require.NotEqual(t, a.Hash, Run(Options{Seed: s + 100}).Hash)
	}
}

// TestFailoverTime kills masters. The next write must be accepted within 1.5 node timeouts, also
// when the master led the Raft group, and confirmed when a replica must have it. While a script
// runs on the master of another shard, that master's lease must run out too, after the revocation.
func TestFailoverTime(t *testing.T) {
	for i, confirm := range []int{-1, 1, -1} {
		leaders, scripts := 0, 0
		var longest int64
		for s := uint64(1); s <= 12; s++ {
			within(t, Options{Seed: s, Nodes: 7, Confirm: confirm}, func(w *World) {
				w.clients()
				w.runFor(time.Duration(w.between(Timeout, 2*Timeout)))
				limit := 3 * Timeout / 2
				if i == 2 && w.busyMaster() {
					scripts++
					limit = 2 * Timeout
				}
				took, led := w.killMaster(limit)
				longest = max(longest, took)
				if led {
					leaders++
				}
			})
		}
		require.NotZero(t, leaders)
		require.Equal(t, i == 2, scripts > 0)
		t.Logf("confirm %d: %v at most, %d of the masters led, %d others ran a script", confirm,
			time.Duration(longest), leaders, scripts)
	}
}

// TestOneWay has a master hear nobody, though all others hear it. It must be
// replaced like one that has died. If it led, it has to notice that first, and for half of a
// timeout more it keeps others from leading.
func TestOneWay(t *testing.T) {
	times := map[bool]int{}
	longest := map[bool]int64{}
	for s := uint64(1); s <= 24; s++ {
		within(t, Options{Seed: s, Nodes: 7, Confirm: -1}, func(w *World) {
			w.clients()
			w.runFor(time.Duration(w.between(Timeout, 2*Timeout)))
			for r := range ranges {
				victim := w.check.last[rangeKey{w.hosts[0].node.State().Cluster, r}].h
				led := victim.node.Leads()
				if sh := victim.node.State().ShardOf(victim.id); led == (s%2 == 0) &&
					len(victim.node.State().Members(sh.ID)) >= 3 {
					longest[led] = max(longest[led], w.deafen(r, victim))
					times[led]++
					break
				}
			}
		})
	}
	require.NotZero(t, times[true])
	require.NotZero(t, times[false])
	t.Logf("longest, by whether it led: %v of %v", longest, times)
}

// deafen cuts all ways to the master of a range, and waits for a write that another one confirms.
// It reports how long that took.
func (w *World) deafen(r int, victim *host) (took int64) {
	limit := 3 * Timeout / 2
	if victim.node.Leads() {
		limit = 2 * Timeout
	}
	for _, h := range w.hosts {
		w.net.cut[h.index][victim.index] = h != victim
	}
	cut := w.now
	w.note("%v hears nobody", victim)
	w.check.by[r] = nil
	w.insist(r)
	other := func() bool { return w.check.by[r] != nil && w.check.by[r] != victim }
	if !w.runUntil(limit, other) {
		w.fail("no other master confirms a write %v after %v was made deaf", limit, victim)
	}
	took = w.now - cut
	w.net.mend()
	w.runUntil(3*Timeout, func() bool {
		sh := victim.node.State().ShardOf(victim.id)
		return sh.Master != "" && sh.Master != victim.id
	})
	for _, h := range w.hosts {
		s := h.node.State()
		if !w.runUntil(3*Timeout, func() bool { return !h.node.State().Nodes[victim.id].Failed }) ||
			s.ShardOf(victim.id).Master == victim.id {
			w.fail("%v does not come back", victim)
		}
	}
	return took
}

// busyMaster has a master, not that of the first range, run a long script. It reports whether there
// is one.
func (w *World) busyMaster() bool {
	for _, h := range w.hosts {
		if h.server.shard() != nil && !h.server.able(0) {
			h.busy(int64(6 * Timeout))
			return true
		}
	}
	return false
}

// killMaster kills the master of the first range, if it has two replicas, and waits for a write
// that another one confirms. It reports how long that took, and whether the master led.
func (w *World) killMaster(limit time.Duration) (took int64, led bool) {
	k := rangeKey{w.hosts[0].node.State().Cluster, 0}
	victim := w.check.last[k].h
	state := victim.node.State()
	if len(state.Members(state.Nodes[victim.id].Shard)) < 3 {
		return 0, false
	}
	led = victim.node.Leads()
	victim.crash()
	killed := w.now
	w.check.by[0] = nil
	w.insist(0)
	if !w.runUntil(limit, func() bool { return w.check.by[0] != nil }) {
		w.fail("no write is confirmed %v after the master was killed", limit)
	}
	return w.now - killed, led
}

// TestGracefulFailover wants a failover on request to lose no write at all, though nobody waits
// for replicas.
func TestGracefulFailover(t *testing.T) {
	for s := uint64(1); s <= 10; s++ {
		within(t, Options{Seed: s, Nodes: 4, Confirm: -1}, func(w *World) {
			w.clients()
			w.runFor(Timeout)
			replica := w.hosts[3]
			sh := replica.node.State().ShardOf(replica.id)
			old := w.net.find(sh.Master, topology.Address{})
			w.must("failover", replica, func(done func(string)) {
				replica.node.Failover(replica.clock(), core.Graceful, int64(Timeout), done)
			})
			if !w.runUntil(Timeout, func() bool { return replica.server.shard() != nil }) {
				w.fail("the replica is no master")
				return
			}
			if have := replica.server.data.log; len(have) < len(old.server.data.log) {
				w.fail("writes were lost: %d of %d", len(have), len(old.server.data.log))
			}
		})
	}
}

// TestBackAndForth fails over on request from a master to its replica and back, again and again.
// Whoever leads keeps a lease from the first one on, also if it still had one of its last term.
func TestBackAndForth(t *testing.T) {
	for s := uint64(1); s <= 5; s++ {
		within(t, Options{Seed: s, Nodes: 4, Confirm: -1}, func(w *World) {
			w.clients()
			w.runFor(Timeout)
			for range 12 {
				next := w.hosts[3]
				if sh := next.node.State().ShardOf(next.id); sh.Master == next.id {
					next = w.net.find(w.following(sh), topology.Address{})
				}
				w.must("failover", next, func(done func(string)) {
					next.node.Failover(next.clock(), core.Graceful, int64(Timeout), done)
				})
				leads := func() bool {
					return next.server.shard() != nil && next.clock() < next.lease
				}
				if !w.runUntil(Timeout, leads) {
					w.fail("the replica is no master with a lease")
					return
				}
				span := time.Duration(w.between(Timeout/10, Timeout/2))
				if w.runUntil(span, func() bool { return !leads() }) {
					w.fail("%v has lost its lease", next)
					return
				}
			}
		})
	}
}

// following returns a replica of the shard.
func (w *World) following(sh *topology.Shard) topology.NodeID {
	for _, h := range w.hosts {
		if h.node.State().Nodes[h.id].Shard == sh.ID && h.id != sh.Master {
			return h.id
		}
	}
	return ""
}

// TestMeetRefusals wants clusters that are populated not to be joined.
func TestMeetRefusals(t *testing.T) {
	r := runWorld(Options{Seed: 5, Nodes: 4, Verbose: true}, func(w *World) {
		meet := func(a, b *host) (string, bool) {
			return w.do(a, 6*Timeout, func(done func(string)) {
				a.node.Meet(a.clock(), b.about().Address, done)
			})
		}
		want := func(a, b *host, refusal string) {
			got, ok := meet(a, b)
			require.True(t, ok)
			require.Equal(t, refusal, got)
		}
		want(w.hosts[0], w.hosts[1], "")
		want(w.hosts[2], w.hosts[3], "")
		want(w.hosts[0], w.hosts[1], "")
		want(w.hosts[0], w.hosts[0], "")
		want(w.hosts[0], w.hosts[2], "ERR Both nodes belong to clusters of more than one node."+
			" Clusters cannot be merged")
		w.hosts[3].crash()
		want(w.hosts[0], w.hosts[3], "ERR The node has not answered in time")
	})
	require.Empty(t, r.Failure, r.String())
}

// TestLeave wants a node that was forgotten, or that was reset, to be alone and to be able to join
// again.
func TestLeave(t *testing.T) {
	for s := uint64(1); s <= 6; s++ {
		within(t, Options{Seed: s, Nodes: 4}, func(w *World) {
			h := w.hosts[3]
			if s%2 == 0 {
				w.propose(w.hosts[1], topology.Forget{Node: h.id})
			} else {
				w.must("reset", h, func(done func(string)) {
					h.node.Reset(h.clock(), s%3 == 0, done)
				})
			}
			if !w.runUntil(2*Timeout, func() bool { return len(h.node.State().Nodes) == 1 }) {
				w.fail("%v is not alone", h)
				return
			}
			w.must("meet", w.hosts[0], func(done func(string)) {
				w.hosts[0].node.Meet(w.hosts[0].clock(), h.about().Address, done)
			})
		})
	}
}

// TestResign wants the leadership to move when the leader ends, or cannot save any more.
func TestResign(t *testing.T) {
	for s := uint64(1); s <= 6; s++ {
		within(t, Options{Seed: s, Nodes: 5}, func(w *World) {
			w.runFor(2 * Timeout)
			old := w.leader()
			if s%2 == 0 {
				old.inbox(func() { old.node.Resign(old.clock()) })
			} else {
				old.disk.full = true
				other := w.hosts[(old.index+1)%len(w.hosts)]
				other.inbox(func() {
					other.node.Propose(other.clock(), topology.Op{Do: topology.Bump{
						Node: other.id}}, func(string) {})
				})
			}
			ok := w.runUntil(Timeout/8, func() bool {
				l := w.leader()
				return l != nil && l != old
			})
			if !ok {
				w.fail("nobody has taken the leadership over")
			}
		})
	}
}

// TestTimeoutSinks wants a node timeout that was long once not to delay later failovers: leases by
// it are over some day.
func TestTimeoutSinks(t *testing.T) {
	for s := uint64(1); s <= 3; s++ {
		within(t, Options{Seed: s, Nodes: 5, Confirm: -1}, func(w *World) {
			for _, ms := range []int64{8000, 1000} {
				w.propose(w.hosts[1], topology.SetTimeout{Timeout: ms})
			}
			settled := func() bool { return w.hosts[0].node.State().Longest == 1000 }
			if w.runUntil(7*Timeout/2, settled) {
				w.fail("leases of 4 s may last yet")
			}
			if !w.runUntil(2*Timeout, settled) {
				w.fail("the leases of 4 s never end")
			}
		})
	}
}
