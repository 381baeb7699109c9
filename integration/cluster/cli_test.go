package cluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/testserver"
)

// tool is a redis-cli or a valkey-cli.
type tool struct {
	name, path string
}

// tools returns the programs that manage clusters, as far as they are there. One of them is enough
// for the tests of every day.
func tools(t *testing.T) (list []tool) {
	t.Helper()
	list = append(list, tool{"redis-cli 8", testserver.Redis.Program(t, "cli")},
		tool{"valkey-cli 9", testserver.Valkey.Program(t, "cli")})
	if path, err := exec.LookPath("redis-cli"); err == nil {
		list = append(list, tool{"redis-cli 7", path})
	}
	return list
}

// run runs the tool with --cluster and arguments, and returns what it prints. It must succeed, and
// must not print words of failure.
func (l *tool) run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := l.try(t, args...)
	require.NoError(t, err, "%s --cluster %v:\n%s", l.name, args, out)
	require.NotContains(t, out, "[ERR]", "%s --cluster %v", l.name, args)
	return out
}

func (l *tool) try(t *testing.T, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testserver.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, l.path, append([]string{"--cluster"}, args...)...)
	cmd.Stdin = strings.NewReader("yes\n")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// covered is what a check of a cluster in good order says.
const covered = "[OK] All 16384 slots covered."

// TestTools has each of the programs create a cluster, enlarge it, move its slots, repair it, and
// take it down to what it was, while clients use it.
func TestTools(t *testing.T) {
	takesLong(t)
	each(t, func(t *testing.T, k testserver.Kind) {
		for _, l := range tools(t) {
			t.Run(l.name, func(t *testing.T) {
				t.Parallel()
				if k == testserver.Redis8 && l.name == "valkey-cli 9" {
					t.Skip("it moves no slots without cluster-databases")
				}
				s := newScene(t, k, l)
				s.look(t)
				s.grow(t)
				s.reshard(t)
				s.imports(t)
				s.repair(t)
				s.shrink(t)
			})
		}
	})
}

// scene is a cluster with two spare servers, its tool, and the keys in it.
type scene struct {
	*testserver.Cluster
	tool
	at     string // a node to begin with
	keys   int
	master *testserver.Node // the spares
	slave  *testserver.Node
}

func newScene(t *testing.T, k testserver.Kind, l tool) *scene {
	s := &scene{tool: l, keys: 500, Cluster: testserver.RunCluster(t, testserver.ClusterOptions{
		Kind: k, Masters: 3, Replicas: 1, Spares: 2, Tool: l.path,
		Timeout: 5 * time.Second, // a lease that ends on a busy machine is an error for writers
		// A master without slots stays one.
		Args: []string{"--cluster-allow-replica-migration", "no"}})}
	s.at, s.master, s.slave = s.Nodes[0].Addr, s.Nodes[6], s.Nodes[7]
	client := connect(t, s.Cluster, nil)
	for i := range s.keys {
		require.NoError(t, client.Set(t.Context(), fmt.Sprint("key", i), i, 0).Err())
	}
	return s
}

// whole wants the cluster in good order, with all its keys.
func (s *scene) whole(t *testing.T) {
	t.Helper()
	eventually(t, func() bool { // nodes may hear of changes later
		out, err := s.try(t, "check", s.at)
		return err == nil && strings.Contains(out, covered) &&
			strings.Contains(out, "[OK] All nodes agree about slots configuration.")
	}, "check is content")
	client := connect(t, s.Cluster, nil)
	for i := range s.keys {
		got, err := client.Get(t.Context(), fmt.Sprint("key", i)).Int()
		require.NoError(t, err)
		require.Equal(t, i, got)
	}
}

// look uses what changes nothing, and set-timeout and backup.
func (s *scene) look(t *testing.T) {
	s.whole(t)
	require.Contains(t, s.run(t, "info", s.at), fmt.Sprintf("[OK] %d keys in 3 ", s.keys))
	out := s.run(t, "call", s.at, "DBSIZE", "--cluster-only-"+s.word("masters", "primaries"))
	sum := 0
	for _, m := range regexp.MustCompile(`(?m)^[\d.:]+: (?:\(integer\) )?(\d+)$`).
		FindAllStringSubmatch(out, -1) {
		n, err := strconv.Atoi(m[1])
		require.NoError(t, err)
		sum += n
	}
	require.Equal(t, s.keys, sum, "%s", out)
	s.run(t, "set-timeout", s.at, strconv.Itoa(int(s.Options.Timeout.Milliseconds())))
	dir := testserver.Dir(t)
	s.run(t, "backup", s.at, dir)
	files, err := filepath.Glob(filepath.Join(dir, "*.rdb"))
	require.NoError(t, err)
	require.Len(t, files, 3)
	text, err := os.ReadFile(filepath.Join(dir, "nodes.json"))
	require.NoError(t, err)
	require.Equal(t, 6, strings.Count(string(text), `"host"`))
}

// word returns Redis's word or Valkey's.
func (s *scene) word(redis, valkey string) string {
	if strings.HasPrefix(s.name, "valkey") {
		return valkey
	}
	return redis
}

// grow adds a master without slots and a replica of it.
func (s *scene) grow(t *testing.T) {
	s.run(t, "add-node", s.master.Addr, s.at)
	require.NoError(t, s.WaitView("joined", func(v testserver.View) bool {
		l := v.Find(s.master.ID)
		return l != nil && l.Has("master") && len(v) == 7
	}, s.Nodes[:7]...))
	s.run(t, "add-node", s.slave.Addr, s.at, "--cluster-"+s.word("slave", "replica"),
		"--cluster-master-id", s.master.ID)
	require.NoError(t, s.WaitView("joined", func(v testserver.View) bool {
		l := v.Find(s.slave.ID)
		return l != nil && l.Master == s.master.ID && len(v) == 8
	}, s.Nodes...))
	require.NoError(t, s.slave.WaitLink())
	s.whole(t)
}

// reshard moves slots to the new master, by number and by balance, while they are written.
func (s *scene) reshard(t *testing.T) {
	w := startWriters(t, s.Cluster, tagOf(t, s.Cluster, 0), tagOf(t, s.Cluster, 1))
	w.more(t, 10)
	s.run(t, "reshard", s.at, "--cluster-from", s.Nodes[0].ID, "--cluster-to", s.master.ID,
		"--cluster-slots", "60", "--cluster-yes", "--cluster-pipeline", "100")
	require.NoError(t, s.WaitView("moved", func(v testserver.View) bool {
		mine := v.Find(s.master.ID).Slots
		return mine.Len() == 60
	}, s.Nodes...))
	s.run(t, "rebalance", s.at, "--cluster-use-empty-"+s.word("masters", "primaries"),
		"--cluster-weight", s.Nodes[0].ID+"=1", s.master.ID+"=0.05")
	require.NoError(t, s.WaitView("balanced", func(v testserver.View) bool {
		mine := v.Find(s.master.ID).Slots
		return mine.Len() > 200 && mine.Len() < 400
	}, s.Nodes...))
	if s.word("", "valkey") != "" && s.Options.Kind != testserver.Redis8 {
		s.atomic(t)
	}
	w.more(t, 10)
	w.end()
	_, failed := w.acked()
	require.Zero(t, failed, "nothing but redirections")
	require.Empty(t, w.lost(t))
	s.whole(t)
}

// atomic moves slots as a whole, to another master and back.
func (s *scene) atomic(t *testing.T) {
	count := func() int {
		v, err := s.Nodes[1].View()
		require.NoError(t, err)
		mine := v.Find(s.Nodes[1].ID).Slots
		return mine.Len()
	}
	before := count()
	s.run(t, "reshard", s.at, "--cluster-from", s.Nodes[0].ID, "--cluster-to",
		s.Nodes[1].ID, "--cluster-slots", "1000", "--cluster-yes",
		"--cluster-use-atomic-slot-migration")
	require.NoError(t, s.WaitView("moved", func(v testserver.View) bool {
		mine := v.Find(s.Nodes[1].ID).Slots
		return mine.Len() == before+1000
	}, s.Nodes...))
	s.run(t, "rebalance", s.at, "--cluster-use-atomic-slot-migration", "--cluster-weight",
		s.Nodes[0].ID+"=1", s.Nodes[1].ID+"=1", s.Nodes[2].ID+"=1", s.master.ID+"=0.05")
	require.Less(t, count(), before+1000)
}

// imports takes the keys of a server that is not part of a cluster.
func (s *scene) imports(t *testing.T) {
	from := testserver.Redis7.Run(t)
	v, err := from.Do("MSET", "import1", 1, "import2", 2, "import3", 3)
	require.NoError(t, err)
	require.Equal(t, "OK", v.Text())
	s.run(t, "import", s.at, "--cluster-from", from.Addr, "--cluster-copy", "--cluster-replace")
	client := connect(t, s.Cluster, nil)
	for i := range 3 {
		got, err := client.Get(t.Context(), fmt.Sprint("import", i+1)).Int()
		require.NoError(t, err)
		require.Equal(t, i+1, got)
	}
}

// repair has fix end moves that were given up halfway: with all keys at the destination, and with
// keys on both sides of a slot that nobody owns any more. No key may go.
func (s *scene) repair(t *testing.T) {
	tag := tagOf(t, s.Cluster, 1)
	key := func(i int) string { return fmt.Sprintf("{%s}fix%d", tag, i) }
	for _, moved := range [][]string{{key(0)}, {key(0), key(1), key(2), key(3)}} {
		p := placeOf(t, s.Cluster, tag)
		for i := range 6 {
			p.say(t, p.owner, "OK", "SET", key(i), "v")
		}
		p.say(t, p.other, "OK", "CLUSTER", "SETSLOT", p.slot, "IMPORTING", p.a.ID)
		p.say(t, p.owner, "OK", "CLUSTER", "SETSLOT", p.slot, "MIGRATING", p.b.ID)
		p.migrate(t, moved...)
		state, _ := s.try(t, "check", s.at)
		require.Contains(t, state, "importing")
		if len(moved) > 1 {
			p.say(t, p.owner, "OK", "CLUSTER", "DELSLOTS", p.slot)
		}
		out, err := s.try(t, "fix", s.at) // Redis's nodes do not agree about the slot before
		require.NoError(t, err, "%s", out)
		s.whole(t)
		w := newWalker(s.Cluster, testserver.Patience)
		for i := range 6 {
			v, err := w.do(tag, "GET", key(i))
			require.NoError(t, err)
			require.Equal(t, "v", v.Text(), "%s of %v", key(i), moved)
		}
		w.close()
	}
}

// shrink gives the new master's slots to the others and takes it and its replica out.
func (s *scene) shrink(t *testing.T) {
	s.run(t, "rebalance", s.at, "--cluster-weight", s.master.ID+"=0")
	require.NoError(t, s.WaitView("empty", func(v testserver.View) bool {
		mine := v.Find(s.master.ID).Slots
		return mine.Empty()
	}, s.Nodes...))
	s.whole(t)
	s.run(t, "del-node", s.at, s.slave.ID)
	s.run(t, "del-node", s.at, s.master.ID)
	require.NoError(t, s.WaitView("smaller", func(v testserver.View) bool {
		return len(v) == 6 && v.Find(s.master.ID) == nil && v.Find(s.slave.ID) == nil
	}, s.Nodes[:6]...))
	s.whole(t)
	for _, n := range []*testserver.Node{s.master, s.slave} { // they are alone again
		require.NoError(t, s.WaitView("alone", func(v testserver.View) bool {
			return len(v) == 1 && v[0].Has("master") && v[0].Slots.Empty()
		}, n))
	}
}

// TestCreateNeedsEmpty has a tool refuse to create a cluster of nodes that know others already.
func TestCreateNeedsEmpty(t *testing.T) {
	takesLong(t)
	each(t, func(t *testing.T, k testserver.Kind) {
		l := tools(t)[0]
		out, err := l.try(t, append([]string{"create"}, common(t, k).Addrs()...)...)
		require.Error(t, err)
		require.Contains(t, out, "is not empty. Either the node already knows other nodes")
	})
}
