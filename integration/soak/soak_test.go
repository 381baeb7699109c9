// Package soak runs the built server at its memory limit, in turn with the newest Redis under the
// same load, and compares their figures.
//
//	GODWIT_SEED=42 go test ./integration/soak -count=1 -v -duration 10m -scenario chaos
package soak

import (
	"flag"
	"os"
	"regexp"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/testseed"
	"godwit/internal/testserver"
)

var (
	duration = flag.Duration("duration", 0, "how long the servers are driven, at least one round")
	only     = flag.String("scenario", "", "a regular expression for the names of scenarios")
	report   = flag.String("report", "", "a file for the table of figures")
)

// sizes is how often the loads grow before they are small again.
const sizes = 4

// TestSoak runs all scenarios, and again with new seeds and larger loads until the time is up.
func TestSoak(t *testing.T) {
	if *duration == 0 {
		t.Skip("no -duration: make soak, and make check, drive the servers")
	}
	if testserver.Race {
		t.Skip("the race detector's memory is not the server's")
	}
	if runtime.GOOS != "linux" {
		t.Skip("the figures are those of /proc")
	}
	bin, err := testserver.BinaryWith("-trimpath", "-ldflags", "-s -w")
	require.NoError(t, err)
	sides := []*side{{name: "Godwit", bin: bin, judged: true}}
	if peer := redis(t); peer != "" {
		sides = append(sides, &side{name: "Redis", bin: peer})
	}
	defer func() {
		for _, s := range sides {
			require.NoError(t, s.drop())
		}
	}()
	rnd := testseed.Rand(t)
	pattern := regexp.MustCompile(*only)
	var table table
	began := time.Now()
	for round := 0; round == 0 || time.Since(began) < *duration; round++ {
		for i := range scenarios {
			seed := rnd.Uint64()
			sc, late := &scenarios[i], round > 0 && time.Since(began) > *duration
			if pattern.MatchString(sc.name) && !late {
				t.Run(sc.name, func(t *testing.T) {
					table.add(compare(t, sc, sides, seed, 1+round%sizes))
				})
			}
		}
	}
	t.Logf("%v\n%s", time.Since(began).Round(time.Second), table.markdown())
	if *report != "" {
		require.NoError(t, os.WriteFile(*report, []byte(table.markdown()), 0o644))
	}
}

// compare runs a scenario on the sides in turn, Redis first, and returns its line of the table.
func compare(t *testing.T, sc *scenario, sides []*side, seed uint64, size int) line {
	l := line{name: sc.name, size: size}
	for i := len(sides) - 1; i >= 0; i-- {
		f := sides[i].drive(sc, seed, size)
		if i > 0 {
			l.theirs = &f
			require.NoError(t, f.err) // the load must not be too much for Redis
			continue
		}
		l.ours = f
	}
	l.faults = faults(sc, l.ours)
	for _, fault := range l.faults {
		t.Error(fault)
	}
	if l.theirs != nil && l.ours.err == nil {
		found := differences(sc, l.ours, *l.theirs)
		for _, difference := range found {
			testserver.Redis.TB(t).Error(difference)
		}
		l.faults = append(l.faults, found...)
	}
	if l.faults != nil {
		require.NoError(t, sides[0].drop()) // it may hang, and the next scenario is not to blame
	}
	return l
}
