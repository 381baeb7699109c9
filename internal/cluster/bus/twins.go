package bus

import (
	"fmt"
	"time"
)

// Copies of a node's files
//
// Two processes with one node's id and secret must not both take part: each votes, and neither
// knows how the other has. So of each node this side talks with one process only: as long as it has
// a link to or from that, another one is refused. Nor is one let in whose files are older than the
// node is known to be. They were put back from a copy, without what the node has promised since.

// SetBoots says how often other nodes have been started at least, by their ids.
func (b *Bus) SetBoots(boots map[string]uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.boots = boots
}

// hello returns what this side says of itself.
func (b *Bus) hello() *hello {
	return &hello{node: b.Self(), boot: b.o.Boot, process: b.process}
}

// twinGrace is how long a link to a process that has ended may look open.
const twinGrace = 100 * time.Millisecond

// awaitTwin waits for a moment while there is another process of the node, which has perhaps ended.
func (b *Bus) awaitTwin(h *hello) {
	for end := time.Now().Add(twinGrace); time.Now().Before(end); time.Sleep(twinGrace / 20) {
		b.mu.Lock()
		err := b.twin(h)
		b.mu.Unlock()
		if err == nil || b.ctx.Err() != nil {
			return
		}
	}
}

// twin returns why the other side must not be talked with as the node that it says it is, nil if
// it may. The bus is locked.
func (b *Bus) twin(h *hello) error {
	if known := b.boots[h.node]; h.boot < known {
		return fmt.Errorf("its files are older than node %s: they say that it was started %d "+
			"times, the cluster has seen %d. Forget the node, and add it anew", h.node, h.boot,
			known)
	}
	at := ""
	if p := b.peers[h.node]; p != nil {
		at = p.other(h.process)
	}
	for _, visit := range []bool{false, true} {
		if in := b.incoming[caller{h.node, visit}]; in != nil && in.process != h.process {
			at = in.peer.Addr
		}
	}
	if at == "" {
		return nil
	}
	return fmt.Errorf("another process uses the id of node %s, linked at %s: one of them runs on "+
		"a copy of the other's files. Stop that", h.node, at)
}

// other returns the address of the link if it is open to another process, else "".
func (p *peer) other(process uint64) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn == nil || p.process == process {
		return ""
	}
	return p.addr
}
