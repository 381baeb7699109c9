package engine_test

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/backlog"
	"godwit/internal/boottime"
	"godwit/internal/cluster/topology"
	"godwit/internal/command"
	"godwit/internal/config"
	"godwit/internal/engine"
	"godwit/internal/logging"
	"godwit/internal/propagation"
	"godwit/internal/propagation/propagationtest"
	"godwit/internal/slot"
)

// member is an engine with a cluster that its test plays.
type member struct {
	*testing.T
	e        *engine.Engine
	c        *engine.Client
	log      *topology.State
	self     topology.NodeID
	lease    int64
	boot     uint64
	deaf     bool
	voters   []topology.NodeID
	proposed []proposal
	failover []engine.FailoverMode
	handed   []func(string)         // answers to HandOver
	kept     int                    // calls of Keep
	reports  []engine.ClusterReport // that others were told at once
}

type proposal struct {
	op   topology.Op
	done func(string)
}

func nodeID(i int) topology.NodeID { return topology.NodeID(fmt.Sprintf("%040d", i)) }

func (m *member) Propose(op topology.Op, done func(string)) {
	m.proposed = append(m.proposed, proposal{op, done})
}

func (m *member) Meet(string, int, int, func(string)) {}

func (m *member) Reset(bool, func(string)) {}

func (m *member) Failover(mode engine.FailoverMode, done func(string)) {
	m.failover = append(m.failover, mode)
	done("")
}

func (m *member) HandOver(_ time.Duration, done func(string)) { m.handed = append(m.handed, done) }

func (m *member) Keep() { m.kept++ }

func (m *member) Report() { m.reports = append(m.reports, m.e.ClusterReport()) }

func (m *member) Lease() int64                                 { return m.lease }
func (m *member) Boot() uint64                                 { return m.boot }
func (m *member) Hears() bool                                  { return !m.deaf }
func (m *member) Broadcast(engine.MessageKind, []byte, []byte) {}

func (m *member) Facts() engine.ClusterFacts {
	return engine.ClusterFacts{Raft: engine.RaftFacts{Voters: m.voters}}
}

// quietConn is a connection that shows nothing. It can be a replica's.
type quietConn struct{ closed int }

func (*quietConn) Flush()                                     {}
func (*quietConn) Resume()                                    {}
func (q *quietConn) Close()                                   { q.closed++ }
func (*quietConn) Buffers() (in, inCap, out int)              { return 0, 0, 0 }
func (*quietConn) HeapReplies() int                           { return 0 }
func (*quietConn) Stage(n, _ int) []byte                      { return make([]byte, n) }
func (*quietConn) StageInsert(int, []byte)                    {}
func (*quietConn) Stream(*backlog.Reader)                     {}
func (*quietConn) Fed()                                       {}
func (*quietConn) Transfer(func(net.Conn) error, func(error)) {}
func (*quietConn) NoDelay(bool)                               {}

// newMember makes node 0 of a cluster of so many nodes, which is the master of their only shard,
// with all slots and a lease.
func newMember(t *testing.T, nodes int, edit func(c *config.Config)) *member {
	m := memberOf(t, 0, edit)
	m.found(nodes)
	m.install()
	m.hold(time.Hour)
	return m
}

// attach makes the member the cluster of its engine.
func (m *member) attach() {
	m.e.Cluster = m
	m.e.LinkMaster = func(*engine.LinkAttempt) {}
	m.c = m.client()
}

// found writes the log of a cluster of one shard.
func (m *member) found(nodes int) {
	about := func(i int) topology.About {
		return topology.About{Address: topology.Address{IP: "127.0.0.1", Port: 7000 + i}}
	}
	m.apply(topology.Init{Cluster: string(nodeID(100)), Node: nodeID(0), Timeout: 5000,
		Shard: topology.ShardID(nodeID(200)), About: about(0)})
	for i := 1; i < nodes; i++ {
		m.apply(topology.Admit{Node: nodeID(i), Shard: topology.ShardID(nodeID(300 + i)),
			About: about(i)})
		m.apply(topology.Replicate{Node: nodeID(i), Master: nodeID(0)})
	}
	var all slot.Set
	for i := range slot.Count {
		all.Add(i)
	}
	m.apply(topology.AddSlots{Node: nodeID(0), Slots: all})
}

// memberOf makes a node that knows of no cluster yet.
func memberOf(t *testing.T, self int, edit func(c *config.Config)) *member {
	cfg := config.Default()
	cfg.Save, cfg.Cluster.Enabled = nil, true
	if edit != nil {
		edit(cfg)
	}
	m := &member{T: t, self: nodeID(self), log: &topology.State{}}
	m.e = engine.New(cfg, command.Table(), engine.Options{Log: logging.Discard(), Seed: 3})
	m.e.Enter()
	t.Cleanup(m.e.Leave)
	m.attach()
	return m
}

func (m *member) shard() *topology.Shard { return m.log.ShardOf(m.self) }

func (m *member) apply(a topology.Action) {
	m.Helper()
	op := topology.Op{Do: a}
	if r, ok := a.(topology.Receive); ok {
		op.By = m.log.Migration(r.ID).Target
	}
	m.log = m.log.Clone()
	require.Empty(m, m.log.Apply(m.log.Index+1, op))
}

// takeUp has the log say that the shard's master leads.
func (m *member) takeUp() {
	sh := m.shard()
	m.apply(topology.SetInSync{Shard: sh.ID, Term: sh.Term, Boot: sh.Boot,
		Confirm: sh.Confirm, InSync: sh.InSync, Seen: m.log.Index})
}

func (m *member) install() { m.e.InstallTopology(m.log, m.self) }

// settle applies what the engine has proposed.
func (m *member) settle() {
	for len(m.proposed) > 0 {
		p := m.proposed[0]
		m.proposed = m.proposed[1:]
		m.log = m.log.Clone()
		refusal := m.log.Apply(m.log.Index+1, topology.Op{By: nodeID(0), Do: p.op.Do})
		m.install()
		p.done(refusal)
	}
}

// hold makes the lease last for d from now on, as the next turn sees it.
func (m *member) hold(d time.Duration) {
	m.lease = boottime.Now() + int64(d)
	m.turn()
}

// turn ends the turn and begins another.
func (m *member) turn() {
	m.e.Leave()
	m.e.Enter()
}

// pass lets time pass by the steady clock, with turns of the cron as often as there would be.
func (m *member) pass(ms int) {
	for ; ms > 0; ms -= 100 {
		m.e.PassTime(100 * time.Millisecond)
		m.e.Cron()
		m.turn()
	}
}

func (m *member) client() *engine.Client {
	c := m.e.NewClient(&quietConn{})
	c.Addr = fmt.Sprintf("127.0.0.1:%d", 1000+c.ID)
	return c
}

// do returns the reply to a command of a client, "(held)" if there is none yet and "(postponed)" if
// it did not run.
func (m *member) do(c *engine.Client, words string) string {
	var argv [][]byte
	for _, w := range strings.Fields(words) {
		argv = append(argv, []byte(w))
	}
	if !m.e.Exec(c, argv) {
		return "(postponed)"
	}
	return m.replies(c)
}

// replies returns what a client has been replied.
func (m *member) replies(c *engine.Client) string {
	out := string(c.W.Buf)
	c.W.Buf = c.W.Buf[:0]
	if out == "" && c.HeldReplies() {
		return "(held)"
	}
	return strings.TrimRight(out, "\r\n")
}

func TestLease(t *testing.T) {
	m := newMember(t, 2, nil)
	require.Equal(t, "+OK", m.do(m.c, "set a 1"))
	require.True(t, m.c.Leased)
	require.True(t, m.e.LeaseHeld())
	m.c.Leased = false
	require.Equal(t, "$1\r\n1", m.do(m.c, "get a"))
	require.False(t, m.c.Leased, "reads need none")

	m.lease = boottime.Now() // in the middle of a turn: what ran is not confirmed
	require.Equal(t, "+OK", m.do(m.c, "set a 2"))
	require.False(t, m.e.LeaseHeld())
	m.turn()
	for _, cmd := range []string{"set a 3", "flushall",
		"eval return{redis.call('set','a','3')} 1 a"} {
		require.Contains(t, m.do(m.c, cmd), "CLUSTERDOWN The cluster is down", cmd)
	}
	require.Equal(t, "$1\r\n2", m.do(m.c, "get a"))
	require.Equal(t, "+OK", m.do(m.c, "multi"))
	require.Contains(t, m.do(m.c, "set a 3"), "CLUSTERDOWN")
	require.Contains(t, m.do(m.c, "exec"), "EXECABORT")
	m.hold(time.Hour)
	require.Equal(t, "+OK", m.do(m.c, "set a 4"))
}

func TestLeaseOfReads(t *testing.T) {
	m := newMember(t, 2, func(c *config.Config) {
		c.MinReplicasToAck, c.MinReplicasAckReads = 1, true
	})
	require.Equal(t, "$-1", m.do(m.c, "get a"))
	require.True(t, m.c.Leased)
	m.hold(0)
	require.Equal(t, "-CLUSTERDOWN The cluster is down", m.do(m.c, "get a"))
}

func TestRoles(t *testing.T) {
	m := newMember(t, 3, nil)
	sh := m.shard().ID
	require.Equal(t, engine.ClusterReport{Role: topology.Master, Shard: sh, Term: 1, Whole: true},
		m.e.ClusterReport())
	id := m.e.ReplID()

	m.apply(topology.Vacate{Shard: sh, Term: 1})
	m.install()
	require.False(t, m.e.LeaseHeld(), "a revoked master confirms nothing")
	held := m.client()
	require.Equal(t, "(postponed)", m.do(held, "set a 1"))
	require.Equal(t, "$-1", m.do(m.c, "get a"))
	m.pass(int(m.e.Cfg.Cluster.FailoverTimeout) + 100)
	require.False(t, held.Postponed())
	require.Equal(t, "-CLUSTERDOWN The cluster is down", m.do(held, "set a 1"))

	m.apply(topology.Promote{Shard: sh, Term: 1, Node: nodeID(1)})
	m.install()
	require.Equal(t, "127.0.0.1", m.e.Master().Host)
	require.Equal(t, 7001, m.e.Master().Port)
	require.Empty(t, m.e.Cfg.ReplicaOf, "the topology says it, not the configuration")
	require.Equal(t, id, m.e.ReplID(), "it may go on where it was")
	require.Contains(t, m.do(m.c, "set a 1"), "MOVED")
	require.Contains(t, m.do(m.c, "replicaof no one"), "not allowed in cluster mode")

	m.apply(topology.Vacate{Shard: sh, Term: 2})
	m.install()
	require.True(t, m.e.IsReplica(), "it goes on until there is another")
	m.apply(topology.Promote{Shard: sh, Term: 2, Node: nodeID(0)})
	m.install()
	require.False(t, m.e.IsReplica())
	id2, _ := m.e.ReplID2()
	require.Equal(t, id, id2)
	require.EqualValues(t, 3, m.e.ClusterReport().Term)
	require.Equal(t, "+OK", m.do(m.c, "set a 1"), "after a turn has read the lease")
}

// TestRevokedInVain gives the shard back to a master that held its clients meanwhile.
func TestRevokedInVain(t *testing.T) {
	m := newMember(t, 2, nil)
	sh := m.shard().ID
	m.apply(topology.Vacate{Shard: sh, Term: 1})
	m.install()
	require.Equal(t, "(postponed)", m.do(m.c, "set a 1"))
	m.apply(topology.Promote{Shard: sh, Term: 1, Node: nodeID(0)})
	m.install()
	m.turn()
	require.False(t, m.c.Postponed())
	require.Equal(t, "+OK", m.do(m.c, "set a 1"))
}

// join makes a replica of a node, up to where its stream begins.
func (m *member) join(i int) *engine.Client {
	c := m.client()
	require.Contains(m, m.say(c, i, m.shard().Term), fmt.Sprintf("+TERM %d ", m.shard().Term))
	require.Equal(m, "+OK", m.do(c, "replconf capa psync2"))
	at := fmt.Sprintf("psync %s %d", m.e.ReplID(), m.e.ReplOffset()+1)
	require.Contains(m, m.do(c, at), "+CONTINUE")
	return c
}

// say returns the answer to what node i says of itself.
func (m *member) say(c *engine.Client, i int, term uint64) string {
	p := engine.Peer{Cluster: m.log.Cluster, Node: nodeID(i), Shard: m.shard().ID, Term: term}
	return m.exec(c, "replconf", "cluster-peer", p.String())
}

func (m *member) exec(c *engine.Client, argv ...string) string {
	var list [][]byte
	for _, a := range argv {
		list = append(list, []byte(a))
	}
	m.e.Exec(c, list)
	return m.replies(c)
}

func (m *member) ack(c *engine.Client) {
	m.do(c, fmt.Sprintf("replconf ack %d", m.e.ReplOffset()))
	m.turn()
	m.e.EndWaits()
}

func TestInSync(t *testing.T) {
	m := newMember(t, 3, func(c *config.Config) {
		c.MinReplicasToAck, c.MinReplicasAckTimeout = 1, 60_000
	})
	require.Equal(t, "(held)", m.do(m.c, "set a 1"))
	one := m.join(1)
	m.ack(one)
	require.Equal(t, "(held)", m.replies(m.c), "the log does not know yet who may be promoted")
	m.pass(100)
	require.Len(t, m.proposed, 1)
	m.settle()
	require.Equal(t, []topology.NodeID{nodeID(1)}, m.shard().InSync)
	require.Equal(t, "+OK", m.replies(m.c))
	require.False(t, m.c.Leased, "a write that all have whom the log lets be promoted is kept")

	two := m.join(2)
	m.ack(two)
	m.pass(100)
	require.Len(t, m.proposed, 1)
	require.Equal(t, "(held)", m.do(m.c, "set a 2"))
	m.ack(one)
	require.Equal(t, "(held)", m.replies(m.c), "two may be in the set by now")
	m.ack(two)
	require.Equal(t, "+OK", m.replies(m.c))
	m.settle()
	require.Len(t, m.shard().InSync, 2)

	require.Equal(t, "(held)", m.do(m.c, "set a 3"))
	m.ack(one)
	m.pass(int(m.e.Cfg.Cluster.NodeTimeout)/2 + 300)
	require.Equal(t, "(held)", m.replies(m.c), "two may be promoted, until the log says otherwise")
	m.settle()
	require.Equal(t, []topology.NodeID{nodeID(1)}, m.shard().InSync)
	require.Equal(t, "+OK", m.replies(m.c))

	m.e.Kill(one) // nobody is left who could replace it
	m.pass(500)
	m.settle()
	require.Equal(t, []topology.NodeID{nodeID(1)}, m.shard().InSync)
	require.Equal(t, "(held)", m.do(m.c, "set a 4"))
	m.ack(two)
	m.pass(300)
	m.settle()
	require.Equal(t, []topology.NodeID{nodeID(2)}, m.shard().InSync)
	require.Equal(t, "+OK", m.replies(m.c))
}

// TestStrays moves slots away from a master that has keys in them. The keys go, unless the slots
// come back or are nobody's.
func TestStrays(t *testing.T) {
	m := newMember(t, 1, nil)
	m.apply(topology.Admit{Node: nodeID(1), Shard: topology.ShardID(nodeID(301)),
		About: topology.About{Address: topology.Address{IP: "127.0.0.1", Port: 7001}}})
	heard := propagationtest.AttachTo(&m.e.Feed, propagation.Replicas)
	gone, stays, free := slot.Of([]byte("{a}")), slot.Of([]byte("{b}")), slot.Of([]byte("{c}"))
	for i := range 100 {
		for _, tag := range []string{"{a}", "{b}", "{c}"} {
			require.Equal(t, "+OK", m.do(m.c, fmt.Sprint("set ", tag, i, " x")))
		}
	}
	slots := func(list ...int) (s slot.Set) {
		for _, i := range list {
			s.Add(i)
		}
		return s
	}
	sh := m.shard().ID
	m.apply(topology.Close{Shard: sh, Term: 1, Slots: slots(gone)})
	m.apply(topology.Move{To: nodeID(1), Slots: slots(gone)})
	m.apply(topology.DelSlots{Node: nodeID(0), Slots: slots(free)})
	m.install()
	for m.e.Slice() {
	}
	db := m.e.KS.DB(0)
	require.Zero(t, db.SlotLen(gone))
	require.Equal(t, 100, db.SlotLen(stays))
	require.Equal(t, 100, db.SlotLen(free))
	require.Len(t, heard.Units(), 400, "each key that has gone is propagated")
	// A key that was imported stays when the import is given up, also once the node leads anew.
	m.apply(topology.AddSlots{Node: nodeID(0), Slots: slots(free)})
	m.apply(topology.SetMark{Node: nodeID(0), Slot: gone, Importing: nodeID(1)})
	m.install()
	m.do(m.c, "asking")
	require.Equal(t, "+OK", m.do(m.c, "set {a}imported x"))
	m.apply(topology.Unmark{Node: nodeID(0), Slot: gone})
	m.apply(topology.Vacate{Shard: sh, Term: m.shard().Term})
	m.install()
	m.apply(topology.Promote{Shard: sh, Term: m.shard().Term, Node: nodeID(0)})
	m.install()
	m.hold(time.Hour)
	for m.e.Slice() {
	}
	require.Equal(t, 1, db.SlotLen(gone))
	m.apply(topology.Close{Shard: topology.ShardID(nodeID(301)), Term: 1, Slots: slots(gone)})
	m.apply(topology.Move{To: nodeID(0), Slots: slots(gone)})
	require.True(t, m.shard().Kept.Empty())
}
