package sim

import (
	"time"

	"godwit/internal/cluster/topology"
)

// network carries messages between machines. Each has its own delay, so they overtake each other.
type network struct {
	w        *World
	cut      [][]bool // messages from one machine to another are lost
	loss     float64
	double   float64
	min, max time.Duration // of delays
	slow     float64       // how often a message takes much longer
	sent     int           // messages
	bytes    map[*host]int // of their senders
	mute     bool          // heartbeats of raft are lost
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
	n.loss, n.double, n.slow = 0, 0, 0
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

// send carries a message: deliver runs on the other machine, perhaps twice or never.
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
				to.inbox(deliver)
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
