package cluster

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
	"godwit/internal/slot"
	"godwit/internal/testserver"
)

// movable is a cluster of two masters with a replica each. All keys are in slots of the first one
// that are about to move.
type movable struct {
	*testserver.Cluster
	a, b        *testserver.Node // the masters
	tag         string           // of keys in a slot that moves
	first, last int              // the slots that move
}

func newMovable(t *testing.T, k testserver.Kind) *movable {
	t.Helper()
	if k == testserver.Redis8 {
		t.Skip("Redis moves slots as a whole since 8.4")
	}
	// Nodes log in to each other as a user that may do what they do, and no more.
	args := []string{"--masteruser", "mover", "--masterauth", "secret", "--user", "mover", "on",
		">secret"}
	if promises(k) {
		args = append(args, "%R~*", "+psync", "+replconf", "+ping", "+cluster|syncslots")
	} else {
		args = append(args, "~*", "+@all")
	}
	c := testserver.RunCluster(t, testserver.ClusterOptions{Kind: k, Masters: 2, Replicas: 1,
		Timeout: 10 * time.Second, Args: args})
	m := &movable{Cluster: c, a: c.Master(0), b: c.Master(1), tag: tagOf(t, c, 0)}
	m.first = slotOf(m.tag)
	m.last = min(m.first+99, slot.Count/2-1)
	return m
}

// fill writes keys of all types, with and without deadlines.
func (m *movable) fill(t *testing.T) {
	t.Helper()
	conn := m.a.Client(t)
	key := func(name string) string { return "{" + m.tag + "}" + name }
	say := func(args ...any) {
		v, err := conn.Do(args...)
		require.NoError(t, err)
		require.False(t, v.IsError(), "%v: %s", args, v)
	}
	for i := range 300 {
		say("SET", key(fmt.Sprint("s", i)), strings.Repeat("x", i))
		say("RPUSH", key("list"), i)
		say("HSET", key("hash"), fmt.Sprint("f", i), i)
		say("SADD", key("set"), fmt.Sprint("m", i))
		say("ZADD", key("zset"), float64(i)/7, i)
		say("XADD", key("stream"), fmt.Sprintf("%d-1", i+1), "f", i)
	}
	say("SADD", key("ints"), 1, 2, 3)
	say("SET", key("deadline"), "v", "EX", 1000)
	say("HPEXPIRE", key("hash"), 1000000, "FIELDS", 1, "f7")
	say("XGROUP", "CREATE", key("stream"), "g", "0")
	say("XREADGROUP", "GROUP", "g", "c", "COUNT", 5, "STREAMS", key("stream"), ">")
}

// state returns the state that a node tells of the newest migration.
func stateOf(t *testing.T, n *testserver.Node) string {
	t.Helper()
	v, err := n.Do("CLUSTER", "GETSLOTMIGRATIONS")
	require.NoError(t, err)
	require.NotEmpty(t, v.Elems)
	return field(v.Elems[0], "state")
}

// field returns the text of a field of a map, in RESP2.
func field(v client.Value, name string) string {
	for i := 0; i+1 < len(v.Elems); i += 2 {
		if v.Elems[i].Str == name {
			return v.Elems[i+1].Text()
		}
	}
	return ""
}

// begin has the slots move from one master to the other, in Valkey's way.
func (m *movable) begin(t *testing.T, from, to *testserver.Node) {
	t.Helper()
	v, err := from.Do("CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", m.first, m.last, "NODE", to.ID)
	require.NoError(t, err)
	require.Equal(t, "OK", v.Text())
}

// moved waits until the slots have moved, in the eyes of all nodes.
func (m *movable) moved(t *testing.T, from, to *testserver.Node) {
	t.Helper()
	eventually(t, func() bool {
		state := stateOf(t, from)
		require.NotContains(t, []string{"failed", "cancelled"}, state)
		return state == "success"
	}, "the migration succeeds")
	for _, s := range []int{m.first, m.last} {
		require.NoError(t, m.WaitOwner(s, to, m.Nodes...))
	}
}

// empty waits until a node has no keys.
func empty(t *testing.T, n *testserver.Node) {
	t.Helper()
	eventually(t, func() bool {
		v, err := n.Do("DBSIZE")
		require.NoError(t, err)
		return v.Int == 0
	}, "the keys are gone")
}

// TestMigrateSlots moves slots to and fro as a whole: at first with keys of all types, then while
// clients write, then with a destination that does not answer, until that is cancelled.
func TestMigrateSlots(t *testing.T) {
	takesLong(t)
	each(t, func(t *testing.T, k testserver.Kind) {
		m := newMovable(t, k)
		m.fill(t)
		before := contents(t, m.a)
		m.begin(t, m.a, m.b)
		m.moved(t, m.a, m.b)
		require.Empty(t, before.Compare(contents(t, m.b)))
		empty(t, m.a)
		empty(t, m.Replica(0))
		eventually(t, func() bool {
			diff, err := testserver.Differences(m.b.Server, m.Replica(1).Server)
			require.NoError(t, err)
			return diff == ""
		}, "the replica has all")

		w := startWriters(t, m.Cluster, m.tag, tagOf(t, m.Cluster, 1))
		w.more(t, 20)
		m.begin(t, m.b, m.a)
		m.moved(t, m.b, m.a)
		w.more(t, 20)
		w.end()
		_, failed := w.acked()
		require.Zero(t, failed, "nothing but redirections")
		require.Empty(t, w.lost(t))

		from, to := m.follower(t)
		before = contents(t, from)
		require.NoError(t, to.Freeze())
		m.begin(t, from, to)
		m.ok(t, from, "OK", "CLUSTER", "CANCELSLOTMIGRATIONS")
		require.Equal(t, "cancelled", stateOf(t, from))
		require.NoError(t, to.Thaw())
		require.Empty(t, before.Compare(contents(t, from)))
		m.begin(t, from, to)
		m.moved(t, from, to)
		require.Empty(t, before.Compare(contents(t, to)))
	})
}

// contents reads all keys of a node.
func contents(t *testing.T, n *testserver.Node) *testserver.Contents {
	t.Helper()
	c, err := n.Read()
	require.NoError(t, err)
	return c
}

// ok sends a command, and wants the reply's text.
func (m *movable) ok(t *testing.T, n *testserver.Node, want string, args ...any) {
	t.Helper()
	v, err := n.Do(args...)
	require.NoError(t, err)
	require.Equal(t, want, v.Text())
}

// follower returns the master with the slots, and another that does not lead the log: the rest of
// the cluster does without it. It moves the slots, if need be.
func (m *movable) follower(t *testing.T) (from, to *testserver.Node) {
	t.Helper()
	info, err := m.b.ClusterInfo()
	require.NoError(t, err)
	if info["cluster_raft_role"] != "leader" {
		return m.a, m.b
	}
	m.begin(t, m.a, m.b)
	m.moved(t, m.a, m.b)
	return m.b, m.a
}

// TestImportSlots moves slots to and fro as Redis 8.4 does, and cancels that.
func TestImportSlots(t *testing.T) {
	takesLong(t)
	t.Parallel()
	m := newMovable(t, testserver.Godwit)
	m.fill(t)
	before := contents(t, m.a)
	id := m.imports(t, m.b)
	m.completed(t, id)
	require.Empty(t, before.Compare(contents(t, m.b)))
	empty(t, m.a)
	m.completed(t, m.imports(t, m.a))
	require.Empty(t, before.Compare(contents(t, m.a)))

	from, to := m.follower(t)
	require.NoError(t, from.Freeze())
	id = m.imports(t, to)
	m.ok(t, to, "1", "CLUSTER", "MIGRATION", "CANCEL", "ID", id)
	require.NoError(t, from.Thaw())
	require.Equal(t, "canceled", m.task(t, to, id, "state"))
	m.completed(t, m.imports(t, to))
	require.Empty(t, before.Compare(contents(t, to)))
}

// imports has a master import the slots, and returns the task's id.
func (m *movable) imports(t *testing.T, to *testserver.Node) string {
	t.Helper()
	v, err := to.Do("CLUSTER", "MIGRATION", "IMPORT", m.first, m.last)
	require.NoError(t, err)
	require.Len(t, v.Text(), 40)
	return v.Text()
}

// task returns a field of a task, "" if the node does not know it.
func (m *movable) task(t *testing.T, n *testserver.Node, id, name string) string {
	t.Helper()
	v, err := n.Do("CLUSTER", "MIGRATION", "STATUS", "ID", id)
	require.NoError(t, err)
	if len(v.Elems) == 0 {
		return ""
	}
	return field(v.Elems[0], name)
}

// completed waits until both masters say that the task is completed, as redis-cli does.
func (m *movable) completed(t *testing.T, id string) {
	t.Helper()
	for _, n := range []*testserver.Node{m.a, m.b} {
		eventually(t, func() bool {
			state := m.task(t, n, id, "state")
			require.NotContains(t, []string{"failed", "canceled"}, state)
			return state == "completed"
		}, "the task is completed")
	}
}
