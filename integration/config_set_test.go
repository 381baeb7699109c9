package integration

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/testserver"
)

// TestConfigSetFails checks that a CONFIG SET whose last directive fails leaves no trace of the
// others: neither in values, nor in what acts on them.
func TestConfigSetFails(t *testing.T) {
	t.Parallel()
	godwitOnly(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	port := fmt.Sprint(taken.Addr().(*net.TCPAddr).Port)
	s := startServer(t, "--appendonly", "yes", "--bind", "127.0.0.1", "--appendfsync", "always",
		"--enable-protected-configs", "yes")
	c, ctx := s.client(t), t.Context()
	require.NoError(t, c.Do(ctx, "ACL", "SETUSER", "admin", "on", ">a", "+@all", "~*", "&*").Err())
	require.Error(t, c.Do(ctx, "AUTH", "admin", "wrong").Err()) // enters the ACL log
	require.NoError(t, c.Do(ctx, "ACL", "SETUSER", "default", "resetpass", ">one", ">two").Err())
	state := func() string {
		var b strings.Builder
		for _, args := range [][]any{{"CONFIG", "GET", "*"}, {"ACL", "LIST"}} {
			v, err := c.Do(ctx, args...).Result()
			require.NoError(t, err)
			fmt.Fprintln(&b, v)
		}
		log, err := c.Do(ctx, "ACL", "LOG").Slice()
		require.NoError(t, err)
		files, err := filepath.Glob(filepath.Join(s.Dir, "appendonlydir", "*"))
		require.NoError(t, err)
		fmt.Fprintln(&b, len(log), files)
		for _, line := range []string{"aof_enabled", "aof_rewrites", "aof_rewrite_in_progress"} {
			fmt.Fprintln(&b, infoField(t, c, line))
		}
		return b.String()
	}
	before := state()
	for _, pairs := range [][]any{
		{"appendonly", "no"}, {"requirepass", "x"}, {"acllog-max-len", "0"}, {"dir", t.TempDir()},
		{"maxmemory", "5mb", "appendonly", "no", "requirepass", "x", "acllog-max-len", "0"},
	} {
		args := append([]any{"CONFIG", "SET"}, pairs...)
		require.EqualError(t, c.Do(ctx, append(args, "port", port)...).Err(),
			"ERR CONFIG SET failed (possibly related to argument 'port') - "+
				"Unable to listen on this port. Check server logs.")
		require.Equal(t, before, state(), "%v", pairs)
	}
	cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", s.Pid))
	if err == nil { // only Linux shows it
		require.Equal(t, s.Dir, cwd)
	}
}

// TestConfigSetFailsLate has a directive fail after the listeners have moved to another port. They
// move back.
func TestConfigSetFailsLate(t *testing.T) {
	t.Parallel()
	godwitOnly(t)
	port, err := testserver.Port()
	require.NoError(t, err)
	s := startServer(t, "--bind", "127.0.0.1")
	c, ctx := s.client(t), t.Context()
	was := do(t, s.dial(t), "CONFIG", "GET", "*")
	// A file where the folder of the log should be.
	require.NoError(t, os.WriteFile(filepath.Join(s.Dir, "appendonlydir"), nil, 0o600))
	require.ErrorContains(t,
		c.Do(ctx, "CONFIG", "SET", "port", port, "appendonly", "yes").Err(),
		"ERR CONFIG SET failed (possibly related to argument 'appendonly')")
	require.Equal(t, was, do(t, s.dial(t), "CONFIG", "GET", "*"), "the old port answers")
	nc, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err == nil {
		nc.Close()
	}
	require.Error(t, err, "the new one is closed")
}
