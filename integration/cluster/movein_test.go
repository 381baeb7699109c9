package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"godwit/internal/testserver"
)

// TestMoveIn moves a cluster of Redis, and one of Valkey, in while clients write, as
// docs/cluster.md says. The source fails over on the way. Every increment that was acknowledged is
// there once, and so are values of all kinds.
func TestMoveIn(t *testing.T) {
	takesLong(t)
	for _, k := range []testserver.Kind{testserver.Redis8, testserver.Valkey9} {
		t.Run(string(k), func(t *testing.T) {
			w := newMoving(t, k, 1, "--min-replicas-to-ack", "1")
			fillKinds(t, w.from)
			c := w.count(t)
			c.more(t, 2000)

			watch := w.start(t)
			watch.wait(t, "in step: 3 shards")
			require.NoError(t, w.from.Replica(0).WaitInfo("replication", "linked",
				func(info map[string]string) bool { return info["master_link_status"] == "up" }))
			w.say(t, w.from.Replica(0), "CLUSTER", "FAILOVER")
			watch.wait(t, "the new master of its shard")
			c.more(t, 2000)

			out, ok := w.run(t, "--cutover")
			require.True(t, ok, out)
			require.Contains(t, out, "follow the source already")
			require.Contains(t, out, "the target has the slots")
			t.Log("\n" + out)
			require.NoError(t, watch.cmd.Wait()) // and leaves everything alone
			require.Contains(t, watch.said(), "another run has handed the slots over")
			c.moved(t)
			w.same(t)
			c.at.Store(connect(t, w.to, nil))
			c.more(t, 2000)
			c.check(t)
		})
	}
}

// moving is a cluster and the one that it moves into.
type moving struct {
	from, to *testserver.Cluster
}

func newMoving(t *testing.T, k testserver.Kind, replicas int, args ...string) *moving {
	start := func(k testserver.Kind, spares int, args ...string) *testserver.Cluster {
		return testserver.RunCluster(t, testserver.ClusterOptions{Kind: k, Masters: 3,
			Replicas: replicas, Spares: spares, Timeout: 5 * time.Second, Args: args})
	}
	return &moving{start(k, 0), start(testserver.Godwit, 1-replicas, args...)}
}

// say sends a command that is answered OK.
func (w *moving) say(t *testing.T, n *testserver.Node, args ...any) {
	t.Helper()
	v, err := n.Do(args...)
	require.NoError(t, err)
	require.Equal(t, "OK", v.Text(), "%v", args)
}

// mover is a run of godwit-server --move-in.
type mover struct {
	cmd *exec.Cmd
	mu  sync.Mutex
	out bytes.Buffer
}

// Write collects what the tool says.
func (r *mover) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.out.Write(b)
}

func (r *mover) said() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.out.String()
}

func (w *moving) command(t *testing.T, args ...string) *mover {
	bin, err := testserver.Binary()
	require.NoError(t, err)
	r := &mover{cmd: exec.CommandContext(t.Context(), bin, append([]string{"--move-in",
		w.from.Nodes[0].Addr, w.to.Nodes[0].Addr}, args...)...)}
	r.cmd.Stdout, r.cmd.Stderr = r, r
	return r
}

// run runs the tool to its end. It returns what it has said, and whether it has succeeded.
func (w *moving) run(t *testing.T, args ...string) (out string, ok bool) {
	t.Helper()
	r := w.command(t, args...)
	err := r.cmd.Run()
	return r.said(), err == nil
}

func (w *moving) start(t *testing.T, args ...string) *mover {
	t.Helper()
	r := w.command(t, args...)
	require.NoError(t, r.cmd.Start())
	return r
}

// wait waits until the tool has said something.
func (r *mover) wait(t *testing.T, text string) {
	t.Helper()
	for end := time.Now().Add(testserver.Patience); !strings.Contains(r.said(), text); {
		require.True(t, time.Now().Before(end), "%q is not in:\n%s", text, r.said())
		time.Sleep(5 * time.Millisecond)
	}
}

// stop interrupts the tool, which leaves the target following.
func (r *mover) stop(t *testing.T) {
	t.Helper()
	require.NoError(t, r.cmd.Process.Signal(syscall.SIGINT))
	require.NoError(t, r.cmd.Wait(), r.said())
}

// failed waits for the end of the tool, which must have failed.
func (r *mover) failed(t *testing.T) {
	t.Helper()
	var exit *exec.ExitError
	require.ErrorAs(t, r.cmd.Wait(), &exit, r.said())
}

// same compares what both clusters have, shard by shard.
func (w *moving) same(t *testing.T) {
	t.Helper()
	for first := 0; first < 3; first++ {
		slot := first * 6000 // in another shard each
		from, err := w.from.Owner(w.from.Nodes[1], slot)
		require.NoError(t, err)
		to, err := w.to.Owner(w.to.Nodes[1], slot)
		require.NoError(t, err)
		there, err := from.Read()
		require.NoError(t, err)
		require.Positive(t, there.Keys())
		here, err := to.Read()
		require.NoError(t, err)
		require.Empty(t, there.Compare(here))
	}
}

// fillKinds writes values of all kinds to all shards, and a library of functions to each master.
func fillKinds(t *testing.T, c *testserver.Cluster) {
	ctx, client := t.Context(), connect(t, c, nil)
	_, err := client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i := range 200 {
			key := func(kind string) string { return fmt.Sprintf("%s%d", kind, i) }
			p.Set(ctx, key("string"), strings.Repeat("x", i), 0)
			p.Set(ctx, key("soon"), i, time.Hour)
			p.RPush(ctx, key("list"), "a", i, strings.Repeat("y", 100))
			p.SAdd(ctx, key("set"), "a", i)
			p.HSet(ctx, key("hash"), "f", i, "g", "v")
			p.HExpire(ctx, key("hash"), time.Hour, "g")
			p.ZAdd(ctx, key("zset"), redis.Z{Score: float64(i) / 3, Member: "a"})
			p.XAdd(ctx, &redis.XAddArgs{Stream: key("stream"), Values: []any{"f", i}})
			p.XGroupCreate(ctx, key("stream"), "g", "0")
			p.PFAdd(ctx, key("hll"), i)
		}
		return nil
	})
	require.NoError(t, err)
	require.NoError(t, client.ForEachMaster(ctx, func(ctx context.Context, m *redis.Client) error {
		return m.FunctionLoad(ctx, "#!lua name=lib\n"+
			"redis.register_function('f', function() return 1 end)").Err()
	}))
}

// counters are clients that increment keys of their own all the time, each by what at has. When
// they are refused, they wait for another cluster.
type counters struct {
	at     atomic.Pointer[redis.ClusterClient]
	cancel context.CancelFunc
	wait   sync.WaitGroup
	total  atomic.Int64
	idle   atomic.Int64 // clients that have been refused

	mu     sync.Mutex
	counts map[string]int64
	err    error
}

const countingClients, countedKeys = 6, 30

// count starts the clients at the source.
func (w *moving) count(t *testing.T) *counters {
	c := &counters{counts: map[string]int64{}}
	c.at.Store(connect(t, w.from, func(o *redis.ClusterOptions) {
		o.ClusterStateReloadInterval = 100 * time.Millisecond
	}))
	ctx, cancel := context.WithCancel(t.Context())
	c.cancel = cancel
	for i := range countingClients {
		c.wait.Go(func() {
			if err := c.increment(ctx, i); err != nil {
				c.mu.Lock()
				c.err = errors.Join(c.err, err)
				c.mu.Unlock()
			}
		})
	}
	t.Cleanup(cancel)
	return c
}

func (c *counters) increment(ctx context.Context, client int) error {
	for n := int64(1); ctx.Err() == nil; n++ {
		for i := range countedKeys {
			key := fmt.Sprintf("counted:%d:%d", client, i)
			for refused := false; ; {
				at := c.at.Load()
				got, err := at.Incr(context.WithoutCancel(ctx), key).Result()
				if err == nil && got == n {
					break
				}
				if err == nil || !strings.HasPrefix(err.Error(), "NOREPLICAS") {
					return fmt.Errorf("%s: %d, not %d (%w)", key, got, n, err)
				}
				if !refused {
					refused = true
					c.idle.Add(1)
				}
				for c.at.Load() == at {
					if ctx.Err() != nil {
						return nil
					}
					time.Sleep(time.Millisecond)
				}
			}
			c.total.Add(1)
			c.mu.Lock()
			c.counts[key] = n
			c.mu.Unlock()
		}
	}
	return nil
}

// more waits until so many more increments have been acknowledged.
func (c *counters) more(t *testing.T, n int64) {
	t.Helper()
	want := c.total.Load() + n
	eventually(t, func() bool { return c.total.Load() >= want || c.fault() != nil }, "increments")
	require.NoError(t, c.fault())
}

func (c *counters) fault() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// moved waits until all clients have been refused by the source.
func (c *counters) moved(t *testing.T) {
	t.Helper()
	eventually(t, func() bool { return c.idle.Load() == countingClients || c.fault() != nil },
		"all are refused")
	require.NoError(t, c.fault())
}

// check ends the clients and holds the counters against what was acknowledged.
func (c *counters) check(t *testing.T) {
	t.Helper()
	c.cancel()
	c.wait.Wait()
	require.NoError(t, c.err)
	require.Len(t, c.counts, countingClients*countedKeys)
	for key, n := range c.counts {
		got, err := c.at.Load().Get(context.Background(), key).Int64()
		require.NoError(t, err)
		require.Equal(t, n, got, key)
	}
}
