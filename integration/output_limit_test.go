package integration

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// largeStream adds 300 entries of 10 KB to s, whose group g has none of them, under a limit of 1 MB
// for what a client has not read.
func largeStream(t *testing.T, s *server) {
	c := s.dial(t)
	do(t, c, "CONFIG", "SET", "client-output-buffer-limit", "normal 1mb 0 0")
	pipelined(t, c, 300, func(i int) []any {
		return []any{"XADD", "s", fmt.Sprint(i+1, "-0"), "f", strings.Repeat("v", 10_000)}
	}, accepted(t))
	do(t, c, "XGROUP", "CREATE", "s", "g", "0")
}

// TestScriptsHaveNoOutputLimit checks that a client's output limit does not hold for what a script
// gets, and that nothing is left of such a reply.
func TestScriptsHaveNoOutputLimit(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	largeStream(t, s)
	c := s.dial(t)
	for range 2 {
		for script, want := range map[string]int64{
			"return #redis.call('XRANGE', 's', '-', '+')":               300,
			"return #redis.call('XREVRANGE', 's', '+', '-')":            300,
			"return #redis.call('XREAD', 'STREAMS', 's', '0')[1][2]":    300,
			"return #redis.call('XINFO', 'STREAM', 's', 'FULL')[28]":    10,
			"return #redis.call('KEYS', '*')":                           1,
			"return #redis.call('SRANDMEMBER', KEYS[1], -1000)":         0,
			"redis.call('SADD', 't', 'x') return redis.call('DEL','t')": 1,
		} {
			require.Equal(t, want, do(t, c, "EVAL", script, 1, "none").Int, script)
		}
	}
}

// TestEffectsHaveNoOutputLimit checks that commands whose replies exceed the client's output limit
// change all that they are to change, in a transaction those behind them too, and that the log of
// them brings it back.
func TestEffectsHaveNoOutputLimit(t *testing.T) {
	t.Parallel()
	s := startServer(t, "--appendonly", "yes", "--aof-use-rdb-preamble", "no",
		"--enable-debug-command", "yes")
	largeStream(t, s)
	other := s.dial(t)
	ids := []any{"XCLAIM", "s", "g", "bob", 0}
	for i := range 300 {
		ids = append(ids, fmt.Sprint(i+1, "-0"))
	}
	pending := func(consumer string) int {
		return len(do(t, other, "XPENDING", "s", "g", "-", "+", 1000, consumer).Elems)
	}
	for _, commands := range [][][]any{
		{{"XREADGROUP", "GROUP", "g", "ann", "STREAMS", "s", ">"}},
		{ids},
		{{"XAUTOCLAIM", "s", "g", "cid", 0, 0, "COUNT", 1000}},
		{{"MULTI"}, {"XRANGE", "s", "-", "+"},
			{"XREADGROUP", "GROUP", "g", "cid", "STREAMS", "s", "0"},
			ids, {"SET", "k", "v"}, {"XAUTOCLAIM", "s", "g", "dan", 0, 0, "COUNT", 200}, {"EXEC"}},
	} {
		c := s.dial(t)
		for _, args := range commands {
			c.Queue(args...)
		}
		require.NoError(t, c.Flush())
		_, _ = io.Copy(io.Discard, c.Conn()) // it is closed
		do(t, other, "PING")
		switch len(commands) {
		case 1:
			name := map[string]string{"XREADGROUP": "ann", "XCLAIM": "bob", "XAUTOCLAIM": "cid"}
			require.Equal(t, 300, pending(name[commands[0][0].(string)]), commands[0][0])
		default:
			require.Equal(t, []int{0, 100, 0, 200},
				[]int{pending("ann"), pending("bob"), pending("cid"), pending("dan")})
			require.Equal(t, "v", do(t, other, "GET", "k").Text())
		}
	}
	want := digest(t, other)
	do(t, other, "DEBUG", "LOADAOF")
	require.Equal(t, want, digest(t, other))
	require.Equal(t, []int{0, 100, 0, 200},
		[]int{pending("ann"), pending("bob"), pending("cid"), pending("dan")})
}

// TestOwnMessagesHaveAnOutputLimit checks that what a script or a transaction publishes to its own
// client, and what it makes invalid for it, is bounded while it runs, and that it does the rest.
func TestOwnMessagesHaveAnOutputLimit(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	other := s.dial(t)
	do(t, other, "CONFIG", "SET", "client-output-buffer-limit", "pubsub 1mb 0 0 normal 1mb 0 0")
	long := strings.Repeat("x", 100_000)
	script := func(body string) [][]any {
		return [][]any{{"EVAL",
			"for i = 1, 1000 do " + body + " end redis.call('SET', 'k', 'v')", 0,
			long}}
	}
	transaction := [][]any{{"MULTI"}}
	for range 30 {
		transaction = append(transaction, []any{"PUBLISH", "c", long})
	}
	transaction = append(transaction, []any{"SET", "k", "v"}, []any{"EXEC"})
	for name, test := range map[string]struct{ before, commands [][]any }{
		"script": {[][]any{{"SUBSCRIBE", "c"}}, script("redis.call('PUBLISH', 'c', ARGV[1])")},
		"events": {[][]any{{"CONFIG", "SET", "notify-keyspace-events", "KEA"},
			{"PSUBSCRIBE", "__key*"}}, script("redis.call('SET', ARGV[1], i)")},
		"invalid": {[][]any{{"CLIENT", "TRACKING", "on", "BCAST"}},
			script("redis.call('SET', ARGV[1] .. i, i)")},
		"transaction": {[][]any{{"SUBSCRIBE", "c"}}, transaction},
	} {
		c := s.dial(t)
		for _, args := range append(append([][]any{{"HELLO", 3}}, test.before...),
			test.commands...) {
			c.Queue(args...)
		}
		require.NoError(t, c.Flush(), name)
		n, _ := io.Copy(io.Discard, c.Conn()) // it is closed
		require.Less(t, n, int64(2<<20), name)
		require.Equal(t, int64(1), do(t, other, "DEL", "k").Int, name)
	}
}
