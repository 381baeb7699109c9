package sim

import (
	"testing"

	"github.com/stretchr/testify/require"
	"godwit/internal/cluster/topology"
)

// TestForgottenJoiner removes a node that has given its log up to join, before the first state gets
// to it. Either side's MEET must be able to bring it in again.
func TestForgottenJoiner(t *testing.T) {
	for _, byJoiner := range []bool{false, true} {
		r := runWorld(Options{Seed: 3, Nodes: 4, Verbose: true}, func(w *World) {
			meet := func(a, b *host) {
				w.must("meet", a, func(done func(string)) {
					a.node.Meet(a.clock(), b.about().Address, done)
				})
			}
			a, x := w.hosts[0], w.hosts[3]
			meet(a, w.hosts[1])
			a.inbox(func() { a.node.Meet(a.clock(), x.about().Address, func(string) {}) })
			for len(x.node.State().Nodes) != 0 {
				w.step()
			}
			for i := range w.hosts {
				w.net.cut[i][x.index], w.net.cut[x.index][i] = true, true
			}
			w.runFor(5 * Timeout)
			w.propose(a, topology.Forget{Node: x.id})
			w.net.mend()
			if a, b := a, x; byJoiner {
				meet(b, a)
			} else {
				meet(a, b)
			}
		})
		require.Empty(t, r.Failure, r.String())
	}
}

// TestFullDiskAnswers wants whoever waits for MEET or RESET to hear of it when the node ends.
func TestFullDiskAnswers(t *testing.T) {
	within(t, Options{Seed: 1, Nodes: 4}, func(w *World) {
		h := w.hosts[3]
		answers := map[string]string{}
		h.inbox(func() {
			at := topology.Address{IP: "127.0.0.1", Port: 1, BusPort: 2}
			h.node.Meet(h.clock(), at, func(s string) { answers["meet"] = s })
			h.node.Reset(h.clock(), false, func(s string) { answers["reset"] = s })
		})
		h.disk.full = true
		if !w.runUntil(5*Timeout, func() bool { return len(answers) == 2 }) {
			w.fail("only answered: %v", answers)
		}
		require.NotEmpty(t, answers["reset"])
		require.NotEmpty(t, answers["meet"])
	})
}
