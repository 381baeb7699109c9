package integration

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
)

// debugScript begins a session and sends the commands. It returns what was shown, a line for each,
// and the script's reply.
func debugScript(t *testing.T, c *client.Client, mode, script string, commands ...string) (
	shown []string, reply string) {
	require.Equal(t, "OK", do(t, c, "SCRIPT", "DEBUG", mode).Text())
	v := do(t, c, "EVAL", script, 1, "k", "v")
	for _, command := range commands {
		for _, l := range v.Elems {
			shown = append(shown, l.Text())
		}
		words := []any{}
		for _, w := range strings.Fields(command) {
			words = append(words, w)
		}
		v = do(t, c, words...)
	}
	for _, l := range v.Elems {
		shown = append(shown, l.Text())
	}
	v, err := c.Receive()
	require.NoError(t, err)
	_, err = c.Receive()
	require.Error(t, err, "the connection ends")
	return shown, v.Text()
}

const debugged = `local before = redis.call('get', KEYS[1])
redis.call('set', KEYS[1], ARGV[1])
redis.call('select', 0)
return before .. redis.call('get', KEYS[1])`

// TestScriptDebug checks that sessions show what Redis 8 does. One of YES changes nothing in the
// server, and one of SYNC does.
func TestScriptDebug(t *testing.T) {
	godwitOnly(t)
	t.Parallel()
	for _, args := range [][]string{{}, {"--io-threads", "3"}} {
		s := startServer(t, args...)
		admin := s.dial(t)
		do(t, admin, "SET", "k", "old")
		do(t, admin, "FUNCTION", "LOAD",
			"#!lua name=l\nredis.register_function('f', function() end)")
		commands := []string{"s", "s", "p", "t", "r get k", "c"}
		want := []string{
			"* Stopped at 1, stop reason = step over",
			"-> 1   local before = redis.call('get', KEYS[1])",
			"<redis> get k", "<reply> \"old\"",
			"* Stopped at 2, stop reason = step over", "-> 2   redis.call('set', KEYS[1], ARGV[1])",
			"<redis> set k v", "<reply> \"+OK\"",
			"* Stopped at 3, stop reason = step over", "-> 3   redis.call('select', 0)",
			"<value> before = \"old\"", "In top level:", "-> 3   redis.call('select', 0)",
			"<redis> get k", "<reply> \"v\"", "<endsession>",
		}
		for mode, after := range map[string]string{"YES": "old", "SYNC": "v"} {
			do(t, admin, "SET", "k", "old")
			shown, reply := debugScript(t, s.dial(t), mode, debugged, commands...)
			require.Equal(t, want, shown, mode)
			require.Equal(t, "oldv", reply, mode)
			require.Equal(t, after, do(t, admin, "GET", "k").Text(), mode)
		}
	}
}

// TestScriptDebugRefuses checks what cannot be debugged, and that the rights of the user hold.
func TestScriptDebugRefuses(t *testing.T) {
	godwitOnly(t)
	t.Parallel()
	s := startServer(t)
	c := s.dial(t)
	require.Contains(t, said(t, c, "SCRIPT", "DEBUG", "x"), "ERR Use SCRIPT DEBUG YES/SYNC/NO")
	c.Queue("PING")
	c.Queue("SCRIPT", "DEBUG", "YES")
	require.NoError(t, c.Flush())
	require.Equal(t, "PONG", receive(t, c))
	require.Equal(t, "ERR SCRIPT DEBUG must be called outside a pipeline", receive(t, c))
	sha := do(t, c, "SCRIPT", "LOAD", "return 1").Text()
	require.Equal(t, "OK", do(t, c, "SCRIPT", "DEBUG", "YES").Text())
	require.Equal(t, "ERR Please use EVAL instead of EVALSHA for debugging",
		said(t, c, "EVALSHA", sha, 0))
	require.Equal(t, "OK", do(t, c, "SCRIPT", "DEBUG", "NO").Text())
	require.Equal(t, "1", do(t, c, "EVALSHA", sha, 0).Text())
	do(t, c, "ACL", "SETUSER", "carol", "on", "nopass", "~k", "+eval", "+get", "+script")
	for _, mode := range []string{"YES", "SYNC"} {
		user := s.dial(t)
		do(t, user, "AUTH", "carol", "")
		_, reply := debugScript(t, user, mode, "redis.call('get', 'k')\nredis.call('set', 'k', 1)",
			"s", "s")
		require.Contains(t, reply,
			"ERR ACL failure in script: User carol has no permissions to run the 'set' command",
			mode)
	}
}

// TestScriptDebugOfReplica checks that sessions of a replica write no more than it does.
func TestScriptDebugOfReplica(t *testing.T) {
	godwitOnly(t)
	t.Parallel()
	s := startServer(t, "--replicaof", "127.0.0.1 1")
	for _, mode := range []string{"YES", "SYNC"} {
		shown, reply := debugScript(t, s.dial(t), mode,
			"redis.call('get', KEYS[1])\nredis.call('set', KEYS[1], 1)", "s", "s")
		require.Contains(t, shown, "<reply> NULL", mode)
		require.Contains(t, reply, "READONLY You can't write against a read only replica.", mode)
	}
}

// said returns the reply, which may be an error.
func said(t *testing.T, c *client.Client, args ...any) string {
	v, err := c.Do(args...)
	require.NoError(t, err)
	return v.Text()
}

func receive(t *testing.T, c *client.Client) string {
	v, err := c.Receive()
	require.NoError(t, err)
	return v.Text()
}

// TestScriptDebugSyncIsBusy checks that others are told BUSY while the client of a session in the
// server thinks, and that they can end it.
func TestScriptDebugSyncIsBusy(t *testing.T) {
	godwitOnly(t)
	t.Parallel()
	s := startServer(t)
	c, other := s.dial(t), s.dial(t)
	require.Equal(t, "OK", do(t, c, "SCRIPT", "DEBUG", "SYNC").Text())
	require.Len(t, do(t, c, "EVAL", "local n = 0\nwhile true do n = n + 1 end", 0).Elems, 2)
	require.Contains(t, said(t, other, "GET", "k"), "BUSY Redis is busy running a script.")
	require.Contains(t, do(t, c, "s").Elems[1].Text(), "-> 2")
	require.Equal(t, "OK", do(t, other, "SCRIPT", "KILL").Text())
	require.Equal(t, "<endsession>", do(t, c, "nothing").Elems[0].Text())
	require.Contains(t, receive(t, c), "ERR Script killed by user with SCRIPT KILL...")
	require.Equal(t, "", do(t, other, "GET", "k").Text())
}

// TestScriptDebugSyncSentAway checks that SCRIPT KILL sends the client of a session away whose
// script has written, also if the client does not read, and that the script goes on to its end.
func TestScriptDebugSyncSentAway(t *testing.T) {
	godwitOnly(t)
	t.Parallel()
	s := startServer(t)
	other := s.dial(t)
	for _, deaf := range []bool{false, true} {
		c := s.dial(t)
		do(t, c, "SCRIPT", "DEBUG", "SYNC")
		do(t, c, "EVAL", "redis.call('set', 'n', 1)\nredis.call('incr', 'n')\nreturn 7", 0)
		require.Contains(t, do(t, c, "s").Elems[1].Text(), "<reply>")
		do(t, c, "m", "0")
		for range 60 {
			if deaf {
				c.Queue("e", "string.rep('x', 1048000)")
			}
		}
		require.NoError(t, c.Flush())
		require.Contains(t, said(t, other, "GET", "n"), "BUSY")
		require.Equal(t, "OK", do(t, other, "SCRIPT", "KILL").Text())
		eventually(t, "the script ends", func() bool { return said(t, other, "GET", "n") == "2" })
		if !deaf {
			require.Equal(t, "<endsession>", receiveValue(t, c).Elems[0].Text())
			require.Equal(t, "7", receive(t, c))
		}
		for err := error(nil); err == nil; { // no reply follows half a line
			var v client.Value
			v, err = c.Receive()
			require.False(t, err == nil && v.Text() == "7")
		}
	}
}
