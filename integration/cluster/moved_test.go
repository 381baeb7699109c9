package cluster

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/testserver"
)

// movers starts a cluster that can write, and returns a tag of the first master's slots.
func movers(t *testing.T, k testserver.Kind) (c *testserver.Cluster, tag string) {
	t.Helper()
	takesLong(t)
	c = startCluster(t, k, false, "--appendonly", "yes")
	return c, tagOf(t, c, 0)
}

// followed waits until all nodes show a moved node at its new ports, and have links to it.
func followed(t *testing.T, c *testserver.Cluster, moved ...*testserver.Node) {
	t.Helper()
	require.NoError(t, c.WaitView("in touch with the moved nodes", func(v testserver.View) bool {
		for _, n := range moved {
			if l := v.Find(n.ID); l == nil || l.Addr != n.Addr || l.Has("fail") {
				return false
			}
		}
		return v.Linked()
	}, c.Nodes...))
	require.NoError(t, c.WaitState("ok", c.Nodes...))
}

// writes waits until a master takes a write.
func writes(t *testing.T, n *testserver.Node, key string) {
	t.Helper()
	eventually(t, func() bool {
		v, err := n.Do("SET", key, 1)
		return err == nil && v.Text() == "OK"
	}, "a write")
}

// TestMovedReplica starts a replica at other ports. The others hear of it from itself.
func TestMovedReplica(t *testing.T) {
	each(t, func(t *testing.T, k testserver.Kind) {
		c, tag := movers(t, k)
		n := c.Replica(0)
		n.Kill()
		require.NoError(t, n.Move())
		followed(t, c, n)
		writes(t, c.Master(0), "{"+tag+"}")
		require.NoError(t, n.WaitLink())
		require.NoError(t, c.Master(0).WaitSame(n.Server))
	})
}

// TestMovedMaster starts a master at other ports at once. It goes on, or its replica takes over.
func TestMovedMaster(t *testing.T) {
	each(t, func(t *testing.T, k testserver.Kind) {
		c, tag := movers(t, k)
		old, next := c.Master(0), c.Replica(0)
		old.Kill()
		killed := time.Now()
		require.NoError(t, old.Move())
		followed(t, c, old)
		eventually(t, func() bool {
			for _, n := range []*testserver.Node{old, next} {
				if v, err := n.Do("SET", "{"+tag+"}", 1); err == nil && v.Text() == "OK" {
					return true
				}
			}
			return false
		}, "a write")
		t.Logf("a write after %v", time.Since(killed).Round(time.Millisecond))
	})
}

// TestMovedAll starts all nodes at other ports, and tells each where the others are.
func TestMovedAll(t *testing.T) {
	each(t, func(t *testing.T, k testserver.Kind) {
		c, tag := movers(t, k)
		for _, n := range c.Nodes {
			n.Kill()
		}
		for _, n := range c.Nodes {
			require.NoError(t, n.Move())
		}
		for _, n := range c.Nodes {
			for _, other := range c.Nodes {
				if n == other {
					continue
				}
				v, err := n.Do("CLUSTER", "MEET", "127.0.0.1", other.Port,
					strconv.Itoa(other.Port+testserver.BusOffset))
				require.NoError(t, err)
				require.Equal(t, "OK", v.Text())
			}
		}
		followed(t, c, c.Nodes...)
		eventually(t, func() bool {
			n, err := c.Owner(c.Nodes[0], slotOf(tag))
			if err != nil || n == nil {
				return false
			}
			v, err := n.Do("SET", "{"+tag+"}", 1)
			return err == nil && v.Text() == "OK"
		}, "a write")
	})
}
