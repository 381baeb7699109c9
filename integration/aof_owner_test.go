package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAOFFolderHasOneOwner checks that a second server is refused with the pid of the first, at its
// start and when it turns its log on. When the first is killed, another one starts at once.
func TestAOFFolderHasOneOwner(t *testing.T) {
	godwitOnly(t)
	t.Parallel()
	dir := t.TempDir()
	s := startServer(t, "--appendonly", "yes", "--dir", dir)
	c := s.dial(t)
	do(t, c, "SET", "k", "v")
	pid := "pid " + strconv.Itoa(s.Pid)

	second, err := launch(dir, "", "--port", strconv.Itoa(freePort()), "--bind", "127.0.0.1",
		"--appendonly", "yes", "--dir", dir)
	require.NoError(t, err)
	require.Equal(t, 1, second.Exited(t))
	require.Contains(t, second.Output(), "is in use by the process with "+pid)

	other := startServer(t, "--appendonly", "no", "--dir", dir)
	oc := other.dial(t)
	v, err := oc.Do("CONFIG", "SET", "appendonly", "yes")
	require.NoError(t, err)
	require.True(t, v.IsError())
	require.Equal(t, []string{"appendonly", "no"},
		do(t, oc, "CONFIG", "GET", "appendonly").Strings())
	v, err = oc.Do("BGREWRITEAOF")
	require.NoError(t, err)
	require.True(t, v.IsError())
	require.Equal(t, 2, strings.Count(other.Output(), "is in use by the process with "+pid))

	do(t, c, "CONFIG", "SET", "appendonly", "no") // gives the folder back
	eventually(t, "the folder is free", func() bool {
		v, err := oc.Do("CONFIG", "SET", "appendonly", "yes")
		return err == nil && !v.IsError()
	})
	logComplete(t, oc) // until then it does not end, as in Redis
	other.stop(t)
	s.stop(t)

	third := startServer(t, "--appendonly", "yes", "--dir", dir)
	do(t, third.dial(t), "SET", "k", "again")
	third.Kill()
	fourth := startServer(t, "--appendonly", "yes", "--dir", dir)
	require.Equal(t, "again", do(t, fourth.dial(t), "GET", "k").Text())
}

// TestRewriteWithoutFolder moves a server's folder away. A rewrite fails then and makes no other
// folder, and the log goes on in the old one.
func TestRewriteWithoutFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	require.NoError(t, os.Mkdir(dir, 0o755))
	s := startServer(t, "--appendonly", "yes", "--appendfsync", "always", "--dir", dir)
	c := s.dial(t)
	do(t, c, "SET", "before", 1)
	require.NoError(t, os.Rename(dir, dir+".gone"))
	_, err := c.Do("BGREWRITEAOF")
	require.NoError(t, err)
	eventually(t, "the rewrite has failed", func() bool {
		return strings.Contains(do(t, c, "INFO", "persistence").Text(),
			"aof_last_bgrewrite_status:err")
	})
	do(t, c, "SET", "after", 1)
	require.NoDirExists(t, dir)
	s.Kill()
	s = startServer(t, "--appendonly", "yes", "--dir", dir+".gone")
	require.EqualValues(t, 2, do(t, s.dial(t), "EXISTS", "before", "after").Int)
}

// TestAOFTurnedOnBesideAnOldLog checks that the log goes on from what the manifest says. A kill
// before the new base is complete leaves the old log.
func TestAOFTurnedOnBesideAnOldLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := startServer(t, "--appendonly", "yes", "--dir", dir)
	c := s.dial(t)
	do(t, c, "SET", "ctr", 5)
	do(t, c, "RPUSH", "l", "a", "b")
	rewriteAOF(t, c)
	do(t, c, "INCRBY", "ctr", 5)
	s.stop(t)

	s = startServer(t, "--appendonly", "no", "--dir", dir, "--rdb-key-save-delay", "2000000")
	c = s.dial(t)
	do(t, c, "SET", "ctr", 100)
	do(t, c, "RPUSH", "l", "z")
	do(t, c, "CONFIG", "SET", "appendonly", "yes")
	do(t, c, "INCR", "ctr")
	s.Kill()
	s = startServer(t, "--appendonly", "yes", "--dir", dir)
	c = s.dial(t)
	require.Equal(t, "10", do(t, c, "GET", "ctr").Text(), "the old log")
	require.Equal(t, []string{"a", "b"}, do(t, c, "LRANGE", "l", 0, -1).Strings())
	s.stop(t)

	s = startServer(t, "--appendonly", "no", "--dir", dir)
	c = s.dial(t)
	do(t, c, "SET", "ctr", 200)
	do(t, c, "CONFIG", "SET", "appendonly", "yes")
	do(t, c, "INCR", "ctr")
	logComplete(t, c)
	do(t, c, "INCR", "ctr")
	manifest := filepath.Join(dir, "appendonlydir", "appendonly.aof.manifest")
	eventually(t, "the old files have gone", func() bool {
		text, err := os.ReadFile(manifest)
		return err == nil && string(text) != "" && !strings.Contains(string(text), "type h")
	})
	text, err := os.ReadFile(manifest)
	require.NoError(t, err)
	require.Contains(t, string(text), "appendonly.aof.3.base.rdb seq 3 type b")
	require.Contains(t, string(text), "appendonly.aof.3.incr.aof seq 3 type i")
	s.stop(t)
	s = startServer(t, "--appendonly", "yes", "--dir", dir)
	require.Equal(t, "202", do(t, s.dial(t), "GET", "ctr").Text())
}

// TestAOFCheckerOfARunningServer checks that the checker warns and changes nothing.
func TestAOFCheckerOfARunningServer(t *testing.T) {
	godwitOnly(t)
	t.Parallel()
	s := startServer(t, "--appendonly", "yes")
	do(t, s.dial(t), "SET", "k", "v")
	bin, err := serverBinary()
	require.NoError(t, err)
	folder := filepath.Join(s.Dir, "appendonlydir")
	out, err := exec.Command(bin, "--check-aof",
		filepath.Join(folder, "appendonly.aof.manifest")).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "WARNING: a server is using this log")
	incr := filepath.Join(folder, "appendonly.aof.1.incr.aof")
	f, err := os.OpenFile(incr, os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	_, err = f.WriteString("*3\r\n$3")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	before, err := os.ReadFile(incr)
	require.NoError(t, err)
	out, err = exec.Command(bin, "--check-aof", "--fix", "-y", incr).CombinedOutput()
	require.Error(t, err, "%s", out)
	after, err := os.ReadFile(incr)
	require.NoError(t, err)
	require.Equal(t, before, after)
}

// TestRewriteWithoutLogFollowsDir checks that BGREWRITEAOF with the log off writes to the current
// dir of the server.
func TestRewriteWithoutLogFollowsDir(t *testing.T) {
	t.Parallel()
	old, dir := t.TempDir(), t.TempDir()
	s := startServer(t, "--dir", old, "--enable-protected-configs", "yes")
	c := s.dial(t)
	require.Equal(t, "OK", do(t, c, "CONFIG", "SET", "dir", dir).Text())
	do(t, c, "BGREWRITEAOF")
	eventually(t, "a rewrite", func() bool { return fieldOf(t, c, "aof_rewrites") == "1" })
	require.NoDirExists(t, filepath.Join(old, "appendonlydir"))
	require.DirExists(t, filepath.Join(dir, "appendonlydir"))
}
