package persist

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/vfs"
)

const logDir = "/d/appendonlydir/"

// withManifest starts a server with that manifest beside files that hold one command each.
func withManifest(t *testing.T, manifest string, files ...string) *fixture {
	f := newFixture(t, vfs.NewMem(), usual)
	require.NoError(t, f.fs.MkdirAll(logDir, 0o755))
	for _, name := range files {
		set := fmt.Sprintf("*3\r\n$3\r\nSET\r\n$%d\r\n%s\r\n$1\r\n1\r\n", len(name), name)
		require.NoError(t, writeAll(f.fs, logDir+name, []byte(set)))
	}
	require.NoError(t, writeAll(f.fs, logDir+"appendonly.aof.manifest", []byte(manifest)))
	return f
}

// TestManifestSeqEnds checks that the last sequence number is refused, and that none is given out
// behind which a start would be.
func TestManifestSeqEnds(t *testing.T) {
	for _, kind := range "bih" {
		for _, seq := range []string{"9223372036854775807", "9223372036854775808",
			"99999999999999999999", "-1", "-9223372036854775808"} {
			f := withManifest(t,
				fmt.Sprintf("file a seq %s type %c\nfile b seq 1 type i\n", seq, kind), "a", "b")
			require.ErrorContains(t, f.start(), "seq", "%s of %c", seq, kind)
		}
	}
	for _, kind := range "bi" {
		last := int64(maxSeq)
		f := withManifest(t, fmt.Sprintf("file a seq %d type %c\n", last, kind), "a")
		if kind == 'b' { // an incremental file has to be added
			require.ErrorContains(t, f.start(), "there is no seq behind")
		} else {
			f.mustStart()
			f.do(0, "SET k 1")
			require.Equal(t, RewriteFailed, f.a.Rewrite(false))
			require.Contains(t, f.log.String(), "there is no seq behind")
			was := f.m.clone()
			f.restart()
			require.Equal(t, was, f.m.data)
			require.NoError(t, f.a.Close())
		}

		f = withManifest(t,
			fmt.Sprintf("file a seq %d type %c\n", int64(math.MaxInt64)-1<<33-2, kind), "a")
		f.mustStart()
		for n := range 2 {
			f.rewrite(func(int) { f.do(0, fmt.Sprintf("SET k%d 1", n)) })
			was := f.m.clone()
			f.restart()
			require.Equal(t, was, f.m.data)
		}
		require.NotContains(t, f.files(), ".-")
	}
}

// TestManifestNamesThatAreTaken checks that a file of the manifest is not overwritten by a new one,
// whatever name goes with which number.
func TestManifestNamesThatAreTaken(t *testing.T) {
	for _, manifest := range []string{
		"file appendonly.aof.2.base.aof seq 1 type b\n" +
			"file appendonly.aof.2.incr.aof seq 1 type i\n",
		"file appendonly.aof.1.incr.aof seq 1 type b\n" +
			"file appendonly.aof.2.base.aof seq 1 type i\n",
		"file appendonly.aof.2.base.rdb seq 007 type i\nfile appendonly.aof.8.incr.aof seq +8 " +
			"type i\nfile appendonly.aof.9.incr.aof seq 3 type h\n",
		"file appendonly.aof.2.incr.aof seq 1 type i\n" +
			"file appendonly.aof.3.incr.aof seq 2 type i\n",
	} {
		names := []string{}
		m, err := parseManifest("m", []byte(manifest))
		require.NoError(t, err)
		for _, f := range append(m.files(), m.history...) {
			names = append(names, f.name)
		}
		for _, off := range []bool{false, true} {
			f := withManifest(t, manifest, names...)
			f.set.RDBPreamble = len(names)%2 == 0
			f.mustStart()
			f.do(0, "SET live 1")
			want := f.m.clone()
			if off {
				f.a.Disable()
				require.NoError(t, f.a.Enable(false))
			} else {
				require.Equal(t, RewriteStarted, f.a.Rewrite(false))
			}
			f.a.work.drain()
			g := newFixture(t, f.fs.(*vfs.Mem).Crash(vfs.KeepAll), usual) // in the middle of it
			g.mustStart()
			require.Equal(t, want, g.m.data, manifest)
			f.base()
			f.finish()
			f.restart()
			require.Equal(t, want, f.m.data, manifest)
		}
	}
}

// TestEnableBesideStrays checks that files that no manifest names are neither overwritten nor
// deleted when the log is turned on.
func TestEnableBesideStrays(t *testing.T) {
	f := newFixture(t, vfs.NewMem(), usual)
	f.mustStart()
	f.a.Disable()
	require.NoError(t, f.fs.Remove(logDir+"appendonly.aof.manifest"))
	lost := map[string]string{"appendonly.aof.4.base.aof": "what",
		"appendonly.aof.7.incr.aof": "was", "appendonly.aof.5.base.rdb": "here"}
	for name, text := range lost {
		require.NoError(t, writeAll(f.fs, logDir+name, []byte(text)))
	}
	f.do(0, "SET a 1")
	require.NoError(t, f.a.Enable(false))
	f.base()
	f.finish()
	require.Equal(t,
		"file appendonly.aof.6.base.aof seq 6 type b\n"+
			"file appendonly.aof.8.incr.aof seq 8 type i\n", f.read("appendonly.aof.manifest"))
	for name, text := range lost {
		require.Equal(t, text, f.read(name))
	}
	f.restart()
	require.Equal(t, map[string]string{"0/a": "1"}, f.m.data)
}

// TestEnableBesideABrokenManifest fails, and changes nothing.
func TestEnableBesideABrokenManifest(t *testing.T) {
	f := newFixture(t, vfs.NewMem(), usual)
	f.mustStart()
	f.a.Disable()
	require.NoError(t, writeAll(f.fs, logDir+"appendonly.aof.manifest", []byte("nonsense\n")))
	files := f.files()
	require.ErrorIs(t, f.a.Enable(false), ErrEnable)
	require.Equal(t, RewriteFailed, f.a.Rewrite(false))
	require.False(t, f.a.Enabled())
	require.Equal(t, "nonsense\n", f.read("appendonly.aof.manifest"))
	require.Equal(t, files, f.files())
	require.ErrorContains(t, f.a.CheckManifest(), "line 1")
	f.a.Cron()
	require.False(t, f.a.owned)
}

// TestInsist has a log that must be on and cannot be: writes are refused until it can.
func TestInsist(t *testing.T) {
	f := newFixture(t, vfs.NewMem(), usual)
	f.mustStart()
	f.a.Disable()
	whole := f.read("appendonly.aof.manifest")
	write := func(text string) {
		require.NoError(t, writeAll(f.fs, logDir+"appendonly.aof.manifest", []byte(text)))
	}
	cron := func() {
		f.now += 2 * maxEnableDelay
		f.a.Cron()
	}
	write("nonsense\n")
	f.a.Insist(false)
	cron()
	require.False(t, f.a.Enabled())
	require.NotEmpty(t, f.a.WriteError())
	require.True(t, f.a.Info().FirstBase) // SHUTDOWN says something
	write(whole)
	cron()
	require.True(t, f.a.Enabled())
	require.Empty(t, f.a.WriteError())

	f.a.Disable()
	write("nonsense\n")
	f.a.Insist(false)
	f.a.Disable() // CONFIG SET appendonly no
	write(whole)
	cron()
	require.False(t, f.a.Enabled())
	require.Empty(t, f.a.WriteError())
}
