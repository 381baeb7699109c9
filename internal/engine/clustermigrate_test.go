package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/cluster/topology"
	"godwit/internal/config"
	"godwit/internal/engine"
	"godwit/internal/propagation"
	"godwit/internal/propagation/propagationtest"
	"godwit/internal/slot"
)

// movingSlot is the slot that tests migrate, that of {a}.
var movingSlot = slot.Of([]byte("{a}"))

func slotSet(i int) (s slot.Set) {
	s.Add(i)
	return s
}

// other adds a master with a slot to the cluster of a member.
func (m *member) other(i int) {
	m.Helper()
	m.apply(topology.Admit{Node: nodeID(1), Shard: topology.ShardID(nodeID(301)),
		About: topology.About{Address: topology.Address{IP: "127.0.0.1", Port: 7001}}})
	m.apply(topology.DelSlots{Node: nodeID(0), Slots: slotSet(i)})
	m.apply(topology.AddSlots{Node: nodeID(1), Slots: slotSet(i)})
	m.install()
	for m.e.Slice() {
	}
}

// begin begins a migration of a slot to the member.
func (m *member) begin(i int) (attempts *[]*engine.ImportAttempt) {
	m.Helper()
	attempts = new([]*engine.ImportAttempt)
	m.e.LinkImport = func(a *engine.ImportAttempt) { *attempts = append(*attempts, a) }
	m.apply(topology.Begin{ID: string(nodeID(77)), Slots: slotSet(i), Created: 1,
		From: topology.ShardID(nodeID(301)), To: m.shard().ID})
	m.install()
	m.pass(300)
	for _, p := range m.proposed {
		if _, ok := p.op.Do.(topology.Receive); ok {
			m.settle()
			m.pass(300)
			break
		}
	}
	return attempts
}

// importing makes a member the destination of a migration, and returns the client that applies what
// the source sends.
func importing(t *testing.T, edit func(c *config.Config)) (*member, *engine.Client) {
	m := newMember(t, 1, edit)
	m.other(movingSlot)
	attempts := m.begin(movingSlot)
	require.Len(t, *attempts, 1)
	c := (*attempts)[0].Attach(&quietConn{})
	require.NotNil(t, c)
	return m, c
}

// come has the source send a key.
func (m *member) come(c *engine.Client, key string) {
	m.Helper()
	require.True(m, m.e.Exec(c, raw([]string{"SET", key, "1"})))
	require.Equal(m, 1, m.e.KS.DB(0).SlotLen(movingSlot))
}

// TestNobodyDeletesWhatComes has a client, a script and a transaction delete the keys of a slot
// that is on its way. Only the source may.
func TestNobodyDeletesWhatComes(t *testing.T) {
	m, c := importing(t, nil)
	m.come(c, "{a}1")
	n := fmt.Sprint(movingSlot)
	const refused = "Slot is being migrated"
	require.Contains(t, m.do(m.c, "cluster flushslot "+n), refused)
	m.e.Exec(m.c, raw([]string{"EVAL", "return redis.call('CLUSTER','FLUSHSLOT',ARGV[1])", "0", n}))
	require.Contains(t, m.replies(m.c), refused)
	require.Equal(t, "+OK", m.do(m.c, "multi"))
	require.Equal(t, "+QUEUED", m.do(m.c, "cluster flushslot "+n))
	require.Contains(t, m.do(m.c, "exec"), refused)
	require.Equal(t, 1, m.e.KS.DB(0).SlotLen(movingSlot))
	require.True(t, m.e.Exec(c, raw([]string{"CLUSTER", "FLUSHSLOT", n})))
	require.Zero(t, m.e.KS.DB(0).SlotLen(movingSlot))
	require.Empty(t, m.proposed)
}

// TestFlushOfAnotherDatabase has the source empty databases, of which it may have more than the
// destination.
func TestFlushOfAnotherDatabase(t *testing.T) {
	for _, databases := range []int{1, 4} {
		for _, db := range []int{-2, 0, 3, 4, 9, 1 << 40} {
			m, c := importing(t, func(c *config.Config) { c.Cluster.Databases = databases })
			m.come(c, "{a}1")
			m.e.Exec(c, raw([]string{"CLUSTER", "SYNCSLOTS", "FLUSH", fmt.Sprint(db)}))
			if db < 0 || db >= databases {
				require.Len(t, m.proposed, 1)
				failed := m.proposed[0].op.Do.(topology.Advance)
				require.Equal(t, topology.Failed, failed.Phase)
				require.Contains(t, failed.Message, "cluster-databases")
			} else {
				require.Empty(t, m.proposed)
			}
			left := 1
			if db == 0 {
				left = 0
			}
			require.Equal(t, left, m.e.KS.DB(0).SlotLen(movingSlot), "%d of %d", db, databases)
		}
	}
}

// TestCopyNeedsAllKeys has users ask for what nodes copy from each other, keys of others included.
func TestCopyNeedsAllKeys(t *testing.T) {
	for _, u := range []struct {
		rules              string
		maySync, mayFollow bool
	}{
		{"~app:* +cluster", false, false},
		{"%R~* +cluster", true, false},
		{"%W~* +cluster", false, false},
		{"~* resetdbs db=0 +cluster", false, false},
		{"~app:* +cluster (~* +get)", false, false},
		{"~* +cluster", true, true},
	} {
		m := newMember(t, 1, nil)
		m.other(movingSlot)
		m.apply(topology.Begin{ID: string(nodeID(77)), Slots: slotSet(1), Created: 1,
			From: m.shard().ID, To: topology.ShardID(nodeID(301))})
		m.install()
		require.Equal(t, "+OK", m.do(m.c, "acl setuser app on >pw "+u.rules))
		c := m.client()
		require.Equal(t, "+OK", m.do(c, "auth app pw"))
		got := m.do(c, "cluster follow 10.0.0.1 7000 slotsrange 1 1 auth2 user secret")
		require.Equal(t, !u.mayFollow, strings.HasPrefix(got, "-NOPERM"), "%s: %s", u.rules, got)
		const ask = "cluster syncslots begin %s %s %s"
		got = m.do(c, fmt.Sprintf(ask, m.log.Cluster, nodeID(77), nodeID(1)))
		require.Equal(t, !u.maySync, strings.HasPrefix(got, "-NOPERM"), "%s: %s", u.rules, got)
		require.Equal(t, u.maySync, got == "+OK")
		got = m.do(m.c, fmt.Sprintf(ask, nodeID(5), nodeID(77), nodeID(1)))
		require.Contains(t, got, "of another cluster")
		require.NotContains(t, got, m.log.Cluster)
	}
}

// TestCopyAfterStart has the source, or the destination, of a migration start anew. Until the log
// knows of that, it may lack what its replicas have, and one of these may have to take its place.
func TestCopyAfterStart(t *testing.T) {
	m := newMember(t, 1, nil)
	m.other(movingSlot)
	m.apply(topology.Begin{ID: string(nodeID(77)), Slots: slotSet(1), Created: 1,
		From: m.shard().ID, To: topology.ShardID(nodeID(301))})
	m.install()
	ask := fmt.Sprintf("cluster syncslots begin %s %s ", m.log.Cluster, nodeID(77))
	m.boot = 1
	require.Contains(t, m.do(m.client(), ask+string(nodeID(1))), "-TRYAGAIN This node has started")
	require.Contains(t, m.do(m.client(), ask+string(nodeID(5))), "not one from this node to that")
	m.boot = 0
	require.Equal(t, "+OK", m.do(m.client(), ask+string(nodeID(1))))

	m = newMember(t, 1, nil)
	m.other(movingSlot)
	m.boot = 1
	attempts := m.begin(movingSlot)
	require.Empty(t, *attempts)
	m.boot = 0
	m.pass(300)
	require.Len(t, *attempts, 1)
}

// TestFollowAndMigration has slots move to a node that follows a shard of another cluster, and has
// a node follow one while slots are on their way to it: the copy would delete what has moved.
func TestFollowAndMigration(t *testing.T) {
	m := newMember(t, 1, nil)
	m.other(77)
	following(m)
	require.Empty(t, *m.begin(77))
	require.Len(t, m.proposed, 1)
	require.Contains(t, m.proposed[0].op.Do.(topology.Advance).Message, "another cluster")
	m.settle()
	require.Equal(t, "+OK", m.do(m.c, "cluster follow no one"))

	m = newMember(t, 1, nil)
	m.other(77)
	m.apply(topology.DelSlots{Node: nodeID(0), All: true})
	m.install()
	require.Len(t, *m.begin(77), 1)
	const follow = "cluster follow 10.0.0.1 7000 slotsrange 1 1"
	require.Contains(t, m.do(m.c, follow), "on their way")
	m.apply(topology.Advance{ID: string(nodeID(77)), Phase: topology.Cancelled})
	m.install()
	m.settle()
	require.Equal(t, "+OK", m.do(m.c, follow))
}

// TestFollowAfterHalfAnImport has a node follow a shard while the log does not know yet that it has
// deleted what a migration had left: it would delete what it copies.
func TestFollowAfterHalfAnImport(t *testing.T) {
	m, c := importing(t, nil)
	m.come(c, "{a}1")
	m.change(topology.DelSlots{Node: nodeID(1), Slots: slotSet(movingSlot)})
	m.apply(topology.DelSlots{Node: nodeID(0), All: true})
	m.install()
	const follow = "cluster follow 10.0.0.1 7000 slotsrange 1 1"
	require.Contains(t, m.do(m.c, follow), "still deletes")
	m.settle()
	require.Equal(t, "+OK", m.do(m.c, follow))
}

// TestMarksWaitForReplicas has a destination whose replica must confirm. Marks are acknowledged
// when it has: else the source would hold its clients for nothing.
func TestMarksWaitForReplicas(t *testing.T) {
	m, c := importing(t, func(c *config.Config) { c.MinReplicasToAck = 1 })
	m.come(c, "{a}1")
	m.e.Exec(c, raw([]string{"CLUSTER", "SYNCSLOTS", "MARK", "7"}))
	m.pass(1000)
	require.NotContains(t, string(c.W.Buf), "ACK")
	require.False(t, m.failed())
	m.pass(40_000)
	require.True(t, m.failed())

	m, c = importing(t, nil)
	m.come(c, "{a}1")
	m.e.Exec(c, raw([]string{"CLUSTER", "SYNCSLOTS", "MARK", "7"}))
	require.Contains(t, string(c.W.Buf), "ACK")
}

// TestOnlyTheDestinationSaysDone has somebody who may read all keys act as the destination. The
// source hands over nothing that the destination itself has not asked the log for, and does not end
// the migration as long as that deletes what it had.
func TestOnlyTheDestinationSaysDone(t *testing.T) {
	m := newMember(t, 1, nil)
	m.other(movingSlot)
	own := movingSlot + 1
	begin := topology.Begin{ID: string(nodeID(77)), Slots: slotSet(own), Created: 1,
		From: m.shard().ID, To: topology.ShardID(nodeID(301))}
	m.change(begin)
	m.pass(60_000)
	require.Empty(t, m.proposed, "the destination may still clear")
	m.applyBy(1, topology.Receive{ID: begin.ID})
	c := m.client()
	require.Equal(t, "+OK", m.do(c, fmt.Sprintf("cluster syncslots begin %s %s %s", m.log.Cluster,
		begin.ID, nodeID(1))))
	m.change(topology.Advance{ID: begin.ID, Phase: topology.Closed})
	m.e.Exec(c, raw([]string{"CLUSTER", "SYNCSLOTS", "ENDED", "0"}))
	for _, p := range m.proposed {
		require.NotEqual(t, topology.Done, p.op.Do.(topology.Advance).Phase)
	}
	done := topology.Op{By: nodeID(0), Do: topology.Advance{ID: begin.ID, Phase: topology.Done}}
	require.Contains(t, m.log.Clone().Apply(m.log.Index+1, done), "Only the destination")
}

// applyBy installs what another node wants.
func (m *member) applyBy(i int, a topology.Action) {
	m.Helper()
	m.log = m.log.Clone()
	require.Empty(m, m.log.Apply(m.log.Index+1, topology.Op{By: nodeID(i), Do: a}))
	m.install()
}

// failed reports whether the member wants a migration to fail since replicas do not confirm.
func (m *member) failed() bool {
	for _, p := range m.proposed {
		if a, ok := p.op.Do.(topology.Advance); ok {
			require.Contains(m, a.Message, "do not confirm")
			return true
		}
	}
	return false
}

// TestFlushOfOneDatabase empties one of several databases while a slot is on its way to the node.
// That does not take a step for each key, and replicas do the same.
func TestFlushOfOneDatabase(t *testing.T) {
	several := func(c *config.Config) { c.Cluster.Databases = 4 }
	m, c := importing(t, several)
	replica := newMember(t, 1, several)
	for _, x := range []*member{m, replica} {
		for _, db := range []int{1, 2} {
			require.Equal(t, "+OK", x.do(x.c, fmt.Sprint("select ", db)))
			for i := range 300 {
				require.Equal(t, "+OK", x.do(x.c, fmt.Sprintf("set {%d}%d 1", i%3, i)))
			}
		}
	}
	require.True(t, m.e.Exec(c, raw([]string{"SELECT", "1"})))
	require.True(t, m.e.Exec(c, raw([]string{"SET", "{a}1", "1"})))
	heard := propagationtest.AttachTo(&m.e.Feed, propagation.Replicas)
	m.do(m.c, "select 1")
	require.Equal(t, "+OK", m.do(m.c, "flushdb"))
	require.Equal(t, 1, m.e.KS.DB(1).Len())
	require.Equal(t, 1, m.e.KS.DB(1).SlotLen(movingSlot))
	require.Equal(t, 300, m.e.KS.DB(2).Len())
	require.Equal(t, "-ERR", m.do(m.c, "cluster flushslot 1 db 2")[:4], "clients cannot say that")
	units := heard.Units()
	require.Len(t, units, 1)
	commands := 0
	stream := engine.NewTestClient(replica.e, 0)
	for _, line := range strings.Split(units[0], " | ") {
		if i := strings.Index(line, "CLUSTER"); i >= 0 {
			replica.do(stream, line[i:])
			commands++
		}
	}
	require.Equal(t, 3, commands, units[0])
	require.Zero(t, replica.e.KS.DB(1).Len())
	require.Equal(t, 300, replica.e.KS.DB(2).Len())
}

// TestManyImports begins many migrations at once. Only some of them are under way at a time.
func TestManyImports(t *testing.T) {
	m := newMember(t, 1, nil)
	m.other(0)
	for i := 1; i < 40; i++ {
		m.change(topology.DelSlots{Node: nodeID(0), Slots: slotSet(i)},
			topology.AddSlots{Node: nodeID(1), Slots: slotSet(i)})
	}
	for i := range 40 {
		m.change(topology.Begin{ID: string(nodeID(500 + i)), Slots: slotSet(i), Created: 1,
			From: topology.ShardID(nodeID(301)), To: m.shard().ID})
	}
	asks := func() (n int) {
		m.pass(300)
		for _, p := range m.proposed {
			if _, ok := p.op.Do.(topology.Receive); ok {
				n++
			}
		}
		m.proposed = nil
		return n
	}
	require.Equal(t, 16, asks())
	require.Zero(t, asks())
	for i := range 5 {
		m.change(topology.Advance{ID: string(nodeID(500 + i)), Phase: topology.Cancelled})
	}
	require.Equal(t, 5, asks())
}
