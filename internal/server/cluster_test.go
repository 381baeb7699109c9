package server

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/cluster/topology"
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
		"bind 127.0.0.1\ncluster-node-timeout 2000\ncluster-config-file %s\n%s", port,
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
	return s, e, port + config.ClusterBusOffset
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
	require.Empty(t, meetNode(a, port))
	eventually := func(f func() bool) {
		t.Helper()
		require.Eventually(t, f, 20*time.Second, time.Millisecond)
	}
	self := locked(b, func() topology.NodeID { return b.Self().ID })
	eventually(func() bool {
		n := locked(a, func() *topology.Node { return a.Topology().Nodes[self] })
		return n != nil && n.About.Name == "bee" && n.About.IP == "127.0.0.1" &&
			n.About.BusPort == port
	})
	eventually(func() bool { return locked(b, func() bool { return b.Cluster.Hears() }) })
	eventually(func() bool {
		f := locked(b, func() engine.ClusterFacts { return b.Cluster.Facts() })
		return len(f.Raft.Voters) > 0 && f.Sent["ping"] > 0 &&
			f.Received["raft"] > 0 && len(f.Links) >= 2 &&
			f.Links[0].Heard >= f.Links[0].Created
	})
}

// TestClusterStaysClosed wants a running node to refuse what it would not have started with.
func TestClusterStaysClosed(t *testing.T) {
	t.Parallel()
	s, e, _ := nodeRig(t, "cluster-secret s\n")
	refused := func(change func(c *config.Config), name string) bool {
		return locked(e, func() bool {
			change(e.Cfg)
			_, err := s.reconfigure([]string{name})
			return err != nil
		})
	}
	open := func(c *config.Config) { c.Bind = []string{"*"} }
	require.False(t, refused(func(*config.Config) {}, "cluster-secret"))
	require.True(t, refused(func(c *config.Config) { open(c); c.Cluster.Secret = "" }, "bind"))
	require.True(t, refused(func(*config.Config) {}, "tls-auth-clients"))
}

// TestClusterNodeTimeout sets cluster-node-timeout on one node: the other one says so too.
func TestClusterNodeTimeout(t *testing.T) {
	t.Parallel()
	sa, a, _ := nodeRig(t, "")
	_, b, port := nodeRig(t, "cluster-node-timeout 7000\n")
	timeout := func(e *engine.Engine) int64 {
		return locked(e, func() int64 { return e.Cfg.Cluster.NodeTimeout })
	}
	require.Empty(t, meetNode(a, port))
	require.Eventually(t, func() bool { return timeout(b) == timeout(a) }, 20*time.Second,
		time.Millisecond)
	locked(a, func() bool {
		a.Cfg.Cluster.NodeTimeout = 6000
		sa.settleCluster()
		return true
	})
	require.Eventually(t, func() bool { return timeout(b) == 6000 }, 20*time.Second,
		time.Millisecond)
	require.EqualValues(t, 6000, timeout(a))
}

// meetNode joins a node with the one whose bus listens on the port. It returns the refusal.
func meetNode(e *engine.Engine, port int) string {
	answer := make(chan string, 1)
	locked(e, func() bool {
		e.Cluster.Meet("127.0.0.1", 1, port, func(refusal string) { answer <- refusal })
		return true
	})
	return <-answer
}

// TestClusterTLS joins two nodes over TLS, with certificates in place of a secret. A node without
// TLS is not let in, and neither is one whose certificate is from elsewhere.
func TestClusterTLS(t *testing.T) {
	t.Parallel()
	certs := func() string {
		dir := t.TempDir()
		certificates(t, dir)
		return fmt.Sprintf("tls-cluster yes\ntls-cert-file %[1]s/server.crt\n"+
			"tls-key-file %[1]s/server.key\ntls-ca-cert-file %[1]s/ca.crt\n", dir)
	}
	ours := certs()
	_, a, _ := nodeRig(t, ours)
	_, b, port := nodeRig(t, ours)
	require.Empty(t, meetNode(a, port))
	require.Eventually(t, func() bool { // the node has it, and brings it to its server
		return len(locked(b, func() *topology.State { return b.Topology() }).Nodes) == 2
	}, 20*time.Second, time.Millisecond)
	refusals := make(chan string, 2)
	for _, conf := range []string{"", certs()} {
		_, c, _ := nodeRig(t, conf+"cluster-node-timeout 500\n") // MEET tries for four of these
		go func() { refusals <- meetNode(c, port) }()
	}
	require.Contains(t, <-refusals, "ERR Cannot meet 127.0.0.1, bus port")
	require.Contains(t, <-refusals, "ERR Cannot meet 127.0.0.1, bus port")
}
