package bus

import (
	"errors"
	"fmt"
	"time"
)

// Copies of a node's files
//
// Two processes with one node's id and secret must not both take part: each votes, and neither
// knows how the other has. So as long as this side has a link to or from one process of a node, it
// refuses another one. Visits that it pays are no such links: they ask who is there. Nor is one let
// in whose files are older than the node is known to be. They were put back from a copy, without
// what the node has promised since.
//
// A link may look open for a while after its process has ended: nobody has told when power or the
// network fails. The node's next process waits for that, and the log says that there are two when
// it lasts.

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
	if !b.lasts(h.node) {
		return errFormer
	}
	return fmt.Errorf("another process uses the id of node %s, linked at %s: one of them runs on "+
		"a copy of the other's files. Stop that", h.node, at)
}

// errFormer refuses a process while the one before it may have ended without a word.
var errFormer = errors.New("a link to the node's former process is still open")

// twinParts is for how many node timeouts a link may look open after the process at its other end
// has gone without a word: keepalive (tune) takes no longer.
const twinParts = 2

// twinSeen says since when and until when a node has had two processes.
type twinSeen struct{ first, last time.Time }

// lasts reports whether a node that has two processes now has had them for long. The bus is locked.
func (b *Bus) lasts(node string) bool {
	now, long := time.Now(), twinParts*b.nodeTimeout()
	seen, ok := b.twins[node]
	if !ok || now.Sub(seen.last) >= long {
		seen.first = now
	}
	seen.last = now
	b.twins[node] = seen
	return now.Sub(seen.first) >= long
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
