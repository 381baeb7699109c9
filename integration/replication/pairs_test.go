// Package replication tests Godwit as a master and as a replica of itself, of Redis and of Valkey.
// Links are cut, servers are stopped and started, and in the end all have the same data.
//
// Each test takes the kinds of its servers as parameters. So the tests themselves can be tested
// without Godwit:
//
//	go test ./integration/replication -pairs redis8:redis8,valkey9:valkey9
package replication

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/testserver"
)

const (
	godwit  = testserver.Godwit
	redis7  = testserver.Redis7
	redis8  = testserver.Redis8
	valkey9 = testserver.Valkey9
)

var (
	pairList = flag.String("pairs", "",
		"the pairs to test, as master:replica,…; empty: every test's own")
	cuts = flag.Int("cuts", 0, "how often to cut each pair's link; 0: a few times")
)

// TestMain runs more tests at a time than there are cores: mostly they wait for servers that have
// lost their master, and look for it once a second.
func TestMain(m *testing.M) {
	flag.Parse()
	if set := flag.Lookup("test.parallel"); set.Value.String() == set.DefValue {
		_ = set.Value.Set("12")
	}
	os.Exit(testserver.Main(m))
}

// pair is a master with its replica. Where a test has more servers, replicas of the replica are of
// the master's kind.
type pair struct{ master, replica testserver.Kind }

func (p pair) String() string { return string(p.master) + "-" + string(p.replica) }

// ours returns every pair with Godwit in it.
func ours() (all []pair) {
	for _, master := range testserver.Kinds() {
		for _, replica := range testserver.Kinds() {
			if master == godwit || replica == godwit {
				all = append(all, pair{master, replica})
			}
		}
	}
	return all
}

// forPairs runs a test for each pair at the same time, or for those that the command line names.
func forPairs(t *testing.T, pairs []pair, test func(t *testing.T, p pair)) {
	t.Helper()
	t.Parallel()
	if *pairList != "" {
		pairs = nil
		for word := range strings.SplitSeq(*pairList, ",") {
			master, replica, _ := strings.Cut(word, ":")
			pairs = append(pairs, pair{testserver.Kind(master), testserver.Kind(replica)})
		}
	}
	for _, p := range pairs {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			test(t, p)
		})
	}
}

// bigBacklog keeps everything that these tests write.
var bigBacklog = []string{"--repl-backlog-size", "256mb"}

// start starts the two servers of a pair with the same arguments.
func (p pair) start(t *testing.T, args ...string) (master, replica *testserver.Server) {
	t.Helper()
	return p.run(t, p.master, args...), p.run(t, p.replica, args...)
}

// run starts a server of a kind that is one of the pair's. Beside Redis 7.0, Godwit must not send
// what that cannot read.
func (p pair) run(t *testing.T, k testserver.Kind, args ...string) *testserver.Server {
	t.Helper()
	if k == godwit && (p.master == redis7 || p.replica == redis7) {
		args = append([]string{"--rdb-version", "10"}, args...)
	}
	return k.Run(t, args...)
}

// link makes the replica one of the server at the address, and waits until it is.
func link(t *testing.T, replica *testserver.Server, addr string) {
	t.Helper()
	require.NoError(t, replica.FollowAddr(addr))
	require.NoError(t, replica.WaitLink())
}

// stat returns a counter of INFO stats.
func stat(t *testing.T, s *testserver.Server, name string) int64 {
	t.Helper()
	n, err := s.InfoInt("stats", name)
	require.NoError(t, err)
	return n
}

// do sends a command that must succeed.
func do(t *testing.T, s *testserver.Server, args ...any) string {
	t.Helper()
	v, err := s.Do(args...)
	require.NoError(t, err)
	require.False(t, v.IsError(), "%v: %s", args, v.Text())
	return v.Text()
}
