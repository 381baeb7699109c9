package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/cluster/topology"
	"godwit/internal/config"
	"godwit/internal/engine"
	"godwit/internal/vfs"
)

// stopping makes a member with a replica that has everything. ended tells whether its server has
// ended.
func stopping(t *testing.T, edit func(c *config.Config)) (m *member, replica *engine.Client,
	ended *bool) {
	m, replica = confirming(t, edit)
	m.ack(replica)
	return m, replica, m.stops()
}

func (m *member) stops() (ended *bool) {
	ended = new(bool)
	m.e.Shutdown = func(o engine.ShutdownOptions) error {
		waits, err := m.e.AwaitReplicas(o)
		*ended = *ended || !waits && err == nil
		return err
	}
	return ended
}

// revoke takes the shard from its master.
func (m *member) revoke() {
	m.apply(topology.Vacate{Shard: m.shard().ID, Term: m.shard().Term})
	m.install()
	m.turn()
}

// TestHandOver has a master hand its shard over before it ends. Writes wait, and are redirected.
func TestHandOver(t *testing.T) {
	m, _, ended := stopping(t, nil)
	popper, asked := m.client(), m.client()
	m.do(popper, "blpop l 0")
	m.do(asked, "shutdown")
	require.Len(t, m.handed, 1)
	m.handed[0]("")
	require.Equal(t, "(postponed)", m.do(m.c, "set a 1"))
	m.pass(200)
	require.False(t, *ended)
	require.False(t, m.e.ClusterReport().Ends, "it may get its shard back")
	m.failOver(1)
	require.True(t, m.e.ClusterReport().Ends)
	require.Empty(t, m.replies(asked))
	require.False(t, asked.CloseAfterReply)
	require.Contains(t, m.replies(popper), "-MOVED")
	m.pass(100)
	require.False(t, *ended, "who was held back is redirected first")
	require.False(t, m.c.Postponed())
	require.Contains(t, m.do(m.c, "set a 1"), "-MOVED")
	m.pass(100)
	require.True(t, *ended)
	require.Zero(t, m.kept)
}

// TestHandOverReplies has a loop be slow: it gets no processor, or a client takes none of its
// replies. The server ends when all are redirected, or after some turns of the cron.
func TestHandOverReplies(t *testing.T) {
	for _, c := range []struct {
		what   string
		change func(c *engine.Client, conn *conn)
	}{
		{"a command that was held back", func(_ *engine.Client, conn *conn) { conn.in = 20 }},
		{"a reply on its way", func(_ *engine.Client, conn *conn) { conn.out = 20 }},
		{"a reply", func(c *engine.Client, _ *conn) { c.W.Buf = []byte("-MOVED 1 127.0.0.1:1") }},
	} {
		for _, leaves := range []bool{true, false} {
			m, _, ended := stopping(t, nil)
			conn := &conn{}
			slow := m.e.NewClient(conn)
			m.do(m.client(), "shutdown")
			m.handed[0]("")
			m.failOver(1)
			m.pass(100)
			c.change(slow, conn)
			m.pass(500)
			require.False(t, *ended, c.what)
			if leaves {
				conn.in, conn.out, slow.W.Buf = 0, 0, nil
				m.pass(100)
			} else {
				m.pass(1000)
			}
			require.True(t, *ended, c.what)
		}
	}
}

// TestHandOverInVain has nobody take over, for all sorts of reasons. The server ends all the same.
func TestHandOverInVain(t *testing.T) {
	for name, c := range map[string]struct {
		edit  func(c *config.Config)
		words string
		alone bool
		asks  bool
		play  func(m *member, ended *bool) // it has not ended before, and has after that
	}{
		"nobody follows": {alone: true},
		"at once":        {words: "now"},
		"no time":        {edit: func(c *config.Config) { c.ShutdownTimeout = 0 }},
		"not wanted":     {edit: func(c *config.Config) { c.Cluster.HandOver = false }},
		"refused": {asks: true, play: func(m *member, ended *bool) {
			for i := 0; i < 30 && !*ended; i++ { // and long before "no answer"
				m.handed[len(m.handed)-1]("ERR No")
				m.pass(100)
			}
		}},
		"no answer":   {asks: true, play: func(m *member, _ *bool) { m.pass(5000) }},
		"no majority": {asks: true, play: func(m *member, _ *bool) { m.deaf = true; m.pass(200) }},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMember(t, 2, c.edit)
			ended := m.stops()
			if !c.alone {
				m, _, ended = stopping(t, c.edit)
			}
			m.do(m.c, "shutdown "+c.words)
			require.Equal(t, c.asks, len(m.handed) > 0)
			if c.play != nil {
				require.False(t, *ended)
				c.play(m, ended)
			}
			require.True(t, *ended)
		})
	}
}

// storing makes a master with a disk, in a cluster of two nodes.
func storing(t *testing.T, edit func(c *config.Config)) (*disked, *member) {
	x := withDisk(t, func(c *config.Config) {
		c.Cluster.Enabled = true
		edit(c)
	})
	m := &member{T: t, self: nodeID(0), log: &topology.State{}, e: x.e}
	m.attach()
	m.found(2)
	m.install()
	m.hold(time.Hour)
	return x, m
}

// TestEndIsTold has a replica save before it ends. The others must know that before, and hear it if
// that fails and it goes on.
func TestEndIsTold(t *testing.T) {
	x, m := storing(t, func(c *config.Config) {
		c.Save = []config.SavePoint{{Seconds: 3600, Changes: 1}}
	})
	m.failOver(1)
	require.Equal(t, topology.Replica, m.e.ClusterReport().Role)
	require.False(t, m.e.ClusterReport().Ends)
	for _, fails := range []bool{true, false} {
		m.reports = nil
		if fails {
			x.plan.Add(vfs.Fault{Op: vfs.OpSync})
		}
		saving := 0
		err := m.e.FinishData(engine.ShutdownOptions{}, func() { saving = len(m.reports) })
		x.plan.Clear()
		require.Equal(t, fails, err != nil)
		require.Equal(t, 1, saving)
		require.True(t, m.reports[0].Ends)
		require.Equal(t, fails, len(m.reports) == 2 && !m.reports[1].Ends)
		require.Equal(t, !fails, m.e.ClusterReport().Ends)
	}
}

// TestHandOverRefused stops a master that may not end, because of its log. It keeps its shard.
func TestHandOverRefused(t *testing.T) {
	for _, c := range []struct{ name, words, says string }{
		{"first base", "", "Writing initial AOF, can't exit."},
		{"first base, forced", "force", ""},
		{"no room for the log", "", "What was acknowledged is not in the AOF file, can't exit."},
		{"no room for the log, nosave", "nosave", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, m := storing(t, func(cfg *config.Config) {
				cfg.AppendOnly = !strings.HasPrefix(c.name, "first base")
			})
			m.e.FollowStream()
			m.do(m.c, "set a 1")
			m.ack(m.join(1))
			if x.e.Cfg.AppendOnly {
				m.e.Commit()
				x.plan.Add(vfs.Fault{Op: vfs.OpWrite})
				m.do(m.c, "set a 2")
				m.e.Commit()
			} else {
				x.stalledSave()
				require.Equal(t, "+OK", m.do(m.c, "config set appendonly yes"))
			}
			ended := m.stops()
			reply := m.do(m.c, strings.TrimSpace("shutdown "+c.words))
			if c.says == "" {
				require.Empty(t, reply)
				require.Len(t, m.handed, 1)
			} else {
				require.Equal(t, "-"+engine.ErrShutdownFailed, reply)
				require.Empty(t, m.handed)
				require.Contains(t, x.log.String(), c.says)
			}
			require.False(t, *ended)
			require.Equal(t, c.says == "", m.e.ShutdownWaits())
			x.plan.Clear()
		})
	}
}

// TestHandOverLost has the replica go away, before the shard is revoked and after that.
func TestHandOverLost(t *testing.T) {
	m, replica, ended := stopping(t, nil)
	m.do(m.c, "shutdown")
	m.e.Kill(replica)
	m.turn()
	m.pass(100)
	require.True(t, *ended)

	m, replica, ended = stopping(t, nil)
	m.do(m.c, "shutdown")
	m.revoke()
	m.e.Kill(replica)
	m.turn()
	m.pass(1000)
	require.False(t, *ended, "it may be about to be the master")
	m.pass(500)
	require.True(t, *ended)
}

// TestHandOverAgain has the leader promote the stopping master again, because the replica that was
// to take over could not. Another one is back in a moment, or is not.
func TestHandOverAgain(t *testing.T) {
	for _, back := range []bool{true, false} {
		m := newMember(t, 3, nil)
		m.e.FollowStream()
		m.ack(m.join(1))
		m.ack(m.join(2))
		ended := m.stops()
		m.do(m.c, "shutdown")
		require.Len(t, m.handed, 1)
		m.handed[0]("")
		m.revoke()
		m.pass(200)
		m.apply(topology.Promote{Shard: m.shard().ID, Term: m.shard().Term, Node: nodeID(0)})
		m.install()
		m.turn()
		m.pass(200)
		require.False(t, *ended, "the links were cut just now")
		require.Len(t, m.handed, 2, "the new wish needs to be told")
		if back {
			m.ack(m.join(1))
			m.pass(2000)
			require.False(t, *ended)
			m.failOver(1)
			m.pass(200)
			require.Zero(t, m.kept)
		} else {
			m.pass(1500)
			require.Equal(t, 1, m.kept)
		}
		require.True(t, *ended)
	}
}

// TestHandOverAborted has the server go on.
func TestHandOverAborted(t *testing.T) {
	m, _, ended := stopping(t, nil)
	asked := m.client()
	m.do(asked, "shutdown")
	m.revoke()
	require.Equal(t, "(postponed)", m.do(m.c, "set a 1"))
	require.Equal(t, "+OK", m.do(m.client(), "shutdown abort"))
	require.Contains(t, m.replies(asked), "-ERR Errors trying to SHUTDOWN")
	require.Equal(t, 1, m.kept)
	m.apply(topology.Promote{Shard: m.shard().ID, Term: m.shard().Term, Node: nodeID(0)})
	m.install()
	m.turn()
	require.False(t, m.c.Postponed())
	require.Equal(t, "(held)", m.do(m.c, "set a 1"), "until the replica has it")
	m.pass(11_000)
	require.False(t, *ended)
}
