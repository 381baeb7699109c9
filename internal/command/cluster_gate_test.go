package command

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/cluster/topology"
	"godwit/internal/config"
	"godwit/internal/engine"
	"godwit/internal/logging"
	"godwit/internal/slot"
)

// offer runs a command, and returns the bytes of the reply, "" if it is held back.
func offer(t *testing.T, l *local, line string) string {
	t.Helper()
	l.e.Enter()
	defer l.e.Leave()
	l.c.W.Buf = l.c.W.Buf[:0]
	argv := splitCommand(t, "", &step{command: line})
	if done := l.e.Exec(l.c, argv); !done {
		require.Empty(t, l.c.W.Buf)
		require.True(t, l.c.Postponed())
		return ""
	}
	return string(l.c.W.Buf)
}

// closed is a slot of a master that is about to move: that of "hello", which has a key.
type closed struct {
	*clusterLocal
	t    *testing.T
	slot slot.Set
}

func newClosed(t *testing.T) *closed {
	c := &closed{newClusterLocal(t, "a"), t, slot.SetOf(slot.Range{First: 866, Last: 866})}
	require.Equal(t, "+OK\r\n", offer(t, c.join(), "SET hello 1"))
	return c
}

// change applies actions and has the engine install the outcome.
func (c *closed) change(actions ...topology.Action) {
	c.e.Enter()
	defer c.e.Leave()
	c.apply(c.t, actions...)
	c.install()
}

func (c *closed) close() {
	shard := c.state.Shards[shardOf("a")]
	c.change(topology.Close{Shard: shard.ID, Term: shard.Term, Slots: c.slot})
}

func (c *closed) open() { c.change(topology.Open{Shard: shardOf("a"), Slots: c.slot}) }

func (c *closed) move() { c.change(topology.Move{Slots: c.slot, To: nodeID("b")}) }

// value returns the value of hello, "" if it is not there.
func (c *closed) value() string {
	c.e.Enter()
	defer c.e.Leave()
	e := c.e.KS.DB(0).Peek([]byte("hello"))
	if !e.Exists() {
		return ""
	}
	var scratch [24]byte
	return string(c.e.KS.DB(0).StringBytes(e, &scratch))
}

// TestClosingSlots holds commands back whose slot is about to move, until it has moved, or stays.
func TestClosingSlots(t *testing.T) {
	const read = `EVAL "return redis.status_reply(redis.call('get', KEYS[1]))" 1 hello`
	l := newClosed(t)
	for _, want := range []string{"+1\r\n", "-MOVED 866 127.0.0.1:7002\r\n"} {
		reader, script, waiter, other := l.join(), l.join(), l.join(), l.join()
		require.Empty(t, offer(t, waiter, "BLPOP {hello}list 0"))
		require.True(t, waiter.c.Waits())
		l.close()
		require.Empty(t, offer(t, reader, "GET hello"))
		require.Empty(t, offer(t, script, read))
		require.Equal(t, "$-1\r\n", offer(t, other, "GET k2"))
		if want[0] == '-' {
			l.move()
		} else {
			l.open()
		}
		require.False(t, reader.c.Postponed())
		require.Equal(t, want, offer(t, script, read))
		if want[0] == '-' {
			require.False(t, waiter.c.Waits())
			require.Equal(t, want, string(waiter.c.W.Buf))
		} else {
			require.True(t, waiter.c.Waits())
			l.e.Enter()
			l.e.Forget(waiter.c)
			l.e.Leave()
		}
	}
}

// TestClosingSlotsStand checks that nothing changes in a slot that is about to move, whatever way a
// command takes there. The commands before "closed" come while the slot is open.
func TestClosingSlotsStand(t *testing.T) {
	const script = "-TRYAGAIN Script attempted to access a slot that is about to move"
	for _, c := range []struct{ commands, want string }{
		{"closed; SET hello 2", ""},
		{"closed; GET hello", ""},
		{`closed; EVAL "redis.call('set', 'hello', '2')" 0`, script},
		{`closed; EVAL "redis.call('set', 'hello', '2')" 1 k2`, script},
		{`closed; EVAL "redis.call('del', 'hello')" 1 hello`, ""},
		{`closed; EVAL "redis.call('flushall')" 0`, script},
		{`closed; EVAL "return #redis.pcall('flushall').err > 0" 0`, ":1\r\n"},
		{`MULTI; EVAL "redis.call('set', 'hello', '2')" 0; closed; EXEC`, "*1\r\n" + script},
		{"MULTI; SET hello 2; closed; EXEC", ""},
		{"MULTI; SPUBLISH {hello}c x; SET hello 2; closed; EXEC", ""},
		{"MULTI; SET hello 2; SPUBLISH {hello}c x; closed; EXEC", ""},
		{"MULTI; SPUBLISH {hello}c x; closed; EXEC", "*1\r\n:0\r\n"},
		{"closed; SPUBLISH {hello}c x", ":0\r\n"},
		{"MULTI; PING; closed; EXEC XX hello", ""},
		{"closed; FLUSHALL", ""}, {"closed; FLUSHDB", ""}, {"closed; CLUSTER FLUSHSLOT 866", ""},
		{"MULTI; FLUSHALL; closed; EXEC", ""},
		{"closed; FUNCTION FLUSH", "+OK\r\n"},
		{"closed; SET k2 2", "+OK\r\n"},
	} {
		l := newClosed(t)
		client, got := l.join(), ""
		for _, command := range strings.Split(c.commands, "; ") {
			if command == "closed" {
				l.close()
				continue
			}
			got = offer(t, client, command)
		}
		require.Equal(t, "1", l.value(), c.commands)
		require.Equal(t, c.want == "", client.c.Postponed(), c.commands)
		require.Equal(t, c.want, got[:min(len(got), len(c.want))], c.commands)
		l.open()
		require.False(t, client.c.Postponed(), c.commands)
	}
}

// TestClusterMessages passes messages between nodes.
func TestClusterMessages(t *testing.T) {
	l := newClusterLocal(t, "a")
	node := l.e.Cluster.(*fakeNode)
	sub, pub := l.join(), l.join()
	offer(t, sub, "SUBSCRIBE hello")
	offer(t, sub, "SSUBSCRIBE hello")
	require.Equal(t, ":1\r\n", offer(t, pub, "PUBLISH hello x"))
	require.Equal(t, ":1\r\n", offer(t, pub, "SPUBLISH hello y"))
	offer(t, pub, `EVAL "redis.call('publish', 'other', 'z')" 0`)
	require.Equal(t, []string{"0 hello x", "1 hello y", "0 other z"}, node.sent)
	sub.c.W.Buf = nil
	l.e.Enter()
	defer l.e.Leave()
	l.e.DeliverMessage(engine.MessageToAll, []byte("hello"), []byte("1"))
	l.e.DeliverMessage(engine.MessageToShard, []byte("hello"), []byte("2"))
	l.e.DeliverMessage(engine.MessageToShard, []byte("other"), []byte("3"))
	require.Equal(t, "*3\r\n$7\r\nmessage\r\n$5\r\nhello\r\n$1\r\n1\r\n"+
		"*3\r\n$8\r\nsmessage\r\n$5\r\nhello\r\n$1\r\n2\r\n", string(sub.c.W.Buf))
}

// TestClusterMinority checks that a node that hears of no majority serves nothing.
func TestClusterMinority(t *testing.T) {
	l := newClosed(t)
	node := l.e.Cluster.(*fakeNode)
	for range 2 {
		require.Equal(t, "$1\r\n1\r\n", offer(t, l.local, "GET hello"))
		waiter := l.join()
		offer(t, waiter, "BLPOP {hello}list 0")
		held := l.join()
		l.close()
		require.Empty(t, offer(t, held, "GET hello"))
		node.deaf = true
		l.tick()
		require.False(t, held.c.Postponed(), "nobody will decide")
		require.Equal(t, "-CLUSTERDOWN The cluster is down\r\n", offer(t, held, "GET hello"))
		l.open()
		require.Equal(t, "-CLUSTERDOWN The cluster is down\r\n", string(waiter.c.W.Buf))
		require.Equal(t, "-CLUSTERDOWN The cluster is down\r\n", offer(t, l.local, "GET hello"))
		require.Equal(t, "-CLUSTERDOWN The cluster is down\r\n", offer(t, l.local, "GET foo"))
		node.deaf = false
		l.tick()
	}
}

// TestClusterTLSPort redirects clients of TLS to ports of TLS.
func TestClusterTLSPort(t *testing.T) {
	l := newClusterLocal(t, "a")
	l.e.Enter()
	about := l.state.Nodes[nodeID("c")].About
	about.TLSPort = 9003
	l.apply(t, topology.Tell{Node: nodeID("c"), About: about})
	l.install()
	l.e.Leave()
	require.Equal(t, "-MOVED 12182 127.0.0.1:7003\r\n", offer(t, l.local, "GET foo"))
	l.c.TLS = true
	require.Equal(t, "-MOVED 12182 127.0.0.1:9003\r\n", offer(t, l.local, "GET foo"))
}

// BenchmarkCluster reads and writes keys, alone and as a node of a cluster.
func BenchmarkCluster(b *testing.B) {
	for n := range 4 {
		write, on := n/2, n%2 == 1
		b.Run(fmt.Sprint([]string{"GET", "SET"}[write], "/cluster=", on), func(b *testing.B) {
			cfg := config.Default()
			cfg.Cluster.Enabled = on
			e := engine.New(cfg, Table(), engine.Options{Log: logging.Discard(), Seed: 1})
			e.Cluster = &fakeNode{}
			e.Enter()
			defer e.Leave()
			l := &local{e, e.NewClient(nil)}
			if on {
				l.own(allSlots)
			}
			var commands [][][]byte
			for i := range 1000 {
				key := fmt.Sprintf("key:%012d", i)
				set, get := argvOf("SET", key, "v"), argvOf("GET", key)
				e.Exec(l.c, set)
				commands = append(commands, [][][]byte{get, set}[write])
			}
			for i := 0; b.Loop(); i++ {
				l.c.W.Buf = l.c.W.Buf[:0]
				e.Exec(l.c, commands[i%len(commands)])
			}
		})
	}
}
