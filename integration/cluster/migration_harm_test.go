package cluster

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"godwit/internal/slot"
	"godwit/internal/testseed"
	"godwit/internal/testserver"
)

// slowly makes a snapshot of some thousand keys last long enough to be disturbed.
var slowly = []string{"--rdb-key-save-delay", "100", "--appendonly", "yes"}

// harmed is a cluster of two masters with replicas, whose slots move while something happens.
type harmed struct {
	*movable
	rnd  *rand.Rand
	keys []string // that were written once and for all
}

// newHarmed starts such a cluster with keys in all slots.
func newHarmed(t *testing.T, replicas int, args ...string) *harmed {
	t.Helper()
	c := testserver.RunCluster(t, testserver.ClusterOptions{Kind: testserver.Godwit, Masters: 2,
		Replicas: replicas, Args: append(slowly[:len(slowly):len(slowly)], args...)})
	h := &harmed{movable: &movable{Cluster: c, a: c.Master(0), b: c.Master(1),
		first: 1000, last: 6000}, rnd: rand.New(rand.NewPCG(testseed.New(t), 0))}
	client := connect(t, c, nil)
	ctx := context.Background()
	_, err := client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i := range 10_000 {
			key := fmt.Sprint("k", i)
			h.keys = append(h.keys, key)
			p.Set(ctx, key, strings.Repeat("x", i%500), 0)
		}
		return nil
	})
	require.NoError(t, err)
	return h
}

// mastersOf returns the master of the slots that move, and the other one.
func (h *harmed) masters(t *testing.T) (from, to *testserver.Node) {
	t.Helper()
	for _, n := range h.Nodes {
		view, err := n.View()
		if err != nil {
			continue
		}
		for _, l := range view.Masters() {
			if node := h.Node(l.ID); l.Slots.Has(h.first) {
				from = node
			} else {
				to = node
			}
		}
		if from != nil && to != nil {
			return from, to
		}
	}
	t.Fatal("there are not two masters")
	return nil, nil
}

// over waits until no migration is under way.
func (h *harmed) over(t *testing.T) (state string) {
	t.Helper()
	eventually(t, func() bool {
		from, to := h.masters(t)
		for _, n := range []*testserver.Node{from, to} {
			v, err := n.Do("CLUSTER", "GETSLOTMIGRATIONS")
			if err != nil || v.IsError() {
				return false
			}
			for i, e := range v.Elems { // the newest first
				if one := field(e, "state"); one != "success" && one != "failed" &&
					one != "cancelled" {
					return false
				} else if i == 0 {
					state = one
				}
			}
		}
		return true
	}, "the migration ends")
	return state
}

// once checks that the masters have all of keys, and no key twice or where it does not belong.
func (h *harmed) once(t *testing.T, keys []string) {
	t.Helper()
	why := ""
	if !assert.Eventually(t, func() bool { why = h.faults(t, keys); return why == "" },
		testserver.Patience, 50*time.Millisecond) {
		t.Fatal(why)
	}
}

// faults returns what is wrong with the keys that the masters have.
func (h *harmed) faults(t *testing.T, keys []string) string {
	t.Helper()
	have := map[string]bool{}
	from, to := h.masters(t)
	for _, n := range []*testserver.Node{from, to} {
		view, err := n.View()
		size, sizeErr := n.Do("DBSIZE")
		all, keysErr := n.Do("KEYS", "*")
		if err != nil || sizeErr != nil || keysErr != nil || size.Int != int64(len(all.Elems)) {
			return fmt.Sprintf("%s has %d keys, or %d", n.Addr, size.Int, len(all.Elems))
		}
		for _, e := range all.Elems {
			switch key := e.Text(); {
			case have[key]:
				return "twice: " + key
			case !view.Find(n.ID).Slots.Has(slotOf(key)):
				return "in the wrong place: " + key
			default:
				have[key] = true
			}
		}
	}
	for _, key := range keys {
		if !have[key] {
			return "missing: " + key
		}
	}
	return ""
}

// TestHarmedMigrations moves slots while nodes are killed, fail over and start anew, and while
// migrations are cancelled. What was acknowledged is there afterwards, and nothing is there twice.
func TestHarmedMigrations(t *testing.T) {
	takesLong(t)
	h := newHarmed(t, 1, "--min-replicas-to-ack", "1", "--rdb-key-save-delay", "300")
	tags := []string{"a", "b", "c", "d", "e", "f"}
	w := startWriters(t, h.Cluster, tags...)
	ends := map[string]int{}
	for range 8 * *runs {
		require.NoError(t, h.WaitReady())
		w.more(t, 50)
		from, to := h.masters(t)
		h.begin(t, from, to)
		time.Sleep(time.Duration(h.rnd.IntN(1300)) * time.Millisecond)
		what := h.disturb(t, from, to)
		state := h.over(t)
		t.Logf("%s: %s", what, state)
		ends[state]++
	}
	require.NoError(t, h.WaitReady())
	w.more(t, 50)
	w.end()
	t.Logf("%v", ends)
	require.Empty(t, w.lost(t))
	h.onceAll(t, w)
	h.replicasAgree(t)
	// Nobody has disturbed these two but as asked.
	from, to := h.masters(t)
	delay := func(us int) { h.ok(t, from, "OK", "CONFIG", "SET", "rdb-key-save-delay", us) }
	delay(50000) // it is still on its way when it is cancelled
	h.begin(t, from, to)
	h.ok(t, from, "OK", "CLUSTER", "CANCELSLOTMIGRATIONS")
	require.Equal(t, "cancelled", h.over(t))
	delay(0)
	h.begin(t, from, to)
	require.Equal(t, "success", h.over(t))
	require.NoError(t, h.WaitReady())
	h.onceAll(t, w)
	h.replicasAgree(t)
}

// replicasAgree checks that replicas have the keys that their masters have.
func (h *harmed) replicasAgree(t *testing.T) {
	t.Helper()
	why := ""
	if !assert.Eventually(t, func() bool { why = h.disagreement(); return why == "" },
		testserver.Patience, 50*time.Millisecond) {
		t.Fatal(why)
	}
}

// disagreement returns which replica has other keys than its master, or other values.
func (h *harmed) disagreement() string {
	for _, n := range h.Nodes {
		view, err := n.View()
		if err != nil {
			return err.Error()
		}
		self := view.Find(n.ID)
		if self.Master == "-" {
			continue
		}
		theirs, err := h.Node(self.Master).Do("DEBUG", "DIGEST")
		own, err2 := n.Do("DEBUG", "DIGEST")
		if err != nil || err2 != nil || own.IsError() || own.Text() != theirs.Text() {
			return fmt.Sprintf("%s has %s, its master %s", n.Addr, own.Text(), theirs.Text())
		}
	}
	return ""
}

// onceAll is once for all keys whose writes were acknowledged.
func (h *harmed) onceAll(t *testing.T, w *writers) {
	t.Helper()
	acked, _ := w.acked()
	h.once(t, append(acked, h.keys...))
}

// disturb does one thing at random, and says what.
func (h *harmed) disturb(t *testing.T, from, to *testserver.Node) string {
	t.Helper()
	kill := func(n *testserver.Node, wait time.Duration) {
		n.Kill()
		time.Sleep(wait)
		require.NoError(t, n.Revive())
	}
	away := time.Duration(h.rnd.IntN(2)) * 3 * h.Options.Timeout
	switch h.rnd.IntN(7) {
	case 0:
		kill(from, away)
		return fmt.Sprintf("the source is killed for %v", away)
	case 1:
		kill(to, away)
		return fmt.Sprintf("the destination is killed for %v", away)
	case 2:
		_, _ = from.Do("CLUSTER", "CANCELSLOTMIGRATIONS") // it may have ended
		return "cancelled"
	case 3:
		return "failover of the source: " + h.failOver(t, from)
	case 4:
		return "failover of the destination: " + h.failOver(t, to)
	case 5:
		require.NoError(t, to.Freeze())
		time.Sleep(2 * h.Options.Timeout)
		require.NoError(t, to.Thaw())
		return "the destination is frozen"
	}
	return "undisturbed"
}

// failOver has the replica of a master take over.
func (h *harmed) failOver(t *testing.T, n *testserver.Node) string {
	t.Helper()
	view, err := n.View()
	require.NoError(t, err)
	for _, l := range view {
		if l.Master == n.ID {
			v, err := h.Node(l.ID).Do("CLUSTER", "FAILOVER")
			require.NoError(t, err)
			return v.Text()
		}
	}
	return "no replica"
}

// TestManyMigrations moves slots to and fro, in two parts at once, while clients write. They notice
// nothing but redirections.
func TestManyMigrations(t *testing.T) {
	takesLong(t)
	h := newHarmed(t, 1)
	w := startWriters(t, h.Cluster, "a", "b", "c", "d", "e", "f")
	for range 10 * *runs {
		from, to := h.masters(t)
		v, err := from.Do("CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", h.first, 3000, "NODE", to.ID)
		require.NoError(t, err)
		require.Equal(t, "OK", v.Text())
		v, err = from.Do("CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", 3001, h.last, "NODE", to.ID)
		require.NoError(t, err)
		require.Equal(t, "OK", v.Text())
		for _, s := range []int{h.first, h.last} {
			require.NoError(t, h.WaitOwner(s, to, h.Nodes...))
		}
		w.more(t, 20)
	}
	w.end()
	_, failed := w.acked()
	require.Zero(t, failed)
	require.Empty(t, w.lost(t))
	h.onceAll(t, w)
}

// TestFlushedMigrations empties the source, or the destination, in the middle of a migration.
func TestFlushedMigrations(t *testing.T) {
	takesLong(t)
	for _, what := range []string{"source", "destination"} {
		t.Run(what, func(t *testing.T) {
			h := newHarmed(t, 0)
			from, to := h.masters(t)
			h.begin(t, from, to)
			time.Sleep(time.Duration(h.rnd.IntN(1200)) * time.Millisecond)
			n := from
			if what == "destination" {
				n = to
			}
			h.ok(t, n, "OK", "FLUSHALL")
			before := stateOf(t, from) != "success" // then the keys were not the destination's yet
			state := h.over(t)
			var left []string
			moved := 0
			for _, key := range h.keys {
				s := slot.Of([]byte(key))
				switch moves := s >= h.first && s <= h.last; {
				case moves:
					moved++
					left = append(left, key)
				case s < slot.Count/2 == (what == "destination"):
					left = append(left, key)
				}
			}
			client := connect(t, h.Cluster, nil)
			t.Logf("%s: %s, %d of %d keys were to move", what, state, moved, len(h.keys))
			if what == "source" || !before {
				left = h.emptied(t, client, left)
			}
			h.once(t, left)
			stays := map[string]bool{}
			for _, key := range left {
				stays[key] = true
			}
			for _, key := range h.keys {
				if s := slot.Of([]byte(key)); !stays[key] && (s < h.first || s > h.last) {
					require.Zero(t, client.Exists(t.Context(), key).Val(), "%s is left", key)
				}
			}
		})
	}
}

// emptied returns which keys are left when a node was emptied: those of slots that move were all
// there, or none. All others are left.
func (h *harmed) emptied(t *testing.T, client *redis.ClusterClient, keys []string) (left []string) {
	t.Helper()
	moved := []int64{}
	for _, key := range keys {
		if s := slot.Of([]byte(key)); s >= h.first && s <= h.last {
			n := client.Exists(t.Context(), key).Val()
			moved = append(moved, n)
			require.Equal(t, moved[0], n, "half of the slots were emptied")
			if n == 0 {
				continue
			}
		}
		left = append(left, key)
	}
	return left
}

// TestMigrationsAndTime moves keys and fields whose deadlines pass meanwhile, or are taken away.
func TestMigrationsAndTime(t *testing.T) {
	takesLong(t)
	h := newHarmed(t, 0)
	client := connect(t, h.Cluster, nil)
	ctx := t.Context()
	var stay, go_ []string
	var wait sync.WaitGroup
	for i := range 400 {
		go_ = append(go_, fmt.Sprint("go", i))
		stay = append(stay, fmt.Sprint("stay", i))
	}
	for i := range go_ {
		ms := time.Duration(500+h.rnd.IntN(2500)) * time.Millisecond
		require.NoError(t, client.Set(ctx, go_[i], i, ms).Err())
		require.NoError(t, client.Set(ctx, stay[i], i, 4*time.Second).Err())
		require.NoError(t, client.HSet(ctx, "h"+go_[i], "a", 1, "b", 2).Err())
		require.NoError(t, client.HPExpire(ctx, "h"+go_[i], ms, "a").Err())
	}
	from, to := h.masters(t)
	h.begin(t, from, to)
	wait.Go(func() {
		for _, key := range stay { // while they move
			client.Persist(ctx, key)
			time.Sleep(5 * time.Millisecond)
		}
	})
	require.Equal(t, "success", h.over(t))
	wait.Wait()
	time.Sleep(3500 * time.Millisecond)
	keys := append(append([]string(nil), h.keys...), stay...)
	for _, key := range go_ {
		require.Zero(t, client.Exists(ctx, key).Val(), key)
		require.EqualValues(t, 1, client.HLen(ctx, "h"+key).Val())
		keys = append(keys, "h"+key)
	}
	h.once(t, keys)
}

// TestMigrationsAndEviction moves slots of a source that evicts keys meanwhile. Each key is written
// once, and those that are gone are the evicted ones.
func TestMigrationsAndEviction(t *testing.T) {
	takesLong(t)
	h := newHarmed(t, 0)
	from, to := h.masters(t)
	gone := []func() map[string]bool{hearEvictions(t, from), hearEvictions(t, to)}
	info, err := from.Info("memory")
	require.NoError(t, err)
	used, err := strconv.Atoi(info["used_memory"])
	require.NoError(t, err)
	h.ok(t, from, "OK", "CONFIG", "SET", "maxmemory-policy", "allkeys-lru", "maxmemory",
		used-300_000) // a fifth of its keys or so
	w := startWriters(t, h.Cluster, "a", "b", "c", "d", "e", "f")
	h.begin(t, from, to)
	require.Equal(t, "success", h.over(t))
	w.end()
	client := connect(t, h.Cluster, nil)
	var left, missing []string
	all, _ := w.acked()
	all = append(all, h.keys...)
	for _, key := range all {
		if client.Exists(t.Context(), key).Val() > 0 {
			left = append(left, key)
		} else {
			missing = append(missing, key)
		}
	}
	t.Logf("%d of %d keys are left", len(left), len(all))
	h.once(t, left)
	evicted := gone[0]()
	maps.Copy(evicted, gone[1]())
	require.NotEmpty(t, evicted)
	for _, key := range missing {
		require.Contains(t, evicted, key, "nobody has evicted it")
	}
}

// hearEvictions returns a function that tells which keys a node has evicted since.
func hearEvictions(t *testing.T, n *testserver.Node) (evicted func() map[string]bool) {
	t.Helper()
	const events, end = "__keyevent@0__:evicted", "end of evictions"
	v, err := n.Do("CONFIG", "SET", "notify-keyspace-events", "Ee")
	require.NoError(t, err)
	require.Equal(t, "OK", v.Text())
	client := redis.NewClient(&redis.Options{Addr: n.Addr})
	t.Cleanup(func() { client.Close() })
	sub := client.Subscribe(t.Context(), events, end)
	for range 2 {
		_, err := sub.Receive(t.Context())
		require.NoError(t, err)
	}
	found := make(chan map[string]bool, 1)
	go func() {
		keys := map[string]bool{}
		for {
			m, err := sub.ReceiveMessage(t.Context())
			if err != nil || m.Channel == end && m.Payload == n.Addr {
				found <- keys
				return
			}
			keys[m.Payload] = true
		}
	}()
	return func() map[string]bool {
		require.NoError(t, client.Publish(t.Context(), end, n.Addr).Err())
		return <-found
	}
}
