package cluster

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
	"godwit/internal/slot"
	"godwit/internal/testserver"
)

func slotOf(tag string) int { return slot.Of([]byte(tag)) }

// startCluster starts a cluster of three masters with a replica each.
func startCluster(t *testing.T, k testserver.Kind, proxied bool,
	args ...string) *testserver.Cluster {
	t.Helper()
	return testserver.RunCluster(t, testserver.ClusterOptions{Kind: k, Masters: 3, Replicas: 1,
		Proxied: proxied, Args: args})
}

// promises reports whether a kind promises that a write is confirmed by one master at most.
func promises(k testserver.Kind) bool { return k == testserver.Godwit }

// atMost is the time from the end of a master to the next write of its slots, in node timeouts,
// that Godwit promises.
const atMost = 1.5

// TestKill kills a master under load. Its replica takes over, and it comes back as a replica.
func TestKill(t *testing.T) {
	each(t, func(t *testing.T, k testserver.Kind) {
		takesLong(t)
		c := startCluster(t, k, false)
		old, next := c.Master(1), c.Replica(1)
		tag := tagOf(t, c, 1)
		w := startWriters(t, c, tag, tagOf(t, c, 0))
		w.more(t, 100)
		moment := time.Now()
		old.Kill()
		require.NoError(t, c.WaitOwner(slotOf(tag), next, next, c.Master(0), c.Master(2)))
		eventually(t, func() bool { _, ok := w.firstAfter(moment); return ok }, "writes go on")
		w.more(t, 100)
		require.NoError(t, old.Revive())
		require.NoError(t, c.WaitReady())
		w.end()
		require.NoError(t, next.WaitSame(old.Server))
		took(t, w, c, tag, moment)
	})
}

// took reports what a failover has cost.
func took(t *testing.T, w *writers, c *testserver.Cluster, tag string, moment time.Time) float64 {
	t.Helper()
	first := time.Duration(-1)
	for _, a := range w.answers {
		if a.err == nil && a.sent.After(moment) && a.key[:len(tag)+2] == "{"+tag+"}" {
			first = a.got.Sub(moment)
			break
		}
	}
	require.Positive(t, first)
	acked, failed := w.acked()
	timeouts := float64(first) / float64(c.Options.Timeout)
	t.Logf("first accepted write after %v: %.2f node timeouts; %d writes acknowledged, %d not, "+
		"%d acknowledged ones lost", first.Round(time.Millisecond), timeouts, len(acked), failed,
		len(w.lost(t)))
	return timeouts
}

// TestKillOften kills one master after another. The times until their slots are written again are
// what the node timeout promises: all of them, when it is run more than once (-runs), and the
// middle one of three, because others use the machine meanwhile.
func TestKillOften(t *testing.T) {
	each(t, func(t *testing.T, k testserver.Kind) {
		takesLong(t)
		var all []float64
		for n := range max(3, *runs) {
			i := n % 3
			c := startCluster(t, k, false)
			tag := tagOf(t, c, i)
			w := startWriters(t, c, tag)
			w.more(t, 100)
			moment := time.Now()
			c.Master(i).Kill()
			eventually(t, func() bool { _, ok := w.firstAfter(moment); return ok }, "it goes on")
			w.end()
			all = append(all, took(t, w, c, tag, moment))
			c.Close()
		}
		slices.Sort(all)
		t.Logf("%d times, in node timeouts: least %.2f, median %.2f, most %.2f", len(all), all[0],
			all[len(all)/2], all[len(all)-1])
		if promises(k) {
			judged := all[len(all)-1]
			if *runs == 1 {
				judged = all[len(all)/2]
			}
			require.LessOrEqual(t, judged, atMost, "%.2f", all)
		}
	})
}

// TestFreeze stops a master's process with SIGSTOP until its replica has taken over. What reached
// its socket meanwhile is not confirmed when it goes on.
func TestFreeze(t *testing.T) {
	each(t, func(t *testing.T, k testserver.Kind) {
		takesLong(t)
		c := startCluster(t, k, false)
		old, next := c.Master(0), c.Replica(0)
		tag := tagOf(t, c, 0)
		waiting := old.Client(t)
		v, err := waiting.Do("SET", "{"+tag+"}", "before")
		require.NoError(t, err)
		require.Equal(t, "OK", v.Text())
		require.NoError(t, old.Freeze())
		waiting.Queue("SET", "{"+tag+"}stale", "old")
		require.NoError(t, waiting.Flush())
		require.NoError(t, c.WaitOwner(slotOf(tag), next, next))
		eventually(t, func() bool {
			v, err := next.Do("SET", "{"+tag+"}stale", "new")
			return err == nil && v.Text() == "OK"
		}, "the replica takes writes")
		require.NoError(t, old.Thaw())
		v, err = waiting.Receive()
		t.Logf("the write to the frozen master: %s (%v)", v, err)
		if promises(k) && err == nil {
			require.True(t, v.IsError(), "confirmed by both: %s", v)
		}
		require.NoError(t, c.WaitReady())
		require.NoError(t, next.WaitSame(old.Server))
		v, err = next.Do("GET", "{"+tag+"}stale")
		require.NoError(t, err)
		require.Equal(t, "new", v.Text())
	})
}

// TestCutOff cuts a master off from all other nodes, but not from its clients. It stops to take
// writes; Godwit's has stopped before anybody else takes them.
func TestCutOff(t *testing.T) {
	each(t, func(t *testing.T, k testserver.Kind) {
		takesLong(t)
		c := startCluster(t, k, true)
		old, next := c.Master(0), c.Replica(0)
		tag := tagOf(t, c, 0)
		before, after := make(chan time.Time), make(chan time.Time)
		stop := make(chan struct{})
		a, b := old.Client(t), next.Client(t)
		c.Cut(old)
		go func() { before <- lastAccepted(a, tag, stop) }()
		go func() { after <- firstAccepted(b, tag) }()
		first := <-after
		require.NoError(t, c.WaitState("fail", old))
		close(stop)
		last := <-before
		t.Logf("the old master's last write was %v before the new one's first", first.Sub(last))
		if promises(k) {
			require.True(t, last.Before(first))
		}
		v, err := a.Do("SET", "{"+tag+"}", 1)
		require.NoError(t, err)
		require.Contains(t, v.Text(), "CLUSTERDOWN The cluster is down")
		c.Heal()
		require.NoError(t, c.WaitReady())
		require.NoError(t, next.WaitSame(old.Server))
	})
}

// lastAccepted writes until it is told to stop and returns when the last accepted write had its
// reply.
func lastAccepted(c *client.Client, tag string, stop chan struct{}) (last time.Time) {
	for n := 0; ; n++ {
		select {
		case <-stop:
			return last
		default:
		}
		v, err := c.Do("SET", "{"+tag+"}old", n)
		if err == nil && v.Text() == "OK" {
			last = time.Now()
		}
		time.Sleep(100 * time.Microsecond)
	}
}

// firstAccepted writes until a write is accepted, and returns when that was sent.
func firstAccepted(c *client.Client, tag string) time.Time {
	for n := 0; ; n++ {
		sent := time.Now()
		v, err := c.Do("SET", "{"+tag+"}new", n)
		if err == nil && v.Text() == "OK" {
			return sent
		}
		time.Sleep(time.Millisecond)
	}
}
