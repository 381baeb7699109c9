package integration

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
)

// sessionFolders returns the folders of sessions that there are.
func (s *server) sessionFolders(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(s.Dir, "temp-debug-*"))
	require.NoError(t, err)
	return found
}

// startSession begins a session in a process of its own, whose script never ends.
func (s *server) startSession(t *testing.T) (c *client.Client, shown client.Value) {
	t.Helper()
	c = s.dial(t)
	require.Equal(t, "OK", do(t, c, "SCRIPT", "DEBUG", "YES").Text())
	shown, err := c.Do("EVAL", "while true do pcall(function() while true do end end) end", 0)
	require.NoError(t, err)
	return c, shown
}

// TestScriptDebugLeavesNothing checks that neither processes nor folders of sessions stay behind,
// however the server ends, and that it removes the folders that do.
func TestScriptDebugLeavesNothing(t *testing.T) {
	godwitOnly(t)
	t.Parallel()
	for name, end := range map[string]func(s *server){
		"shutdown": func(s *server) { s.stop(t) },
		"kill":     func(s *server) { s.Kill() },
	} {
		s := startServer(t)
		do(t, s.dial(t), "SET", "k", "v")
		var clients []*client.Client
		for range 3 {
			c, shown := s.startSession(t)
			require.Len(t, shown.Elems, 2, name)
			clients = append(clients, c)
		}
		require.Empty(t, s.sessionFolders(t), "%s: they have read them", name)
		busy, _ := s.startSession(t) // may not have read it yet
		end(s)
		for _, c := range append(clients, busy) {
			_, err := c.Receive()
			require.Error(t, err, "%s: the process ends with the server", name)
		}
		eventually(t, "the folders go", func() bool { return len(s.sessionFolders(t)) == 0 })

		left, other := filepath.Join(s.Dir, "temp-debug-1"), filepath.Join(s.Dir, "temp-debug-2")
		for _, file := range []string{filepath.Join(left, "session.conf"),
			filepath.Join(left, "session.rdb"), filepath.Join(other, "notes")} {
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
			require.NoError(t, os.WriteFile(file, []byte("x"), 0o600))
		}
		startServer(t, "--dir", s.Dir)
		require.Equal(t, []string{other}, s.sessionFolders(t), name)
	}
}

// TestScriptDebugSessionsAreBounded checks that there is a bound, and that the end of a session
// makes room, also one whose script catches errors.
func TestScriptDebugSessionsAreBounded(t *testing.T) {
	godwitOnly(t)
	t.Parallel()
	s := startServer(t, "--busy-reply-threshold", "50")
	var clients []*client.Client
	for range 8 {
		c, shown := s.startSession(t)
		require.Len(t, shown.Elems, 2)
		clients = append(clients, c)
	}
	_, shown := s.startSession(t)
	require.Equal(t, "ERR too many debugging sessions, at most 8 can run at a time", shown.Text())
	clients[0].Close()
	eventually(t, "there is room", func() bool {
		_, shown := s.startSession(t)
		return !shown.IsError()
	})
}

// TestScriptDebugSyncKilled checks that a script that is killed while its client thinks does not
// go on, and that one whose server ends does not.
func TestScriptDebugSyncKilled(t *testing.T) {
	godwitOnly(t)
	t.Parallel()
	s := startServer(t, "--appendonly", "yes")
	begin := func() *client.Client {
		c := s.dial(t)
		require.Equal(t, "OK", do(t, c, "SCRIPT", "DEBUG", "SYNC").Text())
		require.Len(t, do(t, c, "EVAL", "local a = 1\npcall(redis.call, 'set', 'x', '1')\nreturn 5",
			0).Elems, 2)
		return c
	}
	c, other := begin(), s.dial(t)
	require.Equal(t, "OK", do(t, other, "SCRIPT", "KILL").Text())
	require.Equal(t, "<endsession>", receiveValue(t, c).Elems[0].Text())
	require.Contains(t, receive(t, c), "ERR Script killed by user with SCRIPT KILL...")
	require.Equal(t, "0", do(t, other, "EXISTS", "x").Text())
	begin()
	_, err := other.Do("SHUTDOWN", "NOSAVE")
	require.Error(t, err)
	require.Equal(t, 0, s.Exited(t))
	again := s.Again(t)
	require.Equal(t, "0", do(t, again.Client(t), "EXISTS", "x").Text())
}

func receiveValue(t *testing.T, c *client.Client) client.Value {
	t.Helper()
	v, err := c.Receive()
	require.NoError(t, err)
	return v
}
