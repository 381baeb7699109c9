package cluster

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"godwit/internal/testserver"
)

// startOneShard starts a cluster of one master with two replicas for clients of Sentinel. With
// servers of other kinds the test is skipped.
func startOneShard(t *testing.T, k testserver.Kind) *testserver.Cluster {
	t.Helper()
	takesLong(t)
	if k != testserver.Godwit {
		t.Skip("its nodes are no Sentinels")
	}
	return testserver.RunCluster(t, testserver.ClusterOptions{Kind: k, Masters: 1, Replicas: 2,
		Args: []string{"--cluster-sentinel-clients", "yes", "--min-replicas-to-ack", "1",
			"--repl-diskless-sync-delay", "0"}})
}

// TestSentinel has go-redis's client of Sentinel write while a replica takes over on request and
// the master is killed then. No acknowledged write is lost. The nodes that are left tell their
// subscribers where the master is.
func TestSentinel(t *testing.T) {
	each(t, func(t *testing.T, k testserver.Kind) {
		c := startOneShard(t, k)
		ctx := t.Context()
		first, second := c.Nodes[0], c.Nodes[1]
		client := redis.NewFailoverClient(&redis.FailoverOptions{MasterName: "mymaster",
			SentinelAddrs: c.Addrs(), MaxRetries: -1, PoolSize: 100_000, DialerRetries: 1,
			ReadTimeout: time.Second, DialTimeout: time.Second})
		t.Cleanup(func() { client.Close() })
		sub := redis.NewSentinelClient(&redis.Options{Addr: c.Nodes[2].Addr}).
			Subscribe(ctx, "+switch-master")
		t.Cleanup(func() { sub.Close() })
		_, err := sub.Receive(ctx)
		require.NoError(t, err)

		w := startWritersWith(t, client, "s")
		w.more(t, 100)
		v, err := second.Do("CLUSTER", "FAILOVER")
		require.NoError(t, err)
		require.Equal(t, "OK", v.Text())
		m, err := sub.ReceiveMessage(ctx)
		require.NoError(t, err)
		require.Equal(t, switched(first, second), m.Payload)
		w.more(t, 100)

		moment := time.Now()
		second.Kill()
		m, err = sub.ReceiveMessage(ctx)
		require.NoError(t, err)
		next := first
		if m.Payload != switched(second, first) {
			next = c.Nodes[2]
			require.Equal(t, switched(second, next), m.Payload)
		}
		w.more(t, 100)
		w.end()
		took(t, w, c, "s", moment)
		require.Empty(t, w.lost(t))
		for _, n := range []*testserver.Node{first, c.Nodes[2]} {
			v, err := n.Do("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "mymaster")
			require.NoError(t, err)
			host, port := next.HostPort()
			require.Equal(t, []string{host, port}, v.Strings())
		}
	})
}

// switched returns the message of a switch from one node to another.
func switched(from, to *testserver.Node) string {
	host, port := from.HostPort()
	toHost, toPort := to.HostPort()
	return fmt.Sprintf("mymaster %s %s %s %s", host, port, toHost, toPort)
}

// TestSentinelPython does the like with redis-py.
func TestSentinelPython(t *testing.T) {
	each(t, func(t *testing.T, k testserver.Kind) {
		takesLong(t)
		python := pythonWithRedis(t)
		runPython(t, python, "python/sentinel.py", startOneShard(t, k))
	})
}

// TestSentinelNode does the like with ioredis and node-redis.
func TestSentinelNode(t *testing.T) {
	each(t, func(t *testing.T, k testserver.Kind) {
		testserver.RunNode(t, "../node/sentinel.cjs", startOneShard(t, k).Addrs()...)
	})
}
