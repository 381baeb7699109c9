package integration

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
)

// largeReplies are commands whose replies have more than 1 MB, of large strings, of small ones and
// of numbers. Those of SCAN's family, of SUNION and of streams begin with what is known only at
// their end.
var largeReplies = [][]any{
	{"GET", "v0"}, {"GETRANGE", "v1", 10, 2*mib + 10}, {"MGET", "v0", "none", "v1", "v2"},
	{"LRANGE", "list", 0, -1}, {"LRANGE", "numbers", 0, -1}, {"HGETALL", "hash"},
	{"HVALS", "hash"}, {"SMEMBERS", "set"}, {"SUNION", "set", "set2"},
	{"ZRANGE", "zset", 0, -1, "WITHSCORES"}, {"SORT", "list", "ALPHA"},
	{"HSCAN", "hash", 0, "COUNT", 1 << 20}, {"EVAL", "return redis.call('GET', 'v2')", 0},
	{"EVAL", "return redis.call('LRANGE', 'list', 0, -1)", 0}, {"DUMP", "incompressible"},
	{"ECHO", strings.Repeat("e", 3*mib)}, {"KEYS", "key:*"}, {"XRANGE", "stream", "-", "+"},
	{"XREAD", "MAXCOUNT", 60000, "STREAMS", "stream", "stream2", 0, 0},
	{"XREAD", "MAXSIZE", 3 * mib, "STREAMS", "stream", "stream2", 0, 0},
}

// fillLarge makes what largeReplies read, and returns what the replies in fixed order are.
func fillLarge(t *testing.T, c *client.Client) map[string]string {
	want := map[string]string{}
	bulk := func(s string) string { return fmt.Sprintf("$%d\r\n%s\r\n", len(s), s) }
	for i := range 3 {
		var b strings.Builder
		for j := 0; b.Len() < (i+1)*mib; j++ {
			fmt.Fprintf(&b, "%d:%d,", i, j)
		}
		want[fmt.Sprint("v", i)] = bulk(b.String())
		do(t, c, "SET", fmt.Sprint("v", i), b.String())
	}
	const n = 40000
	want["list"], want["numbers"] = fmt.Sprintf("*%d\r\n", n), fmt.Sprintf("*%d\r\n", 3*n)
	var list, numbers strings.Builder
	for i := range n {
		elem := fmt.Sprintf("%d:%s", i, strings.Repeat("x", i%97))
		list.WriteString(bulk(elem))
		c.Queue("RPUSH", "list", elem)
		c.Queue("HSET", "hash", i, elem)
		c.Queue("SADD", []string{"set", "set2"}[i%2], elem)
		c.Queue("XADD", []string{"stream", "stream2"}[i%2], fmt.Sprint(i+1, "-1"), "field", elem)
		c.Queue("ZADD", "zset", i, elem)
		for j := range 3 {
			numbers.WriteString(bulk(fmt.Sprint(i * 1000 * j)))
			c.Queue("RPUSH", "numbers", i*1000*j)
		}
	}
	want["list"] += list.String()
	want["numbers"] += numbers.String()
	for i := range 12000 {
		c.Queue("SET", fmt.Sprintf("key:%0100d", i), "")
	}
	_, err := c.Pipeline()
	require.NoError(t, err)
	do(t, c, "EVAL", `local t = {}
for i = 1, 300000 do t[i] = struct.pack('d', math.random()) end
redis.call('SET', 'incompressible', table.concat(t))`, 0)
	return want
}

// raw returns the reply to a command as it came.
func raw(t *testing.T, c *client.Client) string {
	t.Helper()
	b, err := c.ReceiveRaw()
	require.NoError(t, err)
	return string(b)
}

// TestLargeReplies asks for large replies: alone, three times in a pipeline, in a transaction, and
// with replies turned off. They are the same each time. Where their order is fixed they are held
// against what was stored. TLS connections are served by goroutines, the others by a loop.
func TestLargeReplies(t *testing.T) {
	skipUnderRace(t)
	godwitOnly(t)
	t.Parallel()
	dir := t.TempDir()
	p, err := newPKI(dir)
	require.NoError(t, err)
	addr := fmt.Sprint("127.0.0.1:", freePort())
	s := startServer(t, append(p.args(), "--tls-port", addr[len("127.0.0.1:"):])...)
	want := fillLarge(t, s.dial(t))
	for _, way := range []struct {
		proto  int
		secure bool
	}{{2, false}, {3, false}, {3, true}} {
		proto, secure := way.proto, way.secure
		c := s.dial(t)
		if secure {
			c = p.dial(t, addr)
		}
		do(t, c, "HELLO", proto)
		for _, args := range largeReplies {
			name := fmt.Sprintf("TLS %v, RESP%d, %.60s", secure, proto, fmt.Sprint(args...))
			reply := sameEachTime(t, c, name, args)
			if fixed, ok := want[fixedReply(args)]; ok && reply != fixed {
				t.Fatalf("%s: the reply is not what was stored", name)
			}
		}
	}
}

// TestLargeReplyToBlocked wakes a blocked client with a reply of 2 MB, and one that had more input
// waiting behind its command. The sum of clients' memory counts that input, also of a client that
// was at rest, on connections of both kinds.
func TestLargeReplyToBlocked(t *testing.T) {
	godwitOnly(t)
	t.Parallel()
	p, err := newPKI(t.TempDir())
	require.NoError(t, err)
	addr := fmt.Sprint("127.0.0.1:", freePort())
	s := startServer(t, append(p.args(), "--tls-port", addr[len("127.0.0.1:"):])...)
	c := s.dial(t)
	for _, secure := range []bool{false, true} {
		waiter := s.dial(t)
		if secure {
			waiter = p.dial(t, addr)
		}
		waiter.Queue("BLMPOP", 0, 1, "l", "LEFT", "COUNT", 100000)
		require.NoError(t, waiter.Flush())
		eventually(t, "the client is blocked", func() bool {
			return infoNumber(do(t, c, "INFO", "clients").Text(), "blocked_clients") == 1
		})
		time.Sleep(3 * time.Second) // it comes to rest
		waiter.Queue("ECHO", strings.Repeat("e", 8*mib))
		require.NoError(t, waiter.Flush())
		eventually(t, "the waiting input is counted", func() bool {
			return infoNumber(do(t, c, "INFO", "memory").Text(), "mem_clients_normal") > 8*mib
		})
		elem, push := strings.Repeat("x", 200), []any{"RPUSH", "l"}
		for range 10000 {
			push = append(push, elem)
		}
		do(t, c, push...)
		popped, err := waiter.Receive()
		require.NoError(t, err)
		require.Len(t, popped.Elems[1].Strings(), 10000)
		require.Equal(t, elem, popped.Elems[1].Strings()[9999])
		echo, err := waiter.Receive()
		require.NoError(t, err)
		require.Len(t, echo.Text(), 8*mib)
	}
}

// fixedReply returns the name under which fillLarge knows the reply.
func fixedReply(args []any) string {
	switch args[0] {
	case "GET", "LRANGE":
		return args[1].(string)
	}
	return ""
}

// sameEachTime runs a command in several ways and returns its reply, which must always be the same.
func sameEachTime(t *testing.T, c *client.Client, name string, args []any) (reply string) {
	t.Helper()
	for _, before := range [][]any{nil, {"CLIENT", "REPLY", "SKIP"}} {
		if before != nil {
			c.Queue(before...)
			c.Queue(args...)
		}
		for range 3 {
			c.Queue(args...)
		}
	}
	c.Queue("CLIENT", "REPLY", "OFF")
	c.Queue(args...)
	c.Queue("CLIENT", "REPLY", "ON")
	c.Queue("MULTI")
	c.Queue(args...)
	c.Queue("PING")
	c.Queue(args...)
	c.Queue("EXEC")
	require.NoError(t, c.Flush())
	for i := range 6 {
		got := raw(t, c)
		if i == 0 {
			reply = got
			require.Greater(t, len(reply), mib, name)
		}
		if got != reply {
			t.Fatalf("%s: reply %d has %d bytes, the first %d", name, i, len(got), len(reply))
		}
	}
	for _, line := range []string{"+OK", "+OK", "+QUEUED", "+QUEUED", "+QUEUED"} {
		require.Equal(t, line+"\r\n", raw(t, c), name)
	}
	if raw(t, c) != "*3\r\n"+reply+"+PONG\r\n"+reply {
		t.Fatalf("%s: another reply in a transaction", name)
	}
	return reply
}

// TestLargeReplyMemory asks for a reply that nobody reads at first. The server holds it about once.
// Then the client takes it slowly, or is killed when it has a part of it.
func TestLargeReplyMemory(t *testing.T) {
	skipUnderRace(t)
	godwitOnly(t)
	s := startServer(t)
	c, other := s.dial(t), s.dial(t)
	const n = 60
	value := strings.Repeat("v", mib)
	do(t, c, "SET", "k", value)
	id := do(t, c, "CLIENT", "ID").Int
	do(t, c, "CONFIG", "SET", "commandlog-reply-larger-than", n*mib)
	before := s.status(t, "VmHWM")
	args := append([]any{"MGET"}, slices.Repeat([]any{"k"}, n)...)
	for range 2 {
		c.Queue(args...)
		require.NoError(t, c.Flush())
		require.Eventually(t, func() bool {
			return memoryInfo(t, other, "mem_clients_normal") > n*mib/2
		}, patience/2, 10*time.Millisecond)
		require.Less(t, s.status(t, "VmHWM")-before, int64(n*mib*3/2))
		require.Contains(t, do(t, other, "CLIENT", "LIST", "ID", id).Text(), " oll=1 ")
		if do(t, other, "COMMANDLOG", "LEN", "large-reply").Int == 2 {
			break
		}
		v, err := c.Receive()
		require.NoError(t, err)
		require.Len(t, v.Elems, n)
		for i, e := range v.Elems {
			require.True(t, e.Str == value, "element %d", i)
		}
	}
	part := make([]byte, mib)
	_, err := io.ReadFull(c.Conn(), part)
	require.NoError(t, err)
	do(t, other, "CLIENT", "KILL", "ID", id)
	_, _ = io.Copy(io.Discard, c.Conn()) // what was on its way may still arrive
	require.Eventually(t, func() bool {
		return memoryInfo(t, other, "mem_clients_normal") < mib
	}, patience/2, 10*time.Millisecond)
}

// TestCountedReplyMemory asks for replies of 60 MB that begin with what is known only when they are
// complete. The server holds each about once.
func TestCountedReplyMemory(t *testing.T) {
	skipUnderRace(t)
	godwitOnly(t)
	s := startServer(t)
	c := s.dial(t)
	const n, keys = 60, 2
	for _, key := range []string{"s", "t"} {
		for i := range n * 16 / keys {
			c.Queue("XADD", key, fmt.Sprint(i+1, "-1"), "f", strings.Repeat("v", mib/16))
			c.Queue("SADD", key+"et", fmt.Sprint(key, i, strings.Repeat("v", mib/16)))
		}
		c.Queue("XGROUP", "CREATE", key, "g", 0)
		_, err := c.Pipeline()
		require.NoError(t, err)
	}
	before := s.status(t, "VmHWM")
	for _, args := range [][]any{
		{"XREAD", "MAXSIZE", 2 * n * mib, "STREAMS", "s", "t", 0, 0},
		{"XREADGROUP", "GROUP", "g", "c", "MAXSIZE", 2 * n * mib, "STREAMS", "s", "t", ">", ">"},
		{"XREADGROUP", "GROUP", "g", "d", "CLAIM", 0, "MAXCOUNT", 16 * n, "STREAMS", "s", "t",
			">", ">"},
		{"XREADGROUP", "GROUP", "g", "d", "STREAMS", "s", "t", 0, 0},
		{"SUNION", "set", "tet"},
	} {
		require.NotEmpty(t, do(t, c, args...).Elems)
		require.Less(t, s.status(t, "VmHWM")-before, int64(n*mib*3/2), "%.60s", fmt.Sprint(args...))
	}
}

// TestLargeReplyLimit lets replies pass the output limit while they grow. The client is closed, and
// the reply is never in memory as a whole. Nor is that of a client that wants no replies.
func TestLargeReplyLimit(t *testing.T) {
	skipUnderRace(t)
	godwitOnly(t)
	s := startServer(t)
	other := s.dial(t)
	do(t, other, "SET", "k", strings.Repeat("v", mib))
	do(t, other, "CONFIG", "SET", "client-output-buffer-limit", "normal 4mb 0 0")
	args := append([]any{"MGET"}, slices.Repeat([]any{"k"}, 100)...)
	before := s.status(t, "VmHWM")
	for _, multi := range []bool{false, true} {
		c := s.dial(t)
		if multi {
			c.Queue("MULTI")
			c.Queue("SET", "done", "yes")
			c.Queue(args...)
			c.Queue("EXEC")
		} else {
			c.Queue(args...)
		}
		require.NoError(t, c.Flush())
		got, _ := io.Copy(io.Discard, c.Conn())
		require.Less(t, got, int64(100))
	}
	require.Equal(t, "yes", do(t, other, "GET", "done").Text())
	c := s.dial(t)
	c.Queue("CLIENT", "REPLY", "OFF")
	c.Queue(args...)
	c.Queue("CLIENT", "REPLY", "ON")
	require.NoError(t, c.Flush())
	v, err := c.Receive()
	require.NoError(t, err)
	require.Equal(t, "OK", v.Text())
	require.Less(t, s.status(t, "VmHWM")-before, int64(40*mib))
}
