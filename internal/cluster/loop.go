package cluster

import (
	"maps"
	"net"
	"strconv"
	"time"

	"godwit/internal/cluster/bus"
	"godwit/internal/cluster/core"
	"godwit/internal/cluster/topology"
)

// tickParts is how often within a node timeout core.Node sees the clock, at least.
const tickParts = 80

// run is the loop.
func (r *Runtime) run() {
	ticker := time.NewTicker(r.timeout / tickParts)
	defer ticker.Stop()
	for {
		select {
		case <-r.stop:
			r.node.Flush()
			return
		case <-ticker.C:
			r.node.Tick(r.o.Now())
			if r.node.Waits() {
				r.porter.refresh() // who has most decides who is the next master
			}
			r.checkMoved()
			r.watch()
		case m := <-r.inbox:
			r.take(m)
		case <-r.wake:
			r.obey()
		}
		r.settle()
		if d := r.nodeTimeout(); d != r.timeout {
			r.timeout = d
			r.porter.timeout.Store(int64(d))
			ticker.Reset(d / tickParts)
			r.bus.SetTimeout(d)
		}
	}
}

// receive takes a message from a link, on the link's goroutine.
func (r *Runtime) receive(from bus.Peer, kind bus.Kind, data []byte) {
	if kind >= bus.Bulk {
		r.porter.published(kind, data)
		return
	}
	select {
	case r.inbox <- received{from, data}:
	case <-r.stop:
	}
}

// unreached tells the node why there is no link to an address that it has asked for.
func (r *Runtime) unreached(addr, why string, certain bool) {
	if at, ok := addressOf(addr); ok {
		r.do(func(now int64) { r.node.Unreached(now, at, why, certain) })
	}
}

// take hands a message to the node. The clock is read for each message, behind its arrival: the one
// before it may have waited long for the disk, and core.Node.Receive must not be told a time from
// before the message was sent.
func (r *Runtime) take(m received) {
	now := r.o.Now()
	r.learn(now, m.from.Local)
	if m.from.Node == string(r.status.Load().Leader) {
		r.heard = now
	}
	if err := r.node.Receive(now, topology.NodeID(m.from.Node), m.data); err != nil {
		r.log.Verbose("Message of cluster node %s at %s: %s", m.from.Node, m.from.Addr, err)
		r.bus.Cut(m.from.Node)
	}
}

// obey runs commands.
func (r *Runtime) obey() {
	r.mu.Lock()
	list := r.commands
	r.commands = nil
	r.mu.Unlock()
	now := r.o.Now()
	for _, f := range list {
		f(now)
	}
}

// settle carries out what the node wants.
func (r *Runtime) settle() {
	o := r.node.Output()
	r.lease.Store(r.node.Lease())
	if o.State != nil {
		r.adopt(o.State)
	}
	if len(o.Moved) > 0 {
		r.move(o.Moved)
	}
	for _, m := range o.Messages {
		r.send(m)
	}
	if o.State != nil || len(o.Answers) > 0 {
		r.porter.bring(o.State, r.node.ID(), o.Answers)
	}
	if o.State != nil || r.status.Load() == nil {
		r.watch()
	}
}

// adopt prepares the links and the log for a new state.
func (r *Runtime) adopt(s *topology.State) {
	self := r.node.ID()
	shard := map[string]bool{}
	me := s.Nodes[self]
	for id, n := range s.Nodes {
		if id != self && me != nil && me.Shard == n.Shard {
			shard[string(id)] = true
		}
	}
	r.shard.Store(&shard)
	r.bus.SetSelf(string(self))
	r.connect(s)
	r.news.state(s, self)
}

// connect has the bus keep links to all other nodes of a state.
func (r *Runtime) connect(s *topology.State) {
	maps.DeleteFunc(r.moved, func(id topology.NodeID, m movedNode) bool {
		n := s.Nodes[id]
		return n == nil || busAddr(n.About.Address) != m.from
	})
	r.peers = map[string]string{}
	boots := map[string]uint64{}
	for id, n := range s.Nodes {
		boots[string(id)] = n.Boot
		addr := busAddr(n.About.Address)
		if m, ok := r.moved[id]; ok && !m.gone {
			addr = m.to
		}
		if id != r.node.ID() && addr != "" {
			r.peers[string(id)] = addr
		}
	}
	r.bus.SetBoots(boots)
	r.bus.SetPeers(r.peers)
}

// movedNode says where a member is reached whose address in the state is from.
type movedNode struct {
	from, to string
	linked   int64 // when there last was a link
	gone     bool  // it was not reached there
}

// doubtParts is how many node timeouts must pass until another member is believed again that says
// where a node is that was not reached there.
const doubtParts = 5

// move has the bus connect to members where CLUSTER MEET has found them, or other members say that
// they are. Those may say so again and again.
func (r *Runtime) move(list []core.Moved) {
	s, changed := r.node.State(), false
	for _, m := range list {
		n, to := s.Nodes[m.Node], busAddr(m.At)
		old := r.moved[m.Node]
		if n == nil || old.to == to && (m.Told || !old.gone) {
			continue
		}
		r.moved[m.Node] = movedNode{from: busAddr(n.About.Address), to: to, linked: r.o.Now()}
		r.log.Notice("Node %s has moved to %s", describe(n), to)
		changed = true
	}
	if changed {
		r.connect(s)
	}
}

// checkMoved goes back to the address that the state has for members that cannot be reached where
// move has looked for them. It was perhaps an alias, met while the link was down for a moment.
func (r *Runtime) checkMoved() {
	now, gone := r.o.Now(), false
	for id, m := range r.moved {
		switch away := now - m.linked; {
		case m.gone && away >= doubtParts*int64(r.timeout):
			delete(r.moved, id)
			continue
		case m.gone:
			continue
		case r.bus.Linked(string(id)) != "":
			m.linked = now
		case away >= int64(r.timeout):
			r.log.Notice("Node %.40s is not reached at %s", id, m.to)
			m.gone, gone = true, true
		}
		r.moved[id] = m
	}
	if gone {
		r.connect(r.node.State())
	}
}

// busAddr returns where a node listens for others, "" if that is not known.
func busAddr(a topology.Address) string {
	host := a.IP
	if host == "" {
		host = a.Hostname
	}
	if host == "" || a.BusPort == 0 {
		return ""
	}
	return net.JoinHostPort(host, strconv.Itoa(a.BusPort))
}

// addressOf returns the address that busAddr has made a text of. ok is false for "".
func addressOf(addr string) (at topology.Address, ok bool) {
	host, service, err := net.SplitHostPort(addr)
	port, err2 := strconv.Atoi(service)
	return topology.Address{IP: host, BusPort: port}, err == nil && err2 == nil
}

// send sends a message: to a peer over its link, to others over the link that they have opened, or
// to an address.
func (r *Runtime) send(m core.Message) {
	to, kind := string(m.To), kindOf(m.Data)
	if to != "" && (r.peers[to] != "" || r.bus.Has(to)) {
		r.bus.Send(to, kind, m.Data)
	} else if addr := busAddr(m.At); addr != "" {
		r.bus.Visit(addr, kind, m.Data)
	}
}

// watch notes where the node is, and what of that is news.
func (r *Runtime) watch() {
	s, now := r.node.Status(), r.o.Now()
	if old := r.status.Load(); old == nil || old.Leader != s.Leader {
		r.heard = now
	}
	hears := s.Role == "leader" || s.Role != "down" && s.Leader != "" &&
		now-r.heard < int64(r.timeout)
	r.hears.Store(hears)
	r.status.Store(&s)
	r.news.status(&s, hears, now, int64(r.timeout))
}

// nodeTimeout returns the timeout of the cluster that the node is in.
func (r *Runtime) nodeTimeout() time.Duration {
	if ms := r.node.State().Timeout; ms > 0 {
		return time.Duration(ms) * time.Millisecond
	}
	return r.o.Timeout
}
