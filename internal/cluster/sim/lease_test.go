package sim

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"godwit/internal/cluster/core"
	"godwit/internal/cluster/topology"
)

// owner returns the master of the first range, and another one's, nil if there is none.
func (w *World) owner() (owner, other *host) {
	owner = w.check.last[rangeKey{w.hosts[0].node.State().Cluster, 0}].h
	for _, h := range w.hosts {
		if h != owner && masters(owner.node.State(), h) {
			other = h
		}
	}
	return owner, other
}

// lateLease moves slots away from a master that was out of touch and is busy, while the round that
// gives it a lease takes long. It must not get one by which the slots are still its own.
func lateLease(w *World, n uint64) {
	w.build()
	if w.failure != "" {
		return
	}
	w.clients()
	w.runFor(2 * Timeout)
	m, to := w.owner()
	l := w.leader()
	if m == l || to == nil {
		return
	}
	for i := range w.hosts { // what the master says is lost
		w.net.cut[m.index][i] = i != m.index
	}
	w.runFor(700 * time.Millisecond)
	m.busy = w.now + int64(400*time.Millisecond) // a script
	w.net.mend()
	w.runFor(time.Duration(n*37%110) * time.Millisecond)
	w.net.mute = true
	w.runFor(2 * time.Millisecond)
	l.act(func() {
		do := topology.Move{Slots: rangeOf(0), To: to.id}
		l.node.Propose(l.clock(), topology.Op{Do: do}, func(string) {})
	})
	w.runFor(40 * time.Millisecond)
	w.net.mute = false
	w.runFor(Timeout)
}

// TestLateLease finds two masters only where the rule is broken.
func TestLateLease(t *testing.T) {
	for _, broken := range []bool{false, true} {
		found := ""
		for s := uint64(1); s <= 60 && found == ""; s++ {
			found = runWorld(Options{Seed: s, Nodes: 7, Confirm: -1,
				Debug: core.Debug{LateLease: broken}}, func(w *World) { lateLease(w, s) }).Failure
		}
		require.Equal(t, broken, strings.Contains(found, "may both confirm writes"), found)
	}
}

// TestBusyMaster kills a master while the server of another shard's is busy for long: its script
// must not keep the first shard from getting a new master.
func TestBusyMaster(t *testing.T) {
	tried := 0
	for s := uint64(1); s <= 6; s++ {
		within(t, Options{Seed: s, Nodes: 9, Confirm: -1}, func(w *World) {
			w.clients()
			w.runFor(Timeout)
			victim, busy := w.owner()
			if busy == nil {
				return
			}
			tried++
			busy.busy = w.now + int64(6*Timeout)
			victim.crash()
			// Its last lease has to end, half a timeout after the failure was noticed.
			if !w.runUntil(2*Timeout, func() bool { return w.accepts(0) }) {
				w.fail("no write is accepted %v after the master was killed", 2*Timeout)
			}
		})
	}
	require.NotZero(t, tried)
}
