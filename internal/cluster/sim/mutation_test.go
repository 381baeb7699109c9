package sim

import (
	"strings"
	"testing"

	"godwit/internal/cluster/core"

	"github.com/stretchr/testify/require"
)

// TestBrokenRules breaks one rule of the protocol after the other. The simulator must notice within
// 500 seeds, by a broken rule of its own rather than by a cluster that stands still.
func TestBrokenRules(t *testing.T) {
	for _, c := range []struct {
		name    string
		debug   core.Debug
		confirm int
		first   uint64 // a seed that is known to show it, or was
	}{
		{"the lease never ends", core.Debug{EndlessLease: true}, 0, 4},
		{"no majority is asked before a lease", core.Debug{NoReadIndex: true}, 0, 394},
		{"grants do not wait for leases", core.Debug{NoLeaseWait: true}, 0, 44},
		{"grants do not wait for the revocation", core.Debug{EarlyGrant: true}, 0, 71},
		{"promotions look at no in-sync set", core.Debug{IgnoreConfirm: true}, 1, 177},
		{"a start of a node is no entry", core.Debug{ForgetsRestart: true}, 1, 94},
	} {
		t.Run(c.name, func(t *testing.T) {
			failure := ""
			for s := c.first; s <= c.first+500 && failure == ""; s++ {
				opt := Options{Seed: s, Confirm: c.confirm, Debug: c.debug}
				if f := Run(opt).Failure; f != "" && !stuck(f) {
					t.Logf("seed %d: %s", s, f)
					failure = f
				}
			}
			require.NotEmpty(t, failure)
		})
	}
}

// stuck reports whether a failure says that a cluster does not go on.
func stuck(failure string) bool {
	return strings.Contains(failure, "not all slots") || strings.Contains(failure, "on request")
}

// TestLastingLinks has masters keep the links of replicas when their next term begins. The replicas
// report the old term then, and do not become masters on request.
func TestLastingLinks(t *testing.T) {
	const first = 24 // a seed that is known to show it, or was
	for s := uint64(first); s <= first+500; s++ {
		if f := Run(Options{Seed: s, LastingLinks: true}).Failure; f != "" {
			require.Contains(t, f, "on request")
			t.Logf("seed %d: %s", s, f)
			return
		}
	}
	require.Fail(t, "nobody notices")
}
