package sim

import (
	"strings"
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
		{"the lease never ends", core.Debug{EndlessLease: true}, 0, 2},
		{"no majority is asked before a lease", core.Debug{NoReadIndex: true}, 0, 104},
		{"grants do not wait for leases", core.Debug{NoLeaseWait: true}, 0, 42},
		{"grants do not wait for the revocation", core.Debug{EarlyGrant: true}, 0, 61},
		{"promotions look at no in-sync set", core.Debug{IgnoreConfirm: true}, 1, 116},
		{"a start of a node is no entry", core.Debug{ForgetsRestart: true}, 1, 33},
	} {
		t.Run(c.name, func(t *testing.T) {
			failure := ""
			for s := c.first; s <= c.first+500 && failure == ""; s++ {
				opt := Options{Seed: s, Confirm: c.confirm, Debug: c.debug}
				if f := Run(opt).Failure; f != "" && !strings.Contains(f, "not all slots") {
					t.Logf("seed %d: %s", s, f)
					failure = f
				}
			}
			require.NotEmpty(t, failure)
		})
	}
}
