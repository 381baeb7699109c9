package server

import (
	"fmt"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/config"
	"godwit/internal/engine"
	"godwit/internal/testserver"
)

func TestCheckCluster(t *testing.T) {
	for text, want := range map[string]string{
		"bind 127.0.0.1 -::1":                    "",
		"bind 127.0.0.1 *":                       "A node of a cluster needs a cluster-secret",
		"bind localhost":                         "",
		"cluster-secret s":                       "",
		"tls-cluster yes\nport 0\ntls-port 7000": "",
		"tls-cluster yes\nport 0\ntls-port 7000\ntls-auth-clients no":  "through *. It may be",
		"port 60000\ncluster-secret s":                                 "port number too high",
		"port 60000\ncluster-port 1\ncluster-secret s":                 "",
		"cluster-secret s\nbind \"\"":                                  "No bind address",
		"tls-cluster yes\nport 1\ntls-port 60000":                      "port number too high",
		"cluster-announce-bus-port 60000\nbind 127.0.0.1\ntls-port 60": "",
	} {
		c, err := config.Parse("test", "cluster-enabled yes\n"+text)
		require.NoError(t, err, "%s", text)
		err = checkCluster(c)
		if want == "" {
			require.NoError(t, err, "%s", text)
			continue
		}
		require.ErrorContains(t, err, want, "%s", text)
	}
}

// nodeRig starts a server that is a node of a cluster.
func nodeRig(t *testing.T, conf string) (*Server, *engine.Engine, int) {
	t.Helper()
	port, err := testserver.ClusterPort() // and the one for the bus
	require.NoError(t, err)
	e, logged := newEngine(t, fmt.Sprintf("cluster-enabled yes\nport %d\n"+
		"bind 127.0.0.1\ncluster-node-timeout 500\ncluster-config-file %s\n%s", port,
		filepath.Join(t.TempDir(), "nodes.conf"), conf))
	s, err := New(e, Options{})
	require.NoError(t, err)
	require.NoError(t, s.OpenCluster())
	require.NoError(t, s.Listen())
	done := make(chan error, 1)
	go func() { done <- s.Run() }()
	e.Enter()
	s.Running()
	e.Leave()
	t.Cleanup(func() {
		_ = s.Shutdown(engine.ShutdownOptions{NoSave: true})
		require.NoError(t, <-done)
		if t.Failed() {
			t.Log(logged.String())
		}
	})
	return s, e, port + busOffset
}

// locked runs f with the executor held.
func locked[T any](e *engine.Engine, f func() T) T {
	e.Enter()
	defer e.Release()
	return f()
}

// TestClusterNode joins two servers and asks each what it knows of the other.
func TestClusterNode(t *testing.T) {
	_, a, _ := nodeRig(t, "")
	_, b, port := nodeRig(t, "cluster-announce-human-nodename bee\n")
	answer := make(chan string, 1)
	locked(a, func() bool {
		a.Cluster.Meet("127.0.0.1", 1, port, func(refusal string) { answer <- refusal })
		return true
	})
	require.Empty(t, <-answer)
	eventually := func(f func() bool) {
		t.Helper()
		require.Eventually(t, f, 20*time.Second, time.Millisecond)
	}
	self := locked(b, func() string { return string(b.Self().ID) })
	eventually(func() bool {
		return locked(a, func() bool {
			for _, n := range a.Topology().Nodes {
				if string(n.ID) == self && n.About.Name == "bee" {
					return n.About.IP == "127.0.0.1" && n.About.BusPort == port
				}
			}
			return false
		})
	})
	eventually(func() bool { return locked(b, func() bool { return b.Cluster.Hears() }) })
	eventually(func() bool {
		f := locked(b, func() engine.ClusterFacts { return b.Cluster.Facts() })
		return len(f.Raft.Voters)+len(f.Raft.Learners) == 2 && f.Sent["ping"] > 0 &&
			f.Received["raft"] > 0 && len(f.Links) >= 2
	})
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	require.NoError(t, err)
	conn.Close()
}
