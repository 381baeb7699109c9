package cluster

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
	"godwit/internal/testserver"
)

// TestShapes compares what nodes say of a cluster with what Redis 8 says of one that is made alike.
// Names, order and types must be the same, and what both know must be equal: only identifiers,
// ports, epochs, times and counts are each cluster's own. No slots move meanwhile.
func TestShapes(t *testing.T) {
	inTurn(t, func(t *testing.T, k testserver.Kind) {
		if k == testserver.Redis8 {
			t.Skip("Redis 8 is what the others are compared with")
		}
		testserver.Redis8.Program(t)
		want, got := common(t, testserver.Redis8), common(t, k)
		for _, i := range []int{0, 5} { // a master and a replica
			for name, shape := range shapes {
				require.Equal(t, shape(t, want, i), shape(t, got, i), "%s of node %d", name, i)
			}
		}
	})
}

// shapes are what is compared, of the i-th node of a cluster.
var shapes = map[string]func(t *testing.T, c *testserver.Cluster, i int) []string{
	"nodes": shapeOfNodes, "slots": shapeOfSlots, "shards": shapeOfShards, "info": shapeOfInfo,
	"links": shapeOfLinks, "small": shapeOfSmall, "lines of INFO": shapeOfLines,
}

// replace puts words for what is each cluster's own.
func replace(c *testserver.Cluster, text string) string {
	var pairs []string
	for i, n := range c.Nodes {
		pairs = append(pairs, n.ID, fmt.Sprintf("id%d", i), fmt.Sprintf("@%d", n.Port+10000),
			fmt.Sprintf("@bus%d", i), fmt.Sprint(n.Port), fmt.Sprintf("port%d", i))
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// ask sends a command to the i-th node.
func ask(t *testing.T, c *testserver.Cluster, i int, args ...any) client.Value {
	t.Helper()
	v, err := c.Nodes[i].Do(args...)
	require.NoError(t, err)
	require.False(t, v.IsError(), "%v: %s", args, v)
	return v
}

// times are the words of CLUSTER NODES for when a ping was sent and a pong came, and the epoch.
var times = regexp.MustCompile(`(?m)( \S+) \d+ \d+ \d+ (connected|disconnected)`)

func shapeOfNodes(t *testing.T, c *testserver.Cluster, i int) []string {
	text := times.ReplaceAllString(ask(t, c, i, "CLUSTER", "NODES").Text(), "$1 n n n $2")
	lines := strings.Split(replace(c, text), "\n")
	slices.Sort(lines)
	return lines
}

func shapeOfSlots(t *testing.T, c *testserver.Cluster, i int) (lines []string) {
	for _, r := range ask(t, c, i, "CLUSTER", "SLOTS").Elems {
		lines = append(lines, replace(c, r.String()))
	}
	slices.Sort(lines)
	return lines
}

var offset = regexp.MustCompile(`"replication-offset" \d+`)

// shapeOfShards leaves out what Valkey adds: the shards' identifiers.
func shapeOfShards(t *testing.T, c *testserver.Cluster, i int) (lines []string) {
	for _, shard := range ask(t, c, i, "CLUSTER", "SHARDS").Elems {
		m := fields(shard)
		nodes := m["nodes"].Elems
		slices.SortFunc(nodes, func(a, b client.Value) int {
			return strings.Compare(fields(a)["role"].Text(), fields(b)["role"].Text())
		})
		text := "slots " + m["slots"].String()
		for _, n := range nodes {
			text += "\n" + offset.ReplaceAllString(n.String(), `"replication-offset" n`)
		}
		lines = append(lines, replace(c, text))
	}
	slices.Sort(lines)
	return lines
}

// fields returns a reply of names and values.
func fields(v client.Value) map[string]client.Value {
	m := map[string]client.Value{}
	for i := 0; i+1 < len(v.Elems); i += 2 {
		m[v.Elems[i].Text()] = v.Elems[i+1]
	}
	return m
}

// own are the fields of CLUSTER INFO whose values are each cluster's own. Those that count messages
// of Redis's bus need not be there.
var own = regexp.MustCompile(`_epoch$|_stats_|_exceeded$`)

func shapeOfInfo(t *testing.T, c *testserver.Cluster, i int) (lines []string) {
	info := testserver.Info(ask(t, c, i, "CLUSTER", "INFO").Text())
	known := strings.Fields(`cluster_state cluster_slots_assigned cluster_slots_ok
		cluster_slots_pfail cluster_slots_fail cluster_known_nodes cluster_size
		cluster_current_epoch cluster_my_epoch
		cluster_stats_messages_sent cluster_stats_messages_received
		total_cluster_links_buffer_limit_exceeded`)
	for _, name := range known {
		value, ok := info[name]
		require.True(t, ok, name)
		if own.MatchString(name) {
			require.Regexp(t, `^\d+$`, value)
			value = "n"
		}
		lines = append(lines, name+":"+value)
	}
	return lines
}

// shapeOfLinks compares what is said of a link, not which links there are.
func shapeOfLinks(t *testing.T, c *testserver.Cluster, i int) []string {
	links := ask(t, c, i, "CLUSTER", "LINKS").Elems
	require.NotEmpty(t, links)
	var first []string
	for _, l := range links {
		m := fields(l)
		require.Contains(t, []string{"to", "from"}, m["direction"].Text())
		require.NotNil(t, c.Node(m["node"].Text()), "%s", l)
		require.Regexp(t, `^r?w?$`, m["events"].Text())
		for _, number := range []string{"create-time", "send-buffer-allocated",
			"send-buffer-used"} {
			require.Equal(t, client.Int, m[number].Kind, "%s", l)
		}
		if first == nil {
			first = slices.Sorted(maps.Keys(m))
		}
		require.Equal(t, first, slices.Sorted(maps.Keys(m)))
	}
	return first
}

// shapeOfSmall has the replies of a few words.
func shapeOfSmall(t *testing.T, c *testserver.Cluster, i int) []string {
	var lines []string
	for _, args := range [][]any{{"CLUSTER", "MYID"}, {"CLUSTER", "KEYSLOT", "{a}b"},
		{"CLUSTER", "COUNTKEYSINSLOT", 1}, {"CLUSTER", "GETKEYSINSLOT", 1, 10},
		{"CLUSTER", "COUNT-FAILURE-REPORTS", c.Nodes[0].ID}, {"READONLY"}, {"ASKING"},
		{"PUBSUB", "SHARDCHANNELS"}, {"COMMAND", "GETKEYS", "GET", "a"}} {
		lines = append(lines, replace(c, fmt.Sprint(args[1:], ask(t, c, i, args...))))
	}
	lines = append(lines, fmt.Sprint(len(ask(t, c, i, "CLUSTER", "MYSHARDID").Text())))
	info := testserver.Info(ask(t, c, i, "INFO", "everything").Text())
	hello := fields(ask(t, c, i, "HELLO"))
	mode := cmp.Or(info["redis_mode"], info["server_mode"]) // Valkey's name
	return append(lines, info["cluster_enabled"], mode, hello["mode"].Text())
}

// shapeOfLines has the names of INFO's lines that Redis 8 shows in a cluster, of sections that tell
// what a node is. Others may show more.
func shapeOfLines(t *testing.T, c *testserver.Cluster, i int) (lines []string) {
	known := map[string]string{"server": "redis_mode tcp_port", "clients": "cluster_connections",
		"replication": `role connected_slaves master_failover_state master_replid master_replid2
			master_repl_offset second_repl_offset repl_backlog_active repl_backlog_size
			repl_backlog_first_byte_offset repl_backlog_histlen`, "cluster": "cluster_enabled"}
	if i >= c.Options.Masters {
		known["replication"] += ` master_host master_port master_link_status
			master_last_io_seconds_ago master_sync_in_progress slave_read_repl_offset
			slave_repl_offset slave_priority slave_read_only replica_announced`
	}
	if c.Options.Kind == testserver.Valkey9 {
		known["server"] = "server_mode tcp_port"
	}
	for section, names := range known {
		info := testserver.Info(ask(t, c, i, "INFO", section).Text())
		for _, name := range strings.Fields(names) {
			_, ok := info[name]
			lines = append(lines, fmt.Sprint(strings.Replace(name, "server_", "redis_", 1), ok))
		}
	}
	slices.Sort(lines)
	return lines
}

// TestErrors compares the errors of CLUSTER with those of Redis 8.
func TestErrors(t *testing.T) {
	inTurn(t, func(t *testing.T, k testserver.Kind) {
		if k != testserver.Godwit {
			t.Skip("the others are what it is compared with")
		}
		testserver.Redis8.Program(t)
		want, got := common(t, testserver.Redis8), common(t, k)
		nobody := strings.Repeat("0", 40)
		for _, args := range [][]any{{"ADDSLOTS", 0}, {"ADDSLOTS", 16384}, {"ADDSLOTS", "x"},
			{"ADDSLOTSRANGE", 5, 1}, {"ADDSLOTSRANGE", 1}, {"ADDSLOTS", 1, 1},
			{"DELSLOTS", 99999}, {"SETSLOT", 1, "NODE", nobody}, {"SETSLOT", 1, "X"},
			{"SETSLOT", 99999, "STABLE"}, {"SETSLOT", 1, "MIGRATING", nobody},
			{"SETSLOT", 1, "IMPORTING", nobody}, {"FORGET", nobody}, {"REPLICATE", nobody},
			{"REPLICAS", nobody}, {"REPLICAS", "x"}, {"COUNTKEYSINSLOT", 16384},
			{"GETKEYSINSLOT", 1, -1}, {"GETKEYSINSLOT", 16384, 1}, {"KEYSLOT"}, {"FAILOVER", "X"},
			{"FAILOVER"}, {"SET-CONFIG-EPOCH", -1}, {"SET-CONFIG-EPOCH", 1}, {"MEET", "x"},
			{"MEET", "no address", 1}, {"MEET", "127.0.0.1", 99999}, {"RESET", "X"}, {"NOSUCH"},
			{"COUNT-FAILURE-REPORTS", nobody}, {"FLUSHSLOTS", 1}, {"BUMPEPOCH", 1}} {
			all := append([]any{"CLUSTER"}, args...)
			a, err := want.Nodes[0].Do(all...)
			require.NoError(t, err)
			b, err := got.Nodes[0].Do(all...)
			require.NoError(t, err)
			require.Equal(t, a.String(), b.String(), "%v", all)
		}
	})
}
