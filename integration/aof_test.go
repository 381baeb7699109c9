package integration

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp"
	"godwit/internal/resp/client"
	"godwit/internal/testserver"
)

// checkAOF runs redis-check-aof on the log in the server's folder.
func checkAOF(t *testing.T, dir string) {
	t.Helper()
	bin := testserver.Program(t, "redis-check-aof")
	out, err := exec.Command(bin,
		filepath.Join(dir, "appendonlydir", "appendonly.aof.manifest")).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "All AOF files and manifest are valid")
}

func dialAddr(t testing.TB, addr string) *client.Client {
	t.Helper()
	c, err := client.Dial("tcp", addr)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func rewriteAOF(t *testing.T, c *client.Client) {
	t.Helper()
	before := persistInfo(t, c, "aof_rewrites")
	do(t, c, "BGREWRITEAOF")
	eventually(t, "the rewrite ends", func() bool {
		return persistInfo(t, c, "aof_rewrites") != before &&
			persistInfo(t, c, "aof_rewrite_in_progress") == "0"
	})
	require.Equal(t, "ok", persistInfo(t, c, "aof_last_bgrewrite_status"))
}

// logComplete waits until a log that CONFIG SET has turned on has its base.
func logComplete(t *testing.T, c *client.Client) {
	t.Helper()
	eventually(t, "the log is complete", func() bool {
		return persistInfo(t, c, "aof_rewrite_in_progress") == "0" &&
			persistInfo(t, c, "aof_rewrite_scheduled") == "0"
	})
}

// TestAOFWithRedis hands a log from a server to redis-server and back, before and after rewrites.
func TestAOFWithRedis(t *testing.T) {
	godwitOnly(t)
	t.Parallel()
	for _, preamble := range []string{"yes", "no"} {
		for _, rewritten := range []bool{false, true} {
			t.Run(fmt.Sprintf("preamble=%s,rewritten=%v", preamble, rewritten), func(t *testing.T) {
				aof := with("--appendonly", "yes", "--aof-use-rdb-preamble", preamble,
					"--aof-timestamp-enabled", "yes")
				s := startServer(t, aof...)
				c := s.dial(t)
				everything(t, c)
				if rewritten {
					rewriteAOF(t, c)
					do(t, c, "SET", "after", "the rewrite")
				}
				want := digest(t, c)
				s.stop(t)
				checkAOF(t, s.Dir)

				addr := startRedis(t, append([]string{"--dir", s.Dir}, aof...)...)
				r := dialAddr(t, addr)
				eventually(t, "redis-server has loaded", func() bool {
					v, _ := r.Do("PING")
					return !v.IsError()
				})
				require.Equal(t, want, digest(t, r))
				for _, cmd := range [][]any{{"MULTI"}, {"SELECT", "4"}, {"SET", "m", "1"},
					{"SPOP", "set:3"}, {"SELECT", "0"}, {"SPOP", "set:3"},
					{"INCRBYFLOAT", "f", "0.1"}, {"EXEC"}} {
					do(t, r, cmd...)
				}
				if rewritten {
					rewriteAOF(t, r)
					do(t, r, "RPUSH", "l:3", "again")
				}
				want = digest(t, r)
				_, err := r.Do("SHUTDOWN", "NOSAVE")
				require.Error(t, err)
				eventually(t, "redis-server has ended", func() bool {
					return !testserver.Answers("tcp", addr)
				})

				s = again(t, s, aof...)
				require.Equal(t, want, digest(t, s.dial(t)))
			})
		}
	}
}

// TestAOFOfOldVersions checks that a single-file log, as written before version 7, moves into the
// folder, with or without an RDB preamble. Before version 5 scripts were logged as they were
// called.
func TestAOFOfOldVersions(t *testing.T) {
	t.Parallel()
	for _, preamble := range []string{"yes", "no"} {
		aof := with("--appendonly", "yes", "--aof-use-rdb-preamble", preamble)
		s := startServer(t, aof...)
		c := s.dial(t)
		everything(t, c)
		rewriteAOF(t, c)
		do(t, c, "SET", "tail", "1")
		want := digest(t, c)
		do(t, c, "SET", "tail", "0")
		s.stop(t)
		folder := filepath.Join(s.Dir, "appendonlydir")
		var old []byte
		for _, part := range []string{"base", "incr"} {
			names, err := filepath.Glob(filepath.Join(folder, "*."+part+".*"))
			require.NoError(t, err)
			require.Len(t, names, 1)
			b, err := os.ReadFile(names[0])
			require.NoError(t, err)
			old = append(old, b...)
		}
		old = resp.AppendCommand(old, "EVAL",
			"if redis.call('GET', KEYS[1]) then redis.call('INCR', KEYS[1]) end", "1", "tail")
		require.NoError(t, os.RemoveAll(folder))
		require.NoError(t, os.WriteFile(filepath.Join(s.Dir, "appendonly.aof"), old, 0o644))
		s = again(t, s, aof...)
		c = s.dial(t)
		require.Equal(t, want, digest(t, c))
		require.NoFileExists(t, filepath.Join(s.Dir, "appendonly.aof"))
		require.FileExists(t, filepath.Join(folder, "appendonly.aof"))
		rewriteAOF(t, c)
		eventually(t, "the old file is deleted", func() bool {
			_, err := os.Stat(filepath.Join(folder, "appendonly.aof"))
			return os.IsNotExist(err)
		})
		s.stop(t)
		checkAOF(t, s.Dir)
		s = again(t, s, aof...)
		require.Equal(t, want, digest(t, s.dial(t)))
		s.stop(t)
	}
}

// TestAOFTurnedOnWhileWriting checks that nothing is lost after the first rewrite has ended.
func TestAOFTurnedOnWhileWriting(t *testing.T) {
	t.Parallel()
	s := startServer(t, with("--appendfsync", "always")...)
	c := s.dial(t)
	everything(t, c)
	do(t, c, "CONFIG", "SET", "appendonly", "yes")
	for i := 0; persistInfo(t, c, "aof_rewrite_in_progress") == "1" ||
		persistInfo(t, c, "aof_rewrite_scheduled") == "1"; i++ {
		do(t, c, "INCR", "during")
		do(t, c, "LPUSH", "l:1000", fmt.Sprint(i))
	}
	do(t, c, "SET", "last", "word")
	want := digest(t, c)
	s.Kill()
	checkAOF(t, s.Dir)
	s = again(t, s, with("--appendonly", "yes")...)
	c = s.dial(t)
	require.Equal(t, want, digest(t, c))
	do(t, c, "CONFIG", "SET", "appendonly", "no")
	require.Equal(t, "0", persistInfo(t, c, "aof_enabled"))
	do(t, c, "SET", "not", "logged")
	s.stop(t)
	s = again(t, s, with("--appendonly", "yes")...)
	require.Equal(t, want, digest(t, s.dial(t)))
}

func TestAOFTornEnd(t *testing.T) {
	t.Parallel()
	s := startServer(t, with("--appendonly", "yes")...)
	c := s.dial(t)
	do(t, c, "SET", "a", "1")
	want := digest(t, c)
	do(t, c, "SET", "b", "2")
	s.stop(t)
	name := filepath.Join(s.Dir, "appendonlydir", "appendonly.aof.1.incr.aof")
	text := read(t, name)
	require.NoError(t, os.WriteFile(name, []byte(text[:len(text)-1]), 0o644))

	refused, err := launch(s.Dir, "", "--port", strconv.Itoa(freePort()), "--bind", "127.0.0.1",
		"--appendonly", "yes", "--aof-load-truncated", "no")
	require.NoError(t, err)
	require.Equal(t, 1, refused.Exited(t))
	require.Contains(t, refused.Output(),
		"appendonly.aof.1.incr.aof, offset 50: Unexpected end of file")

	s = again(t, s, with("--appendonly", "yes")...)
	require.Equal(t, want, digest(t, s.dial(t)))
	require.Contains(t, s.Output(),
		"!!! Truncating the AOF appendonly.aof.1.incr.aof at offset 50 !!!")
	s.stop(t)

	damaged := strings.Replace(text, "$3\r\nSET", "$4\r\nSET", 1)
	require.NoError(t, os.WriteFile(name, []byte(damaged), 0o644))
	refused, err = launch(s.Dir, "", "--port", strconv.Itoa(freePort()), "--bind", "127.0.0.1",
		"--appendonly", "yes")
	require.NoError(t, err)
	require.Equal(t, 1, refused.Exited(t))
	require.Contains(t, refused.Output(), "appendonly.aof.1.incr.aof, offset ")
	require.Contains(t, refused.Output(), "Bad file format reading the append only file")
	require.Equal(t, damaged, read(t, name))
}

// TestAOFOfValkey reads what another server's log may say and clients may not: a field's deadline
// that is later than files hold.
func TestAOFOfValkey(t *testing.T) {
	t.Parallel()
	s := startServer(t, with("--appendonly", "yes")...)
	do(t, s.dial(t), "HSET", "h", "f", "v", "g", "w")
	s.stop(t)
	name := filepath.Join(s.Dir, "appendonlydir", "appendonly.aof.1.incr.aof")
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.Write(resp.AppendCommand(nil, "HPEXPIREAT", "h", "9225167818457132", "FIELDS", "1",
		"f"))
	require.NoError(t, err)
	require.NoError(t, f.Close())
	s = again(t, s, with("--appendonly", "yes")...)
	v := do(t, s.dial(t), "HPEXPIRETIME", "h", "FIELDS", "2", "f", "g")
	require.EqualValues(t, []int64{1<<48 - 1, -1}, []int64{v.Elems[0].Int, v.Elems[1].Int})
	s.stop(t)
}

func TestWaitAOF(t *testing.T) {
	t.Parallel()
	s := startServer(t, with("--appendonly", "no")...)
	c := s.dial(t)
	for want, args := range map[string][]any{
		"ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.": {
			"WAITAOF", "1", "0", "0"},
		"ERR value is out of range, value must between 0 and 1": {"WAITAOF", "2", "0", "0"},
		"ERR value is not an integer or out of range":           {"WAITAOF", "x", "0", "0"},
		"ERR value is out of range, must be positive":           {"WAITAOF", "0", "-1", "0"},
		"ERR timeout is negative":                               {"WAITAOF", "0", "0", "-1"},
	} {
		v, err := c.Do(args...)
		require.NoError(t, err)
		require.Equal(t, want, v.Text())
	}
	do(t, c, "CONFIG", "SET", "appendonly", "yes", "appendfsync", "everysec")
	logComplete(t, c)
	start := time.Now()
	for range 2 {
		do(t, c, "SET", "a", "1")
		require.Equal(t, "[1 0]", waited(t, c, "1", "0", "60000"))
	}
	require.Less(t, time.Since(start), 50*time.Second, "the sync ends the wait")
	do(t, c, "CONFIG", "SET", "appendfsync", "always")
	do(t, c, "SET", "a", "1")
	require.Equal(t, "[1 0]", waited(t, c, "1", "0", "1"))
	require.Equal(t, "[1 0]", waited(t, c, "1", "1", "1"),
		"there is no replica: the time ends the wait")

	c.Queue("SET", "a", "2")
	c.Queue("WAITAOF", "1", "0", "0")
	vs, err := c.Pipeline()
	require.NoError(t, err)
	require.EqualValues(t, 1, vs[1].Elems[0].Int)
}

// waited returns the reply of WAITAOF.
func waited(t *testing.T, c *client.Client, args ...any) string {
	t.Helper()
	v := do(t, c, append([]any{"WAITAOF"}, args...)...)
	require.Len(t, v.Elems, 2)
	return fmt.Sprint([]int64{v.Elems[0].Int, v.Elems[1].Int})
}

// TestAOFFolderCannotBeMade checks that the server does not start when it cannot keep its log.
func TestAOFFolderCannotBeMade(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "appendonlydir"), nil, fs.FileMode(0o644)))
	s, err := launch(dir, "", "--port", strconv.Itoa(freePort()), "--bind", "127.0.0.1",
		"--appendonly", "yes", "--dir", dir)
	require.NoError(t, err)
	require.Equal(t, 1, s.Exited(t))
	require.Contains(t, s.Output(), "appendonlydir")
}
