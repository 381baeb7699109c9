package sim

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	seed  = flag.Uint64("seed", 0, "run this seed alone, with its trace")
	seeds = flag.Int("seeds", 0, "the number of seeds")
	first = flag.Uint64("first", 1, "the first seed")
)

func TestSeeds(t *testing.T) {
	if *seed != 0 {
		r := Run(Options{Seed: *seed, Verbose: true})
		t.Log(r.String())
		t.Logf("%+v", r.Stats)
		require.Empty(t, r.Failure)
		return
	}
	n := *seeds
	if n == 0 {
		n = 12
	}
	var sum Stats
	for s := *first; s < *first+uint64(n); s++ {
		r := Run(Options{Seed: s})
		if n > 100 && s%500 == 0 {
			t.Logf("seeds up to %d: %+v", s, sum)
		}
		if r.Failure != "" {
			t.Errorf("seed %d: %s\nrun it with its trace: go test ./internal/cluster/sim"+
				" -run TestSeeds -v -seed %[1]d", s, r.Failure)
		}
		sum.Events += r.Stats.Events
		sum.Confirmed += r.Stats.Confirmed
		sum.Promotions += r.Stats.Promotions
		sum.Crashes += r.Stats.Crashes
		sum.Joins += r.Stats.Joins
		sum.Moves += r.Stats.Moves
		sum.Migrations += r.Stats.Migrations
		sum.Elections += r.Stats.Elections
		sum.Deaf += r.Stats.Deaf
		sum.Handovers += r.Stats.Handovers
	}
	t.Logf("%+v", sum)
}
