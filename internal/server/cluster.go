package server

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"godwit/internal/boottime"
	"godwit/internal/cluster"
	"godwit/internal/cluster/core"
	"godwit/internal/cluster/raftlog"
	"godwit/internal/cluster/topology"
	"godwit/internal/config"
	"godwit/internal/crash"
	"godwit/internal/engine"
)

// clustered is what joins the engine with the node of a cluster. All but the atomics belongs to the
// executor.
type clustered struct {
	file     *raftlog.Log     // open since the start, until leaveCluster
	node     *cluster.Runtime // nil before the data set is loaded, and without a cluster
	about    topology.About   // as the node has been told
	timeout  int64            // cluster-node-timeout, as the cluster has it or as it was proposed
	proposed int              // changes of it that nobody has decided yet
	cfg      atomic.Pointer[config.Config]
	outgoing atomic.Pointer[tls.Config] // of links that this node opens; nil: to be read
}

// busPort returns the port on which a node listens for others.
func busPort(c *config.Config) int {
	switch {
	case c.Cluster.Port != 0:
		return c.Cluster.Port
	case c.Cluster.TLS && c.TLSPort != 0 || c.Port == 0:
		return c.TLSPort + config.ClusterBusOffset
	}
	return c.Port + config.ClusterBusOffset
}

// checksPeers reports whether TLS makes sure that only nodes of the cluster get a link.
func checksPeers(c *config.Config) bool {
	return c.Cluster.TLS && c.TLSAuthClients == config.TLSAuthYes
}

// checkCluster returns why the configuration does not make a node of a cluster, in Redis's words
// where it has some.
func checkCluster(c *config.Config) error {
	if busPort(c) > 65535 {
		return errors.New("Redis port number too high. Cluster communication port is 10,000 port " +
			"numbers higher than your Redis port. Your Redis port number must be 55535 or less.")
	}
	if len(c.Bind) == 0 {
		return errors.New(
			"No bind address is configured, but it is required for the Cluster bus.")
	}
	if a := about(c); a.Refusal() != "" {
		return fmt.Errorf("What the node would announce of itself is not possible: %s",
			strings.TrimPrefix(a.Refusal(), "ERR "))
	}
	if c.Cluster.Secret != "" || checksPeers(c) {
		return nil
	}
	for _, b := range c.Bind {
		host := strings.TrimPrefix(b, "-")
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return fmt.Errorf("A node of a cluster needs a cluster-secret, the same on all nodes: "+
				"anybody could join through %s. It may be left out with tls-cluster yes and "+
				"tls-auth-clients yes, or if bind has loopback addresses only.", host)
		}
	}
	return nil
}

// recheckCluster returns why a node of a cluster cannot take over directives that have changed.
func (s *Server) recheckCluster(names []string) error {
	c, k := s.eng.Cfg, &s.cluster
	if k.node == nil {
		return nil
	}
	if c.Cluster.TLS != k.cfg.Load().Cluster.TLS {
		return &config.ApplyError{Name: "tls-cluster",
			Reason: "A node of a cluster changes it with a restart only"}
	}
	if err := checkCluster(c); err != nil {
		return &config.ApplyError{Name: names[0], Reason: err.Error()}
	}
	return nil
}

// OpenCluster opens the file with the state of the cluster, if the server is a node of one. It has
// logged the error that it returns: then the server must not start.
func (s *Server) OpenCluster() (err error) {
	c := s.eng.Cfg
	if !c.Cluster.Enabled {
		return nil
	}
	if err = checkCluster(c); err == nil {
		s.cluster.file, err = raftlog.Open(c.Cluster.File)
	}
	if err != nil {
		s.log.Warning("%s", err)
	}
	return err
}

// joinCluster starts the node, now that the data set is loaded. The executor must be held.
func (s *Server) joinCluster() (err error) {
	c, k := s.eng.Cfg, &s.cluster
	if !c.Cluster.Enabled || k.node != nil {
		return nil
	}
	if k.file == nil { // without cmd/server
		if k.file, err = raftlog.Open(c.Cluster.File); err != nil {
			return err
		}
	}
	cfg := *c
	k.cfg.Store(&cfg)
	k.about, k.timeout = about(c), c.Cluster.NodeTimeout
	k.node, err = cluster.Start(cluster.Options{Host: clusterHost{s}, Log: s.log, Storage: k.file,
		About: k.about, Timeout: time.Duration(k.timeout) * time.Millisecond, Now: boottime.Now,
		NewID: newNodeID, Dial: s.dialNode, Wrap: s.wrapNode(c), Verified: checksPeers(c),
		Secret: c.Cluster.Secret, QueueLimit: c.Cluster.LinkLimit,
		MessageLimit: messageLimit(c)})
	if err != nil {
		return err
	}
	s.eng.Cluster = clusterNode{s, k.node}
	k.node.InstallFirst()
	for _, l := range s.listeners {
		if l.kind == kindBus {
			s.serveBus(l)
		}
	}
	return nil
}

// serveBus accepts links of other nodes, once there is a node.
func (s *Server) serveBus(l *listener) {
	node := s.cluster.node
	if node == nil {
		return
	}
	s.serving.Go(func() {
		defer crash.Guard("accepting links of cluster nodes")()
		if err := node.Serve(l.ln); err != nil {
			s.log.Warning("Serving %s: %s", l.addr, err)
		}
	})
}

// settleCluster tells the node of directives that have changed.
func (s *Server) settleCluster() {
	c, k := s.eng.Cfg, &s.cluster
	if k.node == nil {
		return
	}
	cfg := *c
	k.cfg.Store(&cfg)
	k.outgoing.Store(nil)
	k.node.SetSecret(c.Cluster.Secret)
	k.node.SetVerified(checksPeers(c))
	k.node.SetLimits(c.Cluster.LinkLimit, messageLimit(c))
	if a := about(c); a != k.about {
		k.about = a
		k.node.SetAbout(a)
	}
	if c.Cluster.NodeTimeout != k.timeout {
		k.timeout = c.Cluster.NodeTimeout
		k.proposed++
		k.node.Propose(topology.Op{Do: topology.SetTimeout{Timeout: k.timeout}}, s.timeoutSet)
	}
}

// timeoutSet is told whether the cluster has taken a new cluster-node-timeout.
func (s *Server) timeoutSet(refusal string) {
	s.cluster.proposed--
	if refusal != "" {
		s.log.Warning("cluster-node-timeout stays what it is for the cluster: %s", refusal)
	}
	s.adoptTimeout()
}

// adoptTimeout makes the configuration say which cluster-node-timeout the cluster has.
func (s *Server) adoptTimeout() {
	k, own := &s.cluster, &s.eng.Cfg.Cluster.NodeTimeout
	t := s.eng.Topology()
	if k.proposed > 0 || t == nil || t.Timeout == 0 || t.Timeout == *own {
		return
	}
	s.log.Notice("cluster-node-timeout is %d, as all nodes have agreed", t.Timeout)
	*own, k.timeout = t.Timeout, t.Timeout
}

// resignCluster hands the leadership of the cluster to another node, before the server ends.
func (s *Server) resignCluster() {
	if s.cluster.node != nil {
		s.cluster.node.Resign()
	}
}

// leaveCluster stops the node. The executor must not be held.
func (s *Server) leaveCluster() {
	if s.cluster.node != nil {
		s.cluster.node.Close()
	}
	if s.cluster.file != nil {
		if err := s.cluster.file.Close(); err != nil {
			s.log.Warning("Closing the cluster configuration file: %s", err)
		}
	}
}

// dialNode opens a connection to another node. It runs beside the executor.
func (s *Server) dialNode(ctx context.Context, addr string) (net.Conn, error) {
	k := &s.cluster
	c := k.cfg.Load()
	return connectWith(ctx, engine.DialOptions{Addr: addr, TLS: c.Cluster.TLS,
		Source: c.BindSourceAddr}, func() (t *tls.Config, err error) {
		if t = k.outgoing.Load(); t == nil {
			if t, err = outgoingTLS(c); err == nil {
				k.outgoing.Store(t)
			}
		}
		return t, err
	})
}

// wrapNode returns what makes a TLS connection of one that another node has opened, nil without
// tls-cluster.
func (s *Server) wrapNode(c *config.Config) func(net.Conn) net.Conn {
	if !c.Cluster.TLS {
		return nil
	}
	return func(nc net.Conn) net.Conn { return tls.Server(nc, s.tls.Load()) }
}

// messageLimit returns how long a message of PUBLISH between nodes may be: a channel and a text.
func messageLimit(c *config.Config) int64 { return 2*int64(c.ProtoMaxBulkLen) + 1024 }

// about returns what the node tells of itself.
func about(c *config.Config) topology.About {
	k := &c.Cluster
	a := topology.About{Address: topology.Address{IP: k.AnnounceIP, Hostname: k.AnnounceHostname,
		Port: c.Port, TLSPort: c.TLSPort, BusPort: busPort(c)}, Name: k.AnnounceName,
		Zone: c.AvailabilityZone, Version: engine.Version, NoFailover: k.NoFailover,
		Barrier: k.MigrationBarrier, Settled: !k.ReplicasMove, Databases: k.Databases}
	a.Port = cmp.Or(k.AnnouncePort, a.Port)
	a.TLSPort = cmp.Or(k.AnnounceTLSPort, a.TLSPort)
	a.BusPort = cmp.Or(k.AnnounceBusPort, a.BusPort)
	return a
}

// newNodeID returns a new id for a node, a shard or a cluster.
func newNodeID() string {
	var b [20]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

// clusterHost implements cluster.Host for a server.
type clusterHost struct{ *Server }

// Between implements cluster.Host.
func (s clusterHost) Between(f func()) {
	s.eng.EnterBetween()
	defer s.eng.Release()
	f()
}

// Install implements cluster.Host.
func (s clusterHost) Install(t *topology.State, self topology.NodeID) {
	s.eng.InstallTopology(t, self)
	s.adoptTimeout()
}

// Local implements cluster.Host.
func (s clusterHost) Local() core.Local {
	r := s.eng.ClusterReport()
	return core.Local{Role: r.Role, Shard: r.Shard, Term: r.Term, Offset: uint64(r.Offset),
		Whole: r.Whole, Linked: r.Linked, Ends: r.Ends}
}

// Deliver implements cluster.Host.
func (s clusterHost) Deliver(to cluster.Audience, channel, message []byte) {
	kind := engine.MessageToAll
	if to == cluster.Shard {
		kind = engine.MessageToShard
	}
	s.eng.DeliverMessage(kind, channel, message)
}
