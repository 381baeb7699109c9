package engine

import (
	"net"
	"net/netip"
	"strconv"
	"strings"

	"godwit/internal/cluster/topology"
	"godwit/internal/config"
	"godwit/internal/pubsub"
)

// # Sentinel
//
// Each node answers what clients ask a Sentinel, and each plays one. A shard that has slots is a
// master with its replicas. It is called what cluster-sentinel-master-name says if it is the only
// one, because its node then takes all keys, else that with the shard's id behind it.
//
// Messages are made here, out of two topologies. So every node has them for its subscribers, and
// none goes over the bus.

// NamedMaster is a shard under its name for clients of Sentinel. It has a head.
type NamedMaster struct {
	*topology.Part
	Name string
}

// Masters returns the shards that have slots and a master, or a last one.
func (e *Engine) Masters() (list []NamedMaster) {
	if e.cluster.self == nil {
		return nil
	}
	shards := 0
	for _, p := range e.cluster.view.Parts {
		if p.Slots.Empty() {
			continue
		}
		shards++
		if p.Head != nil {
			list = append(list, NamedMaster{p, e.Cfg.Cluster.MasterName})
		}
	}
	if shards > 1 {
		for i := range list {
			list[i].Name += "-" + string(list[i].ID)
		}
	}
	return list
}

// MasterNamed returns the shard with the name, and false if there is none.
func (e *Engine) MasterNamed(name string) (m NamedMaster, found bool) {
	for _, m := range e.Masters() {
		if m.Name == name {
			return m, true
		}
	}
	return NamedMaster{}, false
}

// HearsMajority reports whether this node hears of a majority of the voters. What it knows of the
// others may be old if it does not.
func (e *Engine) HearsMajority() bool { return e.cluster.self != nil && !e.cluster.cut }

// Voters returns how many voters there are, and how many of these have not failed as far as this
// node knows.
func (e *Engine) Voters() (all, alive int) {
	if e.cluster.self == nil {
		return 0, 0
	}
	voters := e.ClusterFacts().Raft.Voters
	for _, id := range voters {
		n := e.cluster.state.Nodes[id]
		if n != nil && !n.Failed && (n == e.cluster.self || e.HearsMajority()) {
			alive++
		}
	}
	return len(voters), alive
}

// SentinelAddress returns where the client reaches a node. A node that does not know its own
// address is reached where this client has reached it.
func (e *Engine) SentinelAddress(n *topology.Node, cl *Client) (host string, port int) {
	at := e.endpointOf(n, cl.TLS)
	if at.host == "" && n == e.cluster.self {
		if own, err := netip.ParseAddrPort(cl.LAddr); err == nil { // else it is a unix socket
			at.host = own.Addr().String()
		}
	}
	return at.host, at.port
}

// endpointOf returns where clients with or without TLS reach a node. If it has no port of their
// kind, that is its other one.
func (e *Engine) endpointOf(n *topology.Node, tls bool) endpoint {
	a := &n.About.Address
	at := endpoint{a.IP, a.Port}
	if tls && a.TLSPort != 0 || a.Port == 0 {
		at.port = a.TLSPort
	}
	if a.Hostname != "" && (at.host == "" || e.Cfg.Cluster.Endpoint == config.EndpointHostname) {
		at.host = a.Hostname
	}
	return at
}

// FailedFor returns for how long a node has been marked as failed, in ms.
func (e *Engine) FailedFor(n *topology.Node) int64 {
	return e.Steady() - e.cluster.sentinel.seen[n.ID].failedAt
}

// RoleFor returns for how long a node has had its role, in ms, as far as this node knows.
func (e *Engine) RoleFor(n *topology.Node) int64 {
	return e.Steady() - e.cluster.sentinel.seen[n.ID].roleAt
}

// note notes since when nodes are what they are.
func (s *sentinel) note(v *topology.View, now int64) {
	next := make(map[topology.NodeID]seen, len(v.List))
	for _, n := range v.List {
		is, known := s.seen[n.ID]
		if role := v.RoleOf(n); !known || is.role != role {
			is.role, is.roleAt = role, now
		}
		switch {
		case !n.Failed:
			is.failedAt = 0
		case is.failedAt == 0:
			is.failedAt = now
		}
		next[n.ID] = is
	}
	s.seen = next
}

// tellMasters tells the subscribers what has changed since the topology old, as a Sentinel does.
// old is nil if there was none.
func (e *Engine) tellMasters(old *topology.View) {
	s, v := &e.cluster.sentinel, e.cluster.view
	s.note(v, max(e.Steady(), 1))
	if old == nil || old.Cluster != v.Cluster {
		old, s.told = nil, map[string]endpoint{}
	}
	s.forget(v, e.Cfg.Cluster.MasterName)
	nodes := e.changedNodes(old)
	for _, m := range e.Masters() {
		at := e.endpointOf(m.Head, e.Cfg.TLSReplication)
		was, known := s.told[m.Name]
		if known && m.Master == "" {
			at = was // there is no other yet
		}
		switched := known && was != at && at.host != ""
		if at.host != "" {
			s.told[m.Name] = at
		}
		if switched {
			e.tell("+switch-master", m.Name+" "+was.words()+" "+at.words())
		}
		if old != nil && e.hub.Subscribers() > 0 {
			e.tellMaster(old, m, switched)
			e.tellReplicas(old, m, switched)
			e.tellSentinels(old, m, nodes)
		}
	}
}

// forget forgets the names of shards that there are no more. The name of an only shard stays: it
// may have that again.
func (s *sentinel) forget(v *topology.View, only string) {
	for name := range s.told {
		id, of := strings.CutPrefix(name, only+"-")
		if of && v.Shards[topology.ShardID(id)] == nil {
			delete(s.told, name)
		}
	}
}

// changedNodes returns the nodes that have come since the topology old, have failed or are back.
func (e *Engine) changedNodes(old *topology.View) (list []*topology.Node) {
	if old == nil {
		return nil
	}
	for _, n := range e.cluster.view.List {
		if was := old.Nodes[n.ID]; was == nil || was.Failed != n.Failed {
			list = append(list, n)
		}
	}
	return list
}

// tellMaster tells that a master has failed or is back.
func (e *Engine) tellMaster(old *topology.View, m NamedMaster, switched bool) {
	was := old.Nodes[m.Head.ID]
	if was == nil || switched || was.Failed == m.Head.Failed {
		return
	}
	words := "master " + m.Name + " " + e.wordsOf(m.Head)
	if !m.Head.Failed {
		e.tell("-sdown", words)
		e.tell("-odown", words)
		return
	}
	all, alive := e.Voters()
	e.tell("+sdown", words)
	e.tell("+odown", words+" #quorum "+strconv.Itoa(alive)+"/"+strconv.Itoa(all/2+1))
}

// tellReplicas tells what has happened to the replicas of a shard. After a switch to another master
// all of them are told anew.
func (e *Engine) tellReplicas(old *topology.View, m NamedMaster, switched bool) {
	for _, n := range m.Replicas {
		was := old.Nodes[n.ID]
		fresh := switched || was == nil || was.Shard != n.Shard
		if !fresh && was.Failed == n.Failed {
			continue
		}
		at := e.endpointOf(n, e.Cfg.TLSReplication)
		words := "slave " + net.JoinHostPort(at.host, strconv.Itoa(at.port)) + " " + at.words() +
			" @ " + m.Name + " " + e.wordsOf(m.Head)
		if fresh {
			e.tell("+slave", words)
		}
		e.tellDown(words, !fresh && was.Failed, n.Failed)
	}
}

// tellSentinels tells what has happened to nodes as Sentinels of a master.
func (e *Engine) tellSentinels(old *topology.View, m NamedMaster, nodes []*topology.Node) {
	for _, n := range nodes {
		words := "sentinel " + string(n.ID) + " " + e.wordsOf(n) + " @ " + m.Name + " " +
			e.wordsOf(m.Head)
		was := old.Nodes[n.ID]
		if was == nil {
			e.tell("+sentinel", words)
		}
		e.tellDown(words, was != nil && was.Failed, n.Failed)
	}
}

// tellDown tells that a node has failed or is back.
func (e *Engine) tellDown(words string, was, is bool) {
	switch {
	case is && !was:
		e.tell("+sdown", words)
	case was && !is:
		e.tell("-sdown", words)
	}
}

// tell sends a message to the subscribers of this node.
func (e *Engine) tell(channel, message string) {
	e.Publish(pubsub.Channels, []byte(channel), []byte(message))
}

func (at endpoint) words() string { return at.host + " " + strconv.Itoa(at.port) }

// wordsOf returns address and port of a node as messages have them.
func (e *Engine) wordsOf(n *topology.Node) string {
	return e.endpointOf(n, e.Cfg.TLSReplication).words()
}

// leaveClients closes the connections of clients when this node stops to be a master: a Sentinel's
// clients then ask for the new one. Those who listen to Sentinel's messages stay.
func (e *Engine) leaveClients() {
	if !e.Cfg.Cluster.SentinelClients {
		return
	}
	listen := map[*Client]bool{}
	note := func(t *pubsub.Topic[*Client]) { t.Each(func(c *Client) { listen[c] = true }) }
	channel := []byte("+switch-master")
	if t := e.hub.Topic(pubsub.Channels, channel); t != nil {
		note(t)
	}
	e.hub.Match(channel, note)
	var gone []*Client
	e.Clients(func(c *Client) bool {
		if c.Origin == OriginConnection && !listen[c] &&
			(c.Class == ClassNormal || c.Class == ClassPubSub) {
			gone = append(gone, c)
		}
		return true
	})
	for _, c := range gone {
		e.Kill(c)
	}
}
