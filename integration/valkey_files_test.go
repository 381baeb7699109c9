package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
)

// valkeyHolds checks what testdata/valkey-9.1.rdb holds.
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
