package core

import (
	"encoding/json"
	"math"

	"godwit/internal/cluster/topology"
	"godwit/internal/slot"
)

// Frames are what nodes send each other: one byte for the kind, the cluster that the sender is in,
// and the fields of the kind. Integers are varints, texts and bodies have their length in front.
//
//	raft        from, to (raft ids)  a message of raft, protobuf
//	ping        to the leader: what the node has installed and heard, its data, its clock
//	pong        the leader's answer, perhaps with a lease
//	propose     an entry for the leader's log
//	result      the leader's answer, if it refused the entry before it was in the log
//	failover    to the leader: the sender wants to be promoted, or another node to be
//	who         MEET: who are you?
//	facts       the answer
//	join        the sender wants to be admitted to the receiver's cluster
//	joined      the answer
//	welcome     from the leader to a node that was admitted: give up your log, join ours
//	decline     the answer of a node that does not want to join (any more)
//	stranger    the sender knows no member with the receiver's raft id: it was forgotten
//	leads       the answer to a ping of a member that does not know the leader: who it is, and where
type kind byte

const (
	kindRaft kind = iota + 1
	kindPing
	kindPong
	kindPropose
	kindResult
	kindFailover
	kindWho
	kindFacts
	kindJoin
	kindJoined
	kindWelcome
	kindDecline
	kindStranger
	kindLeads
)

// frame is a decoded frame: its kind says which type body has.
type frame struct {
	kind    kind
	cluster string
	body    body
}

// body is the part of a frame that depends on its kind.
type body interface {
	write(w *writer)
	read(r *reader)
}

// encode returns the bytes of a frame.
func (f frame) encode() []byte {
	var w writer
	w.b = append(w.b, byte(f.kind))
	w.text(f.cluster)
	f.body.write(&w)
	return w.b
}

// decode reads what encode writes. The body may share the bytes.
func decode(b []byte) (f frame, err error) {
	if len(b) == 0 {
		return f, errFrame
	}
	f.kind = kind(b[0])
	if f.body = newBody(f.kind); f.body == nil {
		return f, errFrame
	}
	r := reader{b: b[1:]}
	f.cluster = r.text()
	f.body.read(&r)
	return f, r.done()
}

func newBody(k kind) body {
	switch k {
	case kindRaft:
		return new(raftBody)
	case kindPing:
		return new(ping)
	case kindPong:
		return new(pong)
	case kindPropose:
		return new(proposeBody)
	case kindResult, kindJoined:
		return new(resultBody)
	case kindFailover:
		return new(failoverBody)
	case kindWho:
		return new(whoBody)
	case kindFacts:
		return new(factsBody)
	case kindJoin:
		return new(joinBody)
	case kindWelcome:
		return new(welcomeBody)
	case kindDecline, kindStranger:
		return new(raftIDBody)
	case kindLeads:
		return new(leadsBody)
	}
	return nil
}

// raftBody carries a message of raft.
type raftBody struct {
	from, to uint64
	data     []byte
}

func (b *raftBody) write(w *writer) { w.uint(b.from); w.uint(b.to); w.bytes(b.data) }
func (b *raftBody) read(r *reader)  { b.from, b.to, b.data = r.uint(), r.uint(), r.bytes() }

// ping is what a node tells the leader.
type ping struct {
	raft    uint64 // the sender
	boot    uint64 // of the sender's life
	at      Time   // by the sender's clock
	applied uint64 // the index of the state that the sender's server has installed
	wants   bool   // a lease
	term    uint64 // of the leader that the sender last heard, 0: it has heard none
	silence Time   // since then, by the sender's clock
	local   Local
	came    Time // by the receiver's clock; not in the frame
}

func (p *ping) write(w *writer) {
	w.uint(p.raft)
	w.uint(p.boot)
	w.int(p.at)
	w.uint(p.applied)
	w.flag(p.wants)
	w.uint(p.term)
	w.int(p.silence)
	w.flag(p.local.Role == topology.Master)
	w.text(string(p.local.Shard))
	w.uint(p.local.Term)
	w.uint(p.local.Offset)
	w.flag(p.local.Whole)
	w.flag(p.local.Linked)
	w.flag(p.local.Ends)
}

func (p *ping) read(r *reader) {
	p.raft, p.boot, p.at, p.applied, p.wants = r.uint(), r.uint(), r.int(), r.uint(), r.flag()
	p.term = r.uint()
	if p.silence = r.int(); p.silence < 0 {
		r.fail()
	}
	p.local.Role = topology.Replica
	if r.flag() {
		p.local.Role = topology.Master
	}
	p.local.Shard = topology.ShardID(r.text())
	p.local.Term, p.local.Offset = r.uint(), r.uint()
	p.local.Whole, p.local.Linked, p.local.Ends = r.flag(), r.flag(), r.flag()
}

// pong is the leader's answer.
type pong struct {
	to      uint64 // raft id
	boot    uint64 // of the ping
	at      Time   // of the ping
	granted bool   // a lease of that length, once index is installed
	length  int64  // ns
	index   uint64
}

func (p *pong) write(w *writer) {
	w.uint(p.to)
	w.uint(p.boot)
	w.int(p.at)
	w.flag(p.granted)
	w.int(p.length)
	w.uint(p.index)
}

func (p *pong) read(r *reader) {
	p.to, p.boot, p.at, p.granted, p.length = r.uint(), r.uint(), r.int(), r.flag(), r.int()
	p.index = r.uint()
}

// proposeBody carries an entry, encoded.
type proposeBody struct{ op []byte }

func (b *proposeBody) write(w *writer) { w.bytes(b.op) }
func (b *proposeBody) read(r *reader)  { b.op = r.bytes() }

// resultBody answers a request that its sender has numbered.
type resultBody struct {
	req     uint64
	refusal string
}

func (b *resultBody) write(w *writer) { w.uint(b.req); w.text(b.refusal) }
func (b *resultBody) read(r *reader)  { b.req, b.refusal = r.uint(), r.text() }

// failoverBody asks for a promotion.
type failoverBody struct {
	req   uint64
	mode  FailoverMode
	limit Time // how long it may take, ns
}

func (b *failoverBody) write(w *writer) {
	w.uint(b.req)
	w.uint(uint64(b.mode))
	w.int(b.limit)
}

func (b *failoverBody) read(r *reader) {
	b.req = r.uint()
	m := r.uint()
	if m > uint64(Keep) {
		r.fail()
	}
	b.mode = FailoverMode(m)
	if b.limit = r.int(); b.limit < 0 {
		r.fail()
	}
}

// whoBody asks a node who it is. Its sender may be about to admit it.
type whoBody struct{ req uint64 }

func (b *whoBody) write(w *writer) { w.uint(b.req) }
func (b *whoBody) read(r *reader)  { b.req = r.uint() }

// leadsBody says where the bus of the leader is, by the state of an index.
type leadsBody struct {
	index  uint64
	leader topology.NodeID
	ip     string
	port   uint64
}

func (b *leadsBody) write(w *writer) {
	w.uint(b.index)
	w.text(string(b.leader))
	w.text(b.ip)
	w.uint(b.port)
}

func (b *leadsBody) read(r *reader) {
	b.index, b.leader, b.ip, b.port = r.uint(), topology.NodeID(r.text()), r.text(), r.uint()
	if b.port > math.MaxUint16 {
		r.fail()
	}
}

// about is what a node says of itself when it joins or is met.
type about struct {
	node    topology.NodeID
	shard   topology.ShardID
	about   topology.About
	boot    uint64
	alone   bool // no other node is in its cluster
	slots   slot.Set
	epoch   uint64
	applied uint64
}

func (a *about) write(w *writer) {
	w.text(string(a.node))
	w.text(string(a.shard))
	text, _ := json.Marshal(a.about) // has only texts and numbers
	w.bytes(text)
	w.uint(a.boot)
	w.flag(a.alone)
	w.bytes([]byte(a.slots.String()))
	w.uint(a.epoch)
	w.uint(a.applied)
}

func (a *about) read(r *reader) {
	a.node, a.shard = topology.NodeID(r.text()), topology.ShardID(r.text())
	if text := r.bytes(); len(text) > maxText || unmarshal(text, &a.about) != nil {
		r.fail()
	}
	a.boot, a.alone = r.uint(), r.flag()
	var err error
	if a.slots, err = slot.Parse(string(r.bytes())); err != nil {
		r.fail()
	}
	a.epoch, a.applied = r.uint(), r.uint()
}

// factsBody answers whoBody.
type factsBody struct {
	req uint64
	about
}

func (b *factsBody) write(w *writer) { w.uint(b.req); b.about.write(w) }
func (b *factsBody) read(r *reader)  { b.req = r.uint(); b.about.read(r) }

// joinBody asks to be admitted.
type joinBody = factsBody

// welcomeBody tells a node its raft id in the cluster that has admitted it.
type welcomeBody struct {
	raft  uint64   // of the receiver
	slots slot.Set // that it owns there
	sends uint64   // the sender's raft id
}

func (b *welcomeBody) write(w *writer) {
	w.uint(b.raft)
	w.bytes([]byte(b.slots.String()))
	w.uint(b.sends)
}

func (b *welcomeBody) read(r *reader) {
	var err error
	b.raft = r.uint()
	if b.slots, err = slot.Parse(string(r.bytes())); err != nil {
		r.fail()
	}
	b.sends = r.uint()
}

// raftIDBody names a membership.
type raftIDBody struct{ raft uint64 }

func (b *raftIDBody) write(w *writer) { w.uint(b.raft) }
func (b *raftIDBody) read(r *reader)  { b.raft = r.uint() }
