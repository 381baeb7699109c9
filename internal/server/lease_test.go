package server

import (
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/boottime"
	"godwit/internal/cluster/topology"
	"godwit/internal/engine"
	"godwit/internal/spec"
)

// leasedNode is a cluster of one node whose lease the test gives and takes.
type leasedNode struct{ end int64 }

func (n *leasedNode) Lease() int64                                 { return n.end }
func (n *leasedNode) Boot() uint64                                 { return 0 }
func (n *leasedNode) Hears() bool                                  { return true }
func (n *leasedNode) Propose(topology.Op, func(string))            {}
func (n *leasedNode) Meet(string, int, int, func(string))          {}
func (n *leasedNode) Failover(engine.FailoverMode, func(string))   {}
func (n *leasedNode) HandOver(time.Duration, func(string))         {}
func (n *leasedNode) Keep()                                        {}
func (n *leasedNode) Report()                                      {}
func (n *leasedNode) Reset(bool, func(string))                     {}
func (n *leasedNode) Broadcast(engine.MessageKind, []byte, []byte) {}
func (n *leasedNode) Facts() engine.ClusterFacts                   { return engine.ClusterFacts{} }

// leaseCommands returns a command that makes the lease last for so many ms from now on, which a
// turn has looked at before, and a write whose long reply comes when the lease is over.
func leaseCommands() []testCommand {
	return []testCommand{cmd("lease", 2, 0, func(c *engine.Ctx) {
		ms, _ := strconv.Atoi(string(c.Args[1]))
		c.E.Cluster.(*leasedNode).end = boottime.Now() + int64(ms)*int64(time.Millisecond)
		c.OK()
	}), cmd("late", 1, spec.Write, func(c *engine.Ctx) {
		c.E.Cluster.(*leasedNode).end = 0
		c.Array(20)
		for range 20 {
			c.BulkString(strings.Repeat("late", 10_000))
		}
	})}
}

// found makes the rig a cluster of one node.
func (r *rig) found() {
	s := &topology.State{}
	id := func(digit string) (id string) {
		for range 40 {
			id += digit
		}
		return id
	}
	require.Empty(r.t, s.Apply(1, topology.Op{Do: topology.Init{Cluster: id("a"),
		Node: topology.NodeID(id("b")), Shard: topology.ShardID(id("c"))}}))
	r.eng.Enter()
	defer r.eng.Leave()
	r.eng.Cluster = &leasedNode{}
	r.eng.InstallTopology(s, topology.NodeID(id("b")))
}

// TestLeaseEnds ends a lease between the writes of a turn and their replies. Nobody learns of the
// writes; who has only read goes on.
func TestLeaseEnds(t *testing.T) {
	const minute = "60000"
	everyWay(t, "cluster-enabled yes\n", false, func(t *testing.T, r *rig) {
		r.found()
		reader := r.client()
		r.want(reader, "CLUSTERDOWN The cluster is down", "set", "a", "0")
		r.want(reader, "OK", "lease", minute)
		good := r.client()
		r.want(good, "OK", "set", "a", "1")
		r.want(good, "1", "get", "a")

		waiter, bad := r.raw(), r.raw()
		_, err := io.WriteString(waiter, "take list 0\r\n")
		require.NoError(t, err)
		r.eventually("it waits", func() bool { return r.blocked() == 1 })
		_, err = io.WriteString(bad, "set a 2\r\ngive list\r\nlate\r\n")
		require.NoError(t, err)
		told := closed(t, bad) // of a turn before, if there was one: nothing of the last
		require.Less(t, len(told), 20)
		if told == "" && len(r.srv.loops) > 0 && r.tls == nil { // its reply was of the last, too
			require.Empty(t, closed(t, waiter))
		}
		r.want(reader, "2", "get", "a")
		r.want(good, "CLUSTERDOWN The cluster is down", "set", "a", "3")
		r.want(good, "OK", "lease", minute)
		r.want(good, "OK", "set", "a", "4")
	})
}
