package cluster

import (
	"encoding/binary"

	"godwit/internal/cluster/bus"
)

// Audience says to whom a message of pub/sub goes.
type Audience uint8

// The audiences of PUBLISH and SPUBLISH.
const (
	Everyone Audience = iota
	Shard
)

// Kinds of messages on the bus: those of core by their first byte, and those of pub/sub.
const (
	kindPublish      = bus.Bulk
	kindPublishShard = bus.Bulk + 1
)

// kindOf returns the kind on the bus of a frame of core's.
func kindOf(data []byte) bus.Kind {
	if len(data) == 0 || bus.Kind(data[0]) >= bus.Bulk-bus.FirstKind {
		return bus.FirstKind
	}
	return bus.FirstKind + bus.Kind(data[0])
}

// kindNames are the names of core's frames, in the order of its kinds.
var kindNames = []string{"other", "raft", "ping", "pong", "propose", "result", "failover", "who",
	"facts", "join", "joined", "welcome", "decline", "stranger"}

// KindName returns the name of a kind of message, as CLUSTER INFO shows it.
func KindName(k bus.Kind) string {
	switch {
	case k == kindPublish:
		return "publish"
	case k == kindPublishShard:
		return "publishshard"
	case int(k-bus.FirstKind) < len(kindNames):
		return kindNames[k-bus.FirstKind]
	}
	return kindNames[0]
}

// Stats are what has been sent and received since the start.
type Stats struct {
	Sent, Received map[string]uint64 // messages by name
	Bus            bus.Stats
}

// Stats returns the counters.
func (r *Runtime) Stats() Stats {
	s := Stats{Sent: map[string]uint64{}, Received: map[string]uint64{}, Bus: r.bus.Stats()}
	for k, n := range s.Bus.Sent {
		s.Sent[KindName(k)] += n
	}
	for k, n := range s.Bus.Received {
		s.Received[KindName(k)] += n
	}
	return s
}

// Broadcast sends a message of pub/sub to the other nodes, or to those of this node's shard. The
// messages of one node arrive in order. Those that find no room in a queue are dropped.
func (r *Runtime) Broadcast(to Audience, channel, message []byte) {
	data := make([]byte, 0, binary.MaxVarintLen64+len(channel)+len(message))
	data = binary.AppendUvarint(data, uint64(len(channel)))
	data = append(append(data, channel...), message...)
	if to == Everyone {
		r.bus.Broadcast(kindPublish, data, nil)
		return
	}
	shard := *r.shard.Load()
	r.bus.Broadcast(kindPublishShard, data, func(node string) bool { return shard[node] })
}

// published is a message of another node's PUBLISH.
type published struct {
	to               Audience
	channel, message []byte
}

// bytes returns what the message counts for while it waits.
func (p *published) bytes() int { return len(p.channel) + len(p.message) + onePublished }

// decodePublished reads what Broadcast sends.
func decodePublished(kind bus.Kind, data []byte) (p published, ok bool) {
	size, n := binary.Uvarint(data)
	if n <= 0 || size > uint64(len(data)-n) || kind != kindPublish && kind != kindPublishShard {
		return p, false
	}
	p.to = Everyone
	if kind == kindPublishShard {
		p.to = Shard
	}
	p.channel, p.message = data[n:][:size], data[n:][size:]
	return p, true
}
