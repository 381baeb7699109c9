package sim

import (
	"cmp"
	"slices"

	"godwit/internal/cluster/topology"
)

// link is a replica's connection to its master. Its handshake has told the master's term, and where
// that began; what comes later does not tell it again.
type link struct {
	conn  uint64 // 0: there is none
	to    topology.NodeID
	term  uint64
	begin int
}

// pull is a replica's request to its master, an acknowledgement at the same time. Without a
// connection it is a handshake.
type pull struct {
	from  topology.NodeID
	life  int
	conn  uint64
	shard topology.ShardID
	term  uint64
	whole bool
	n     int
	uid   uint32
}

// chunk is the master's answer.
type chunk struct {
	hello  link // to a handshake
	broken bool // there is no such connection any more
	from   int  // where it begins
	uid    uint32
	part   []entry
	full   bool // the replica must begin anew
}

// pull asks the master for more.
func (s *server) pull(sh *topology.Shard) {
	h := s.h
	to := h.w.net.find(sh.Last, topology.Address{})
	if to == nil || to == h || s.lags {
		return
	}
	if s.link.to != sh.Last {
		s.link = link{}
	}
	n, uid := s.data.last()
	p := pull{h.id, h.life, s.link.conn, sh.ID, sh.Term, s.whole, n, uid}
	h.w.net.send(h, to, func() { to.run(func() { to.server.serve(h, p) }) })
}

// serve answers a replica.
func (s *server) serve(to *host, p pull) {
	sh := s.source()
	if sh == nil || sh.ID != p.shard || !slices.Contains(s.state.Members(sh.ID), p.from) {
		return
	}
	var c chunk
	switch {
	case p.conn == 0 && p.term > sh.Term:
		return // it knows a later master
	case p.conn == 0:
		c.hello = s.connect(sh, p.from)
	case s.conns[p.from] != p.conn:
		c.broken = true
	default:
		var ok bool
		if c, ok = s.feed(sh, p); !ok {
			return
		}
	}
	s.h.w.net.send(s.h, to, func() { to.run(func() { to.server.take(s.h.id, p, c) }) })
}

// connect opens a connection to a replica, in the place of the one that it had.
func (s *server) connect(sh *topology.Shard, from topology.NodeID) link {
	if s.conns == nil {
		s.conns = map[topology.NodeID]uint64{}
	}
	s.h.w.conns++
	s.conns[from] = s.h.w.conns
	return link{s.h.w.conns, s.h.id, sh.Term, s.begin}
}

// feed returns what the replica gets. It returns false if that must wait.
func (s *server) feed(sh *topology.Shard, p pull) (c chunk, ok bool) {
	switch {
	case p.whole && s.data.extends(p.n, p.uid):
		if a := s.acks[p.from]; a.life < p.life || a.life == p.life && a.n <= p.n {
			s.acks[p.from] = ack{p.n, s.h.w.now, p.life}
		}
		s.confirm()
		c.from, c.uid = p.n, p.uid
		c.part = slices.Clone(s.data.log[p.n:min(len(s.data.log), p.n+50)])
	case sh.Before != nil: // what the replica has may be what counts
		return c, false
	default:
		delete(s.acks, p.from)
		c.full, c.part = true, slices.Clone(s.data.log)
	}
	return c, true
}

// source returns the shard whose replicas the server feeds: that of which it is the master, or was
// the last one.
func (s *server) source() *topology.Shard {
	if s.state == nil || s.h.node == nil {
		return nil
	}
	sh := s.state.ShardOf(s.h.id)
	if sh == nil || sh.Last != s.h.id || s.data.shard != sh.ID || s.data.term != sh.Term ||
		!s.whole || sh.Boot != s.h.boot {
		return nil
	}
	return sh
}

// take applies what the master has sent.
func (s *server) take(from topology.NodeID, p pull, c chunk) {
	if s.state == nil || s.term > 0 || p.life != s.h.life {
		return
	}
	sh := s.state.ShardOf(s.h.id)
	if sh == nil || sh.ID != p.shard || sh.Last != from || p.conn != s.link.conn {
		return
	}
	switch {
	case c.broken:
		s.link = link{}
		return
	case p.conn == 0:
		s.link = c.hello
		return
	}
	s.linked = s.h.w.now
	switch {
	case !c.full:
		if n, uid := s.data.last(); n != c.from || uid != c.uid {
			return
		}
		s.data.log = append(s.data.log, c.part...)
		if s.data.shard != sh.ID {
			s.data.shard, s.data.term = sh.ID, 0
		}
	case s.whole:
		s.whole = false // the old data is gone, the new one comes
		s.data = data{shard: sh.ID}
		return
	case s.h.w.chance(0.3):
		s.whole = true
		s.data = data{shard: sh.ID, log: c.part}
	default:
		return
	}
	if len(s.data.log) >= s.link.begin {
		s.data.term = s.link.term
	}
}

// sortedKeys returns the keys of a map in ascending order.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	list := make([]K, 0, len(m))
	for k := range m {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}

// nameAll returns short names.
func (w *World) nameAll(list []topology.NodeID) (names []string) {
	for _, id := range list {
		names = append(names, w.name(id))
	}
	return names
}
