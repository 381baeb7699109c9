package integration

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
	"godwit/internal/testserver"
)

// other is a server to and from which data moves, a row of README's table.
type other struct {
	name      string
	start     func(t testing.TB, dir string) (socket string)
	tb        func(t testing.TB) testing.TB
	deadlines bool // it takes fields with deadlines from Godwit
}

func others() []other {
	peer := func(p testserver.Peer) func(testing.TB, string) string {
		return func(t testing.TB, dir string) string {
			return p.Start(t, dir, "--enable-debug-command", "yes").Socket
		}
	}
	return []other{
		{"redis 7.0", func(t testing.TB, dir string) string {
			return testserver.StartRedis(t, dir, "--enable-debug-command", "yes").Socket
		}, func(t testing.TB) testing.TB { return t }, false},
		{"redis 8", peer(testserver.Redis), testserver.Redis.TB, true},
		{"valkey 9", peer(testserver.Valkey), testserver.Valkey.TB, false},
	}
}

// TestMovesInAndBack checks README's table of versions: files both ways, and payloads.
func TestMovesInAndBack(t *testing.T) {
	godwitOnly(t)
	for _, o := range others() {
		t.Run(o.name, func(t *testing.T) {
			t.Parallel()
			moveFiles(t, o)
			movePayloads(t, o)
		})
	}
}

// moveFiles saves the data of one server, loads it in the other, and moves it back.
func moveFiles(t *testing.T, o other) {
	ours, theirs, back := t.TempDir(), t.TempDir(), t.TempDir()
	s := startServer(t, "--dir", ours, "--enable-debug-command", "yes")
	c := s.dial(t)
	for _, line := range []string{"SET s hello", "SET n 300 PX 100000000", "RPUSH l a b 1",
		"SADD strings a b", "SADD ints 1 2", "ZADD z 1 a 2.5 b", "HSET h f v", "PFADD hll a b",
		"GEOADD g 13.36 38.11 p"} {
		doLine(t, c, line)
	}
	want := do(t, c, "DEBUG", "DIGEST").Text()
	do(t, c, "SAVE")
	copyFile(t, filepath.Join(ours, "dump.rdb"), filepath.Join(theirs, "dump.rdb"))

	d := dialSocket(t, o.start(t, theirs))
	tb := o.tb(t)
	require.Equal(tb, want, do(t, d, "DEBUG", "DIGEST").Text())
	do(t, d, "SAVE")
	copyFile(t, filepath.Join(theirs, "dump.rdb"), filepath.Join(back, "dump.rdb"))
	s = startServer(t, "--dir", back, "--enable-debug-command", "yes")
	require.Equal(tb, want, do(t, s.dial(t), "DEBUG", "DIGEST").Text())
}

// movePayloads dumps keys in one server and restores them in the other.
func movePayloads(t *testing.T, o other) {
	c := startServer(t).dial(t)
	d := dialSocket(t, o.start(t, t.TempDir()))
	tb := o.tb(t)
	doLine(t, c, "RPUSH ours a b")
	doLine(t, d, "RPUSH theirs a b")
	restore := func(from, to *client.Client, key string) bool {
		v, err := to.Do("RESTORE", key, 0, do(t, from, "DUMP", key).Str)
		require.NoError(t, err)
		return !v.IsError()
	}
	require.True(tb, restore(c, d, "ours"))
	require.True(tb, restore(d, c, "theirs"))
	doLine(t, c, "HSET hash f v")
	doLine(t, c, "HPEXPIRE hash 100000000 FIELDS 1 f")
	require.Equal(tb, o.deadlines, restore(c, d, "hash"))
}

// TestCommandsOfRedis8 checks what README says is missing: streams and vector sets.
func TestCommandsOfRedis8(t *testing.T) {
	godwitOnly(t)
	t.Parallel()
	c := startServer(t).dial(t)
	have := map[string]bool{}
	for _, name := range do(t, c, "COMMAND", "LIST").Strings() {
		have[name] = true
	}
	d := dialSocket(t, testserver.Redis.Start(t, t.TempDir()).Socket)
	tb := testserver.Redis.TB(t)
	missing := 0
	for _, name := range do(t, d, "COMMAND", "LIST").Strings() {
		if name = strings.ToLower(name); have[name] {
			continue
		}
		missing++
		require.Regexp(tb, `^(x|v)[a-z]+(\||$)`, name)
	}
	require.Positive(t, missing)
}

// dialSocket connects to a server's unix socket and waits until it has loaded its data.
func dialSocket(t testing.TB, socket string) *client.Client {
	t.Helper()
	c, err := client.Dial("unix", socket)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	eventually(t, "the data set is loaded", func() bool {
		v, err := c.Do("PING")
		require.NoError(t, err)
		return !v.IsError()
	})
	return c
}

// doLine splits the line at spaces and calls do with the words.
func doLine(t testing.TB, c *client.Client, line string) {
	t.Helper()
	var args []any
	for _, w := range strings.Fields(line) {
		args = append(args, w)
	}
	do(t, c, args...)
}
