package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/cluster/topology"
	"godwit/internal/config"
	"godwit/internal/engine"
	"godwit/internal/slot"
)

// told returns the messages that a subscriber of all channels has had, as "channel message".
func (m *member) told(c *engine.Client) (list []string) {
	m.Helper()
	lines := strings.Split(m.replies(c), "\r\n")
	for i := 0; i+8 < len(lines); i += 9 {
		require.Equal(m, "pmessage", lines[i+2])
		list = append(list, lines[i+6]+" "+lines[i+8])
	}
	return list
}

// listener returns a client that has subscribed to all channels.
func (m *member) listener() *engine.Client {
	m.Helper()
	c := m.client()
	require.Contains(m, m.do(c, "psubscribe *"), "psubscribe")
	return c
}

// promote makes a node the master of the only shard.
func (m *member) promote(id topology.NodeID) {
	m.Helper()
	sh := m.shard()
	m.apply(topology.Vacate{Shard: sh.ID, Term: sh.Term})
	m.install()
	m.apply(topology.Promote{Shard: sh.ID, Term: m.shard().Term, Node: id})
	m.install()
	m.takeUp()
	m.install()
}

// TestSentinelMessages has a master fail and come back. Messages are those of a Sentinel of Redis
// 8.0.6 in the same case, but for what Sentinels tell of their own elections. In a cluster each
// node is a Sentinel too.
func TestSentinelMessages(t *testing.T) {
	m := newMember(t, 3, nil)
	m.self = nodeID(1)
	m.install()
	m.voters = []topology.NodeID{nodeID(0), nodeID(1), nodeID(2)}
	c := m.listener()
	id := string(nodeID(0))
	sentinel := "sentinel " + id + " 127.0.0.1 7000 @ mymaster 127.0.0.1 "

	m.apply(topology.SetFailed{Node: nodeID(0), Failed: true})
	m.install()
	require.Equal(t, []string{
		"+sdown master mymaster 127.0.0.1 7000",
		"+odown master mymaster 127.0.0.1 7000 #quorum 2/2",
		"+sdown " + sentinel + "7000",
	}, m.told(c))
	require.Contains(t, m.do(m.c, "sentinel master mymaster"), "s_down,o_down,master,disconnected")

	m.promote(nodeID(2))
	require.Equal(t, []string{
		"+switch-master mymaster 127.0.0.1 7000 127.0.0.1 7002",
		"+slave slave 127.0.0.1:7000 127.0.0.1 7000 @ mymaster 127.0.0.1 7002",
		"+sdown slave 127.0.0.1:7000 127.0.0.1 7000 @ mymaster 127.0.0.1 7002",
		"+slave slave 127.0.0.1:7001 127.0.0.1 7001 @ mymaster 127.0.0.1 7002",
	}, m.told(c))
	require.Equal(t, "*2\r\n$9\r\n127.0.0.1\r\n$4\r\n7002",
		m.do(m.c, "sentinel get-master-addr-by-name mymaster"))

	m.apply(topology.SetFailed{Node: nodeID(0)})
	m.install()
	require.Equal(t, []string{
		"-sdown slave 127.0.0.1:7000 127.0.0.1 7000 @ mymaster 127.0.0.1 7002",
		"-sdown " + sentinel + "7002",
	}, m.told(c))
	m.install()
	require.Empty(t, m.told(c))
}

// TestSentinelNames moves slots to a second shard and then the rest: names are those of shards
// while there are two, and the only one has the plain name again, elsewhere.
func TestSentinelNames(t *testing.T) {
	m := newMember(t, 1, nil)
	name := func() string { return m.do(m.c, "sentinel get-master-addr-by-name mymaster") }
	at := func(port string) string { return "*2\r\n$9\r\n127.0.0.1\r\n$4\r\n" + port }
	other := topology.ShardID(nodeID(301))
	c := m.listener()
	m.apply(topology.Admit{Node: nodeID(1), Shard: other,
		About: topology.About{Address: topology.Address{IP: "127.0.0.1", Port: 7001}}})
	m.install()
	require.Equal(t, at("7000"), name(), "a shard without slots is nobody's master")
	require.Len(t, m.told(c), 1)

	move := func(r slot.Range) {
		t.Helper()
		op := topology.Op{Do: topology.Move{Slots: slot.SetOf(r), To: nodeID(1)}}
		for _, before := range m.log.Before(op) {
			m.apply(before.Do)
		}
		m.apply(op.Do)
		m.install()
	}
	move(slot.Range{First: 0, Last: 99})
	require.Equal(t, "*-1", name())
	require.Equal(t, at("7001"), m.do(m.c, "sentinel get-master-addr-by-name mymaster-"+
		string(other)))
	require.Equal(t, 2, strings.Count(m.do(m.c, "sentinel masters"), "num-slaves"))
	require.Empty(t, m.told(c))

	move(slot.Range{First: 100, Last: slot.Count - 1})
	require.Equal(t, at("7001"), name())
	require.Equal(t, []string{"+switch-master mymaster 127.0.0.1 7000 127.0.0.1 7001"}, m.told(c))
}

// TestSentinelAlone is asked while it hears of no majority: clients are to ask another node.
func TestSentinelAlone(t *testing.T) {
	m := newMember(t, 3, nil)
	m.voters = []topology.NodeID{nodeID(0), nodeID(1), nodeID(2)}
	m.deaf = true
	m.e.Cron()
	require.Contains(t, m.do(m.c, "sentinel get-master-addr-by-name mymaster"), "-IDONTKNOW ")
	require.Contains(t, m.do(m.c, "sentinel masters"), "\r\ns_down,master\r\n")
	require.Contains(t, m.do(m.c, "sentinel sentinels mymaster"),
		"\r\ns_down,sentinel,disconnected\r\n")
	require.Contains(t, m.do(m.c, "sentinel ckquorum mymaster"), "-NOQUORUM 1 usable Sentinels")
}

// TestSentinelClients is a node that is a replica, becomes the master and is a replica again, while
// clients follow no redirections.
func TestSentinelClients(t *testing.T) {
	m := newMember(t, 3, func(c *config.Config) { c.Cluster.SentinelClients = true })
	m.self = nodeID(1)
	m.install()
	const readOnly = "-READONLY You can't write against a read only replica."
	replies := func(get, set string) {
		t.Helper()
		require.Equal(t, get, m.do(m.c, "get a"))
		require.Contains(t, m.do(m.c, "set a 1"), set)
		require.Contains(t, m.do(m.c, "eval return{redis.call('set',KEYS[1],'1')} 1 a"), set[1:])
	}
	replies("$-1", readOnly)
	m.e.Cfg.ReplicaReadOnly = false
	replies("$-1", readOnly)
	m.e.Cfg.ReplicaReadOnly = true

	m.promote(nodeID(1))
	m.hold(time.Hour)
	require.Equal(t, "+OK", m.do(m.c, "set a 1"))
	waits, listens := m.client(), m.listener()
	require.Empty(t, m.do(waits, "blpop l 0"))
	m.promote(nodeID(2))
	require.Equal(t, 1, m.c.Conn.(*quietConn).closed)
	require.Equal(t, 1, waits.Conn.(*quietConn).closed)
	require.Zero(t, listens.Conn.(*quietConn).closed)
	require.Contains(t, m.told(listens), "+switch-master mymaster 127.0.0.1 7001 127.0.0.1 7002")
	m.c = m.client()
	replies("$1\r\n1", readOnly)

	m.e.Cfg.Cluster.SentinelClients = false
	require.Contains(t, m.do(m.c, "get a"), "-MOVED 15495 127.0.0.1:7002")
}

// TestSentinelForgets has shards come and go. Their names go with them.
func TestSentinelForgets(t *testing.T) {
	m := newMember(t, 1, nil)
	shard := topology.ShardID(nodeID(301))
	m.other(77)
	require.ElementsMatch(t, []string{"mymaster", "mymaster-" + string(m.shard().ID),
		"mymaster-" + string(shard)}, m.e.SentinelNames())
	m.change(topology.DelSlots{Node: nodeID(1), Slots: slotSet(77)},
		topology.Forget{Node: nodeID(1)})
	require.NotContains(t, m.e.SentinelNames(), "mymaster-"+string(shard))
	require.Contains(t, m.e.SentinelNames(), "mymaster")
}
