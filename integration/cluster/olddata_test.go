package cluster

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
	"godwit/internal/testseed"
	"godwit/internal/testserver"
)

// confirmed starts one shard with two replicas that confirm each write.
func confirmed(t *testing.T, k testserver.Kind, args ...string) *testserver.Cluster {
	t.Helper()
	if promises(k) {
		args = append(args, "--min-replicas-to-ack", "1")
	}
	return testserver.RunCluster(t, testserver.ClusterOptions{Kind: k, Masters: 1, Replicas: 2,
		Args: args})
}

// fill writes keys with a prefix and returns those that were acknowledged.
func fill(t *testing.T, n *testserver.Node, prefix string, count int) (acked []string) {
	t.Helper()
	c := n.Client(t)
	for i := range count {
		c.Queue("SET", fmt.Sprint(prefix, i), i)
	}
	vs, err := c.Pipeline()
	require.NoError(t, err)
	for i, v := range vs {
		if v.Text() == "OK" {
			acked = append(acked, fmt.Sprint(prefix, i))
		}
	}
	return acked
}

// missing returns which of the keys a node does not have.
func missing(t *testing.T, n *testserver.Node, keys []string) (lost []string) {
	t.Helper()
	c := n.Client(t)
	for _, key := range keys {
		c.Queue("EXISTS", key)
	}
	vs, err := c.Pipeline()
	require.NoError(t, err)
	for i, v := range vs {
		require.False(t, v.IsError(), "%v", v)
		if v.Int == 0 {
			lost = append(lost, keys[i])
		}
	}
	return lost
}

// TestOldData kills a master and starts it again at once, before anybody has noticed. It has an old
// snapshot and no append-only file, so its replicas have more than it has.
func TestOldData(t *testing.T) {
	each(t, func(t *testing.T, k testserver.Kind) {
		takesLong(t)
		c := confirmed(t, k, "--appendonly", "no", "--save", "")
		for round := range 3 {
			owner, err := c.Owner(c.Nodes[0], 0)
			require.NoError(t, err)
			acked := fill(t, owner, fmt.Sprint("old", round, "-"), 100)
			v, err := owner.Do("SAVE")
			require.NoError(t, err)
			require.Equal(t, "OK", v.Text())
			acked = append(acked, fill(t, owner, fmt.Sprint("new", round, "-"), 1000)...)
			require.NotEmpty(t, acked)
			owner.Kill()
			require.NoError(t, owner.Revive())
			require.NoError(t, c.WaitReady())
			owner, err = c.Owner(c.Nodes[0], 0)
			require.NoError(t, err)
			lost := missing(t, owner, acked)
			t.Logf("round %d: %d of %d lost", round, len(lost), len(acked))
			if promises(k) {
				require.Empty(t, lost)
			}
		}
	})
}

// TestOldDataOfAll kills a master and one replica, and starts both with old data while the other
// replica, which has all, is down. Whoever is the master then serves nothing that was acknowledged
// as missing: the shard waits for the replica, or has it all.
func TestOldDataOfAll(t *testing.T) {
	each(t, func(t *testing.T, k testserver.Kind) {
		takesLong(t)
		c := confirmed(t, k, "--appendonly", "no", "--save", "")
		for _, n := range c.Nodes[:2] {
			v, err := n.Do("SAVE")
			require.NoError(t, err)
			require.Equal(t, "OK", v.Text())
		}
		acked := fill(t, c.Nodes[0], "all", 500)
		require.NotEmpty(t, acked)
		require.NoError(t, c.Nodes[2].Freeze())
		for _, n := range c.Nodes[:2] {
			n.Kill()
		}
		for _, n := range c.Nodes[:2] {
			require.NoError(t, n.Revive())
		}
		time.Sleep(3 * c.Options.Timeout) // for somebody to be promoted who must not
		require.NoError(t, c.Nodes[2].Thaw())
		require.NoError(t, c.WaitReady())
		owner, err := c.Owner(c.Nodes[2], 0)
		require.NoError(t, err)
		lost := missing(t, owner, acked)
		t.Logf("%d of %d lost", len(lost), len(acked))
		if promises(k) {
			require.Empty(t, lost)
		}
	})
}

// pump sends writes in pipelines until its connection ends, and notes which are acknowledged.
type pump struct {
	acked []string
	last  time.Time // when the last acknowledgement came
	done  chan struct{}
}

// startPump starts a pump to the node.
func startPump(t *testing.T, n *testserver.Node, prefix string) *pump {
	t.Helper()
	p, c := &pump{done: make(chan struct{})}, n.Client(t)
	go p.run(c, prefix)
	return p
}

func (p *pump) run(c *client.Client, prefix string) {
	defer close(p.done)
	const window = 64
	send := func(i int) { c.Queue("SET", fmt.Sprint(prefix, i), i) }
	for i := range window {
		send(i)
	}
	for i := 0; ; i++ {
		if c.Flush() != nil {
			return
		}
		v, err := c.Receive()
		if err != nil || v.IsError() {
			return
		}
		p.acked, p.last = append(p.acked, fmt.Sprint(prefix, i)), time.Now()
		send(i + window)
	}
}

// TestStoppedPipelines stops a master for times around its lease while pipelines are in flight and
// each write is synced to disk. No acknowledged write is lost, whoever is the master then. What
// replicas had confirmed before the stop may be acknowledged after it: the new master has it.
func TestStoppedPipelines(t *testing.T) {
	takesLong(t)
	each(t, func(t *testing.T, k testserver.Kind) {
		if !promises(k) {
			t.Skip("it takes three masters to replace one")
		}
		c := confirmed(t, k, "--appendonly", "yes", "--appendfsync", "always")
		rnd := rand.New(rand.NewPCG(testseed.New(t), 0))
		var acked []string
		for round, stop := range []float64{0.3, 0.5, 0.6, 0.9, 1.2, 3, 0, 0} {
			owner, err := c.Owner(c.Nodes[0], 0)
			require.NoError(t, err)
			var pumps []*pump
			for i := range 4 {
				pumps = append(pumps, startPump(t, owner, fmt.Sprintf("p%d-%d-", round, i)))
			}
			time.Sleep(time.Duration(50+rnd.IntN(200)) * time.Millisecond)
			require.NoError(t, owner.Freeze())
			time.Sleep(time.Duration(stop * float64(c.Options.Timeout)))
			if stop == 0 {
				waitReplaced(t, c, owner)
			}
			thaw := time.Now()
			require.NoError(t, owner.Thaw())
			time.Sleep(100 * time.Millisecond)
			acked = append(acked, drain(t, c, pumps, owner, stop, thaw)...)
		}
		owner, err := c.Owner(c.Nodes[0], 0)
		require.NoError(t, err)
		lost := missing(t, owner, acked)
		t.Logf("%d of %d acknowledged writes lost", len(lost), len(acked))
		require.Empty(t, lost)
	})
}

// waitReplaced waits until another node takes writes.
func waitReplaced(t *testing.T, c *testserver.Cluster, old *testserver.Node) {
	t.Helper()
	eventually(t, func() bool {
		for _, n := range c.Nodes {
			if n == old {
				continue
			}
			if v, err := n.Do("SET", "replaced", 1); err == nil && v.Text() == "OK" {
				return true
			}
		}
		return false
	}, "another master takes writes")
}

// drain ends the pumps by having them answered with errors or cut off, and returns what was
// acknowledged.
func drain(t *testing.T, c *testserver.Cluster, pumps []*pump, owner *testserver.Node,
	stop float64, thaw time.Time) (acked []string) {
	t.Helper()
	require.NoError(t, c.WaitReady())
	_, err := owner.Do("CLIENT", "KILL", "TYPE", "normal")
	require.NoError(t, err)
	late := 0
	for _, p := range pumps {
		<-p.done
		acked = append(acked, p.acked...)
		if stop == 0 && p.last.After(thaw) {
			late++
		}
	}
	t.Logf("stopped for %.1f node timeouts: %d writes acknowledged, the last of %d pumps after it",
		stop, len(acked), late)
	return acked
}
