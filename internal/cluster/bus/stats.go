package bus

import (
	"sync/atomic"
	"time"
)

// counters count since the start.
type counters struct {
	sent, received         [256]atomic.Uint64 // messages by kind
	bytesOut, bytesIn      atomic.Uint64
	dropped, full, refused atomic.Uint64
}

// Stats are what a bus has done since it was made.
type Stats struct {
	Sent, Received    map[Kind]uint64 // messages
	BytesOut, BytesIn uint64          // as written to and read from sockets, without challenges
	Dropped           uint64          // messages that found no peer's link or no room
	Full              uint64          // those of them that found no room
	Refused           uint64          // connections
}

// Stats returns the counters.
func (b *Bus) Stats() Stats {
	s := Stats{Sent: map[Kind]uint64{}, Received: map[Kind]uint64{},
		BytesOut: b.stats.bytesOut.Load(), BytesIn: b.stats.bytesIn.Load(),
		Dropped: b.stats.dropped.Load(), Full: b.stats.full.Load(),
		Refused: b.stats.refused.Load()}
	for k := range b.stats.sent {
		if n := b.stats.sent[k].Load(); n > 0 {
			s.Sent[Kind(k)] = n
		}
		if n := b.stats.received[k].Load(); n > 0 {
			s.Received[Kind(k)] = n
		}
	}
	return s
}

// Link describes an open link.
type Link struct {
	Node     string
	Outgoing bool
	Addr     string
	Created  time.Time
	// Allocated and Queued are the bytes that wait to be sent, with and without what is set aside
	// for them.
	Allocated, Queued int64
	Bytes             uint64 // sent on an outgoing link, received on an incoming one
	Heard             int64  // unix ns of the last message that came on it, 0: none has
}

// Links returns the open links, in no order.
func (b *Bus) Links() (list []Link) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for node, p := range b.peers {
		if l, ok := p.link(); ok {
			l.Node = node
			list = append(list, l)
		}
	}
	for who, in := range b.incoming {
		list = append(list, Link{Node: who.node, Addr: in.peer.Addr, Created: in.created,
			Bytes: in.bytes.Load(), Heard: in.heard.Load()})
	}
	return list
}
