package cluster

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/testserver"
)

// TestLost loses a master without replicas for good. Tools give its slots to the others, and it is
// forgotten. Slots of a master that is there stay with it.
func TestLost(t *testing.T) {
	each(t, func(t *testing.T, k testserver.Kind) {
		takesLong(t)
		if !promises(k) {
			t.Skip("each node has its own opinion of slots")
		}
		for _, l := range tools(t) {
			t.Run(l.name, func(t *testing.T) {
				c := testserver.RunCluster(t, testserver.ClusterOptions{Kind: k, Masters: 3})
				left, lost := c.Master(0), c.Master(2)
				say := func(args ...any) string {
					v, err := left.Do(append([]any{"CLUSTER"}, args...)...)
					require.NoError(t, err)
					return v.Text()
				}
				require.Equal(t, "OK", say("DELSLOTS", 16383))
				require.Contains(t, say("ADDSLOTS", 16383), "is already busy")
				lost.Kill()
				require.NoError(t, c.WaitView("the master failed", func(v testserver.View) bool {
					return v.Find(lost.ID).Has("fail")
				}, c.Master(0), c.Master(1)))
				require.Contains(t, say("FORGET", lost.ID), "is the master of slots")
				require.Equal(t, "OK", say("DELSLOTSRANGE", 10923, 16300)) // fix takes one by one
				require.Equal(t, "OK", say("ADDSLOTSRANGE", 10923, 16300))
				out, _ := l.try(t, "fix", left.Addr, "--cluster-fix-with-unreachable-masters")
				require.NotContains(t, out, "[ERR] ERR")
				require.NoError(t, c.WaitView("whole", func(v testserver.View) bool {
					a, b := v.Find(c.Master(0).ID).Slots, v.Find(c.Master(1).ID).Slots
					return a.Len()+b.Len() == 16384
				}, c.Master(0), c.Master(1)))
				require.Equal(t, "OK", say("FORGET", lost.ID))
				out, err := l.try(t, "check", left.Addr)
				require.NoError(t, err, out)
				require.Contains(t, out, covered)
			})
		}
	})
}

// TestReturn kills a master that has a log. When it comes back it is sent what it lacks, and not
// all anew.
func TestReturn(t *testing.T) {
	each(t, func(t *testing.T, k testserver.Kind) {
		takesLong(t)
		if !promises(k) {
			t.Skip("its log says no place")
		}
		c := startCluster(t, k, false, "--appendonly", "yes")
		old, next := c.Master(0), c.Replica(0)
		key := "{" + tagOf(t, c, 0) + "}"
		set := func(n *testserver.Node, name string) {
			eventually(t, func() bool {
				v, err := n.Do("SET", key+name, strings.Repeat("x", 100))
				return err == nil && v.Text() == "OK"
			}, "a write")
		}
		set(old, "a")
		require.NoError(t, old.WaitSame(next.Server))
		old.Kill()
		set(next, "b")
		require.NoError(t, old.Revive())
		require.NoError(t, old.WaitLink())
		require.NoError(t, next.WaitSame(old.Server))
		info, err := next.Do("INFO", "stats")
		require.NoError(t, err)
		require.Contains(t, info.Text(), "sync_full:0\r\n")
		require.NotContains(t, info.Text(), "sync_partial_ok:0\r\n") // links may break
	})
}
