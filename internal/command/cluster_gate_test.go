package command

import (
	"fmt"
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

// TestClosingSlots holds commands back whose slot is about to move, until it has moved, or stays.
func TestClosingSlots(t *testing.T) {
	const read = `EVAL "return redis.status_reply(redis.call('get', KEYS[1]))" 1 hello`
	l := newClusterLocal(t, "a")
	one := slot.SetOf(slot.Range{First: 866, Last: 866}) // that of "hello"
	install := func(a topology.Action) {
		l.e.Enter()
		defer l.e.Leave()
		l.apply(t, a)
		l.install()
	}
	shard := l.state.Shards[shardOf("a")]
	for _, end := range []struct {
		do   topology.Action
		want string
	}{
		{topology.Open{Shard: shard.ID, Slots: one}, "+1\r\n"},
		{topology.Move{Slots: one, To: nodeID("b")}, "-MOVED 866 127.0.0.1:7002\r\n"},
	} {
		reader, script, waiter, other := l.join(), l.join(), l.join(), l.join()
		require.Equal(t, "+OK\r\n", offer(t, other, "SET hello 1"))
		require.Empty(t, offer(t, waiter, "BLPOP {hello}list 0"))
		require.True(t, waiter.c.Waits())
		install(topology.Close{Shard: shard.ID, Term: shard.Term, Slots: one})
		require.Empty(t, offer(t, reader, "GET hello"))
		require.Empty(t, offer(t, script, read))
		require.Equal(t, "$-1\r\n", offer(t, other, "GET k2"))
		install(end.do)
		require.False(t, reader.c.Postponed())
		require.Equal(t, end.want, offer(t, script, read))
		if end.want[0] == '-' {
			require.False(t, waiter.c.Waits())
			require.Equal(t, end.want, string(waiter.c.W.Buf))
		} else {
			require.True(t, waiter.c.Waits())
			l.e.Enter()
			l.e.Forget(waiter.c)
			l.e.Leave()
		}
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
	l := newClusterLocal(t, "a")
	node := l.e.Cluster.(*fakeNode)
	for range 2 {
		require.Equal(t, "$-1\r\n", offer(t, l.local, "GET hello"))
		waiter := l.join()
		offer(t, waiter, "BLPOP hello 0")
		node.deaf = true
		l.tick()
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

// BenchmarkClusterGet reads keys with and without the cluster's gate.
func BenchmarkClusterGet(b *testing.B) {
	for _, on := range []bool{false, true} {
		b.Run(fmt.Sprint("cluster=", on), func(b *testing.B) {
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
			var gets [][][]byte
			for i := range 1000 {
				key := fmt.Sprintf("key:%012d", i)
				e.Exec(l.c, argvOf("SET", key, "v"))
				gets = append(gets, argvOf("GET", key))
			}
			for i := 0; b.Loop(); i++ {
				l.c.W.Buf = l.c.W.Buf[:0]
				e.Exec(l.c, gets[i%len(gets)])
			}
		})
	}
}
