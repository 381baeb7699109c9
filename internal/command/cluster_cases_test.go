package command

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
	"godwit/internal/testserver"
)

var clusterJudge = flag.Bool("cluster", false,
	"hold testdata/cluster against a cluster of Redis 8, which takes a few seconds")

// clusterFiles returns the case files of clusters. The first letter of a file's name is that of the
// node that is asked.
func clusterFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/cluster/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

// TestClusterCases runs the case files on an engine that is a node of a cluster. In a block that is
// marked [clients], "topology …" changes the cluster: see clusterLocal.change.
func TestClusterCases(t *testing.T) {
	for _, file := range clusterFiles(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			l := newClusterLocal(t, filepath.Base(file)[:1])
			got := runCases(t, file, l, func(*caseBlock) bool { return false })
			if *rewrite && !t.Failed() {
				require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
			}
		})
	}
}

// TestClusterCasesRedis8 runs them on a node of a cluster of Redis 8. With -rewrite it puts the
// node's replies into the files.
func TestClusterCasesRedis8(t *testing.T) {
	if !*clusterJudge {
		t.Skip("takes -cluster")
	}
	for _, file := range clusterFiles(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			r := startClusterRemote(t, testserver.Redis, filepath.Base(file)[:1])
			got := runCases(t, file, r, func(b *caseBlock) bool {
				return b.judge != "" && b.judge != "redis8"
			})
			if *rewrite && !t.Failed() {
				require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
			}
		})
	}
}

// clusterRemote is one node of a cluster of real servers.
type clusterRemote struct {
	*remote
	self  string
	nodes map[string]*testserver.Server
	ports map[int]int // real ones to those of the world
}

// startClusterRemote starts the six nodes of the world. Their configuration files say at the start
// already what they would learn from each other.
func startClusterRemote(t *testing.T, peer testserver.Peer, self string) *clusterRemote {
	t.Helper()
	r := &clusterRemote{self: self, nodes: map[string]*testserver.Server{}, ports: map[int]int{}}
	port := map[string]int{}
	for _, l := range clusterNodes {
		p, err := testserver.ClusterPort()
		require.NoError(t, err)
		letter := string(l)
		port[letter] = p
		r.ports[p] = clusterPort(letter)
		r.ports[p+10000] = clusterPort(letter) + 10000
	}
	program := peer.Program(t, "server")
	for _, l := range clusterNodes {
		letter := string(l)
		dir := testserver.Dir(t)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "nodes.conf"),
			[]byte(nodesConf(letter, port)), 0o644))
		r.nodes[letter] = testserver.Run(t, testserver.Options{Program: program, Dir: dir,
			Args: []string{"--port", strconv.Itoa(port[letter]), "--cluster-enabled", "yes",
				"--enable-debug-command", "yes", "--save", "", "--repl-diskless-sync-delay", "0"}})
	}
	r.remote = dialServer(t, r.nodes[self])
	for letter, s := range r.nodes {
		wait(t, func() bool {
			role, err := s.Do("INFO", "replication")
			require.NoError(t, err)
			info, err := s.Do("CLUSTER", "INFO")
			require.NoError(t, err)
			synced := strings.Contains(role.Text(), "master_link_status:up")
			master := strings.Contains(role.Text(), "state=online")
			return strings.Contains(info.Text(), "cluster_state:ok") &&
				(synced && letter > "c" || master && letter <= "c")
		})
	}
	for _, s := range r.nodes {
		wait(t, func() bool {
			v, err := s.Do("CLUSTER", "SHARDS")
			require.NoError(t, err)
			return !strings.Contains(v.String(), "loading")
		})
	}
	return r
}

// nodesConf returns the file of a node.
func nodesConf(self string, port map[string]int) string {
	var b strings.Builder
	for i, l := range clusterNodes {
		letter, role, slots := string(l), "master -", ""
		if i >= 3 {
			role = "slave " + string(nodeID(clusterNodes[i-3:i-2]))
		} else {
			slots = " " + slotsOf(letter).String()
		}
		if letter == self {
			role = "myself," + role
		}
		fmt.Fprintf(&b, "%s 127.0.0.1:%d@%d,,tls-port=0,shard-id=%s %s 0 0 %d connected%s\n",
			nodeID(letter), port[letter], port[letter]+10000, shardOf(letter), role, i%3+1, slots)
	}
	return b.String() + "vars currentEpoch 6 lastVoteEpoch 0\n"
}

// wait waits for a condition.
func wait(t testing.TB, ok func() bool) {
	t.Helper()
	for until := time.Now().Add(testserver.Patience); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("it does not come")
		}
	}
}

func (r *clusterRemote) do(t testing.TB, argv [][]byte) client.Value {
	t.Helper()
	v := steady(r.remote.do(t, argv), r.ports)
	if strings.EqualFold(string(argv[0]), "config") {
		time.Sleep(300 * time.Millisecond) // until the node has seen what follows from that
	}
	return v
}

// open implements server.
func (r *clusterRemote) open(t testing.TB) talker { return steadyTalker{r.remote.open(t), r.ports} }

// steadyTalker is a connection whose replies are as steady makes them.
type steadyTalker struct {
	talker
	ports map[int]int
}

func (s steadyTalker) received(t testing.TB) []client.Value {
	t.Helper()
	vs := s.talker.received(t)
	for i := range vs {
		vs[i] = steady(vs[i], s.ports)
	}
	return vs
}

// change is clusterLocal.change.
func (r *clusterRemote) change(t testing.TB, words []string) {
	t.Helper()
	if words[0] == "migrations" {
		r.migrations(t, words[1])
		return
	}
	tell := func(letter string, args ...any) {
		v, err := r.nodes[letter].Do(append([]any{"CLUSTER"}, args...)...)
		require.NoError(t, err)
		require.False(t, v.IsError(), "%v", v)
	}
	n := words[1]
	switch words[0] {
	case "announce":
		v, err := r.nodes[n].Do("CONFIG", "SET", words[2], strings.Join(words[3:], ""))
		require.NoError(t, err)
		require.False(t, v.IsError(), "%v", v)
		wait(t, func() bool { // until a ping has told it
			nodes, err := r.s.Do("CLUSTER", "NODES")
			require.NoError(t, err)
			shards, err := r.s.Do("CLUSTER", "SHARDS")
			require.NoError(t, err)
			value := map[string]string{"yes": "nofailover", "no": " "}[words[3]]
			if words[2] == "cluster-announce-port" {
				value = ":" + words[3] + "@"
			}
			return strings.Contains(nodes.Text()+shards.String(), cmp.Or(value, words[3]))
		})
	case "move":
		for _, letter := range append([]string{words[2], r.self}, strings.Split("abcdef", "")...) {
			if letter <= "c" {
				tell(letter, "SETSLOT", n, "NODE", string(nodeID(words[2])))
			}
		}
		if r.self > "c" {
			wait(t, func() bool { return r.owner(t, n) == string(nodeID(words[2])) })
		}
	case "migrating", "importing":
		tell(r.self, "SETSLOT", n, words[0], string(nodeID(words[2])))
	case "stable":
		tell(r.self, "SETSLOT", n, "STABLE")
	case "delslots", "addslots":
		tell(r.self, words[0], n)
	}
	time.Sleep(300 * time.Millisecond) // until the node has seen what follows from that
}

// owner returns the id of the node that owns the slot, as the node sees it.
func (r *clusterRemote) owner(t testing.TB, n string) string {
	v, err := r.s.Do("CLUSTER", "SLOTS")
	require.NoError(t, err)
	want, _ := strconv.Atoi(n)
	i := slices.IndexFunc(v.Elems, func(e client.Value) bool {
		return e.Elems[0].Int <= int64(want) && int64(want) <= e.Elems[1].Int
	})
	if i < 0 {
		return ""
	}
	return v.Elems[i].Elems[2].Elems[2].Str
}
