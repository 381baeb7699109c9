package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/cluster/topology"
	"godwit/internal/config"
	"godwit/internal/vfs"
)

// restart has the master of a shard of two nodes write two keys, of which one falls due ten seconds
// later, kills it, and starts it from its log. revoked says that its own copy of the topology knows
// that the shard has no master any more. It returns the node and its place before the end.
func restart(t *testing.T, revoked bool) (m *member, id string, offset int64) {
	edit := func(c *config.Config) {
		c.AppendOnly, c.Cluster.Enabled, c.EnableDebugCommand = true, true, config.GuardYes
	}
	x := withDisk(t, edit)
	m = &member{T: t, self: nodeID(0), log: &topology.State{}, e: x.e}
	m.attach()
	m.found(2)
	m.install()
	m.hold(time.Hour)
	for range 3 { // the seed of these engines is the same
		m.e.NewReplID()
	}
	m.e.FollowStream()
	require.Equal(t, "+OK", m.do(m.c, "set a 1"))
	require.Equal(t, "+OK", m.do(m.c, "set due 1 px 10000"))
	m.e.Commit()
	id, offset = m.e.ReplID(), m.e.ReplOffset()
	left := x.mem.Crash(vfs.KeepAll)
	x.stop()

	y := onDisk(t, left, edit)
	m.e = y.e
	if m.lease = 0; revoked {
		m.apply(topology.Vacate{Shard: m.shard().ID, Term: 1})
	}
	y.start(func() {
		m.attach()
		m.install()
	})
	require.Equal(t, 2, m.e.KS.DB(0).Len())
	return m, id, offset
}

// expire lets the time come at which keys fall due.
func (m *member) expire() {
	m.pass(10_000) // writes wait no longer
	m.e.KS.SetNow(m.e.KS.Now() + 20_000)
	for range 5 {
		m.e.Cron()
		m.e.Slice()
	}
	m.e.Commit()
}

// replace makes node 1 the shard's master, and has this node follow it.
func (m *member) replace() {
	sh := m.shard()
	if sh.Master != "" {
		m.apply(topology.Vacate{Shard: sh.ID, Term: sh.Term})
	}
	m.apply(topology.Promote{Shard: sh.ID, Term: sh.Term, Node: nodeID(1)})
	m.install()
	require.True(m, m.e.IsReplica())
}

// TestRestoredIsRevoked starts a node that was the last master of its shard, which has none. Until
// there is one, nothing that this node does of its own accord counts as data.
func TestRestoredIsRevoked(t *testing.T) {
	m, id, offset := restart(t, true)
	m.expire()
	require.Equal(t, offset, m.e.ClusterReport().Offset, "offsets decide who is promoted")
	require.Equal(t, 2, m.e.KS.DB(0).Len())
	require.NotEqual(t, id, m.e.ReplID(), "others may be further in that history")
	id2, second := m.e.ReplID2()
	require.Equal(t, id, id2)
	require.Equal(t, offset+1, second)

	m.apply(topology.Promote{Shard: m.shard().ID, Term: 1, Node: nodeID(0)})
	m.install()
	m.hold(time.Hour)
	m.expire()
	require.Equal(t, 1, m.e.KS.DB(0).Len())
	require.Greater(t, m.e.ReplOffset(), offset)
}

// TestRejoin starts a node that was a shard's master, as which another one follows. It asks that
// one for what follows in the history of its files, but if its data is not what it was in that.
func TestRejoin(t *testing.T) {
	write := func(m *member) {
		m.hold(time.Hour)
		require.Equal(m, "+OK", m.do(m.c, "set b 1"))
	}
	for _, c := range []struct {
		name    string
		revoked bool
		do      func(m *member)
		goes    bool
	}{
		{"nothing", false, func(*member) {}, true},
		{"revoked", true, func(*member) {}, true},
		{"due while revoked", true, (*member).expire, true},
		{"promoted again", true, func(m *member) {
			m.apply(topology.Promote{Shard: m.shard().ID, Term: 1, Node: nodeID(0)})
			m.install()
			m.hold(time.Hour)
		}, true},
		{"a write", false, write, false},
		{"keys that are due", false, (*member).expire, false},
		{"what no stream has", false, func(m *member) {
			m.hold(time.Hour)
			require.Equal(m, "+OK", m.do(m.c, "debug populate 1"))
		}, false},
		{"what no stream has, by a script", false, func(m *member) {
			m.hold(time.Hour)
			require.Equal(m, "+OK", m.exec(m.c, "eval", "redis.set_repl(redis.REPL_NONE) "+
				"return redis.call('set', KEYS[1], '1')", "1", "b"))
		}, false},
		{"a replica of its own", false, func(m *member) {
			m.hold(time.Hour)
			tool := m.client()
			require.Contains(m, m.do(tool, fmt.Sprintf("psync %s %d", m.e.ReplID(),
				m.e.ReplOffset()+1)), "+CONTINUE")
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, id, offset := restart(t, c.revoked)
			c.do(m)
			m.replace()
			require.Equal(t, c.goes, m.e.ReplID() == id)
			if c.goes {
				require.Equal(t, offset, m.e.ReplOffset())
			}
		})
	}
}

// TestComesBack asks a new master for what follows a place in the history of the old one. It may
// lie before the end that the new one has, or at it. What lies behind it is lost.
func TestComesBack(t *testing.T) {
	m := newMember(t, 2, nil)
	m.e.FollowStream()
	require.Equal(t, "+OK", m.do(m.c, "set a 1"))
	id, behind := m.e.ReplID(), m.e.ReplOffset()
	require.Equal(t, "+OK", m.do(m.c, "set b 1"))
	m.replace()
	end := m.e.ReplOffset()
	sh := m.shard()
	m.apply(topology.Vacate{Shard: sh.ID, Term: sh.Term})
	m.apply(topology.Promote{Shard: sh.ID, Term: sh.Term, Node: nodeID(0)})
	m.takeUp()
	m.install()
	m.hold(time.Hour)
	require.Equal(t, "+OK", m.do(m.c, "set c 1"))
	for _, c := range []struct {
		at   int64
		says string
	}{{behind, "+CONTINUE"}, {end, "+CONTINUE"}, {end + 1, ""}} {
		before := m.e.Stats.SyncFull
		r := m.client()
		require.Contains(t, m.say(r, 1, 1), "+TERM")
		require.Equal(t, "+OK", m.do(r, "replconf capa psync2"))
		require.Contains(t, m.do(r, fmt.Sprintf("psync %s %d", id, c.at+1)), c.says)
		require.Equal(t, c.says == "", m.e.Stats.SyncFull > before)
	}
}
