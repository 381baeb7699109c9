package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/cluster/topology"
	"godwit/internal/config"
	"godwit/internal/logging"
	"godwit/internal/logging/loggingtest"
	"godwit/internal/propagation"
	"godwit/internal/propagation/propagationtest"
	"godwit/internal/slot"
)

// TestHalfImportsGo ends migrations on their way in each way, and has the slot go to the source,
// the destination or nobody. What has come is no copy: nobody may see it, on replicas neither.
func TestHalfImportsGo(t *testing.T) {
	take := topology.DelSlots{Node: nodeID(1), Slots: slotSet(movingSlot)}
	fail := topology.Advance{ID: string(nodeID(77)), Phase: topology.Failed}
	for _, actions := range [][]topology.Action{
		{fail},
		{take},
		{fail, take},
		{take, topology.AddSlots{Node: nodeID(0), Slots: slotSet(movingSlot)}},
		{take, topology.AddSlots{Node: nodeID(1), Slots: slotSet(movingSlot)}},
	} {
		for _, together := range []bool{false, true} {
			m, c := importing(t, nil)
			m.come(c, "{a}1")
			heard := propagationtest.AttachTo(&m.e.Feed, propagation.Replicas)
			for _, a := range actions {
				if m.apply(a); !together {
					m.install()
				}
			}
			m.install()
			require.Zero(t, m.e.KS.DB(0).SlotLen(movingSlot), "%+v", actions)
			require.Contains(t, fmt.Sprint(heard.Units()), "FLUSHSLOT")
			m.settle()
			for m.e.Slice() {
			}
			require.Zero(t, m.e.KS.DB(0).SlotLen(movingSlot), "%+v", actions)
		}
	}
}

// TestHalfImportsWait ends a migration while its destination may not delete what has come, has it
// change its master or not, and gives it the slot. What had come is hidden, and gone before the
// slot is served.
func TestHalfImportsWait(t *testing.T) {
	for name, change := range map[string]func(m *member) (back func()){
		"paused": func(m *member) func() {
			require.Equal(t, "+OK", m.do(m.c, "client pause 100000 write"))
			return func() { require.Equal(t, "+OK", m.do(m.c, "client unpause")) }
		},
		"without a lease": func(m *member) func() {
			m.hold(-time.Second)
			return func() { m.hold(time.Hour) }
		},
		"vacated": func(m *member) func() {
			m.change(topology.Vacate{Shard: m.shard().ID, Term: m.shard().Term})
			return func() {
				m.change(topology.Promote{Shard: m.shard().ID, Term: m.shard().Term,
					Node: nodeID(0)})
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, c := importing(t, nil)
			m.come(c, "{a}1")
			back := change(m)
			m.change(topology.DelSlots{Node: nodeID(1), Slots: slotSet(movingSlot)})
			m.pass(1000)
			require.Equal(t, 1, m.e.KS.DB(0).SlotLen(movingSlot))
			require.Equal(t, ":0", m.do(m.c, "dbsize"))
			if m.shard().Master != "" {
				m.change(topology.AddSlots{Node: nodeID(0), Slots: slotSet(movingSlot)})
				require.NotContains(t, m.do(m.client(), "get {a}1"), "1", "half a copy")
			}
			back()
			m.pass(1000)
			require.Zero(t, m.e.KS.DB(0).SlotLen(movingSlot))
			m.settle()
			if m.shard().Slots.Has(movingSlot) {
				require.Equal(t, "$-1", m.do(m.client(), "get {a}1"))
			}
			require.Equal(t, slot.Set{}, m.shard().Half)
		})
	}
}

// grow gives the member's shard another replica, node 2.
func (m *member) grow() {
	m.change(topology.Admit{Node: nodeID(2), Shard: topology.ShardID(nodeID(302)),
		About: topology.About{Address: topology.Address{IP: "127.0.0.1", Port: 7002}}},
		topology.Replicate{Node: nodeID(2), Master: nodeID(0)})
}

// TestReplicasOfHalfImports has a replica that need not confirm anything be slow. It may lead soon,
// so the log must not say that half an import is gone before the replica has deleted it, or has had
// enough time.
func TestReplicasOfHalfImports(t *testing.T) {
	for _, slow := range []bool{false, true} {
		m, c := importing(t, nil)
		m.grow()
		m.do(m.client(), "psync ? -1") // there is a backlog from now on
		replica := m.join(2)
		m.come(c, "{a}1")
		m.ack(replica)
		m.apply(topology.Advance{ID: string(nodeID(77)), Phase: topology.Cancelled})
		m.install()
		require.Zero(t, m.e.KS.DB(0).SlotLen(movingSlot))
		m.pass(1000)
		require.Empty(t, m.proposed, "the replica has the key")
		if slow {
			m.pass(2000)
		} else {
			m.ack(replica)
			m.pass(100)
		}
		require.Len(t, m.proposed, 1)
		require.IsType(t, topology.Dropped{}, m.proposed[0].op.Do)
		m.settle()
		require.Equal(t, slot.Set{}, m.shard().Half)
	}
}

// TestHalfImportsUnconfirmed has nobody confirm that half an import is gone, in a slot that this
// node owns by now. Readers need not wait for that, and the log says why writes do.
func TestHalfImportsUnconfirmed(t *testing.T) {
	m, c := importing(t, func(c *config.Config) { c.MinReplicasToAck = 1 })
	said := &loggingtest.Buffer{}
	log, err := logging.New(logging.Options{Out: said, Level: logging.Notice})
	require.NoError(t, err)
	m.e.Log = log
	m.come(c, "{a}1")
	m.hold(-time.Second)
	m.change(topology.DelSlots{Node: nodeID(1), Slots: slotSet(movingSlot)},
		topology.AddSlots{Node: nodeID(0), Slots: slotSet(movingSlot)})
	reader, writer, script := m.client(), m.client(), m.client()
	m.hold(time.Hour)
	require.Equal(t, "(postponed)", m.do(reader, "get {a}1"), "half a copy")
	m.pass(100)
	require.False(t, reader.Postponed())
	require.Equal(t, "$-1", m.do(reader, "get {a}1"))
	require.Equal(t, "(postponed)", m.do(writer, "set {a}1 1"))
	require.Equal(t, "(postponed)", m.do(script, "eval return 1 {a}1"))
	m.pass(60_000)
	require.Empty(t, m.proposed)
	require.Contains(t, m.do(writer, "set {a}1 1"), "-CLUSTERDOWN")
	require.Equal(t, "$-1", m.do(reader, "get {a}1"))
	why := fmt.Sprintf("Writes to slots %d wait", movingSlot)
	require.Equal(t, 1, strings.Count(said.String(), why), said)

	m.grow()
	m.ack(m.join(2))
	for range 2 { // the replica is in sync, and nothing is half
		m.pass(200)
		m.settle()
	}
	require.Equal(t, slot.Set{}, m.shard().Half)
	require.Equal(t, "(held)", m.do(m.client(), "set {a}1 1"), "until the replica has it")
}

// TestHalfImportsLeave has the destination of a migration, or a replica of it, leave the cluster in
// the middle: nobody knows then that half a copy is left. What has come as a whole may be the only
// copy.
func TestHalfImportsLeave(t *testing.T) {
	for _, c := range []struct {
		name                  string
		hears, replica, whole bool
	}{
		{"told later", false, false, false},
		{"hears of it", true, false, false},
		{"a replica", true, true, false},
		{"all has come", true, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, stream := importing(t, nil)
			m.come(stream, "{a}1")
			m.change(topology.DelSlots{Node: nodeID(0), All: true})
			left := 0
			if c.replica {
				m.self = nodeID(2)
				m.apply(topology.Admit{Node: m.self, Shard: topology.ShardID(nodeID(302)),
					About: topology.About{Address: topology.Address{IP: "10.0.0.2", Port: 7002}}})
				m.change(topology.Replicate{Node: m.self, Master: nodeID(0)})
				require.Equal(t, 1, m.e.KS.DB(0).SlotLen(movingSlot))
			}
			if c.whole {
				m.change(topology.Advance{ID: string(nodeID(77)), Phase: topology.Closed})
				m.e.Exec(stream, raw([]string{"CLUSTER", "SYNCSLOTS", "END", "9"}))
				left = 1
			}
			if c.hears {
				m.applyBy(1, topology.Forget{Node: m.self})
				require.Equal(t, ":"+fmt.Sprint(left), m.do(m.c, "dbsize"))
			}
			m.log = &topology.State{}
			m.change(topology.Init{Cluster: string(nodeID(101)), Node: m.self, Timeout: 5000,
				Shard: topology.ShardID(nodeID(303))})
			require.Equal(t, left, m.e.KS.DB(0).SlotLen(movingSlot))
			require.Equal(t, ":"+fmt.Sprint(left), m.do(m.c, "dbsize"))
		})
	}
}

// TestHalfImportsBegunAnew ends a migration and begins it again before its destination has deleted
// what has come: the log says both at once, or the destination may not delete anything for now.
func TestHalfImportsBegunAnew(t *testing.T) {
	for _, how := range []string{"apart", "together", "paused", "without a lease"} {
		t.Run(how, func(t *testing.T) {
			m, c := importing(t, nil)
			m.come(c, "{a}1")
			switch how {
			case "paused":
				require.Equal(t, "+OK", m.do(m.c, "client pause 100000 write"))
			case "without a lease":
				m.hold(-time.Second)
			}
			m.apply(topology.Advance{ID: string(nodeID(77)), Phase: topology.Cancelled})
			if how != "together" {
				m.install()
			}
			m.apply(topology.Begin{ID: string(nodeID(78)), Slots: slotSet(movingSlot), Created: 1,
				From: topology.ShardID(nodeID(301)), To: m.shard().ID})
			m.install()
			m.pass(300)
			require.False(t, m.failed())
			require.Equal(t, "+OK", m.do(m.c, "client unpause"))
			m.hold(time.Hour)
			m.pass(300)
			m.settle()
			require.Zero(t, m.e.KS.DB(0).SlotLen(movingSlot))
			again := m.log.Migration(string(nodeID(78)))
			require.Equal(t, topology.Copying, again.Phase, again.Message)
			require.True(t, again.Ready)
		})
	}
}

// TestStraysOfUnownedSlots takes a slot with keys from its owner, and repairs that as redis-cli
// does: another node gets the slot, and the keys move there one by one.
func TestStraysOfUnownedSlots(t *testing.T) {
	m := newMember(t, 1, nil)
	m.other(77)
	require.Equal(t, "+OK", m.do(m.c, "set {a}1 1"))
	for _, a := range []topology.Action{
		topology.DelSlots{Node: nodeID(0), Slots: slotSet(movingSlot)},
		topology.AddSlots{Node: nodeID(1), Slots: slotSet(movingSlot)},
		topology.Move{To: nodeID(1), Slots: slotSet(movingSlot)},
		topology.SetMark{Node: nodeID(0), Slot: movingSlot, Importing: nodeID(1)},
		topology.Unmark{Node: nodeID(0), Slot: movingSlot},
	} {
		m.change(a)
		for m.e.Slice() {
		}
		require.Equal(t, 1, m.e.KS.DB(0).SlotLen(movingSlot), "%T", a)
		require.Equal(t, ":1", m.do(m.c, "dbsize"), "%T", a)
	}
}

// TestMoveBackAtOnce moves a slot with many keys away and back, before what was left of it is
// deleted. The source must not wait for that key by key.
func TestMoveBackAtOnce(t *testing.T) {
	m := newMember(t, 1, nil)
	m.other(77)
	for i := range 1000 {
		require.Equal(t, "+OK", m.do(m.c, fmt.Sprintf("set {a}%d 1", i)))
	}
	heard := propagationtest.AttachTo(&m.e.Feed, propagation.Replicas)
	m.change(topology.DelSlots{Node: nodeID(0), Slots: slotSet(movingSlot)},
		topology.AddSlots{Node: nodeID(1), Slots: slotSet(movingSlot)})
	require.Len(t, *m.begin(movingSlot), 1)
	require.Zero(t, m.e.KS.DB(0).SlotLen(movingSlot))
	require.Len(t, heard.Units(), 1)
}

// TestHalfImportsLeaveWhileLoading has a destination leave the cluster while it loads a data set.
// What it has half imported goes when that has ended, and its slots are not hidden any more.
func TestHalfImportsLeaveWhileLoading(t *testing.T) {
	m, stream := importing(t, func(c *config.Config) { c.Cluster.FullCoverage = false })
	m.come(stream, "{a}1")
	m.change(topology.DelSlots{Node: nodeID(0), All: true})
	m.applyBy(1, topology.Forget{Node: m.self})
	m.e.BeginLoading(1)
	m.log = &topology.State{}
	m.change(topology.Init{Cluster: string(nodeID(101)), Node: m.self, Timeout: 5000,
		Shard: topology.ShardID(nodeID(303))})
	m.change(topology.AddSlots{Node: m.self, Slots: slotSet(movingSlot)})
	m.e.EndLoading()
	m.pass(500)
	m.hold(time.Hour)
	require.Zero(t, m.e.KS.DB(0).SlotLen(movingSlot))
	require.Equal(t, "+OK", m.do(m.c, "set {a}2 1"))
	require.Equal(t, ":1", m.do(m.c, "dbsize"))
}
