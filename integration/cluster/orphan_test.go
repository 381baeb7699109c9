package cluster

import (
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/testserver"
)

// TestOrphan kills all replicas of a master. It gets one of the other master, which has two.
func TestOrphan(t *testing.T) {
	each(t, func(t *testing.T, k testserver.Kind) {
		takesLong(t)
		c := testserver.RunCluster(t, testserver.ClusterOptions{Kind: k, Masters: 2, Replicas: 2})
		orphan, donor := c.Master(0), c.Master(1)
		key := "{" + tagOf(t, c, 0) + "}"
		view, err := orphan.View()
		require.NoError(t, err)
		for _, l := range view {
			if l.Master == orphan.ID {
				c.Node(l.ID).Kill()
			}
		}
		working := func(v testserver.View, master *testserver.Node) (ids []string) {
			for _, l := range v {
				if l.Master == master.ID && !l.Has("fail") && !l.Has("fail?") {
					ids = append(ids, l.ID)
				}
			}
			return ids
		}
		both := func(v testserver.View) bool {
			return len(working(v, orphan)) == 1 && len(working(v, donor)) == 1 &&
				v.Find(working(v, orphan)[0]).Linked
		}
		require.NoError(t, c.WaitView("of the mind that both have one", both, orphan, donor))
		v, err := orphan.Do("SET", key, 1)
		require.NoError(t, err)
		require.Equal(t, "OK", v.Text())
		view, err = orphan.View()
		require.NoError(t, err)
		moved := c.Node(working(view, orphan)[0])
		require.NoError(t, moved.WaitLink())
		require.NoError(t, orphan.WaitSame(moved.Server))
		t.Logf("%s has moved", moved.Addr)
	})
}
