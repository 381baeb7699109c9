package sim

import (
	"testing"

	"godwit/internal/cluster/core"

	"github.com/stretchr/testify/require"
)

// TestBrokenRules breaks one rule of the protocol after the other. The simulator must notice within
// 500 seeds.
func TestBrokenRules(t *testing.T) {
	for _, c := range []struct {
		name    string
		debug   core.Debug
		confirm int
		first   uint64 // a seed that is known to show it, or was
	}{
		{"the lease never ends", core.Debug{EndlessLease: true}, 0, 4},
		{"no majority is asked before a lease", core.Debug{NoReadIndex: true}, 0, 36},
		{"grants do not wait for leases", core.Debug{NoLeaseWait: true}, 0, 21},
		{"grants do not wait for the revocation", core.Debug{EarlyGrant: true}, 0, 21},
		{"promotions look at no in-sync set", core.Debug{IgnoreConfirm: true}, 1, 44},
		{"a start of a node is no entry", core.Debug{ForgetsRestart: true}, 1, 12},
	} {
		t.Run(c.name, func(t *testing.T) {
			failure := ""
			for s := c.first; s <= c.first+500 && failure == ""; s++ {
				opt := Options{Seed: s, Confirm: c.confirm, Debug: c.debug}
				if failure = Run(opt).Failure; failure != "" {
					t.Logf("seed %d: %s", s, failure)
				}
			}
			require.NotEmpty(t, failure)
		})
	}
}
