package cluster

import (
	"crypto/tls"
	"fmt"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
	"godwit/internal/testserver"
)

// secured is a cluster whose nodes talk TLS with each other, and with clients on a second port.
type secured struct {
	*testserver.Cluster
	ports []int // for TLS, by node
}

// startSecured starts a cluster of masters with two replicas each.
func startSecured(t *testing.T, k testserver.Kind, masters int) *secured {
	t.Helper()
	s := &secured{}
	for range 3 * masters {
		port, err := testserver.Port()
		require.NoError(t, err)
		s.ports = append(s.ports, port)
	}
	s.Cluster = testserver.RunCluster(t, testserver.ClusterOptions{Kind: k, Masters: masters,
		Replicas: 2, Args: append(testserver.Certificate(t), "--tls-cluster", "yes",
			"--tls-replication", "yes", "--tls-auth-clients", "optional"),
		Own: func(i int) []string { return []string{"--tls-port", strconv.Itoa(s.ports[i])} }})
	return s
}

// dial connects to the i-th node by TLS.
func (s *secured) dial(t *testing.T, i int) *client.Client {
	t.Helper()
	conn, err := tls.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(s.ports[i])),
		&tls.Config{InsecureSkipVerify: true})
	require.NoError(t, err)
	c := client.New(conn)
	c.Timeout = testserver.Patience
	t.Cleanup(func() { c.Close() })
	return c
}

// TestTLSFailover kills the master of a cluster that talks TLS.
func TestTLSFailover(t *testing.T) {
	takesLong(t)
	each(t, func(t *testing.T, k testserver.Kind) {
		if !promises(k) {
			t.Skip("it takes three masters to replace one")
		}
		s := startSecured(t, k, 1)
		old := s.Master(0)
		v, err := old.Do("CONFIG", "SET", "min-replicas-to-ack", 1)
		require.NoError(t, err)
		require.Equal(t, "OK", v.Text())
		acked := fill(t, old, "tls", 500)
		old.Kill()
		waitReplaced(t, s.Cluster, old)
		require.NoError(t, old.Revive())
		require.NoError(t, s.WaitReady())
		owner, err := s.Owner(old, 0)
		require.NoError(t, err)
		require.Empty(t, missing(t, owner, acked))
		require.NoError(t, owner.WaitSame(old.Server))
		info, err := old.Info("replication")
		require.NoError(t, err)
		for i, n := range s.Nodes { // it follows the port for TLS
			if n == owner {
				require.Equal(t, strconv.Itoa(s.ports[i]), info["master_port"])
			}
		}
	})
}

// TestTLSPorts asks for slots and for keys of others at both ports, with what nodes announce.
func TestTLSPorts(t *testing.T) {
	each(t, func(t *testing.T, k testserver.Kind) {
		takesLong(t)
		s := startSecured(t, k, 2)
		other, key := s.Master(1), "{"+tagOf(t, s.Cluster, 1)+"}"
		plain, secure := s.Master(0).Client(t), s.dial(t, 0)
		look := func(host string, port, tlsPort int) {
			t.Helper()
			for c, port := range map[*client.Client]int{plain: port, secure: tlsPort} {
				want := fmt.Sprintf("MOVED %d %s:%d", slotOf(key[1:len(key)-1]), host, port)
				eventually(t, func() bool { // until the node has heard of it
					v, err := c.Do("GET", key)
					return err == nil && v.Text() == want
				}, want)
				v, err := c.Do("CLUSTER", "SLOTS")
				require.NoError(t, err)
				var seen []string
				for _, r := range v.Elems {
					if e := r.Elems[2].Elems; e[2].Text() == other.ID {
						seen = append(seen, fmt.Sprint(e[0].Text(), ":", e[1].Int))
					}
				}
				require.Equal(t, []string{fmt.Sprint(host, ":", port)}, seen)
			}
		}
		set := func(n *testserver.Node, name string, value any) {
			t.Helper()
			v, err := n.Do("CONFIG", "SET", name, value)
			require.NoError(t, err)
			require.Equal(t, "OK", v.Text())
		}
		look("127.0.0.1", other.Port, s.ports[1])
		set(other, "cluster-announce-tls-port", 1235)
		set(other, "cluster-announce-port", 1234)
		look("127.0.0.1", 1234, 1235)
		set(other, "cluster-announce-hostname", "other.example")
		set(s.Master(0), "cluster-preferred-endpoint-type", "hostname")
		look("other.example", 1234, 1235)
		set(s.Master(0), "cluster-preferred-endpoint-type", "unknown-endpoint")
		look("", 1234, 1235)
		set(s.Master(0), "cluster-preferred-endpoint-type", "ip")
		set(other, "cluster-announce-port", 0)
		set(other, "cluster-announce-tls-port", 0)
		look("127.0.0.1", other.Port, s.ports[1])
	})
}

// TestTLSStrangers has nodes with another certificate, and without TLS, meet a cluster. They do not
// get in, and nobody is disturbed.
func TestTLSStrangers(t *testing.T) {
	each(t, func(t *testing.T, k testserver.Kind) {
		takesLong(t)
		s := startSecured(t, k, 1)
		for name, more := range map[string][]string{"plain": nil,
			"another certificate": append(testserver.Certificate(t), "--tls-cluster", "yes")} {
			stranger := testserver.RunCluster(t, testserver.ClusterOptions{Kind: k, Spares: 1,
				Args: more}).Nodes[0]
			pair := []*testserver.Node{s.Nodes[0], stranger}
			for i, n := range pair {
				v, err := n.Do("CLUSTER", "MEET", "127.0.0.1", pair[1-i].Port)
				require.NoError(t, err)
				t.Logf("%s: MEET: %s", name, v)
				require.True(t, v.IsError() || !promises(k), "%s: %s", name, v)
			}
			if promises(k) {
				reason := map[string]string{"plain": "it speaks TLS, and tls-cluster is no here",
					"another certificate": "certificate signed by unknown authority"}[name]
				require.NoError(t, stranger.WaitLog(reason))
			}
			time.Sleep(s.Options.Timeout)
			for _, n := range pair {
				v, err := n.View()
				require.NoError(t, err)
				known := 0
				for _, l := range v {
					if !l.Has("handshake") {
						known++
					}
				}
				require.Contains(t, []int{1, len(s.Nodes)}, known, "%s: %v", name, v)
			}
			require.NoError(t, s.WaitState("ok", s.Nodes...))
		}
	})
}
