// Package cluster drives clusters of servers as their users do: with redis-cli, with clients of
// several languages, and with everything that goes wrong between machines. The same tests run with
// clusters of real Redis and Valkey servers, which shows that they ask for nothing but Redis
// Cluster's behaviour; what only Godwit promises is asked of Godwit alone.
//
//	go test ./integration/cluster -kinds redis8,valkey9,godwit -long
package cluster

import (
	"flag"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/stretchr/testify/require"

	"godwit/internal/testserver"
)

var (
	kindList = flag.String("kinds", "godwit", "kinds of servers, comma separated")
	long     = flag.Bool("long", false, "also the tests that take minutes")
	runs     = flag.Int("runs", 1, "how often chaos is made, and a master killed")
)

func TestMain(m *testing.M) {
	redis.SetLogger(&logging.VoidLogger{})
	code := m.Run()
	shared.close()
	testserver.RemoveBuilds()
	os.Exit(code)
}

// each runs a test with each kind of server.
func each(t *testing.T, test func(t *testing.T, k testserver.Kind)) {
	t.Parallel()
	inTurn(t, func(t *testing.T, k testserver.Kind) {
		t.Parallel()
		test(t, k)
	})
}

// inTurn does the same before all tests that run side by side.
func inTurn(t *testing.T, test func(t *testing.T, k testserver.Kind)) {
	for word := range strings.SplitSeq(*kindList, ",") {
		t.Run(word, func(t *testing.T) {
			testserver.Kind(word).Program(t) // or skip
			test(t, testserver.Kind(word))
		})
	}
}

// takesLong skips a test that has no place among those of every day.
func takesLong(t *testing.T) {
	t.Helper()
	if !*long {
		t.Skip("takes -long")
	}
}

// shared holds a cluster of three masters with a replica each, for each kind. Tests that only use a
// cluster share it: they neither end nodes nor change who is a master, and they leave slots with
// those who had them. Their keys have names of their own.
var shared clusters

type clusters struct {
	mu   sync.Mutex
	dirs []string
	made map[testserver.Kind]*testserver.Cluster
	errs map[testserver.Kind]error
}

// common returns the shared cluster of a kind.
func common(t *testing.T, k testserver.Kind) *testserver.Cluster {
	t.Helper()
	c, err := shared.get(k)
	require.NoError(t, err)
	return c
}

func (s *clusters) get(k testserver.Kind) (*testserver.Cluster, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.made[k]; c != nil || s.errs[k] != nil {
		return c, s.errs[k]
	}
	dir, err := os.MkdirTemp("", "gw")
	if err != nil {
		return nil, err
	}
	s.dirs = append(s.dirs, dir)
	timeout := 5 * time.Second // busy machines make no failover
	if k == testserver.Godwit {
		timeout *= 2 // and end no lease, which is half as long
	}
	c, err := testserver.StartCluster(dir, testserver.ClusterOptions{Kind: k, Masters: 3,
		Replicas: 1, Timeout: timeout})
	if s.made == nil {
		s.made = map[testserver.Kind]*testserver.Cluster{}
		s.errs = map[testserver.Kind]error{}
	}
	s.made[k], s.errs[k] = c, err
	return c, err
}

func (s *clusters) close() {
	for _, c := range s.made {
		c.Close()
	}
	for _, dir := range s.dirs {
		_ = os.RemoveAll(dir) // in the folder for temporary files
	}
}

// connect returns a go-redis client of a cluster, which the end of the test closes. change may be
// nil.
func connect(t *testing.T, c *testserver.Cluster,
	change func(o *redis.ClusterOptions)) *redis.ClusterClient {
	t.Helper()
	o := &redis.ClusterOptions{Addrs: c.Addrs(), DialTimeout: time.Second,
		ReadTimeout: testserver.Patience}
	if change != nil {
		change(o)
	}
	client := redis.NewClusterClient(o)
	t.Cleanup(func() { client.Close() })
	return client
}

// eventually waits until a condition holds.
func eventually(t *testing.T, ok func() bool, what string) {
	t.Helper()
	require.Eventually(t, ok, testserver.Patience, 2*time.Millisecond, what)
}
