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
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/integration/oracle/diff"
	"godwit/internal/testseed"
	"godwit/internal/testserver"
)

var (
	number = flag.Int("number", 9_000, "commands for each master")
	first  = flag.Int("first", 0, "number of the first round: with the seed of a report, its round")
	master = flag.String("master", "", "the only master; empty: several")
	others = flag.String("replicas", "", "its replicas, comma separated")
	shrink = flag.Int("shrinks", 100, "replays that making a stream short may cost")
)

// TestMain runs more tests at a time than there are cores: mostly they wait for links.
func TestMain(m *testing.M) {
	flag.Parse()
	if set := flag.Lookup("test.parallel"); set.Value.String() == set.DefValue {
		_ = set.Value.Set("4")
	}
	os.Exit(testserver.Main(m))
}

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
		{testserver.Godwit, []testserver.Kind{testserver.Redis7, testserver.Godwit}},
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
			p := &play{T: t, cast: c, seed: seed}
			p.start()
			p.run()
		})
	}
}

// play is a running cast.
type play struct {
	*testing.T
	cast
	seed     uint64
	sent     int // commands
	crashes  int // of servers that are not ours
	gen      *diff.Generator
	driver   *diff.Driver
	server   *testserver.Server // the master
	replicas []*testserver.Server
	proxies  []*testserver.Proxy
}

// start starts the servers, new ones if it is called again.
func (p *play) start() {
	t := p.T
	p.server, p.replicas, p.proxies = p.one(p.master), nil, nil
	all := []*diff.Server{diff.AttachServer(string(p.master), p.server.Addr)}
	for i, k := range p.cast.replicas {
		r := p.one(k)
		proxy := testserver.RunProxy(t, p.server, p.seed+uint64(i))
		require.NoError(t, r.FollowAddr(proxy.Addr))
		require.NoError(t, r.WaitLink())
		p.replicas, p.proxies = append(p.replicas, r), append(p.proxies, proxy)
		all = append(all, diff.AttachServer(string(k), r.Addr))
	}
	p.prepare(all)
}

// one starts a server. Beside Redis 7.0, Godwit must not send what that cannot read.
func (p *play) one(k testserver.Kind) *testserver.Server {
	args := []string{"--repl-backlog-size", "256mb"}
	if k == testserver.Godwit && slices.Contains(p.all(), testserver.Redis7) {
		args = append(args, "--rdb-version", "10")
	}
	return k.Run(p.T, args...)
}

// prepare makes the generator of streams from the commands that all servers have, and the driver.
func (p *play) prepare(all []*diff.Server) {
	t := p.T
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
	skipped := p.leftOut()
	cov, err := diff.CommonTo(version, func(name string) bool { return !skipped(name) }, all...)
	require.NoError(t, err)
	p.gen, err = diff.NewGenerator(diff.GenConfig{Keys: 10, Clients: 4, DBs: 3,
		Kinds: p.kinds(), Reference: reference}, cov)
	require.NoError(t, err)
	p.newDriver()
}

// newDriver ends the connections of the driver, if there is one, and makes a new one.
func (p *play) newDriver() {
	if p.driver != nil {
		p.sent += p.driver.Sent
		p.driver.Close()
	}
	var err error
	p.driver, err = diff.NewDriver(p.server.Addr)
	require.NoError(p, err)
	p.Cleanup(p.driver.Close)
}

func age(kind string) int {
	return slices.Index([]string{string(testserver.Redis7), string(testserver.Valkey9),
		string(testserver.Redis8), string(testserver.Godwit)}, kind)
}

// kinds returns the kinds of rounds. Redis 8.0.6 and Valkey 9.1.2 crash now and then when they load
// or free libraries.
func (p *play) kinds() []string {
	for _, k := range p.all() {
		if k == testserver.Redis8 || k == testserver.Valkey9 {
			return slices.DeleteFunc(slices.Clone(kinds), func(k string) bool {
				return k == "functions"
			})
		}
	}
	return kinds
}

// leftOut returns which commands are never sent: those that the oracle leaves out, and those of
// left_out.txt that do not name another kind of server.
func (p *play) leftOut() func(name string) bool {
	t := p.T
	var patterns []string
	for _, name := range []string{"../known_differences.txt", "left_out.txt"} {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			if len(f) < 2 || line[0] == '#' {
				continue
			}
			if f[1] == diff.Skip || slices.Contains(p.all(), testserver.Kind(f[1])) {
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

// setsSparse reports whether the command sets when a HyperLogLog becomes a dense one. It is a
// string whose bytes clients can read, and a replica goes by its own configuration.
func setsSparse(c diff.Cmd) bool {
	return slices.ContainsFunc(c.Args, func(a []byte) bool {
		return strings.EqualFold(string(a), "hll-sparse-max-bytes")
	})
}

// farOff is when a deadline of a field is further off than Redis and our files can hold (48 bits of
// ms). Valkey takes any number, and a replica of another kind keeps the latest that it can.
const farOff = 1 << 46

// setsFarOff reports whether the command gives fields such a deadline.
func setsFarOff(c diff.Cmd) bool {
	if len(c.Args) == 0 {
		return false
	}
	switch strings.ToLower(string(c.Args[0])) {
	case "hexpire", "hexpireat", "hpexpire", "hpexpireat", "hsetex", "hgetex":
	default:
		return false
	}
	return slices.ContainsFunc(c.Args[1:], func(a []byte) bool {
		n, err := strconv.ParseInt(string(a), 10, 64)
		return err == nil && n >= farOff/1000
	})
}

// run plays rounds until enough commands were sent.
func (p *play) run() {
	valkey := slices.Contains(p.all(), testserver.Valkey9)
	for round := *first; p.sent < *number; round++ {
		stream := slices.DeleteFunc(p.gen.Stream(p.seed, round, perRound), func(c diff.Cmd) bool {
			return setsSparse(c) || valkey && setsFarOff(c)
		})
		stop := p.cut(round)
		err := p.once(stream, stop)
		if err == nil || p.crashed(round) {
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
	p.Logf("%d commands, %d cuts, %d crashes of others", p.sent, cuts, p.crashes)
}

// once runs a stream from empty databases and compares the data. It returns the difference.
func (p *play) once(stream []diff.Cmd, stop func()) error {
	err := p.driver.Empty()
	if err == nil {
		err = p.driver.Run(stream)
	}
	stop()
	if err != nil {
		return err
	}
	p.newDriver() // what clients had queued or waited for is dropped
	return p.server.WaitSame(p.replicas...)
}

const (
	// mostCrashes is how many rounds others may leave unfinished by their own faults.
	mostCrashes = 20
	// crashReport is how long a server's process outlives its connections, to describe a crash.
	crashReport = 3 * time.Second
)

// crashed reports whether a server that is not ours has ended. Then it starts all of them anew.
func (p *play) crashed(round int) bool {
	ended := false
	for end := time.Now().Add(crashReport); !ended && time.Now().Before(end); {
		for i, s := range append([]*testserver.Server{p.server}, p.replicas...) {
			ended = ended || s.Ended() && p.all()[i] != testserver.Godwit
		}
		time.Sleep(10 * time.Millisecond)
	}
	if !ended || p.crashes == mostCrashes {
		return false
	}
	p.crashes++
	p.Logf("round %d of seed %d is not finished: another server has crashed", round, p.seed)
	p.driver.Close()
	p.driver = nil
	p.start()
	return true
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
