package persist

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/testseed"
	"godwit/internal/vfs"
)

const (
	historyA = "81f29c123535ca28796aa4b380d4480a0ccf1204"
	shardA   = "ffffffffffffffffffffffffffffffffffffffff"
)

func TestPlaceLines(t *testing.T) {
	const set = "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\n"
	full := "#REPL:" + historyA + ":3:177\r\n"
	at := func(offset int64) ReplPoint { return ReplPoint{ID: historyA, Offset: offset, DB: 3} }
	member := "#REPL:" + historyA + ":3:" + shardA + ":5:177\r\n"
	of := func(offset int64) ReplPoint {
		return ReplPoint{ID: historyA, Offset: offset, DB: 3, Shard: shardA, Term: 5}
	}
	for text, want := range map[string]ReplPoint{
		"":                                       {},
		set:                                      {},
		full:                                     at(177),
		set + full:                               at(177),
		full + set:                               {},
		full + set + "#REPL:200\r\n":             at(200),
		full + "#TS:1\r\n":                       at(177),
		full + "#REPL:200\r\n" + set[:20]:        at(200), // what is cut off changes nothing
		full + "#REPL:200\r\n#REPL:30":           at(200),
		full + "#REPL:-1\r\n":                    {},
		full + "#REPL:9223372036854775807\r\n":   {},
		full + "#REPL:\r\n":                      {},
		full + "#REPL:x\r\n#REPL:200\r\n":        {},
		full + "#REPL:1:2\r\n":                   {},
		"#REPL:200\r\n":                          {},
		"#REPL:" + historyA[1:] + ":3:177\r\n":   {},
		"#REPL:" + historyA + ":-3:177\r\n":      {},
		full + "*1\r\n$5\r\nMULTI\r\n" + set:     {}, // it may have been elsewhere
		member:                                   of(177),
		member + "#REPL:200\r\n":                 of(200),
		member + full:                            at(177),
		strings.Replace(member, ":5:", ":x:", 1): {},
	} {
		f := newFixture(t, vfs.NewMem(), usual)
		f.mustStart()
		require.NoError(t, f.a.Close())
		name := "/d/appendonlydir/appendonly.aof.1.incr.aof"
		require.NoError(t, writeAll(f.fs, name, []byte(text)))
		f.mustStart()
		require.Equal(t, want, f.a.LoadedPlace(), "%q", text)
	}
}

// follower is a replica with a log: what it has had at each place.
type follower struct {
	*fixture
	rng   *rand.Rand
	place ReplPoint
	known bool // the place is
	was   map[ReplPoint]map[string]string
}

func follow(t *testing.T, fsys vfs.FS, rng *rand.Rand) *follower {
	f := &follower{fixture: newFixture(t, fsys, usual), rng: rng, known: true,
		place: ReplPoint{ID: historyA}, was: map[ReplPoint]map[string]string{}}
	f.where = func(bool) (ReplPoint, bool) { return f.place, f.known }
	return f
}

// apply runs some units of the stream as one batch.
func (f *follower) apply() {
	for range 1 + f.rng.IntN(3) {
		if f.rng.IntN(4) == 0 {
			f.place.Offset += 14 // a PING
		} else {
			f.place.DB = f.rng.IntN(2)
			f.unit(f.place.DB, fmt.Sprintf("SET k%d %d", f.rng.IntN(4), f.place.Offset))
			f.place.Offset += 40
		}
		f.note()
	}
	f.a.EndBatch()
}

func (f *follower) note() { f.was[f.place] = f.m.clone() }

// resync gets another data set, in the order of a full synchronization: the log is off from before
// the old data goes until the new data and its place are there. Loads that fail come before it.
func (f *follower) resync() {
	f.a.Disable()
	for range f.rng.IntN(3) {
		f.replace()
		f.a.Cron()
		f.a.EndBatch()
	}
	f.replace()
	require.NoError(f.t, f.a.Enable(false))
}

// replace replaces the data and its place, not at one moment.
func (f *follower) replace() {
	f.known = f.rng.IntN(2) == 0
	clear(f.m.data)
	f.a.Cron()
	f.a.EndBatch()
	f.m.data["0/new"] = fmt.Sprint(f.rng.IntN(1000))
	f.a.Cron()
	f.place, f.known = ReplPoint{ID: fmt.Sprintf("%040d", f.rng.IntN(1e9)),
		Offset: f.rng.Int64N(1000)}, true
	f.note()
}

// step does something that happens in a replica's life.
func (f *follower) step() {
	switch f.rng.IntN(12) {
	case 0:
		if f.base == nil {
			f.a.Rewrite(false)
		}
	case 1:
		if f.base == nil {
			f.resync()
		}
	case 2, 3:
		if f.base != nil {
			f.base()
		}
		f.finish()
	case 4:
		f.a.Cron()
	default:
		f.apply()
	}
	f.now += int64(f.rng.IntN(400))
}

// TestPlaceIsTrue cuts the power and kills a replica at every step of its life, full
// synchronizations and rewrites included. What its log says of its place is true, and after kill -9
// it mostly says something.
func TestPlaceIsTrue(t *testing.T) {
	rng := testseed.Rand(t)
	told, kills := 0, 0
	for range 12 {
		disk := newDisk(t)
		f := follow(t, disk, rng)
		f.set.Timestamps = rng.IntN(2) == 0
		f.slow = rng.IntN(2) == 0
		f.mustStart()
		f.note()
		var losses []*vfs.Mem
		disk.Observe(func(n int, _ string, crash func(uint64) *vfs.Mem) {
			losses = append(losses, crash(vfs.FirstRandomSeed+uint64(n)), crash(vfs.LoseAll))
		})
		for range 60 {
			f.step()
			if at := f.holds(disk.Crash(vfs.KeepAll)); at.ID != "" {
				told++
			}
			kills++
		}
		for f.base != nil {
			f.base()
			f.finish()
		}
		f.place.Offset += 14
		f.note()
		require.NoError(t, f.a.Close())
		disk.Observe(nil)
		require.Equal(t, f.place, f.holds(disk.Crash(vfs.LoseAll)), "an orderly end says where")
		for _, left := range losses {
			f.holds(left)
		}
	}
	require.Greater(t, told*10, kills*7, "%d of %d", told, kills)
}

// holds starts from what is left, and returns the place that the log says.
func (f *follower) holds(left *vfs.Mem) ReplPoint {
	g := newFixture(f.t, left, f.set)
	if err := g.start(); err != nil {
		f.t.Fatal(err, g.log.String())
	}
	at := g.a.LoadedPlace()
	if at.ID != "" {
		require.Equal(f.t, f.was[at], g.m.data, "%v", at)
	} else {
		whole := false
		for _, was := range f.was {
			whole = whole || maps.Equal(was, g.m.data)
		}
		require.True(f.t, whole, "%v was never the data set", g.m.data)
	}
	require.NoError(f.t, g.a.Close())
	return at
}

// TestPlaceText shows what is written, and that servers without replicas write nothing.
func TestPlaceText(t *testing.T) {
	f := follow(t, vfs.NewMem(), testseed.Rand(t))
	f.known = false
	f.mustStart()
	f.do(0, "SET a 1")
	f.known = true
	f.place = ReplPoint{ID: historyA, Offset: 100, DB: 3}
	f.do(3, "SET a 1")
	f.a.EndBatch()
	f.place.Offset = 130
	f.a.EndBatch() // nothing was logged
	f.place.Offset = 160
	f.do(3, "SET a 2")
	text := f.read("appendonly.aof.1.incr.aof")
	require.Equal(t, 1, strings.Count(text, "#REPL:"+historyA+":3:100\r\n"))
	require.True(t, strings.HasSuffix(text, "\r\n2\r\n#REPL:160\r\n"), text)
	require.Equal(t, 2, strings.Count(text, "#REPL:"))
	f.rewrite(func(int) {})
	f.a.EndBatch()
	require.Equal(t, "#REPL:"+historyA+":3:160\r\n", f.read("appendonly.aof.2.incr.aof"))
}
