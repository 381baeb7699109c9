package engine_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/cluster/topology"
	"godwit/internal/engine"
	"godwit/internal/slot"
)

// resumed is a connection that counts how often it goes on.
type resumed struct {
	quietConn
	n int
}

func (r *resumed) Resume() { r.n++ }

// resumes makes a client, and returns how often its connection goes on.
func (m *member) resumes() (c *engine.Client, n *int) {
	conn := &resumed{}
	c = m.e.NewClient(conn)
	return c, &conn.n
}

// change applies actions and installs the outcome.
func (m *member) change(actions ...topology.Action) {
	m.Helper()
	for _, a := range actions {
		m.apply(a)
	}
	m.install()
	m.turn()
}

// withOther makes a node that has all slots, and another one that has none.
func withOther(t *testing.T) *member {
	m := newMember(t, 1, nil)
	m.change(topology.Admit{Node: nodeID(1), Shard: topology.ShardID(nodeID(301)),
		About: topology.About{Address: topology.Address{IP: "127.0.0.1", Port: 7001}}})
	return m
}

func slotsOf(key string) (s slot.Set) {
	s.Add(slot.Of([]byte(key)))
	return s
}

// TestHeldTooLong refuses commands that have waited for a slot to move, or for a master of the
// shard, for longer than that takes. Then they wait anew.
func TestHeldTooLong(t *testing.T) {
	for _, state := range []string{"closed", "replica", "last master again"} {
		m := withOther(t)
		sh, want := m.shard().ID, "-CLUSTERDOWN The cluster is down"
		if state == "closed" {
			m.change(topology.Close{Shard: sh, Term: 1, Slots: slotsOf("a")})
		} else {
			m = newMember(t, 2, nil)
			m.change(topology.Vacate{Shard: sh, Term: 1},
				topology.Promote{Shard: sh, Term: 1, Node: nodeID(1)})
			if state == "replica" {
				m.takeUp()
				want = "-MOVED 15495 127.0.0.1:7001"
			}
			m.change(topology.Vacate{Shard: sh, Term: 2})
		}
		for range 2 {
			early, late := m.client(), m.client()
			require.Equal(t, "(postponed)", m.do(early, "get a"))
			m.pass(5000)
			require.Equal(t, "(postponed)", m.do(late, "get a"))
			m.pass(5000)
			require.True(t, early.Postponed())
			m.pass(5100)
			require.False(t, early.Postponed())
			require.Equal(t, want, m.do(early, "get a"))
			require.Equal(t, "(postponed)", m.do(late, "get a"), "it comes again with the first")
			require.Equal(t, "(postponed)", m.do(early, "get a"), "another command")
			m.pass(5000)
			require.Equal(t, want, m.do(late, "get a"))
		}
	}
}

// TestTopologyLeavesPauses checks that a new topology has only those commands come again that may
// run or be redirected now.
func TestTopologyLeavesPauses(t *testing.T) {
	m := withOther(t)
	sh := m.shard().ID
	m.e.Pause(engine.PauseByClient, m.e.Steady()+10_000, false)
	paused, pausedResumed := m.resumes()
	held, heldResumed := m.resumes()
	gone, _ := m.resumes()
	require.Equal(t, "(postponed)", m.do(paused, "set b 1"))
	m.change(topology.Close{Shard: sh, Term: 1, Slots: slotsOf("a")})
	require.Equal(t, "(postponed)", m.do(held, "get a"))
	require.Equal(t, "(postponed)", m.do(gone, "get a"))
	require.Equal(t, 3, m.e.BlockedClients())
	m.e.Forget(gone)
	require.Equal(t, 2, m.e.BlockedClients())
	m.change(topology.Open{Shard: sh, Slots: slotsOf("a")})
	require.Equal(t, []int{0, 1}, []int{*pausedResumed, *heldResumed})
	m.pass(10_100)
	require.Equal(t, []int{1, 1}, []int{*pausedResumed, *heldResumed})
}

// TestQueuedBefore runs a transaction after its slot has left, or its node is a replica. Channels
// beside keys change nothing of that.
func TestQueuedBefore(t *testing.T) {
	for _, queue := range [][]string{
		{"set a 2"}, {"spublish {a}c x", "set a 2"}, {"set a 2", "spublish {a}c x"},
	} {
		m := newMember(t, 2, nil)
		sh := m.shard().ID
		require.Equal(t, "+OK", m.do(m.c, "multi"))
		for _, command := range queue {
			require.Equal(t, "+QUEUED", m.do(m.c, command))
		}
		m.change(topology.Vacate{Shard: sh, Term: 1},
			topology.Promote{Shard: sh, Term: 1, Node: nodeID(1)})
		require.Equal(t, "-MOVED 15495 127.0.0.1:7001", m.do(m.c, "exec"), queue)
	}
}

// TestRoutedConditions routes EXEC by the keys of its conditions too.
func TestRoutedConditions(t *testing.T) {
	m := withOther(t)
	m.change(topology.Close{Shard: m.shard().ID, Term: 1, Slots: slotsOf("b")},
		topology.Move{To: nodeID(1), Slots: slotsOf("b")})
	exec := func(queued, exec string) string {
		c := m.client()
		m.do(c, "multi")
		require.Equal(t, "+QUEUED", m.do(c, queued))
		return m.do(c, exec)
	}
	require.Equal(t, "*1\r\n+OK", exec("set a 1", "exec nx {a}b"))
	require.Equal(t, "-CROSSSLOT Keys in request don't hash to the same slot",
		exec("set a 1", "exec nx b"))
	require.Equal(t, "-MOVED 3300 127.0.0.1:7001", exec("ping", "exec nx b"))
	require.Equal(t, "*1\r\n+PONG", exec("ping", "exec ifeq a 1"))
	require.Contains(t, exec("ping", "exec nx"), "EXECABORT")

	m.change(topology.SetMark{Node: nodeID(0), Slot: slot.Of([]byte("a")), Migrating: nodeID(1)})
	require.Equal(t, "*1\r\n+PONG", exec("ping", "exec xx a"))
	require.Equal(t, "-ASK 15495 127.0.0.1:7001", exec("ping", "exec nx {a}b"))
	require.Contains(t, exec("get a", "exec nx {a}c"), "-TRYAGAIN")
}

// TestClosedSlotElsewhere asks masters for a slot that another one has closed. Only the one that
// may get it has its clients wait: they would be sent to and fro.
func TestClosedSlotElsewhere(t *testing.T) {
	const moved, waits = "-MOVED 77 127.0.0.1:7001", "(postponed)"
	begin := topology.Begin{ID: string(nodeID(77)), Slots: slotSet(77), Created: 1,
		From: topology.ShardID(nodeID(301)), To: topology.ShardID(nodeID(302))}
	toSelf := begin
	toSelf.To = topology.ShardID(nodeID(200))
	ready, closed := topology.Receive{ID: begin.ID},
		topology.Advance{ID: begin.ID, Phase: topology.Closed}
	mark := topology.SetMark{Node: nodeID(2), Slot: 77, Importing: nodeID(1)}
	loose := topology.Close{Shard: topology.ShardID(nodeID(301)), Term: 1, Slots: slotSet(77)}
	for _, c := range []struct {
		actions []topology.Action
		want    string
	}{
		{[]topology.Action{begin, ready, closed}, moved},
		{[]topology.Action{toSelf, ready, closed}, waits},
		{[]topology.Action{mark, loose}, moved},
		{[]topology.Action{loose}, waits}, // SETSLOT NODE does not say where it goes yet
	} {
		m := newMember(t, 1, nil)
		m.other(77)
		m.apply(topology.Admit{Node: nodeID(2), Shard: topology.ShardID(nodeID(302)),
			About: topology.About{Address: topology.Address{IP: "127.0.0.1", Port: 7002}}})
		m.change(c.actions...)
		require.Equal(t, c.want, m.do(m.c, "get "+keyOf(77)), "%+v", c.actions)
	}
}

// keyOf returns a key of the slot.
func keyOf(i int) string {
	for n := 0; ; n++ {
		if key := strconv.Itoa(n); slot.Of([]byte(key)) == i {
			return key
		}
	}
}
