package sim

import (
	"encoding/binary"
	"time"

	"go.etcd.io/raft/v3/raftpb"
	"godwit/internal/cluster/topology"
	"google.golang.org/protobuf/proto"
)

// network carries messages between machines. Each has its own delay, so they overtake each other.
type network struct {
	w        *World
	cut      [][]bool // messages from one machine to another are lost
	loss     float64
	double   float64
	min, max time.Duration // of delays
	slow     float64       // how often a message takes much longer
	deaf     int64         // until when heartbeats of raft are lost, and nothing else is
	sent     int           // messages
	bytes    map[*host]int // of their senders
}

func (n *network) init(w *World) {
	n.w, n.bytes = w, map[*host]int{}
	for range w.opt.Nodes {
		n.cut = append(n.cut, make([]bool, w.opt.Nodes))
	}
	n.good()
}

// good makes the network a healthy one.
func (n *network) good() {
	n.loss, n.double, n.slow, n.deaf = 0, 0, 0, 0
	n.min, n.max = 200*time.Microsecond, 2*time.Millisecond
	n.mend()
}

// bad makes it lose, double and delay.
func (n *network) bad() {
	w := n.w
	n.loss = w.rng.Float64() * 0.1
	n.double = w.rng.Float64() * 0.1
	n.slow = w.rng.Float64() * 0.05
	n.max = time.Duration(w.between(2*time.Millisecond, 60*time.Millisecond))
}

// mend ends all partitions.
func (n *network) mend() {
	for _, row := range n.cut {
		clear(row)
	}
}

// send carries a message: deliver runs when it is there, perhaps twice or never.
func (n *network) send(from, to *host, deliver func()) {
	w := n.w
	times := 1
	if w.chance(n.loss) {
		times = 0
	}
	if w.chance(n.double) {
		times++
	}
	for range times {
		d := w.between(n.min, n.max)
		if w.chance(n.slow) {
			d = w.between(n.max, Timeout)
		}
		if from == to {
			d = 1
		}
		w.after(d, func() {
			if !n.cut[from.index][to.index] {
				deliver()
			}
		})
	}
}

// find returns the machine with an id or at an address, nil if there is none.
func (n *network) find(id topology.NodeID, at topology.Address) *host {
	for _, h := range n.w.hosts {
		if id != "" && h.id == id || id == "" && h.about().Port == at.Port {
			return h
		}
	}
	if id != "" && at.Port != 0 {
		return n.find("", at)
	}
	return nil
}

// isHeartbeat reports whether a frame holds a heartbeat of raft, or an answer to one. They carry
// the rounds of ReadIndex too. core's frame.go says what a frame is.
func isHeartbeat(frame []byte) bool {
	const raft = 1 // the kind of frames with a message of raft
	if frame[0] != raft {
		return false
	}
	b := frame[1:]
	cluster, n := binary.Uvarint(b)
	b = b[n+int(cluster):]
	for range 3 { // from, to, length
		_, n = binary.Uvarint(b)
		b = b[n:]
	}
	m := new(raftpb.Message)
	if err := proto.Unmarshal(b, m); err != nil {
		return false
	}
	return m.GetType() == raftpb.MsgHeartbeat || m.GetType() == raftpb.MsgHeartbeatResp
}
