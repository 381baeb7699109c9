package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
	"godwit/internal/testserver"
)

// valkeyHolds checks what testdata/valkey-9.1.rdb holds, which TestFilesOfValkey makes anew.
func valkeyHolds(t *testing.T, c *client.Client) {
	t.Helper()
	require.Equal(t, "hello", do(t, c, "GET", "s1").Text())
	require.Equal(t, "300", do(t, c, "GET", "n").Text())
	require.EqualValues(t, 300, do(t, c, "STRLEN", "big").Int)
	require.Equal(t, []string{"a", "b", "c"}, do(t, c, "LRANGE", "l", 0, -1).Strings())
	require.ElementsMatch(t, []string{"x", "y", "1"}, do(t, c, "SMEMBERS", "st").Strings())
	require.ElementsMatch(t, []string{"1", "2", "3"}, do(t, c, "SMEMBERS", "si").Strings())
	require.Equal(t, []string{"a", "1", "b", "2.5"},
		do(t, c, "ZRANGE", "z", 0, -1, "WITHSCORES").Strings())
	require.ElementsMatch(t, []string{"f", "v", "g", "w"}, do(t, c, "HGETALL", "h").Strings())
	require.ElementsMatch(t, []string{"a", "1", "b", "2", "c", "3"},
		do(t, c, "HGETALL", "hb").Strings())
	require.ElementsMatch(t, []string{"f", "v", "g", "w"}, do(t, c, "HGETALL", "he").Strings())
	deadlines := do(t, c, "HPEXPIRETIME", "he", "FIELDS", 2, "f", "g")
	require.EqualValues(t, 1893456000000, deadlines.Elems[0].Int)
	require.EqualValues(t, -1, deadlines.Elems[1].Int)
	require.EqualValues(t, 1893456000000, do(t, c, "PEXPIRETIME", "ex").Int)
	require.EqualValues(t, 1, do(t, c, "FCALL", "f", 0).Int)
	do(t, c, "SELECT", 3)
	require.Equal(t, "v", do(t, c, "GET", "k3").Text())
	do(t, c, "SELECT", 0)
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o755))
	require.NoError(t, os.WriteFile(to, text, 0o644))
}

// TestSnapshotOfValkey loads a file that valkey-server 9.1 wrote, as a snapshot and as the base of
// a log, and checks it.
func TestSnapshotOfValkey(t *testing.T) {
	godwitOnly(t)
	t.Parallel()
	const file = "testdata/valkey-9.1.rdb"
	bin, err := serverBinary()
	require.NoError(t, err)
	out, err := exec.Command(bin, "--check-rdb", file).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "13 keys read")

	dir := t.TempDir()
	copyFile(t, file, filepath.Join(dir, "dump.rdb"))
	s := startServer(t, "--dir", dir)
	valkeyHolds(t, s.dial(t))

	dir = t.TempDir()
	folder := filepath.Join(dir, "appendonlydir")
	base := filepath.Join(folder, "appendonly.aof.1.base.rdb")
	copyFile(t, file, base)
	manifest := filepath.Join(folder, "appendonly.aof.manifest")
	require.NoError(t,
		os.WriteFile(manifest, []byte("file appendonly.aof.1.base.rdb seq 1 type b\n"), 0o644))
	out, err = exec.Command(bin, "--check-aof", "--fix", "-y", manifest).CombinedOutput()
	require.NoError(t, err, "%s", out)
	before, err := os.ReadFile(file)
	require.NoError(t, err)
	after, err := os.ReadFile(base)
	require.NoError(t, err)
	require.Equal(t, before, after)
	s = startServer(t, with("--appendonly", "yes", "--dir", dir)...)
	c := s.dial(t)
	valkeyHolds(t, c)
	rewriteAOF(t, c)
	s.stop(t)
	s = startServer(t, with("--appendonly", "yes", "--dir", dir)...)
	valkeyHolds(t, s.dial(t))
}

// TestFilesOfValkey has a real valkey-server write a snapshot and a log, and loads both.
func TestFilesOfValkey(t *testing.T) {
	godwitOnly(t)
	bin, err := exec.LookPath("valkey-server")
	if err != nil {
		t.Skip("no valkey-server to compare with")
	}
	t.Parallel()
	dir := testserver.Dir(t)
	socket := filepath.Join(dir, "s")
	valkey := testserver.Run(t, testserver.Options{Program: bin, Dir: dir,
		Args: []string{"--port", "0", "--unixsocket", socket, "--appendonly", "yes"}})
	c := valkey.Client(t)
	for _, args := range [][]any{
		{"SET", "s1", "hello"}, {"SET", "n", 300}, {"SETRANGE", "big", 299, "x"},
		{"RPUSH", "l", "a", "b", "c"}, {"SADD", "st", "x", "y", 1}, {"SADD", "si", 1, 2, 3},
		{"ZADD", "z", 1, "a", 2.5, "b"}, {"HSET", "h", "f", "v", "g", "w"},
		{"HSET", "he", "f", "v", "g", "w"},
		{"HPEXPIREAT", "he", 1893456000000, "FIELDS", 1, "f"},
		{"SET", "ex", "v", "PXAT", 1893456000000},
		{"CONFIG", "SET", "hash-max-listpack-entries", 2}, {"HSET", "hb", "a", 1, "b", 2, "c", 3},
		{"SELECT", 3}, {"SET", "k3", "v"}, {"SELECT", 0},
		{"FUNCTION", "LOAD",
			"#!lua name=lib\nredis.register_function('f', function() return 1 end)"},
	} {
		do(t, c, args...)
	}
	large := []any{"HSET", "large"}
	for i := range 5000 {
		large = append(large, "field:"+strconv.Itoa(i), i)
	}
	do(t, c, large...)
	do(t, c, "HPEXPIREAT", "large", 1893456000000, "FIELDS", 1, "field:7")
	do(t, c, "SAVE")
	rewriteAOF(t, c)
	do(t, c, "SET", "tail", 1)
	_ = c.Close()
	require.NoError(t, valkey.Stop())

	for _, aof := range []string{"no", "yes"} {
		own := t.TempDir()
		copyFile(t, filepath.Join(dir, "dump.rdb"), filepath.Join(own, "dump.rdb"))
		files, err := filepath.Glob(filepath.Join(dir, "appendonlydir", "*"))
		require.NoError(t, err)
		for _, f := range files {
			copyFile(t, f, filepath.Join(own, "appendonlydir", filepath.Base(f)))
		}
		s := startServer(t, "--appendonly", aof, "--dir", own)
		c := s.dial(t)
		valkeyHolds(t, c)
		require.EqualValues(t, 5000, do(t, c, "HLEN", "large").Int)
		require.EqualValues(t, 1893456000000,
			do(t, c, "HPEXPIRETIME", "large", "FIELDS", 1, "field:7").Elems[0].Int)
		require.Equal(t, aof == "yes", do(t, c, "EXISTS", "tail").Int == 1)
		s.stop(t)
	}
}
