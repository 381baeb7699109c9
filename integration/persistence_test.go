package integration

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
	"godwit/internal/testserver"
)

// everything fills databases with every type in every size, some with deadlines.
func everything(t testing.TB, c *client.Client) {
	t.Helper()
	for db := range 3 {
		do(t, c, "SELECT", strconv.Itoa(db))
		do(t, c, "SET", "s:int", "12345")
		do(t, c, "SET", "s:text", strings.Repeat("compress me ", 1000))
		do(t, c, "SET", "s:ttl", "v", "PX", "10000000")
		do(t, c, "SET", "\x00binary\xff", "\r\n\x00")
		do(t, c, "APPEND", "s:raw", "abc")
		for _, n := range []int{3, 1000} {
			for i := range n {
				v := fmt.Sprintf("element:%d", i)
				c.Queue("RPUSH", fmt.Sprintf("l:%d", n), v)
				c.Queue("SADD", fmt.Sprintf("set:%d", n), v)
				c.Queue("SADD", fmt.Sprintf("ints:%d", n), strconv.Itoa(i*i))
				// Eighths have few digits: servers before 7.2 digest 17 of others.
				c.Queue("ZADD", fmt.Sprintf("z:%d", n),
					strconv.FormatFloat(float64(i)/8, 'g', -1, 64), v)
				c.Queue("HSET", fmt.Sprintf("h:%d", n), v, strings.Repeat("x", i%100))
			}
		}
		c.Queue("ZADD", "z:inf", "inf", "a", "-inf", "b")
		c.Queue("RPUSH", "l:plain", strings.Repeat("long", 5000))
		c.Queue("PEXPIRE", "h:1000", "100000000")
		vs, err := c.Pipeline()
		require.NoError(t, err)
		for _, v := range vs {
			require.False(t, v.IsError(), v)
		}
	}
	do(t, c, "SELECT", "0")
}

func digest(t testing.TB, c *client.Client) string {
	t.Helper()
	return do(t, c, "DEBUG", "DIGEST").Text()
}

// again starts a server in the folder of one that has ended.
func again(t testing.TB, s *server, args ...string) *server {
	t.Helper()
	s, err := launchReady(s.Dir, args...)
	require.NoError(t, err)
	t.Cleanup(func() { s.Finish(t) })
	// The answer may come from a server that is still loading.
	c := s.dial(t)
	eventually(t, "the data set is loaded", func() bool {
		v, err := c.Do("PING")
		return err == nil && !v.IsError()
	})
	return s
}

var debugging = []string{"--enable-debug-command", "yes"}

func with(args ...string) []string { return append(append([]string(nil), debugging...), args...) }

// persistInfo returns a field of INFO.
func persistInfo(t testing.TB, c *client.Client, name string) string {
	t.Helper()
	for line := range strings.Lines(do(t, c, "INFO", "everything").Text()) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), name+":"); ok {
			return v
		}
	}
	t.Fatalf("INFO has no %s", name)
	return ""
}

// restarts are the ways to end a server that keep its data.
var restarts = []struct {
	name string
	args []string
	end  func(t *testing.T, s *server, c *client.Client)
}{
	{"SIGTERM saves", with("--save", "3600 1"),
		func(t *testing.T, s *server, _ *client.Client) {
			require.NoError(t, s.Signal(syscall.SIGTERM))
			require.Equal(t, 0, s.Exited(t))
			require.Contains(t, s.Output(), "Saving the final RDB snapshot before exiting.")
			require.Contains(t, s.Output(), "DB saved on disk")
		}},
	{"SHUTDOWN SAVE", with(), func(t *testing.T, s *server, c *client.Client) {
		_, err := c.Do("SHUTDOWN", "SAVE")
		require.Error(t, err)
		require.Equal(t, 0, s.Exited(t))
	}},
	{"SAVE, kill -9", with(), func(t *testing.T, s *server, c *client.Client) {
		do(t, c, "SAVE")
		s.Kill()
	}},
	{"BGSAVE, kill -9", with(), func(t *testing.T, s *server, c *client.Client) {
		require.Equal(t, "Background saving started", do(t, c, "BGSAVE").Text())
		eventually(t, "the save ends", func() bool {
			return persistInfo(t, c, "rdb_bgsave_in_progress") == "0"
		})
		require.Equal(t, "ok", persistInfo(t, c, "rdb_last_bgsave_status"))
		s.Kill()
	}},
	{"log, always, kill -9", with("--appendonly", "yes", "--appendfsync", "always"),
		func(t *testing.T, s *server, _ *client.Client) {
			s.Kill()
		}},
	{"log, everysec, SIGTERM", with("--appendonly", "yes"),
		func(t *testing.T, s *server, _ *client.Client) {
			require.NoError(t, s.Signal(syscall.SIGTERM))
			require.Equal(t, 0, s.Exited(t))
			require.Contains(t, s.Output(), "Calling fsync() on the AOF file.")
		}},
	{"rewritten log", with("--appendonly", "yes"),
		func(t *testing.T, s *server, c *client.Client) {
			rewriteAOF(t, c)
			require.NoError(t, s.Signal(syscall.SIGTERM))
			require.Equal(t, 0, s.Exited(t))
		}},
	{"log of commands", with("--appendonly", "yes", "--aof-use-rdb-preamble", "no"),
		func(t *testing.T, s *server, c *client.Client) {
			rewriteAOF(t, c)
			require.NoError(t, s.Signal(syscall.SIGTERM))
			require.Equal(t, 0, s.Exited(t))
		}},
}

// TestRestart checks that the data is there after each way to end that keeps it, from each file
// that the server can load.
func TestRestart(t *testing.T) {
	t.Parallel()
	for _, w := range restarts {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, w.args...)
			c := s.dial(t)
			everything(t, c)
			filters(t, c)
			sketches(t, c)
			want := digest(t, c)
			w.end(t, s, c)
			s2 := again(t, s, w.args...)
			c2 := s2.dial(t)
			require.Equal(t, want, digest(t, c2))
			if _, logged := testserver.Argument(w.args, "--appendonly"); !logged {
				require.Contains(t, s2.Output(), "DB loaded from disk")
				require.NotEqual(t, "0", persistInfo(t, c2, "rdb_last_load_keys_loaded"))
			}
			files, err := filepath.Glob(filepath.Join(s.Dir, "temp-*"))
			require.NoError(t, err)
			require.Empty(t, files)
		})
	}
}

// TestReloads checks that DEBUG RELOAD and DEBUG LOADAOF change nothing.
func TestReloads(t *testing.T) {
	t.Parallel()
	s := startServer(t, with("--appendonly", "yes")...)
	c := s.dial(t)
	everything(t, c)
	want := digest(t, c)
	for range 2 {
		do(t, c, "DEBUG", "RELOAD")
		require.Equal(t, want, digest(t, c))
		do(t, c, "DEBUG", "LOADAOF")
		require.Equal(t, want, digest(t, c))
	}
	do(t, c, "DEBUG", "RELOAD", "MERGE", "NOFLUSH", "NOSAVE")
	require.Equal(t, want, digest(t, c))
	if !built.godwit {
		return // the reference ends at the next command
	}
	do(t, c, "SET", "later", "1")
	v, err := c.Do("DEBUG", "RELOAD", "NOFLUSH")
	require.NoError(t, err)
	require.Equal(t, "ERR Error trying to load the RDB dump, check server logs.", v.Text())
	s = startServer(t, with()...)
	c = s.dial(t)
	do(t, c, "SET", "a", "1")
	for _, how := range []string{"RELOAD NOSAVE", "LOADAOF"} { // there are no files
		v, err := c.Do(anys(strings.Fields("DEBUG " + how))...)
		require.NoError(t, err)
		require.Contains(t, v.Text(), "ERR Error trying to load the ")
		require.EqualValues(t, 1, do(t, c, "DBSIZE").Int)
	}
}

// TestSnapshotIsOneMoment writes increasing numbers over a few keys while a snapshot is made. The
// snapshot must hold exactly what was there after one of the writes.
func TestSnapshotIsOneMoment(t *testing.T) {
	t.Parallel()
	const keys = 5000
	s := startServer(t)
	c, writer := s.dial(t), s.dial(t)
	for n := range keys {
		c.Queue("SET", "k:"+strconv.Itoa(n), strconv.Itoa(n))
		c.Queue("HSET", "hash", "f:"+strconv.Itoa(n), strconv.Itoa(n))
	}
	_, err := c.Pipeline()
	require.NoError(t, err)
	stop, written := make(chan struct{}), make(chan error, 1)
	go func() {
		written <- writeNumbers(writer, keys, stop)
	}()
	do(t, c, "CONFIG", "SET", "rdb-key-save-delay", "20")
	eventually(t, "the writer has begun", func() bool {
		return do(t, c, "HGET", "hash", "f:0").Text() != "0"
	})
	do(t, c, "BGSAVE")
	eventually(t, "the save ends", func() bool {
		return persistInfo(t, c, "rdb_bgsave_in_progress") == "0"
	})
	close(stop)
	require.NoError(t, <-written)
	s.Kill()
	c = again(t, s).dial(t)
	all := do(t, c, "HGETALL", "hash").Strings()
	require.Len(t, all, 2*keys)
	last, lastKey := 0, 0
	of := map[string]int{}
	for i := 0; i < len(all); i += 2 {
		n, err := strconv.Atoi(all[i+1])
		require.NoError(t, err)
		of[all[i][2:]] = n
		last = max(last, n)
	}
	require.GreaterOrEqual(t, last, keys)
	for n := range keys {
		k := strconv.Itoa(n)
		v, err := strconv.Atoi(do(t, c, "GET", "k:"+k).Text())
		require.NoError(t, err)
		lastKey = max(lastKey, v)
	}
	require.GreaterOrEqual(t, lastKey, last, "the SET comes before the HSET")
	require.LessOrEqual(t, lastKey, last+1)
	want := map[string]int{}
	for n := range keys {
		want[strconv.Itoa(n)] = n
	}
	for n := keys; n <= last; n++ {
		want[strconv.Itoa(n*7919%keys)] = n
	}
	require.Equal(t, want, of)
}

// writeNumbers writes increasing numbers, beginning with keys, until stop is closed. Each goes to a
// string and then to a field of a hash. There are as many strings, and as many fields, as keys
// says.
func writeNumbers(writer *client.Client, keys int, stop <-chan struct{}) error {
	for n := keys; ; n++ {
		select {
		case <-stop:
			return nil
		default:
		}
		key := strconv.Itoa(n * 7919 % keys)
		writer.Queue("SET", "k:"+key, strconv.Itoa(n))
		writer.Queue("HSET", "hash", "f:"+key, strconv.Itoa(n))
		if n%16 == 0 {
			if _, err := writer.Pipeline(); err != nil {
				return err
			}
		}
	}
}

// startLoading starts a server that takes two milliseconds for each key of its snapshot, and
// returns while it loads.
func startLoading(t *testing.T, keys int) *server {
	t.Helper()
	s := startServer(t, with()...)
	do(t, s.dial(t), "DEBUG", "POPULATE", strconv.Itoa(keys))
	do(t, s.dial(t), "SAVE")
	s.stop(t)
	loading, err := testserver.Launch(testserver.Options{Dir: s.Dir,
		Args: with("--key-load-delay", "2000")})
	require.NoError(t, err)
	s = &server{loading}
	t.Cleanup(func() { s.Finish(t) })
	eventually(t, "it accepts connections", func() bool {
		c, err := net.Dial("tcp", s.Addr)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	return s
}

// TestLoadingAnswers checks a server that is loading. Clients are told so, INFO shows the progress,
// and signals end the server.
func TestLoadingAnswers(t *testing.T) {
	t.Parallel()
	godwitOnly(t) // redis-server looks at its clients only every 2 MiB
	s := startLoading(t, 5000)
	c := s.dial(t)
	for _, cmd := range []string{"PING", "GET key:1", "SET a b", "BGSAVE", "DBSIZE", "DEBUG RELOAD",
		"DEBUG RELOAD NOSAVE NOFLUSH MERGE", "DEBUG LOADAOF"} {
		v, err := c.Do(anys(strings.Fields(cmd))...)
		require.NoError(t, err)
		require.Equal(t, "LOADING Redis is loading the dataset in memory", v.Text(), cmd)
	}
	require.Equal(t, "1", persistInfo(t, c, "loading"))
	eventually(t, "there is progress", func() bool {
		return persistInfo(t, c, "loading_loaded_perc") != "0.00"
	})
	for _, f := range []string{"loading_start_time", "loading_total_bytes", "loading_loaded_bytes",
		"loading_eta_seconds"} {
		require.NotEmpty(t, persistInfo(t, c, f))
	}
	require.NotContains(t, s.Output(), "Ready to accept connections")
	before, err := os.ReadFile(filepath.Join(s.Dir, "dump.rdb"))
	require.NoError(t, err)
	require.NoError(t, s.Signal(syscall.SIGTERM))
	require.Equal(t, 0, s.Exited(t))
	after, err := os.ReadFile(filepath.Join(s.Dir, "dump.rdb"))
	require.NoError(t, err)
	require.Equal(t, before, after, "half a data set was saved")
}

// TestAppendOnlyTurnedOnWhileLoading checks that CONFIG SET takes effect after the load.
func TestAppendOnlyTurnedOnWhileLoading(t *testing.T) {
	t.Parallel()
	godwitOnly(t) // redis-server has no log then
	s := startLoading(t, 1000)
	c := s.dial(t)
	do(t, c, "CONFIG", "SET", "appendonly", "yes")
	require.Equal(t, "1", persistInfo(t, c, "loading"))
	eventually(t, "it is loaded", func() bool { return persistInfo(t, c, "loading") == "0" })
	require.Equal(t, "1", persistInfo(t, c, "aof_enabled"))
	do(t, c, "SET", "a", "1")
	eventually(t, "the log is complete", func() bool {
		_, err := os.Stat(filepath.Join(s.Dir, "appendonlydir", "appendonly.aof.manifest"))
		return err == nil && persistInfo(t, c, "aof_rewrite_in_progress") == "0"
	})
}

func anys(words []string) []any {
	out := make([]any, len(words))
	for i, w := range words {
		out[i] = w
	}
	return out
}

// TestCorruptSnapshot checks for exit code 1 and one line with the file, the place and the reason.
func TestCorruptSnapshot(t *testing.T) {
	t.Parallel()
	godwitOnly(t)
	s := startServer(t)
	c := s.dial(t)
	everything(t, c)
	do(t, c, "SAVE")
	s.stop(t)
	path := filepath.Join(s.Dir, "dump.rdb")
	good, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, w := range []struct {
		name string
		file []byte
		want string // of Redis's words
	}{
		// A failed copy or a full disk: no save leaves it so.
		{"empty", []byte{}, "Short read or OOM loading DB: "},
		{"torn", good[:len(good)/2], "Short read or OOM loading DB: "},
		{"flipped", append(append(append([]byte(nil), good[:len(good)/2]...), good[len(good)/2]^4),
			good[len(good)/2+1:]...), ""},
		{"checksum", append(append([]byte(nil), good[:len(good)-1]...), good[len(good)-1]^1),
			"CRC error: "},
		{"no RDB file", []byte("what is this?"), ""},
	} {
		require.NoError(t, os.WriteFile(path, w.file, 0o644))
		s, err := testserver.Launch(testserver.Options{Dir: s.Dir})
		require.NoError(t, err)
		require.Equal(t, 1, s.Exited(t), w.name)
		require.Regexp(t, `# Fatal error loading the DB: dump\.rdb: `+
			`Internal error in RDB reading offset \d+.*: `+w.want+`.*Exiting\.\n`,
			s.Output(), w.name)
		require.NotContains(t, s.Output(), "Ready to accept")
		now, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, w.file, now, "the file was touched")
	}
}

// blockSnapshots puts a folder where the snapshot file goes. No rename can replace it, whoever runs
// the tests.
func blockSnapshots(t testing.TB, s *server) (unblock func()) {
	path := filepath.Join(s.Dir, "dump.rdb")
	_ = os.Remove(path)
	require.NoError(t, os.MkdirAll(filepath.Join(path, "full"), 0o755))
	return func() { require.NoError(t, os.RemoveAll(path)) }
}

// TestMisconf checks that writes are refused after a snapshot has failed, until one works.
func TestMisconf(t *testing.T) {
	t.Parallel()
	s := startServer(t, "--save", "3600 1")
	c := s.dial(t)
	do(t, c, "SET", "a", "1")
	unblock := blockSnapshots(t, s)
	do(t, c, "BGSAVE")
	eventually(t, "the save fails", func() bool {
		return persistInfo(t, c, "rdb_last_bgsave_status") == "err"
	})
	require.Contains(t, s.Output(), "Background saving error")
	for _, cmd := range []string{"SET a 2", "PING", "DEL a"} {
		v, err := c.Do(anys(strings.Fields(cmd))...)
		require.NoError(t, err)
		require.True(t,
			strings.HasPrefix(v.Text(), "MISCONF Redis is configured to save RDB snapshots"), v)
	}
	require.Equal(t, "1", do(t, c, "GET", "a").Text())
	v, err := c.Do("SAVE")
	require.NoError(t, err)
	require.Equal(t, "ERR", v.Text())
	unblock()
	do(t, c, "BGSAVE")
	eventually(t, "the save works", func() bool {
		return persistInfo(t, c, "rdb_last_bgsave_status") == "ok"
	})
	do(t, c, "SET", "a", "2")
}

// TestShutdownThatCannotSave checks that the server goes on rather than lose data, unless it is
// told otherwise.
func TestShutdownThatCannotSave(t *testing.T) {
	t.Parallel()
	s := startServer(t, "--save", "3600 1")
	c := s.dial(t)
	do(t, c, "SET", "a", "1")
	blockSnapshots(t, s)
	v, err := c.Do("SHUTDOWN")
	require.NoError(t, err)
	require.Equal(t, "ERR Errors trying to SHUTDOWN. Check logs.", v.Text())
	refusals := func() int {
		return strings.Count(s.Output(), "Error trying to save the DB, can't exit.")
	}
	for range 2 { // a second signal does not insist after a refused shutdown
		n := refusals()
		eventually(t, "the refusal", func() bool { // a signal during an attempt changes nothing
			require.NoError(t, s.Signal(syscall.SIGTERM))
			return refusals() > n
		})
	}
	require.Equal(t, "1", do(t, c, "GET", "a").Text())
	v, err = c.Do("SHUTDOWN", "ABORT")
	require.NoError(t, err)
	require.Equal(t, "ERR No shutdown in progress.", v.Text())
	_, err = c.Do("SHUTDOWN", "FORCE")
	require.Error(t, err)
	require.Equal(t, 0, s.Exited(t))
	require.Contains(t, s.Output(), "Error trying to save the DB. Exit anyway.")
}

// TestShutdownEndsBgsave checks that the unfinished file is removed.
func TestShutdownEndsBgsave(t *testing.T) {
	t.Parallel()
	s := startServer(t, with("--rdb-key-save-delay", "1000000")...)
	c := s.dial(t)
	do(t, c, "DEBUG", "POPULATE", "1000")
	do(t, c, "BGSAVE")
	_, err := c.Do("SHUTDOWN", "NOSAVE")
	require.Error(t, err)
	require.Equal(t, 0, s.Exited(t))
	files, err := filepath.Glob(filepath.Join(s.Dir, "*.rdb"))
	require.NoError(t, err)
	require.Empty(t, files)
}

// TestSavePoint checks that a save begins by itself and that CONFIG SET changes when.
func TestSavePoint(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	c := s.dial(t)
	do(t, c, "SET", "a", "1")
	do(t, c, "CONFIG", "SET", "save", "3600 1000 1 1")
	require.Equal(t, "3600 1000 1 1", do(t, c, "CONFIG", "GET", "save").Strings()[1])
	eventually(t, "a save", func() bool {
		return persistInfo(t, c, "rdb_changes_since_last_save") == "0"
	})
	require.Contains(t, s.Output(), "1 changes in 1 seconds. Saving...")
	do(t, c, "CONFIG", "SET", "save", "")
	require.FileExists(t, filepath.Join(s.Dir, "dump.rdb"))
}

// TestDumpWithRedis moves payloads of DUMP both ways.
func TestDumpWithRedis(t *testing.T) {
	t.Parallel()
	theirs, err := client.Dial("tcp", startRedis(t, debugging...))
	require.NoError(t, err)
	defer theirs.Close()
	ours := startServer(t, debugging...).dial(t)
	for _, way := range [][2]*client.Client{{theirs, ours}, {ours, theirs}} {
		from, to := way[0], way[1]
		do(t, from, "FLUSHALL")
		do(t, to, "FLUSHALL")
		everything(t, from)
		keys := do(t, from, "KEYS", "*").Strings()
		for _, k := range keys {
			payload := do(t, from, "DUMP", k).Text()
			ttl := max(do(t, from, "PTTL", k).Int, 0)
			do(t, to, "RESTORE", k, strconv.FormatInt(ttl, 10), payload)
			require.Equal(t, do(t, from, "DEBUG", "DIGEST-VALUE", k).Strings(),
				do(t, to, "DEBUG", "DIGEST-VALUE", k).Strings(), k)
		}
	}
}

// TestMigrateWithRedis moves keys between a server and redis-server, both ways.
func TestMigrateWithRedis(t *testing.T) {
	t.Parallel()
	redisAddr := startRedis(t, debugging...)
	theirs, err := client.Dial("tcp", redisAddr)
	require.NoError(t, err)
	defer theirs.Close()
	s := startServer(t, debugging...)
	ours := s.dial(t)
	for _, way := range []struct {
		from, to *client.Client
		addr     string
	}{{ours, theirs, redisAddr}, {theirs, ours, s.Addr}} {
		from, to := way.from, way.to
		host, port, err := net.SplitHostPort(way.addr)
		require.NoError(t, err)
		do(t, from, "FLUSHALL")
		do(t, to, "FLUSHALL")
		everything(t, from)
		want := digest(t, from)
		for db := range 3 {
			do(t, from, "SELECT", strconv.Itoa(db))
			args := []any{"MIGRATE", host, port, "", strconv.Itoa(db), "5000", "KEYS"}
			args = append(args, anys(do(t, from, "KEYS", "*").Strings())...)
			require.Equal(t, "OK", do(t, from, args...).Text())
			require.Zero(t, do(t, from, "DBSIZE").Int)
		}
		do(t, from, "SELECT", "0")
		require.Equal(t, want, digest(t, to))
		migrateOptions(t, from, to, host, port)
	}
	closed := strconv.Itoa(freePort())
	do(t, ours, "SET", "k", "v")
	v, err := ours.Do("MIGRATE", "127.0.0.1", closed, "k", "0", "100")
	require.NoError(t, err)
	require.Equal(t, "IOERR error or timeout writing to target instance", v.Text())
	require.Equal(t, "v", do(t, ours, "GET", "k").Text())
}

func migrateOptions(t *testing.T, from, to *client.Client, host, port string) {
	migrate := func(args ...any) string {
		v, err := from.Do(append([]any{"MIGRATE", host, port}, args...)...)
		require.NoError(t, err)
		return v.Text()
	}
	require.Equal(t, "NOKEY", migrate("none", "0", "1000"))
	do(t, from, "SET", "k", "1", "PX", "100000")
	require.Equal(t, "OK", migrate("k", "5", "1000", "COPY"))
	require.Equal(t, "1", do(t, from, "GET", "k").Text())
	do(t, from, "SET", "k", "2", "PX", "100000")
	require.Equal(t,
		"ERR Target instance replied with error: BUSYKEY Target key name already exists.",
		migrate("k", "5", "1000"))
	require.Equal(t, "OK", migrate("k", "5", "1000", "REPLACE"))
	require.Zero(t, do(t, from, "EXISTS", "k").Int)
	do(t, to, "SELECT", "5")
	require.Equal(t, "2", do(t, to, "GET", "k").Text())
	require.Greater(t, do(t, to, "PTTL", "k").Int, int64(50000))
	do(t, to, "SELECT", "0")
	do(t, from, "SET", "k", "3")
	require.Contains(t, migrate("k", "0", "1000", "AUTH", "wrong"),
		"ERR Target instance replied with error: ")
	require.Contains(t, migrate("k", "0", "1000", "AUTH2", "nobody", "wrong"),
		"ERR Target instance replied with error: WRONGPASS")
	require.Contains(t, migrate("k", "99", "1000"),
		"ERR Target instance replied with error: ERR DB index is out of range")
	require.Equal(t, "3", do(t, from, "GET", "k").Text())
	require.Equal(t,
		"ERR When using MIGRATE KEYS option, the key argument must be set to the empty string",
		migrate("k", "0", "1000", "KEYS", "a"))
	require.Equal(t, "ERR syntax error", migrate("k", "0", "1000", "WHAT"))
	require.Equal(t, "ERR syntax error", migrate("k", "0", "1000", "AUTH"))
	require.Equal(t, "ERR value is not an integer or out of range", migrate("k", "x", "1000"))
}
