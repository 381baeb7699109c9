package persist

import (
	"bytes"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/propagation"
	"godwit/internal/testseed"
	"godwit/internal/vfs"
)

func TestAOFWritesRedisText(t *testing.T) {
	f := newFixture(t, vfs.NewMem(), usual)
	f.mustStart()
	f.do(0, "SET a 1")
	f.do(0, "SET bb 22")
	f.do(3, "SET a 1", "DEL a")
	f.unit(3, "SET c 1")
	f.unit(0, "DEL c")
	f.a.EndBatch()
	require.Equal(t, "appendonly.aof.1.base.aof appendonly.aof.1.incr.aof appendonly.aof.manifest",
		f.files())
	require.Equal(t,
		"file appendonly.aof.1.base.aof seq 1 type b\n"+
			"file appendonly.aof.1.incr.aof seq 1 type i\n", f.read("appendonly.aof.manifest"))
	want := "*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\n" +
		"*3\r\n$3\r\nSET\r\n$2\r\nbb\r\n$2\r\n22\r\n" +
		"*2\r\n$6\r\nSELECT\r\n$1\r\n3\r\n*1\r\n$5\r\nMULTI\r\n" +
		"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\n" +
		"*2\r\n$3\r\nDEL\r\n$1\r\na\r\n*1\r\n$4\r\nEXEC\r\n" +
		"*3\r\n$3\r\nSET\r\n$1\r\nc\r\n$1\r\n1\r\n" +
		"*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n*2\r\n$3\r\nDEL\r\n$1\r\nc\r\n"
	require.Equal(t, want, f.read("appendonly.aof.1.incr.aof"))
	require.EqualValues(t, len(want), f.a.Offset())
	require.EqualValues(t, len(want), f.a.Synced())
	require.EqualValues(t, len(want), f.a.Info().CurrentSize)
	was := f.m.clone()
	f.restart()
	require.Equal(t, was, f.m.data)
	require.EqualValues(t, len(want), f.a.Info().CurrentSize)
}

func TestAOFTimestamps(t *testing.T) {
	set := usual
	set.Timestamps = true
	f := newFixture(t, vfs.NewMem(), set)
	f.mustStart()
	f.do(0, "SET a 1")
	f.do(0, "SET a 2")
	f.now += 2500
	f.do(0, "SET a 3")
	text := f.read("appendonly.aof.1.incr.aof")
	require.True(t, strings.HasPrefix(text, "#TS:1700000000\r\n*2\r\n$6\r\nSELECT"), text)
	require.Equal(t, 2, strings.Count(text, "#TS:"))
	require.Contains(t, text, "#TS:1700000002\r\n*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n3\r\n")
	f.rewrite(func(int) {})
	f.do(0, "SET a 4")
	text = f.read("appendonly.aof.2.incr.aof")
	require.True(t, strings.HasPrefix(text, "#TS:1700000002\r\n*2\r\n$6\r\nSELECT"),
		"each file begins with its time: %s", text)
	f.restart()
	require.Equal(t, map[string]string{"0/a": "4"}, f.m.data)
}

func TestAOFPropagateAllocatesNothing(t *testing.T) {
	set := usual
	set.Fsync = FsyncNo
	f := newFixture(t, vfs.NewMem(), set)
	f.mustStart()
	argv := [][]byte{[]byte("SET"), []byte("key:000000000001"), make([]byte, 64)}
	f.a.out.B = make([]byte, 0, 1<<20)
	require.Zero(t, testing.AllocsPerRun(1000, func() { f.feed.Send(propagation.All, 1, argv) }))
}

// TestAOFTornTail cuts the log at every byte of its last unit, a command or a transaction, and
// expects everything before it.
func TestAOFTornTail(t *testing.T) {
	for _, last := range [][]string{{"SET key value2"}, {"SET key value2", "DEL other"}} {
		mem := vfs.NewMem()
		f := newFixture(t, mem, usual)
		f.mustStart()
		f.do(0, "SET other 1", "SET x 2")
		f.do(0, "SET key value1")
		before, whole := f.m.clone(), int(f.a.Offset())
		f.do(0, last...)
		after, end := f.m.clone(), int(f.a.Offset())
		text := f.read("appendonly.aof.1.incr.aof")
		require.NoError(t, f.a.Close())
		for cut := whole; cut <= end; cut++ {
			require.NoError(t,
				writeAll(mem, "/d/appendonlydir/appendonly.aof.1.incr.aof", []byte(text[:cut])))
			g := newFixture(t, mem, usual)
			g.mustStart()
			want := before
			if cut == end {
				want = after
			}
			require.Equal(t, want, g.m.data, "cut at %d", cut)
			if cut > whole && cut < end {
				require.Contains(t, g.log.String(),
					fmt.Sprintf("!!! Truncating the AOF appendonly.aof.1.incr.aof at offset %d !!!",
						whole))
				require.Len(t, g.read("appendonly.aof.1.incr.aof"), whole)
				require.NoError(t, g.a.Close())
				require.NoError(t,
					writeAll(mem, "/d/appendonlydir/appendonly.aof.1.incr.aof", []byte(text[:cut])))
				g.set.LoadTruncated = false
				require.ErrorContains(t, g.start(),
					fmt.Sprintf("appendonly.aof.1.incr.aof, offset %d: Unexpected end of file",
						whole))
				continue
			}
			require.NoError(t, g.a.Close())
		}
	}
}

// TestAOFTornInTheMiddle checks that only the last file may be torn.
func TestAOFTornInTheMiddle(t *testing.T) {
	mem := vfs.NewMem()
	f := newFixture(t, mem, usual)
	f.mustStart()
	f.do(0, "SET a 1")
	f.do(0, "SET b 1")
	require.Equal(t, RewriteStarted, f.a.Rewrite(false))
	f.do(0, "SET c 1")
	f.a.work.drain()
	require.NoError(t, f.a.Close())
	text := f.read("appendonly.aof.1.incr.aof")
	require.NoError(t,
		writeAll(mem, "/d/appendonlydir/appendonly.aof.1.incr.aof", []byte(text[:len(text)-3])))
	require.ErrorContains(t, f.start(),
		"AOF file appendonly.aof.1.incr.aof, offset 50: the truncated file is not the last file")
	require.Equal(t, text[:len(text)-3], f.read("appendonly.aof.1.incr.aof"),
		"a refused file is left alone")
}

// TestAOFDamage flips every bit of a log: it is found, or only a value is another, or the last
// command is gone with a line in the log.
func TestAOFDamage(t *testing.T) {
	mem := vfs.NewMem()
	f := newFixture(t, mem, usual)
	f.mustStart()
	for i := range 4 {
		f.do(0, fmt.Sprintf("SET key%d value%d", i, i))
		f.do(1, fmt.Sprintf("SET key%d value%d", i, i), fmt.Sprintf("DEL key%d", i))
	}
	keys := len(f.m.data)
	text := []byte(f.read("appendonly.aof.1.incr.aof"))
	require.NoError(t, f.a.Close())
	refused := 0
	for i := range text {
		for bit := range 8 {
			text[i] ^= 1 << bit
			require.NoError(t, writeAll(mem, "/d/appendonlydir/appendonly.aof.1.incr.aof", text))
			g := newFixture(t, mem, usual)
			if err := g.start(); err != nil {
				require.ErrorContains(t, err, "appendonly.aof.1.incr.aof, offset ")
				refused++
			} else {
				require.NoError(t, g.a.Close())
				if strings.Contains(g.log.String(), "Truncating") {
					require.Greater(t, i, len(text)-110,
						"bit %d of byte %d: only the end may be taken for torn", bit, i)
				} else {
					require.InDelta(t, keys, len(g.m.data), 1)
				}
			}
			text[i] ^= 1 << bit
		}
	}
	require.Greater(t, refused, 4*len(text))
}

func TestAOFWriteErrorEverysec(t *testing.T) {
	for _, keep := range []bool{false, true} { // whether the short write can be undone
		plan := vfs.NewPlan()
		set := usual
		set.Fsync = FsyncEverySec
		f := newFixture(t, vfs.Faulty(vfs.NewMem(), plan), set)
		f.mustStart()
		f.do(0, "SET a 1")
		size := len(f.read("appendonly.aof.1.incr.aof"))
		plan.Add(vfs.Fault{Op: vfs.OpWrite, Name: "incr.aof", After: 7, Bytes: true})
		if keep {
			plan.Add(vfs.Fault{Op: vfs.OpTruncate, Name: "incr.aof"})
		}
		f.do(0, "SET b 2")
		require.Equal(t, "No space left on device", f.a.WriteError())
		require.False(t, f.a.Info().LastWriteOK)
		require.Contains(t, f.log.String(),
			"Short write while writing to the AOF file: (nwritten=7, expected=27)")
		if keep {
			size += 7
		}
		require.Len(t, f.read("appendonly.aof.1.incr.aof"), size)
		f.do(0, "SET c 3") // an expiry, say: it is kept for later
		f.now += 1000
		f.a.Cron()
		require.NotEmpty(t, f.a.WriteError())
		plan.Clear()
		f.a.Cron()
		require.NotEmpty(t, f.a.WriteError(), "one attempt a second")
		f.now += 1000
		f.a.Cron()
		require.Empty(t, f.a.WriteError())
		require.Contains(t, f.log.String(), "AOF write error looks solved, Godwit can write again.")
		require.Equal(t, -1, f.exit)
		f.restart()
		require.Equal(t, map[string]string{"0/a": "1", "0/b": "2", "0/c": "3"}, f.m.data)
	}
}

func TestAOFAlwaysExitsOnErrors(t *testing.T) {
	for op, line := range map[vfs.Op]string{
		vfs.OpWrite: "Can't recover from AOF write error when the AOF fsync policy is 'always'. " +
			"Exiting...",
		vfs.OpSync: "Can't persist AOF for fsync error when the AOF fsync policy is 'always': " +
			"Input/output error. Exiting...",
	} {
		plan := vfs.NewPlan()
		f := newFixture(t, vfs.Faulty(vfs.NewMem(), plan), usual)
		f.mustStart()
		plan.Add(vfs.Fault{Op: op, Name: "incr.aof"})
		f.do(0, "SET b 2")
		require.Equal(t, 1, f.exit)
		require.Contains(t, f.log.String(), line)
	}
}

// slowFS holds every Sync of incremental files until it is let go.
type slowFS struct {
	vfs.FS
	hold chan chan struct{}
}

type slowFile struct {
	vfs.File
	fs *slowFS
}

func (s *slowFS) Open(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := s.FS.Open(name, flag, perm)
	if err != nil || !strings.Contains(name, "incr.aof") {
		return f, err
	}
	return slowFile{f, s}, nil
}

func (f slowFile) Sync() error {
	done := make(chan struct{})
	f.fs.hold <- done
	<-done
	return f.File.Sync()
}

func TestAOFEverysecPostponesWrites(t *testing.T) {
	set := usual
	set.Fsync = FsyncEverySec
	slow := &slowFS{FS: vfs.NewMem(), hold: make(chan chan struct{})}
	f := newFixture(t, slow, set)
	f.mustStart()
	f.do(0, "SET a 1")
	require.Zero(t, f.a.Synced())
	f.now += 1000
	f.a.EndBatch() // nothing new, but the last write is not synced
	release := <-slow.hold
	require.Equal(t, 1, f.a.Info().PendingSyncs)
	size := len(f.read("appendonly.aof.1.incr.aof"))
	f.do(0, "SET b 1")
	require.NotZero(t, f.a.Info().BufferLength)
	f.now += postponeMs - 1
	f.do(0, "SET c 1")
	require.Len(t, f.read("appendonly.aof.1.incr.aof"), size, "it waits for the sync")
	f.now++
	f.do(0, "SET d 1")
	require.Zero(t, f.a.Info().BufferLength)
	require.EqualValues(t, 1, f.a.Info().DelayedFsync)
	require.Contains(t, f.log.String(), "Asynchronous AOF fsync is taking too long (disk is busy?)")
	close(release)
	f.a.work.drain()
	require.EqualValues(t, size, f.a.Synced())
	f.now += 1000
	f.a.EndBatch()
	close(<-slow.hold)
	f.a.work.drain()
	require.Equal(t, f.a.Offset(), f.a.Synced())
	go func() { close(<-slow.hold) }()
	require.NoError(t, f.a.Close())
}

func TestAOFSyncErrorRefusesWritesUntilOneWorks(t *testing.T) {
	plan := vfs.NewPlan()
	set := usual
	set.Fsync = FsyncEverySec
	f := newFixture(t, vfs.Faulty(vfs.NewMem(), plan), set)
	f.mustStart()
	plan.Add(vfs.Fault{Op: vfs.OpSync, Name: "incr.aof"})
	f.do(0, "SET a 1")
	f.now += 1000
	f.a.EndBatch()
	f.a.work.drain()
	require.Equal(t, "Input/output error", f.a.WriteError())
	require.Contains(t, f.log.String(), "Fail to fsync the AOF file: Input/output error")
	f.now += 1000
	f.a.Cron()
	f.a.work.drain()
	require.NotEmpty(t, f.a.WriteError())
	plan.Clear()
	f.now += 1000
	f.a.Cron()
	f.a.work.drain()
	require.Empty(t, f.a.WriteError())
	f.a.Cron()
	require.True(t, f.a.Info().RewriteInProgress, "what the kernel dropped comes back")
	f.base()
	f.finish()
	f.restart()
	require.Equal(t, map[string]string{"0/a": "1"}, f.m.data)
}

// TestAOFRandom runs random units, rewrites, restarts and switches, and compares after each
// restart.
func TestAOFRandom(t *testing.T) {
	rnd := testseed.Rand(t)
	for range 20 {
		set := usual
		set.Fsync = FsyncPolicy(rnd.IntN(3))
		set.RDBPreamble = rnd.IntN(2) == 0
		set.Timestamps = rnd.IntN(2) == 0
		f := newFixture(t, vfs.NewMem(), set)
		f.mustStart()
		for range 200 {
			switch n := rnd.IntN(40); {
			case n == 0:
				f.finish()
				was := f.m.clone()
				f.restart()
				require.Equal(t, was, f.m.data)
			case n == 1 && f.a.Enabled():
				f.a.Rewrite(false)
			case n == 2 && f.base != nil:
				f.base()
			case n == 3 && f.base != nil && rnd.IntN(3) == 0:
				f.fail = syscall.EIO
				f.base()
			case n < 8:
				f.a.Cron()
			default:
				f.now += int64(rnd.IntN(700))
				var cmds []string
				for range 1 + rnd.IntN(3) {
					cmds = append(cmds, fmt.Sprintf("SET k%d %d", rnd.IntN(20), rnd.Uint32()))
				}
				f.unit(rnd.IntN(3), cmds...)
				if rnd.IntN(2) == 0 {
					f.a.EndBatch()
				}
			}
		}
		f.restart()
	}
}

// TestAOFUnitOfSeveralDatabases checks that SELECT stands before the MULTI for the first command,
// within it where the database changes, and the next unit knows which one is selected.
func TestAOFUnitOfSeveralDatabases(t *testing.T) {
	f := newFixture(t, vfs.NewMem(), usual)
	f.mustStart()
	for _, unit := range []string{"2 SET a 1;2 SET b 1;5 SET a 2", "5 SET c 1",
		"5 SET d 1;0 SET d 2"} {
		f.feed.Begin()
		for _, line := range strings.Split(unit, ";") {
			f.feed.Send(propagation.Log, int(line[0]-'0'), bytes.Fields([]byte(line[2:])))
		}
		f.feed.End()
	}
	f.a.EndBatch()
	text := f.read("appendonly.aof.1.incr.aof")
	words := strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return r == '\r' || r == '\n'
	}), " ")
	words = regexp.MustCompile(`[*$]\d+ `).ReplaceAllString(words, "")
	require.Equal(t,
		"SELECT 2 MULTI SET a 1 SET b 1 SELECT 5 SET a 2 EXEC SET c 1 MULTI SET d 1 SELECT 0 SET "+
			"d 2 EXEC", words)
	f.restart()
	require.Equal(t,
		map[string]string{"2/a": "1", "2/b": "1", "5/a": "2", "5/c": "1", "5/d": "1", "0/d": "2"},
		f.m.data)
}
