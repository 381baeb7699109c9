package replication

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
	"godwit/internal/testseed"
	"godwit/internal/testserver"
)

// confirming are the kinds that confirm a Godwit's writes.
var confirming = []pair{{godwit, godwit}, {godwit, redis8}, {godwit, valkey9}, {godwit, redis7}}

// TestConfirmed checks that replies come when a replica has the writes, those of pipelines,
// transactions, scripts and blocked clients too, in order.
func TestConfirmed(t *testing.T) {
	forPairs(t, confirming, func(t *testing.T, p pair) {
		master, replica := p.start(t)
		do(t, master, "CONFIG", "SET", "min-replicas-ack-timeout", 60_000)
		link(t, replica, master.Addr)
		do(t, master, "CONFIG", "SET", "min-replicas-to-ack", 1)
		c, other := master.Client(t), master.Client(t)
		popped := make(chan string, 1)
		go func() {
			v, _ := other.Do("BLPOP", "queue", 0)
			popped <- strings.Join(v.Strings(), " ")
		}()
		require.NoError(t, master.WaitInfo("clients", "a client that waits",
			func(info map[string]string) bool { return info["blocked_clients"] == "1" }))
		for _, words := range []string{"SET a 1", "GET a", "INCR a", "PING", "MULTI", "INCR a",
			"GET a", "EXEC", "EVAL return{redis.call('incr','a')} 0", "GET none", "RPUSH queue x",
			"SET a 1 NX", "INCR queue2", "FLUSHALL", "DBSIZE", "SET a 9"} {
			args := strings.Fields(words)
			list := make([]any, len(args))
			for i := range args {
				list[i] = args[i]
			}
			c.Queue(list...)
		}
		replies, err := c.Pipeline()
		require.NoError(t, err)
		var got []string
		for _, v := range replies {
			got = append(got, v.String())
		}
		require.Equal(t, []string{"simple:OK", `"1"`, "2", "simple:PONG", "simple:OK",
			"simple:QUEUED", "simple:QUEUED", `array[3 "3"]`, "array[4]", "null", "1", "null", "1",
			"simple:OK", "0", "simple:OK"}, got)
		require.Equal(t, "queue x", <-popped)
		v, err := replica.Do("GET", "a")
		require.NoError(t, err)
		require.Equal(t, "9", v.Text(), "what was acknowledged is there")
	})
}

// TestUnconfirmed stalls the only replica: writes become errors when the time is up, what was
// written stays, reads are answered, and with min-replicas-ack-reads those of the same key are not.
func TestUnconfirmed(t *testing.T) {
	forPairs(t, confirming[:2], func(t *testing.T, p pair) {
		master, replica := p.start(t)
		timeout := func(ms int) { do(t, master, "CONFIG", "SET", "min-replicas-ack-timeout", ms) }
		timeout(60_000)
		proxy := testserver.RunProxy(t, master, testseed.New(t))
		link(t, replica, proxy.Addr)
		do(t, master, "CONFIG", "SET", "min-replicas-to-ack", 1)
		do(t, master, "SET", "a", 1)
		proxy.Stall(true)
		timeout(100)
		c, reader := master.Client(t), master.Client(t)
		c.Queue("SET", "a", 2)
		c.Queue("GET", "a")
		c.Queue("INCR", "a")
		c.Queue("QUIT")
		require.NoError(t, c.Flush())
		for i, want := range []string{"UNCONFIRMED ", "2", "UNCONFIRMED ", "OK"} {
			v, err := c.Receive()
			require.NoError(t, err)
			require.True(t, strings.HasPrefix(v.Text(), want), "reply %d: %s", i, v.Text())
		}
		_, err := c.Receive()
		require.Error(t, err, "QUIT ends the connection behind the replies")
		v, err := reader.Do("GET", "a")
		require.NoError(t, err)
		require.Equal(t, "3", v.Text())

		do(t, master, "CONFIG", "SET", "min-replicas-ack-reads", "yes")
		c = master.Client(t)
		for _, x := range []struct {
			c    *client.Client
			args []any
		}{{c, []any{"SET", "b", 1}}, {reader, []any{"GET", "b"}}} {
			v, err = x.c.Do(x.args...)
			require.NoError(t, err)
			require.Regexp(t, "^UNCONFIRMED ", v.Text())
		}
		timeout(60_000)
		c.Queue("SET", "b", 2)
		require.NoError(t, c.Flush())
		require.NoError(t, master.WaitInfo("replication", "a reply that waits",
			func(info map[string]string) bool { return info["unconfirmed_replies"] == "1" }))
		proxy.Stall(false)
		v, err = c.Receive()
		require.NoError(t, err)
		require.Equal(t, "OK", v.Text())
		require.NoError(t, master.WaitSame(replica))
		require.Equal(t, "2", do(t, master, "GET", "b"))
	})
}

// TestNothingAcknowledgedIsLost kills a master under load, promotes its replica, and looks for what
// clients were told.
func TestNothingAcknowledgedIsLost(t *testing.T) {
	forPairs(t, confirming[:2], func(t *testing.T, p pair) {
		master, replica := p.start(t)
		do(t, master, "CONFIG", "SET", "min-replicas-ack-timeout", 60_000)
		link(t, replica, master.Addr)
		do(t, master, "CONFIG", "SET", "min-replicas-to-ack", 1)
		const clients, depth = 4, 8
		var acked [clients]int64
		var total atomic.Int64
		var wg sync.WaitGroup
		for i := range clients {
			c := master.Client(t)
			wg.Go(func() { acked[i] = count(c, i, depth, &total) })
		}
		require.Eventually(t, func() bool { return total.Load() > 2000 }, testserver.Patience,
			testserver.Patience/60_000)
		master.Kill()
		wg.Wait()
		require.NoError(t, replica.Promote())
		for i := range clients {
			got := must(t, replica, "INCRBY", key(i), 0).Int
			require.GreaterOrEqual(t, got, acked[i], "client %d", i)
		}
	})
}

func key(client int) string { return "counter:" + string(rune('a'+client)) }

// count increments a counter in pipelines until the server is gone, and returns the highest number
// that was acknowledged.
func count(c *client.Client, i, depth int, total *atomic.Int64) (acked int64) {
	for {
		for range depth {
			c.Queue("INCR", key(i))
		}
		if c.Flush() != nil {
			return acked
		}
		for range depth {
			v, err := c.Receive()
			if err != nil || v.IsError() {
				return acked
			}
			acked = v.Int
			total.Add(1)
		}
	}
}
