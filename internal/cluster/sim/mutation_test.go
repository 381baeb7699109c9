package sim

import (
	"testing"

	"godwit/internal/cluster/core"

	"github.com/stretchr/testify/require"
)

// TestBrokenRules breaks one rule of the protocol after the other. The simulator must notice.
func TestBrokenRules(t *testing.T) {
	for _, c := range []struct {
		name  string
		debug core.Debug
		opt   Options
	}{
		{"the lease never ends", core.Debug{EndlessLease: true}, Options{}},
		{"no majority is asked before a lease", core.Debug{NoReadIndex: true}, Options{}},
		{"grants do not wait for leases", core.Debug{NoLeaseWait: true}, Options{}},
		{"grants do not wait for the revocation", core.Debug{EarlyGrant: true}, Options{}},
		{"promotions look at no in-sync set", core.Debug{IgnoreConfirm: true}, Options{Confirm: 1}},
		{"a start of a node is no entry", core.Debug{ForgetsRestart: true}, Options{Confirm: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			failure := ""
			for s := uint64(1); s <= 500 && failure == ""; s++ {
				c.opt.Seed, c.opt.Debug = s, c.debug
				if failure = Run(c.opt).Failure; failure != "" {
					t.Logf("seed %d: %s", s, failure)
				}
			}
			require.NotEmpty(t, failure)
		})
	}
}
