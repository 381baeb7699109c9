package command

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/cluster/topology"
	"godwit/internal/config"
	"godwit/internal/engine"
	"godwit/internal/logging"
	"godwit/internal/resp/client"
	"godwit/internal/slot"
)

// The world of the case files in testdata/cluster is a cluster of six nodes, a to f. Each node's id
// is its letter forty times. a, b and c are masters, d, e and f their replicas, in this order.
//
//	a  0-5460       127.0.0.1:7001@17001   replica d
//	b  5461-10922   127.0.0.1:7002@17002   replica e
//	c  10923-16383  127.0.0.1:7003@17003   replica f

const clusterNodes = "abcdef"

// nodeID returns the id of the node with the letter.
func nodeID(letter string) topology.NodeID { return topology.NodeID(strings.Repeat(letter, 40)) }

// shardOf returns the id of the node's shard: 40 times 1, 2 or 3.
func shardOf(letter string) topology.ShardID {
	n := strings.Index(clusterNodes, letter) % 3
	return topology.ShardID(strings.Repeat(strconv.Itoa(n+1), 40))
}

// slotsOf returns the slots of a master.
func slotsOf(letter string) slot.Range {
	return map[string]slot.Range{"a": {First: 0, Last: 5460}, "b": {First: 5461, Last: 10922},
		"c": {First: 10923, Last: 16383}}[letter]
}

// clusterPort returns the port of a node.
func clusterPort(letter string) int { return 7001 + strings.Index(clusterNodes, letter) }

// clusterLocal is an engine that is one node of the world. The others are only known to its
// topology.
type clusterLocal struct {
	*local
	self  string
	state *topology.State
}

// fakeNode is the runtime of an engine's node, for tests.
type fakeNode struct {
	engine.ClusterNode
	self    string
	deaf    bool
	sent    []string
	propose func(op topology.Op, done func(refusal string))
}

func (f *fakeNode) Propose(op topology.Op, done func(refusal string)) { f.propose(op, done) }

func (f *fakeNode) Lease() int64 { return 1 << 62 }
func (f *fakeNode) Boot() uint64 { return 0 }
func (f *fakeNode) Hears() bool  { return !f.deaf }
func (f *fakeNode) Broadcast(kind engine.MessageKind, channel, message []byte) {
	f.sent = append(f.sent, fmt.Sprint(kind, " ", string(channel), " ", string(message)))
}

func (f *fakeNode) Facts() engine.ClusterFacts {
	var facts engine.ClusterFacts
	for _, l := range strings.Replace(clusterNodes, f.self, "", 1) {
		for _, to := range []bool{true, false} {
			facts.Links = append(facts.Links, engine.LinkFacts{To: to, Node: nodeID(string(l)),
				Created: 1, Readable: true})
		}
	}
	return facts
}

// newClusterLocal returns an engine that is the node with the letter.
func newClusterLocal(t *testing.T, self string) *clusterLocal {
	t.Helper()
	cfg := config.Default()
	cfg.Cluster.Enabled = true
	e := engine.New(cfg, Table(), engine.Options{Log: logging.Discard(), Seed: 1})
	node := &fakeNode{self: self}
	e.Cluster = node
	e.Enter()
	defer e.Leave()
	l := &clusterLocal{local: &local{e, e.NewClient(nil)}, self: self, state: &topology.State{}}
	node.propose = l.propose
	about := func(letter string) topology.About {
		port := clusterPort(letter)
		return topology.About{Address: topology.Address{IP: "127.0.0.1", Port: port,
			BusPort: port + 10000}}
	}
	l.apply(t, topology.Init{Cluster: strings.Repeat("0", 40), Node: nodeID("a"),
		Shard: shardOf("a"), About: about("a"), Epoch: 1})
	for i := 1; i < len(clusterNodes); i++ {
		letter, shard := clusterNodes[i:i+1], topology.ShardID(strings.Repeat(fmt.Sprint(i+1), 40))
		l.apply(t, topology.Admit{Node: nodeID(letter), Shard: shard, About: about(letter),
			Epoch: uint64(i + 1)})
	}
	for i, letter := range []string{"a", "b", "c"} {
		l.apply(t, topology.AddSlots{Node: nodeID(letter), Slots: slot.SetOf(slotsOf(letter))})
		l.apply(t, topology.Replicate{Node: nodeID(clusterNodes[i+3 : i+4]),
			Master: nodeID(letter)})
	}
	l.install()
	return l
}

// apply applies actions to the state.
func (l *clusterLocal) apply(t testing.TB, actions ...topology.Action) {
	t.Helper()
	for _, a := range actions {
		require.Empty(t, l.state.Apply(l.state.Index+1, topology.Op{Do: a}))
	}
}

// install hands the state to the engine.
func (l *clusterLocal) install() { l.e.InstallTopology(l.state.Clone(), nodeID(l.self)) }

// change carries out a line "topology …" of a case file, in the words of CLUSTER SETSLOT and its
// kin: what the node itself is told, or for "move" all nodes.
func (l *clusterLocal) change(t testing.TB, words []string) {
	t.Helper()
	l.e.Enter()
	defer l.e.Leave()
	switch words[0] {
	case "migrations":
		l.migrations(t, words[1])
		l.install()
		return
	case "announce":
		l.announce(t, words[1], words[2], strings.Join(words[3:], ""))
		l.install()
		return
	}
	n, err := strconv.Atoi(words[1])
	require.NoError(t, err)
	self, one := nodeID(l.self), slot.SetOf(slot.Range{First: n, Last: n})
	var other topology.NodeID
	if len(words) > 2 {
		other = nodeID(words[2])
	}
	switch words[0] {
	case "move":
		op := topology.Op{Do: topology.Move{Slots: one, To: other}}
		for _, before := range l.state.Before(op) {
			l.apply(t, before.Do)
		}
		l.apply(t, op.Do)
	case "migrating":
		l.apply(t, topology.SetMark{Node: self, Slot: n, Migrating: other})
	case "importing":
		l.apply(t, topology.SetMark{Node: self, Slot: n, Importing: other})
	case "stable":
		l.apply(t, topology.Unmark{Node: self, Slot: n})
	case "delslots":
		l.apply(t, topology.DelSlots{Node: self, Slots: one})
	case "addslots":
		l.apply(t, topology.AddSlots{Node: self, Slots: one})
	}
	l.install()
}

// announce makes a node tell something else of itself.
func (l *clusterLocal) announce(t testing.TB, letter, directive, value string) {
	t.Helper()
	about := l.state.Nodes[nodeID(letter)].About
	n, _ := strconv.Atoi(value)
	switch directive {
	case "cluster-announce-ip":
		about.IP = value
	case "cluster-announce-hostname":
		about.Hostname = value
	case "cluster-announce-port":
		about.Port = n
	case "cluster-announce-bus-port":
		about.BusPort = n
	case "cluster-replica-no-failover":
		about.NoFailover = value == "yes"
	}
	l.apply(t, topology.Tell{Node: nodeID(letter), About: about})
}

// do implements server.
func (l *clusterLocal) do(t testing.TB, argv [][]byte) client.Value {
	t.Helper()
	l.tick()
	return steady(l.local.do(t, argv), nil)
}

// open implements server.
func (l *clusterLocal) open(t testing.TB) talker { return steadyTalker{l.local.open(t), nil} }

// tick makes the engine notice what CONFIG SET has changed.
func (l *clusterLocal) tick() {
	l.e.Enter()
	defer l.e.Leave()
	l.e.Cron()
}

// steady replaces what differs between two clusters by the same: ports, times, counts of messages,
// the order of lines.
func steady(v client.Value, ports map[int]int) client.Value {
	if to, ok := ports[int(v.Int)]; ok && v.Kind == client.Int {
		v.Int = int64(to)
	}
	v.Str = steadyText(v.Str, ports)
	v.Elems = slices.Clone(v.Elems)
	for i := range v.Elems {
		v.Elems[i] = steady(v.Elems[i], ports)
		if i > 0 && slices.Contains(changing, v.Elems[i-1].Str) {
			v.Elems[i].Int = 0
		}
		if i > 0 {
			v.Elems[i].Str = steadyMigration(v.Elems[i-1].Str, v.Elems[i].Str)
		}
		if v.Elems[i].Str == "loading" { // the master of a local replica is not there
			v.Elems[i].Str = "online"
		}
	}
	return v
}

// changing are names in maps whose values are no one's business.
var changing = []string{"create-time", "send-buffer-allocated", "send-buffer-used", "id",
	"replication-offset", "create_time", "last_update_time", "last_ack_time", "remaining_repl_size"}

var (
	nodeTimes    = regexp.MustCompile(`(?m)^(\w{40} \S+ \S+ \S+) \d+ \d+ `)
	countedStats = regexp.MustCompile(`cluster_stats_messages_\w+:\d+\r\n`)
)

func steadyText(s string, ports map[int]int) string {
	for _, from := range slices.Sorted(maps.Keys(ports)) {
		for _, mark := range []string{":", "@"} {
			s = strings.ReplaceAll(s, mark+strconv.Itoa(from), mark+strconv.Itoa(ports[from]))
		}
	}
	s = countedStats.ReplaceAllString(s, "")
	if nodeTimes.MatchString(s) {
		lines := strings.SplitAfter(nodeTimes.ReplaceAllString(s, "$1 0 0 "), "\n")
		slices.Sort(lines)
		s = strings.Join(lines, "")
	}
	return s
}
