package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"godwit/internal/testserver"
)

// TestGoRedis does what go-redis has a way of its own for in clusters.
func TestGoRedis(t *testing.T) {
	each(t, func(t *testing.T, k testserver.Kind) {
		c := common(t, k)
		client := connect(t, c, nil)
		pipelines(t, client)
		transactions(t, client)
		channels(t, client)
		replicas(t, c, client)
	})
}

// pipelines sends commands for many slots at once.
func pipelines(t *testing.T, client *redis.ClusterClient) {
	ctx := t.Context()
	const n = 1000
	_, err := client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i := range n {
			p.Set(ctx, fmt.Sprint("pipe", i), i, 0)
		}
		return nil
	})
	require.NoError(t, err)
	replies, err := client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i := range n {
			p.Get(ctx, fmt.Sprint("pipe", i))
		}
		return nil
	})
	require.NoError(t, err)
	for i, r := range replies {
		got, err := r.(*redis.StringCmd).Int()
		require.NoError(t, err)
		require.Equal(t, i, got)
	}
	var total atomic.Int64
	require.NoError(t, client.ForEachMaster(ctx, func(ctx context.Context, m *redis.Client) error {
		keys, _, err := m.Scan(ctx, 0, "pipe*", 100_000).Result()
		total.Add(int64(len(keys)))
		return err
	}))
	require.EqualValues(t, n, total.Load())
	_, err = client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i := range n {
			p.Del(ctx, fmt.Sprint("pipe", i))
		}
		return nil
	})
	require.NoError(t, err)
}

// transactions are for keys of one slot.
func transactions(t *testing.T, client *redis.ClusterClient) {
	ctx := t.Context()
	var wait sync.WaitGroup
	add := func(tx *redis.Tx) error {
		n, err := tx.Get(ctx, "{tx}n").Int()
		if err != nil && !errors.Is(err, redis.Nil) {
			return err
		}
		_, err = tx.TxPipelined(ctx, func(p redis.Pipeliner) error {
			p.Set(ctx, "{tx}n", n+1, 0)
			p.RPush(ctx, "{tx}log", n)
			return nil
		})
		return err
	}
	errs := make([]error, 5)
	for i := range errs {
		wait.Go(func() {
			for range 10 {
				var err error = redis.TxFailedErr
				for errors.Is(err, redis.TxFailedErr) {
					err = client.Watch(ctx, add, "{tx}n")
				}
				errs[i] = errors.Join(errs[i], err)
			}
		})
	}
	wait.Wait()
	require.NoError(t, errors.Join(errs...))
	require.Equal(t, "50", client.Get(ctx, "{tx}n").Val())
	require.EqualValues(t, 50, client.LLen(ctx, "{tx}log").Val())
	require.NoError(t, client.Del(ctx, "{tx}n", "{tx}log").Err())
}

// channels subscribes to channels of both kinds.
func channels(t *testing.T, client *redis.ClusterClient) {
	ctx := t.Context()
	for i := range 5 {
		name := fmt.Sprint("channel", i)
		for _, way := range []struct {
			sub func(ctx context.Context, channels ...string) *redis.PubSub
			pub func(ctx context.Context, channel string, message any) *redis.IntCmd
		}{{client.SSubscribe, client.SPublish}, {client.Subscribe, client.Publish}} {
			sub := way.sub(ctx, name)
			_, err := sub.Receive(ctx)
			require.NoError(t, err)
			require.NoError(t, way.pub(ctx, name, "hello").Err())
			m, err := sub.ReceiveMessage(ctx)
			require.NoError(t, err)
			require.Equal(t, name+" hello", m.Channel+" "+m.Payload)
			require.NoError(t, sub.Close())
		}
	}
}

// replicas reads from all nodes.
func replicas(t *testing.T, c *testserver.Cluster, client *redis.ClusterClient) {
	ctx := t.Context()
	const n = 100
	for i := range n {
		require.NoError(t, client.Set(ctx, fmt.Sprint("replicas", i), i, 0).Err())
	}
	view, err := c.Nodes[0].View()
	require.NoError(t, err)
	for _, l := range view {
		if l.Has("slave") {
			require.NoError(t, c.Node(l.Master).WaitCaughtUp(c.Node(l.ID).Server))
		}
	}
	before := readsOf(t, c)
	reader := connect(t, c, func(o *redis.ClusterOptions) { o.RouteRandomly = true })
	for i := range n {
		got, err := reader.Get(ctx, fmt.Sprint("replicas", i)).Int()
		require.NoError(t, err)
		require.Equal(t, i, got)
	}
	after := readsOf(t, c)
	for _, s := range c.Nodes {
		require.NotEqual(t, before[s.ID], after[s.ID], "%s reads, as all nodes do", s.Addr)
	}
}

// readsOf returns what each node says of its GETs.
func readsOf(t *testing.T, c *testserver.Cluster) map[string]string {
	reads := map[string]string{}
	for _, n := range c.Nodes {
		info, err := n.Info("commandstats")
		require.NoError(t, err)
		reads[n.ID], _, _ = strings.Cut(info["cmdstat_get"], ",")
	}
	return reads
}

// TestMoveUnderLoad moves a slot to another node and back while clients read and write its keys.
// They see no error.
func TestMoveUnderLoad(t *testing.T) {
	each(t, func(t *testing.T, k testserver.Kind) {
		c := common(t, k)
		p := placeOf(t, c, "load")
		var keys []string
		for i := range 50 {
			keys = append(keys, fmt.Sprintf("{load}%d", i))
		}
		w := newWalker(c, testserver.Patience)
		defer w.close()
		client := connect(t, c, func(o *redis.ClusterOptions) { o.MaxRedirects = maxRedirects })
		for _, key := range keys {
			require.NoError(t, client.Del(t.Context(), key, "h"+key).Err())
		}
		ctx, stop := context.WithCancel(t.Context())
		var wait sync.WaitGroup
		var rounds [2]atomic.Int64 // of each client
		errs := make([]error, 2)
		wait.Go(func() { errs[0] = countWith(ctx, keys, &rounds[0], w) })
		wait.Go(func() { errs[1] = countWithGo(ctx, keys, &rounds[1], client) })
		more := func() {
			for i := range rounds {
				from := rounds[i].Load()
				eventually(t, func() bool { return rounds[i].Load() > from+1 }, "more rounds")
			}
		}
		for range 2 {
			more()
			p.say(t, p.other, "OK", "CLUSTER", "SETSLOT", p.slot, "IMPORTING", p.a.ID)
			p.say(t, p.owner, "OK", "CLUSTER", "SETSLOT", p.slot, "MIGRATING", p.b.ID)
			p.migrateAll(t)
			more()
			p.finish(t)
		}
		require.NoError(t, c.WaitOwner(p.slot, p.a, c.Nodes...))
		stop()
		wait.Wait()
		require.NoError(t, errors.Join(errs...))
		require.Positive(t, w.seen["ASK"])
		require.Positive(t, w.seen["MOVED"])
	})
}

// countWith increments the keys over and over: each must be as often incremented as it says.
func countWith(ctx context.Context, keys []string, rounds *atomic.Int64, w *walker) error {
	for n := int64(1); ctx.Err() == nil; n++ {
		for _, key := range keys {
			v, err := w.do(key, "HINCRBY", "h"+key, "n", 1)
			if err != nil || v.IsError() || v.Int != n {
				return fmt.Errorf("%s: %s, not %d (%v)", key, v, n, err)
			}
		}
		rounds.Add(1)
	}
	return nil
}

func countWithGo(ctx context.Context, keys []string, rounds *atomic.Int64,
	client *redis.ClusterClient) error {
	for n := int64(1); ctx.Err() == nil; n++ {
		for _, key := range keys {
			got, err := client.Incr(context.WithoutCancel(ctx), key).Result()
			if err != nil || got != n {
				return fmt.Errorf("%s: %d, not %d (%v)", key, got, n, err)
			}
		}
		rounds.Add(1)
	}
	return nil
}
