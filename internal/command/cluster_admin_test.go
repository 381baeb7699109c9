package command

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/cluster/topology"
	"godwit/internal/config"
	"godwit/internal/engine"
	"godwit/internal/logging"
	"godwit/internal/object"
	"godwit/internal/propagation/propagationtest"
	"godwit/internal/resp/client"
	"godwit/internal/slot"
	"godwit/internal/testserver"
)

// clustered is an engine whose cluster the test plays. Entries wait until settle applies them.
type clustered struct {
	local
	engine.ClusterNode
	log     *topology.State
	self    topology.NodeID
	pending []func()
	met     []string
	resets  []bool
	deaf    bool
}

func (m *clustered) Propose(op topology.Op, done func(string)) {
	m.pending = append(m.pending, func() {
		m.log = m.log.Clone()
		for _, before := range m.log.Before(op) {
			m.log.Apply(m.log.Index+1, before)
		}
		op.By = m.self
		refusal := m.log.Apply(m.log.Index+1, op)
		m.e.InstallTopology(m.log, m.self)
		done(refusal)
	})
}

func (m *clustered) Meet(host string, port, bus int, done func(string)) {
	m.met = append(m.met, fmt.Sprint(host, " ", port, " ", bus))
	done("")
}

func (m *clustered) Reset(hard bool, done func(string)) {
	m.resets = append(m.resets, hard)
	m.alone(199, false)
	done("")
}

// alone makes the node that of a cluster of its own.
func (m *clustered) alone(shard int, replica bool) {
	m.log = &topology.State{}
	m.log.Apply(1, topology.Op{Do: topology.Init{Cluster: nodeName(99), Node: m.self,
		Shard: topology.ShardID(nodeName(shard)), Copy: replica}})
	m.e.InstallTopology(m.log, m.self)
}

func (m *clustered) Boot() uint64 { return 0 }
func (m *clustered) Hears() bool  { return !m.deaf }

func (m *clustered) Lease() int64 { return math.MaxInt64 }

func nodeName(i int) string { return fmt.Sprintf("%040x", i) }

// newClustered returns node 0 of a cluster of so many masters.
func newClustered(t testing.TB, nodes int) *clustered {
	t.Helper()
	cfg := config.Default()
	cfg.Cluster.Enabled = true
	m := &clustered{log: &topology.State{}, self: topology.NodeID(nodeName(0))}
	m.e = engine.New(cfg, Table(), engine.Options{Log: logging.Discard(), Seed: 1})
	m.e.Cluster = m
	m.e.LinkMaster = func(*engine.LinkAttempt) {}
	m.e.Enter()
	m.c = m.e.NewClient(nil)
	m.e.Leave()
	about := topology.About{Address: topology.Address{IP: "127.0.0.1", Port: 7000}}
	m.Propose(topology.Op{Do: topology.Init{Cluster: nodeName(9), Node: m.self,
		Shard: topology.ShardID(nodeName(100)), About: about}}, func(string) {})
	for i := 1; i < nodes; i++ {
		m.Propose(topology.Op{Do: topology.Admit{Node: topology.NodeID(nodeName(i)),
			Shard: topology.ShardID(nodeName(100 + i)), About: about}}, func(string) {})
	}
	m.settle()
	return m
}

// settle applies what was proposed.
func (m *clustered) settle() {
	m.e.Enter()
	defer m.e.Leave()
	for len(m.pending) > 0 {
		next := m.pending[0]
		m.pending = m.pending[1:]
		next()
	}
}

// run runs a command, lets the cluster agree, and returns the reply.
func (m *clustered) run(t testing.TB, line string) string {
	t.Helper()
	m.exec(argvOf(strings.Fields(line)...))
	require.Equal(t, m.c.Waits(), len(m.c.W.Buf) == 0, line)
	m.settle()
	v, rest, err := client.Parse(m.c.W.Buf)
	require.NoError(t, err, line)
	require.Empty(t, rest, line)
	return strings.Join(cliLines(v, 0), "\n")
}

// aloneCases are commands to a node that is alone. ME is its id, NO one that is nobody's.
const aloneCases = `
meet 127.0.0.1
meet 127.0.0.1 x
meet 127.0.0.1 0
meet 127.0.0.1 70000
meet nohost 7000
meet 127.0.0.1 60000
meet 127.0.0.1 x y
meet 127.0.0.1 7000 x
meet 127.0.0.1 7000 0
meet 127.0.0.1 7000 70000
meet 127.0.0.1 7000 -1
meet 127.0.0.1 7000 1 2
addslots
addslots x
addslots -1
addslots 16384
addslots 1 1
addslots 1 2
addslots 2 3
addslots 3 x 2
addslots 9 2 1
addslots 2 2
addslots 10 10 2
addslotsrange 1
addslotsrange 1 2 3
addslotsrange 10 9
addslotsrange 1 x
addslotsrange 5 6 6 7
addslotsrange 5 6 9 20000
addslotsrange 2 3 9 20000
addslotsrange 0 10
addslotsrange 20 21 30 40
delslots
delslots 7
delslots 1 1
delslots 2 7 6
delslots x
delslotsrange 5
delslotsrange 5 4
delslotsrange 5 6
delslotsrange 3 2 x 1
delslotsrange 1 1 1 1
delslotsrange 20 20 35 40
flushslots x
setslot
setslot 1
setslot 1 stable
setslot 1 STABLE
setslot x stable
setslot 70000 node
setslot 1 foo
setslot 1 node
setslot 1 node xx
setslot 1 node NO
setslot 1 migrating xx
setslot 9 migrating xx
setslot 1 importing xx
setslot 9 importing xx
setslot 1 migrating NO
setslot 9 migrating NO
setslot 9 importing NO
setslot 1 stable x
setslot 1 node ME
setslot 9 node ME
addslots 9
setslot 1 node ME x y z
setslot 1 migrating NO x
replicate
replicate xx
replicate ME
replicate NO
replicate no two
replicate ME x
forget
forget xx
forget ME
forget NO
forget ME x
set-config-epoch
set-config-epoch x
set-config-epoch -1
set-config-epoch 99999999999999999999
set-config-epoch 5
set-config-epoch 6
bumpepoch
bumpepoch x
saveconfig
saveconfig x
count-failure-reports
count-failure-reports xx
count-failure-reports ME
failover
failover x
failover force
failover takeover
failover force x
reset foo
reset hard soft
flushslots
addslots 1
`

// TestClusterAlone compares replies of a node that is alone with those of Redis 8.
func TestClusterAlone(t *testing.T) {
	p := testserver.Redis
	redis := dialServer(t, p.Start(t, "", "--cluster-enabled", "yes"))
	ours := newClustered(t, 1)
	id := redis.do(t, argvOf("CLUSTER", "MYID")).Str
	for _, line := range strings.Split(strings.TrimSpace(aloneCases), "\n") {
		line = "CLUSTER " + strings.ReplaceAll(line, "NO", strings.Repeat("0a", 20))
		theirs := strings.ReplaceAll(line, "ME", id)
		want := strings.Join(cliLines(redis.do(t, argvOf(strings.Fields(theirs)...)), 0), "\n")
		got := ours.run(t, strings.ReplaceAll(line, "ME", string(ours.self)))
		if want = strings.ReplaceAll(want, id, string(ours.self)); got != want {
			p.TB(t).Errorf("%s:\n got %s\nwant %s", line, got, want)
		}
	}
}

// TestClusterTogether runs commands that need other nodes, some of which Redis does not have.
func TestClusterTogether(t *testing.T) {
	m := newClustered(t, 3)
	other, third := nodeName(1), nodeName(2)
	for _, c := range [][2]string{
		{"meet ::1 7000", "OK"},
		{"meet 127.0.0.1 7000 9", "OK"},
		{"set-config-epoch 3", "(error) ERR The user can assign a config epoch only when the node" +
			" does not know any other node."},
		{"addslotsrange 0 99", "OK"},
		{"setslot 5 node " + other, "OK"},
		{"setslot 5 node " + other, "OK"},
		{"setslot 5 importing " + other + " timeout 1000", "OK"},
		{"setslot 5 node " + nodeName(0) + " TIMEOUT 1000", "OK"},
		{"setslot 6 stable timeout", "(error) ERR Missing timeout value"},
		{"setslot 6 stable timeout -1", "(error) ERR timeout is negative"},
		{"bumpepoch", "STILL 2"},
		{"delvoter " + other, "OK"},
		{"addvoter " + other, "OK"},
		{"addvoter 7", "(error) ERR Unknown node 7"},
		{"count-failure-reports " + other, "(integer) 0"},
		{"follow h 0 slotsrange 1 2", "(error) ERR Invalid master port"},
		{"follow h 1", "(error) ERR syntax error"},
		{"follow h 1 tls", "(error) ERR syntax error"},
		{"follow h 1 slotsrange tls", "(error) ERR syntax error"},
		{"follow h 1 slotsrange 1 2 3", "(error) ERR syntax error"},
		{"follow h 1 slotsrange 1 2 auth2 x", "(error) ERR syntax error"},
		{"follow h 1 slotsrange 1 99999", "(error) ERR Invalid or out of range slot"},
		{"follow h 1 slotsrange 1 2 auth2 u p tls", "(error) ERR To follow a master of another" +
			" cluster the node must be empty and without assigned slots."},
		{"follow no one", "(error) ERR This node follows no other cluster"},
		{"replicate " + other, "(error) ERR To set a master the node must be empty and without" +
			" assigned slots."},
		{"replicate no one", "OK"},
		{"forget " + third, "OK"},
		{"forget " + third, "OK"},
		{"flushslots", "OK"},
		{"replicate " + other, "OK"},
		{"flushslots", "OK"},
		{"setslot x stable", "(error) ERR Please use SETSLOT only with masters."},
		{"forget " + other, "(error) ERR Can't forget my master!"},
		{"replicate no one", "OK"},
		{"reset hard", "OK"},
	} {
		require.Equal(t, c[1], m.run(t, "CLUSTER "+c[0]), c[0])
	}
	require.Equal(t, []string{"::1 7000 17000", "127.0.0.1 7000 9"}, m.met)
	require.Equal(t, []bool{true}, m.resets)
}

// TestSetSlotAgain tells nodes what they know already, as tools do. That is no entry of the log,
// unless the slot is marked or the node hears of no majority.
func TestSetSlotAgain(t *testing.T) {
	m := newClustered(t, 2)
	require.Equal(t, "OK", m.run(t, "CLUSTER ADDSLOTSRANGE 0 16383"))
	give := "CLUSTER SETSLOT 5 NODE " + nodeName(1)
	require.Equal(t, "OK", m.run(t, give))
	index := m.log.Index
	require.Equal(t, "OK", m.run(t, give))
	require.Equal(t, index, m.log.Index)
	require.Equal(t, "OK", m.run(t, "CLUSTER SETSLOT 5 IMPORTING "+nodeName(1)))
	require.Equal(t, "OK", m.run(t, give))
	require.Empty(t, m.log.Marks)
	require.Equal(t, index+2, m.log.Index)
	sh := m.log.ShardOf(topology.NodeID(nodeName(1)))
	m.log = m.log.Clone()
	require.Empty(t, m.log.Apply(m.log.Index+1, topology.Op{Do: topology.Close{Shard: sh.ID,
		Term: sh.Term, Slots: slot.SetOf(slot.Range{First: 5, Last: 5})}}))
	m.e.InstallTopology(m.log, m.self)
	m.run(t, give)
	require.Equal(t, index+4, m.log.Index, "it is about to move on")
	index++
	m.deaf = true
	require.NotContains(t, m.run(t, give), "UNBLOCKED")
	require.Equal(t, index+4, m.log.Index)
}

// TestDelSlotsOfOthers wants slots of a master that is there left alone. Those of one that is lost
// may be given to others.
func TestDelSlotsOfOthers(t *testing.T) {
	m := newClustered(t, 2)
	require.Equal(t, "OK", m.run(t, "CLUSTER ADDSLOTSRANGE 0 16383"))
	require.Equal(t, "OK", m.run(t, "CLUSTER SETSLOT 5 NODE "+nodeName(1)))
	require.Equal(t, "OK", m.run(t, "CLUSTER DELSLOTS 5"))
	require.Equal(t, topology.NodeID(nodeName(1)), m.e.SlotOwner(5).Master)
	m.Propose(topology.Op{Do: topology.SetFailed{Node: topology.NodeID(nodeName(1)),
		Failed: true}}, func(string) {})
	m.settle()
	require.Contains(t, m.run(t, "CLUSTER FORGET "+nodeName(1)), "CLUSTER DELSLOTSRANGE")
	require.Equal(t, "OK", m.run(t, "CLUSTER DELSLOTS 5"))
	require.Equal(t, "OK", m.run(t, "CLUSTER ADDSLOTS 5"))
	require.Equal(t, "OK", m.run(t, "CLUSTER FORGET "+nodeName(1)))
}

// TestSetSlotChecksKeys gives a slot away while a key comes to it.
func TestSetSlotChecksKeys(t *testing.T) {
	m := newClustered(t, 2)
	require.Equal(t, "OK", m.run(t, "CLUSTER ADDSLOTSRANGE 0 16383"))
	give := "CLUSTER SETSLOT 12182 NODE " + nodeName(1) // of foo
	m.exec(argvOf(strings.Fields(give)...))
	require.True(t, m.c.Waits())
	m.e.Enter()
	m.e.KS.DB(0).Set([]byte("foo"), object.RawValue([]byte("1")), 0)
	m.e.Leave()
	m.settle()
	const refusal = "-ERR Can't assign hashslot 12182 to a different node while I still hold keys" +
		" for this hash slot.\r\n"
	require.Equal(t, refusal, string(m.c.W.Buf))
	sh := m.log.ShardOf(m.self)
	require.True(t, sh.Slots.Has(12182))
	require.True(t, sh.Closing.Empty())
	require.Equal(t, "(error) "+refusal[1:len(refusal)-2], m.run(t, give))
}

// TestSetSlotLags gives a slot away that has moved, which this node does not know yet: redis-cli
// tells the new owner first.
func TestSetSlotLags(t *testing.T) {
	m := newClustered(t, 2)
	require.Equal(t, "OK", m.run(t, "CLUSTER ADDSLOTSRANGE 0 16383"))
	move := topology.Op{Do: topology.Move{Slots: slot.SetOf(slot.Range{First: 5, Last: 5}),
		To: topology.NodeID(nodeName(1))}}
	m.log = m.log.Clone()
	for _, op := range append(m.log.Before(move), move) {
		require.Empty(t, m.log.Apply(m.log.Index+1, op))
	}
	require.Equal(t, "OK", m.run(t, "CLUSTER SETSLOT 5 NODE "+nodeName(1)))
}

// TestClusterLeavesData lets a replica leave its shard, without the keys, and tells the log so.
func TestClusterLeavesData(t *testing.T) {
	for _, leave := range []string{"REPLICATE NO ONE", "RESET"} {
		m := newClustered(t, 2)
		require.Equal(t, "OK", m.run(t, "CLUSTER REPLICATE "+nodeName(1)))
		m.e.Enter()
		m.e.KS.DB(0).Set([]byte("foo"), object.RawValue([]byte("1")), 0)
		log := propagationtest.Attach(&m.e.Feed)
		m.e.Leave()
		require.Equal(t, "OK", m.run(t, "CLUSTER "+leave))
		require.Equal(t, "(integer) 0", m.run(t, "DBSIZE"))
		require.Equal(t, []string{"0 FLUSHALL"}, log.Units())
	}
}

// TestClusterResetRemoved has a node reset itself that was removed from its cluster. Its keys go if
// they are a copy, and else it refuses.
func TestClusterResetRemoved(t *testing.T) {
	for _, replica := range []bool{true, false} {
		m := newClustered(t, 2)
		if replica {
			require.Equal(t, "OK", m.run(t, "CLUSTER REPLICATE "+nodeName(1)))
		}
		m.e.Enter()
		m.e.KS.DB(0).Set([]byte("foo"), object.RawValue([]byte("1")), 0)
		m.alone(150, replica)
		m.e.Leave()
		require.Equal(t, "(integer) 1", m.run(t, "DBSIZE"))
		want, keys := "OK", "(integer) 0"
		if !replica {
			want = "(error) ERR CLUSTER RESET can't be called with master nodes containing keys"
			keys = "(integer) 1"
		}
		require.Equal(t, want, m.run(t, "CLUSTER RESET SOFT"))
		require.Equal(t, keys, m.run(t, "DBSIZE"))
	}
}

// TestClusterResetGone has a replica reset itself between hearing that it was removed and being
// alone.
func TestClusterResetGone(t *testing.T) {
	m := newClustered(t, 2)
	require.Equal(t, "OK", m.run(t, "CLUSTER REPLICATE "+nodeName(1)))
	m.e.Enter()
	m.e.KS.DB(0).Set([]byte("foo"), object.RawValue([]byte("1")), 0)
	m.e.Leave()
	m.Propose(topology.Op{Do: topology.Leave{Node: m.self}}, func(string) {})
	m.settle()
	require.Nil(t, m.e.Self())
	require.Equal(t, "OK", m.run(t, "CLUSTER RESET SOFT"))
	require.Equal(t, "(integer) 0", m.run(t, "DBSIZE"))
}

// TestClusterTransaction runs commands that wait in MULTI, as redis-cli's fix does.
func TestClusterTransaction(t *testing.T) {
	m := newClustered(t, 1)
	multi := func(lines ...string) string {
		require.Equal(t, "OK", m.run(t, "MULTI"))
		for _, line := range lines {
			require.Equal(t, "QUEUED", m.run(t, line))
		}
		return m.run(t, "EXEC")
	}
	require.Equal(t, "1) (error) ERR Slot 5 is already unassigned\n2) OK\n3) OK\n4) BUMPED 1",
		multi("CLUSTER DELSLOTS 5", "CLUSTER ADDSLOTS 5", "CLUSTER SETSLOT 5 STABLE",
			"CLUSTER BUMPEPOCH"))
	require.False(t, m.c.InMulti())
	require.Contains(t, multi("CLUSTER ADDSLOTS 6", "DBSIZE"), "cannot be in one transaction")
	require.Equal(t, "1) (error) ERR Unknown node x", multi("CLUSTER FORGET x"))
	require.Contains(t, m.run(t, "EVAL return(redis.call('CLUSTER','BUMPEPOCH')) 0"),
		"which is not possible in a script")

	require.Equal(t, "OK", m.run(t, "MULTI"))
	require.Equal(t, "QUEUED", m.run(t, "CLUSTER ADDSLOTS 7"))
	m.exec(argvOf("EXEC"))
	require.True(t, m.c.Waits())
	m.e.Enter()
	require.True(t, m.e.Unblock(m.c.ID, true))
	m.e.Leave()
	require.Equal(t, "-UNBLOCKED client unblocked via CLIENT UNBLOCK\r\n", string(m.c.W.Buf))
	require.False(t, m.c.InMulti())
	m.settle() // the answer comes too late
	require.Equal(t, "PONG", m.run(t, "PING"))

	require.Equal(t, "OK", m.run(t, "MULTI"))
	require.Equal(t, "QUEUED", m.run(t, "CLUSTER ADDSLOTS 8"))
	require.Equal(t, "QUEUED", m.run(t, "CLUSTER ADDSLOTS 9"))
	m.exec(argvOf("EXEC"))
	m.e.Enter()
	m.e.Forget(m.c)
	m.c = m.e.NewClient(nil)
	m.e.Leave()
	m.settle()
	require.True(t, m.log.ShardOf(m.self).Slots.Has(8))
	require.False(t, m.log.ShardOf(m.self).Slots.Has(9))
	require.Equal(t, "PONG", m.run(t, "PING"))
}
