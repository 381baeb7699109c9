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
		name  string
		opt   Options // with a seed that is known to show it, or was
		story func(*World)
	}{
		{"the lease never ends", Options{Seed: 10, Debug: core.Debug{EndlessLease: true}}, nil},
		{"no majority is asked before a lease",
			Options{Seed: 870, Debug: core.Debug{NoReadIndex: true}}, nil},
		{"grants do not wait for leases",
			Options{Seed: 68, Debug: core.Debug{NoLeaseWait: true}}, nil},
		{"grants do not wait for the revocation",
			Options{Seed: 118, Debug: core.Debug{EarlyGrant: true}}, nil},
		{"promotions look at no in-sync set",
			Options{Seed: 551, Confirm: 1, Debug: core.Debug{IgnoreConfirm: true}}, nil},
		{"a start of a node is no entry",
			Options{Seed: 175, Confirm: 1, Debug: core.Debug{ForgetsRestart: true}}, nil},
		{"data of nobody knows which shard is taken",
			Options{Seed: 6, Confirm: -1, Debug: core.Debug{TrustsUnknown: true}},
			ambushed((*World).ambushData)},
		{"leases are granted by a state before the last revocation",
			Options{Seed: 72, Confirm: -1, Debug: core.Debug{BlindLease: true}},
			ambushed((*World).ambushRound)},
		{"messages get a time from before they were sent",
			Options{Seed: 12, Confirm: -1, StaleClock: true}, ambushed((*World).ambushDisk)},
		{"half imports are not deleted",
			Options{Seed: 78, Confirm: -1, KeepsHalf: true}, nil},
		{"slots with half an import are served",
			Options{Seed: 78, Confirm: -1, ServesHalf: true}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			story := c.story
			if story == nil {
				story = (*World).run
			}
			failure := ""
			for end := c.opt.Seed + 500; c.opt.Seed <= end && failure == ""; c.opt.Seed++ {
				f := runWorld(c.opt, story).Failure
				if f != "" && !stuck(f) {
					t.Logf("seed %d: %s", c.opt.Seed, f)
					failure = f
				}
			}
			require.NotEmpty(t, failure)
		})
	}
}

// ambushed returns a story in which a healthy cluster falls into an ambush.
func ambushed(ambush func(*World, int)) func(*World) {
	return func(w *World) {
		w.build()
		if w.failure != "" {
			return
		}
		w.clients()
		w.runFor(2 * Timeout)
		ambush(w, 0)
		w.runFor(3 * Timeout)
	}
}

// TestAmbushes wants the same stories to do no harm when no rule is broken.
func TestAmbushes(t *testing.T) {
	for s := uint64(1); s <= 5; s++ {
		opt := Options{Seed: s, Confirm: -1}
		require.Empty(t, runWorld(opt, ambushed((*World).ambushRound)).Failure, s)
		require.Empty(t, runWorld(opt, ambushed((*World).ambushDisk)).Failure, s)
		require.Empty(t, runWorld(opt, ambushed((*World).ambushData)).Failure, s)
	}
}

// stuck reports whether a failure says that a cluster does not go on.
func stuck(failure string) bool {
	return strings.Contains(failure, "not all slots") || strings.Contains(failure, "on request")
}

// TestLastingLinks has masters keep the links of replicas when their next term begins. The replicas
// report the old term then, and do not become masters on request.
func TestLastingLinks(t *testing.T) {
	const first = 86 // a seed that is known to show it, or was
	for s := uint64(first); s <= first+500; s++ {
		if f := Run(Options{Seed: s, LastingLinks: true}).Failure; f != "" {
			require.Contains(t, f, "on request")
			t.Logf("seed %d: %s", s, f)
			return
		}
	}
	require.Fail(t, "nobody notices")
}
