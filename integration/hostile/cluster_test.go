package hostile

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/slot"
	"godwit/internal/slot/nodes"
	"godwit/internal/testserver"
)

// TestHostileCluster attacks a node of a cluster, which has all slots. It takes half of
// HOSTILETIME, and runs only where that is set.
func TestHostileCluster(t *testing.T) {
	if os.Getenv("HOSTILETIME") == "" {
		t.Skip("takes HOSTILETIME")
	}
	port, err := testserver.ClusterPort()
	require.NoError(t, err)
	attack(t, duration(t)/2, []string{"--bind", "127.0.0.1", "--port", strconv.Itoa(port),
		"--cluster-enabled", "yes", "--cluster-databases", "16", "--cluster-node-timeout", "500"})
}

// join waits until a node of a cluster serves all slots. It does nothing with other servers.
func (p *process) join(t *testing.T) {
	t.Helper()
	v, err := p.Do("CLUSTER", "MYID")
	require.NoError(t, err)
	if v.IsError() {
		return
	}
	p.self = v.Text()
	require.Eventually(t, func() bool {
		p.repair()
		info, err := p.Do("CLUSTER", "INFO")
		return err == nil && testserver.Info(info.Text())["cluster_state"] == "ok"
	}, patience, 10*time.Millisecond)
}

// repair gives a node the slots that commands have taken from it, and makes it serve them.
func (p *process) repair() {
	if p.self == "" {
		return
	}
	list, err := p.Do("CLUSTER", "NODES")
	if err != nil {
		return
	}
	view, err := nodes.Parse(list.Text())
	if err != nil || len(view) != 1 {
		return // the node is taken up with something else
	}
	p.self = view[0].ID // RESET HARD gives it another one
	left := slot.SetOf(slot.Range{First: 0, Last: slot.Count - 1})
	left.Subtract(&view[0].Slots)
	for _, r := range left.Ranges() {
		_, _ = p.Do("CLUSTER", "ADDSLOTSRANGE", r.First, r.Last) // or the next time
	}
}

// cluster makes a command about slots, in the words of which few are refused.
func (m *maker) cluster() []string {
	number := strconv.Itoa(pick(m, 15495, 15495, 0, 16383, m.rng.IntN(slot.Count)))
	return append([]string{"CLUSTER"}, pick(m,
		[]string{"FLUSHSLOT", number, pick(m, "SYNC", "ASYNC")},
		[]string{"COUNTKEYSINSLOT", number}, []string{"GETKEYSINSLOT", number, m.integer()},
		[]string{"SETSLOT", number, pick(m, "MIGRATING", "IMPORTING", "NODE"), m.node},
		[]string{"SETSLOT", number, "STABLE"}, []string{"DELSLOTS", number},
		[]string{"DELSLOTSRANGE", "0", number}, []string{"FLUSHSLOTS"},
		[]string{"RESET", pick(m, "HARD", "SOFT")}, []string{"BUMPEPOCH"},
		[]string{"SLOT-STATS", "SLOTSRANGE", "0", number},
		[]string{"SLOT-STATS", "ORDERBY", "key-count", "LIMIT", "3"},
		[]string{pick(m, "ADDVOTER", "DELVOTER"), m.node}, []string{"LINKS"},
		[]string{"REPLICATE", m.node}, []string{"FAILOVER", pick(m, "FORCE", "TAKEOVER")},
		[]string{"FORGET", m.node}, []string{pick(m, "NODES", "SHARDS", "SLOTS", "INFO")},
	)...)
}

// clusterConfig makes a setting of a cluster with its value.
func (m *maker) clusterConfig() []string {
	return pick(m,
		[]string{"cluster-require-full-coverage", pick(m, "yes", "no")},
		[]string{"cluster-allow-reads-when-down", pick(m, "yes", "no")},
		[]string{"cluster-allow-pubsubshard-when-down", pick(m, "yes", "no")},
		[]string{"cluster-announce-hostname", pick(m, "", "a.example", m.text())},
		[]string{"cluster-announce-port", pick(m, "0", "1", "65535")},
		[]string{"cluster-preferred-endpoint-type",
			pick(m, "ip", "hostname", "unknown-endpoint")},
		[]string{"cluster-node-timeout", pick(m, "500", "1000", m.integer())},
		[]string{"cluster-slot-stats-enabled", pick(m, "yes", "no")},
	)
}
