package command

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/cluster/topology"
	"godwit/internal/config"
	"godwit/internal/engine"
	"godwit/internal/logging"
	"godwit/internal/resp/client"
	"godwit/internal/slot"
	"godwit/internal/spec"
	"godwit/internal/testserver"
)

// The world of testdata/sentinel is a master, a, with two replicas, b and c, that three Sentinels
// of the same names watch. In a cluster each node is both. Ports and ids are those of
// cluster_world.

const sentinelCases = "testdata/sentinel/a.txt"

// votingNode is fakeNode with all nodes as voters.
type votingNode struct{ *fakeNode }

func (votingNode) Facts() engine.ClusterFacts {
	return engine.ClusterFacts{Raft: engine.RaftFacts{
		Voters: []topology.NodeID{nodeID("a"), nodeID("b"), nodeID("c")}}}
}

// sentinelLocal is an engine that is node a of the world.
type sentinelLocal struct{ *clusterLocal }

func newSentinelLocal(t *testing.T) sentinelLocal {
	t.Helper()
	cfg := config.Default()
	cfg.Cluster.Enabled = true
	e := engine.New(cfg, Table(), engine.Options{Log: logging.Discard(), Seed: 1})
	e.Cluster = votingNode{&fakeNode{self: "a"}}
	e.Enter()
	defer e.Leave()
	l := &clusterLocal{local: &local{e, e.NewClient(nil)}, self: "a", state: &topology.State{}}
	about := func(letter string) topology.About {
		return topology.About{Address: topology.Address{IP: "127.0.0.1",
			Port: clusterPort(letter)}}
	}
	l.apply(t, topology.Init{Cluster: strings.Repeat("0", 40), Node: nodeID("a"),
		Shard: shardOf("a"), About: about("a"), Epoch: 1, Timeout: 1000})
	l.apply(t, topology.AddSlots{Node: nodeID("a"),
		Slots: slot.SetOf(slot.Range{First: 0, Last: slot.Count - 1})})
	for _, letter := range []string{"b", "c"} {
		l.apply(t, topology.Admit{Node: nodeID(letter), Shard: shardOf(letter),
			About: about(letter)}, topology.Replicate{Node: nodeID(letter), Master: nodeID("a")})
	}
	l.install()
	return sentinelLocal{l}
}

// do implements server.
func (l sentinelLocal) do(t testing.TB, argv [][]byte) client.Value {
	t.Helper()
	return steadySentinel(l.local.do(t, argv), nil, nil)
}

// open implements server.
func (l sentinelLocal) open(t testing.TB) talker {
	return sentinelTalker{l.local.open(t), nil, nil}
}

// change carries out "topology failed b": the server b and the Sentinel there have ended.
func (l sentinelLocal) change(t testing.TB, words []string) {
	t.Helper()
	l.e.Enter()
	defer l.e.Leave()
	l.apply(t, topology.SetFailed{Node: nodeID(words[1]), Failed: true})
	l.install()
}

// unsteady are fields whose values are times, or what each server has of its own.
var unsteady = []string{"link-pending-commands", "link-refcount", "last-ping-sent",
	"last-ok-ping-reply", "last-ping-reply", "s-down-time", "down-after-milliseconds",
	"info-refresh", "role-reported-time", "last-hello-message", "config-epoch",
	"failover-timeout", "parallel-syncs", "slave-repl-offset", "master-link-down-time",
	"master-link-status"}

// steadySentinel replaces what differs between two worlds by the same, and sorts lists of nodes.
func steadySentinel(v client.Value, ports, ids map[string]string) client.Value {
	for from, to := range ids {
		v.Str = strings.ReplaceAll(v.Str, from, to)
	}
	for from, to := range ports {
		if v.Str == from || strings.HasSuffix(v.Str, ":"+from) {
			v.Str = strings.TrimSuffix(v.Str, from) + to
		}
	}
	v.Elems = slices.Clone(v.Elems)
	for i := range v.Elems {
		v.Elems[i] = steadySentinel(v.Elems[i], ports, ids)
		if i%2 == 1 && slices.Contains(unsteady, v.Elems[i-1].Str) {
			v.Elems[i].Str = "?"
		}
	}
	if len(v.Elems) > 0 && len(v.Elems[0].Elems) > 2 && v.Elems[0].Elems[0].Str == "name" {
		sortElems(v)
	}
	return v
}

// sentinelTalker is a connection whose replies are as steadySentinel makes them.
type sentinelTalker struct {
	talker
	ports, ids map[string]string
}

func (s sentinelTalker) received(t testing.TB) []client.Value {
	t.Helper()
	vs := s.talker.received(t)
	for i := range vs {
		vs[i] = steadySentinel(vs[i], s.ports, s.ids)
	}
	return vs
}

// TestSentinelCases runs the case file on a node of a cluster.
func TestSentinelCases(t *testing.T) {
	runCases(t, sentinelCases, newSentinelLocal(t), func(b *caseBlock) bool { return false })
}

// TestSentinelCasesRedis8 runs it on a Sentinel of Redis 8, and compares the table. With -rewrite
// it puts the Sentinel's replies into the file.
func TestSentinelCasesRedis8(t *testing.T) {
	if !*clusterJudge {
		t.Skip("takes -cluster")
	}
	r := startSentinelRemote(t)
	compareSentinelFacts(t, r)
	got := runCases(t, sentinelCases, r, func(b *caseBlock) bool { return b.judge == "godwit" })
	if *rewrite && !t.Failed() {
		require.NoError(t, os.WriteFile(sentinelCases, []byte(got), 0o644))
	}
}

// compareSentinelFacts compares COMMAND INFO and DOCS of the subcommands, but for the flags: a
// Sentinel is never loading.
func compareSentinelFacts(t *testing.T, r *sentinelRemote) {
	t.Helper()
	facts := func(s server) facts {
		f, argv := facts{}, argvOf("COMMAND", "INFO", "SENTINEL")
		s.proto(t, 3)
		defer s.proto(t, 2)
		docs := plain(s.do(t, argvOf("COMMAND", "DOCS", "SENTINEL"))).(map[string]any)
		f.add(t, s.do(t, argv).Elems[0], docs)
		return f
	}
	want := facts(r.remote)
	for name, g := range facts(newSentinelLocal(t).local) {
		var gm, wm map[string]any
		require.NoError(t, json.Unmarshal(g, &gm))
		require.NoError(t, json.Unmarshal(want[name], &wm), name)
		for _, m := range []map[string]any{gm, wm} {
			delete(m, "flags")
		}
		require.Equal(t, wm, gm, name)
	}
	require.Contains(t, want, "sentinel|"+spec.New().Named("sentinel").Sub[0].Name)
}

// sentinelRemote is the first Sentinel of a world of real ones.
type sentinelRemote struct {
	*remote
	servers, sentinels map[string]*testserver.Server
	ports, ids         map[string]string
}

func startSentinelRemote(t *testing.T) *sentinelRemote {
	t.Helper()
	r := &sentinelRemote{servers: map[string]*testserver.Server{},
		sentinels: map[string]*testserver.Server{}, ports: map[string]string{},
		ids: map[string]string{}}
	letters := []string{"a", "b", "c"}
	for _, letter := range letters {
		port, err := testserver.Port()
		require.NoError(t, err)
		s := testserver.Run(t, testserver.Options{Program: testserver.Redis.Program(t, "server"),
			Dir: testserver.Dir(t), Args: []string{"--port", strconv.Itoa(port), "--save", "",
				"--repl-diskless-sync-delay", "0"}})
		r.add(t, letter, s, r.servers, "")
		if letter != "a" {
			host, port := r.servers["a"].HostPort()
			_, err := s.Do("REPLICAOF", host, port)
			require.NoError(t, err)
		}
	}
	all, err := testserver.StartSentinels(testserver.SentinelOptions{
		Program: testserver.Redis.Program(t, "sentinel"), Conf: "../../conf/sentinel.conf",
		Dir: testserver.Dir(t), Count: 3, Master: r.servers["a"], DownAfter: time.Second,
		FailoverTimeout: 10 * time.Second, Quick: true})
	t.Cleanup(all.Stop)
	require.NoError(t, err)
	require.NoError(t, all.WaitReady(2))
	for i, letter := range letters {
		r.add(t, letter, all.Servers[i], r.sentinels, "SENTINEL")
	}
	r.remote = dialServer(t, r.sentinels["a"])
	wait(t, func() bool {
		v := r.do(t, argvOf("SENTINEL", "SENTINELS", "mymaster"))
		return !strings.Contains(v.String(), "disconnected")
	})
	return r
}

// add notes a server: its port and id become those of the letter.
func (r *sentinelRemote) add(t *testing.T, letter string, s *testserver.Server,
	to map[string]*testserver.Server, kind string) {
	t.Helper()
	to[letter] = s
	_, port := s.HostPort()
	r.ports[port] = strconv.Itoa(clusterPort(letter))
	info, err := s.Info("server")
	require.NoError(t, err)
	r.ids[info["run_id"]] = string(nodeID(letter))
	if kind != "" {
		id, err := s.Do(kind, "MYID")
		require.NoError(t, err)
		r.ids[id.Text()] = string(nodeID(letter))
	}
}

func (r *sentinelRemote) do(t testing.TB, argv [][]byte) client.Value {
	t.Helper()
	return steadySentinel(r.remote.do(t, argv), r.ports, r.ids)
}

// open implements server.
func (r *sentinelRemote) open(t testing.TB) talker {
	return sentinelTalker{r.remote.open(t), r.ports, r.ids}
}

// change is sentinelLocal.change.
func (r *sentinelRemote) change(t testing.TB, words []string) {
	t.Helper()
	r.servers[words[1]].Kill()
	r.sentinels[words[1]].Kill()
	down := strconv.Itoa(clusterPort(words[1]))
	for _, list := range []string{"REPLICAS", "SENTINELS"} {
		wait(t, func() bool {
			v := r.do(t, argvOf("SENTINEL", list, "mymaster"))
			return slices.ContainsFunc(v.Elems, func(n client.Value) bool {
				f := maps.Collect(pairs(n))
				return f["port"] == down && strings.Contains(f["flags"], "s_down")
			})
		})
	}
}

// pairs returns names and values of a flat list.
func pairs(v client.Value) func(yield func(name, value string) bool) {
	return func(yield func(name, value string) bool) {
		for i := 0; i+1 < len(v.Elems); i += 2 {
			if !yield(v.Elems[i].Str, v.Elems[i+1].Str) {
				return
			}
		}
	}
}
