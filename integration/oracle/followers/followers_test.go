// Package followers runs the oracle's random streams on a master whose replicas are servers of
// other kinds. Their links are cut meanwhile. After each round all must have the same data.
//
//	go test ./integration/oracle/followers -count=1 -v -number 300000
//	go test ./integration/oracle/followers -count=1 -v -master redis8 -replicas redis8
//
// A round that fails is run again without cuts, and made as short as it can be.
package followers

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/integration/oracle/diff"
	"godwit/internal/testseed"
	"godwit/internal/testserver"
)

var (
	number = flag.Int("number", 12_000, "commands for each master")
	first  = flag.Int("first", 0, "number of the first round: with the seed of a report, its round")
	master = flag.String("master", "", "the only master; empty: several")
	others = flag.String("replicas", "", "its replicas, comma separated")
	shrink = flag.Int("shrinks", 100, "replays that making a stream short may cost")
)

func TestMain(m *testing.M) { os.Exit(testserver.Main(m)) }

// perRound is the number of commands between two comparisons.
const perRound = 3000

// kinds are the kinds of rounds. Those about users, messages and caching change no data.
var kinds = []string{"plain", "tx", "plain", "block", "plain", "functions"}

// cast is a master with its replicas.
type cast struct {
	master   testserver.Kind
	replicas []testserver.Kind
}

func (c cast) String() string { return fmt.Sprint(c.master, "-", c.replicas) }

func (c cast) all() []testserver.Kind { return append([]testserver.Kind{c.master}, c.replicas...) }

func TestFollowers(t *testing.T) {
	seed := testseed.New(t)
	casts := []cast{
		{testserver.Godwit, []testserver.Kind{testserver.Redis8, testserver.Valkey9,
			testserver.Godwit}},
		{testserver.Redis8, []testserver.Kind{testserver.Godwit}},
		{testserver.Valkey9, []testserver.Kind{testserver.Godwit}},
	}
	if *master != "" {
		casts = []cast{{master: testserver.Kind(*master)}}
		for word := range strings.SplitSeq(*others, ",") {
			casts[0].replicas = append(casts[0].replicas, testserver.Kind(word))
		}
	}
	for _, c := range casts {
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			newPlay(t, c, seed).run()
		})
	}
}

// play is a running cast.
type play struct {
	*testing.T
	cast
	seed     uint64
	gen      *diff.Generator
	driver   *diff.Driver
	server   *testserver.Server // the master
	replicas []*testserver.Server
	proxies  []*testserver.Proxy
}

func newPlay(t *testing.T, c cast, seed uint64) *play {
	p := &play{T: t, cast: c, seed: seed}
	p.server = c.master.Run(t, "--repl-backlog-size", "256mb")
	all := []*diff.Server{diff.AttachServer(string(c.master), p.server.Addr)}
	for i, k := range c.replicas {
		r := k.Run(t, "--repl-backlog-size", "256mb")
		proxy := testserver.RunProxy(t, p.server, seed+uint64(i))
		require.NoError(t, r.FollowAddr(proxy.Addr))
		require.NoError(t, r.WaitLink())
		p.replicas, p.proxies = append(p.replicas, r), append(p.proxies, proxy)
		all = append(all, diff.AttachServer(string(k), r.Addr))
	}
	// Documentation is compared with that of the oldest, whose options all have.
	slices.SortStableFunc(all, func(a, b *diff.Server) int {
		return cmp.Compare(age(a.Name), age(b.Name))
	})
	reference, version := diff.Redis8, "8.0.6"
	switch testserver.Kind(all[0].Name) {
	case testserver.Valkey9:
		reference, version = diff.Valkey9, "7.2.4"
	case testserver.Redis7:
		reference, version = diff.Redis7, "7.0.15"
	}
	skipped := leftOut(t)
	cov, err := diff.CommonTo(version, func(name string) bool { return !skipped(name) }, all...)
	require.NoError(t, err)
	p.gen, err = diff.NewGenerator(diff.GenConfig{Keys: 10, Clients: 4, DBs: 3,
		Kinds: p.kinds(), Reference: reference}, cov)
	require.NoError(t, err)
	p.driver, err = diff.NewDriver(p.server.Addr)
	require.NoError(t, err)
	t.Cleanup(p.driver.Close)
	return p
}

func age(kind string) int {
	return slices.Index([]string{string(testserver.Redis7), string(testserver.Valkey9),
		string(testserver.Redis8), string(testserver.Godwit)}, kind)
}

// kinds returns the kinds of rounds. Redis 8.0.6 crashes now and then when it frees libraries.
func (p *play) kinds() []string {
	if slices.Contains(p.all(), testserver.Redis8) {
		return slices.DeleteFunc(slices.Clone(kinds), func(k string) bool {
			return k == "functions"
		})
	}
	return kinds
}

// leftOut returns which commands are never sent: those that the oracle leaves out, and those of
// left_out.txt.
func leftOut(t *testing.T) func(name string) bool {
	var patterns []string
	for _, name := range []string{"../known_differences.txt", "left_out.txt"} {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) > 1 && f[1] == diff.Skip && line[0] != '#' {
				patterns = append(patterns, f[0])
			}
		}
	}
	require.NotEmpty(t, patterns)
	return func(name string) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool {
			ok, err := filepath.Match(pattern, name)
			require.NoError(t, err)
			return ok
		})
	}
}

// run plays rounds until enough commands were sent.
func (p *play) run() {
	for round := *first; p.driver.Sent < *number; round++ {
		stream := p.gen.Stream(p.seed, round, perRound)
		stop := p.cut(round)
		err := p.once(stream, stop)
		if err == nil {
			continue
		}
		p.Logf("round %d of seed %d: %v", round, p.seed, err)
		small, again := diff.Reduce(stream, func(s []diff.Cmd) bool {
			return p.once(s, func() {}) != nil
		}, *shrink, 2*time.Minute)
		if !again {
			p.Fatalf("round %d of seed %d is fine without cuts", round, p.seed)
		}
		for _, c := range small {
			p.Logf("    %.300s", c.String())
		}
		p.Fatalf("round %d of seed %d: %v", round, p.seed, p.once(small, func() {}))
	}
	cuts := 0
	for _, proxy := range p.proxies {
		cuts += proxy.Cuts()
	}
	p.Logf("%d commands, %d cuts", p.driver.Sent, cuts)
}

// once runs a stream from empty databases and compares the data. It returns the difference.
func (p *play) once(stream []diff.Cmd, stop func()) error {
	err := p.driver.Empty()
	if err == nil {
		err = p.driver.Run(stream)
	}
	stop()
	require.NoError(p, err)
	p.driver.Close()
	p.driver, err = p.driver.Again()
	require.NoError(p, err)
	p.Cleanup(p.driver.Close)
	return p.server.WaitSame(p.replicas...)
}

// cut cuts the links at random until the returned function is called.
func (p *play) cut(round int) (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	rnd := rand.New(rand.NewPCG(p.seed, uint64(round)))
	go func() {
		defer close(done)
		for {
			select {
			case <-quit:
				return
			case <-time.After(time.Duration(10+rnd.IntN(60)) * time.Millisecond):
				p.proxies[rnd.IntN(len(p.proxies))].CutWithin(5000)
			}
		}
	}()
	return func() {
		close(quit)
		<-done
		for _, proxy := range p.proxies {
			proxy.Keep()
		}
	}
}
