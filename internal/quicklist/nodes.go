package quicklist

import (
	"slices"

	"godwit/internal/lzf"
)

// Payload is what a node holds, in the form that files keep. It is valid until the list changes. A
// payload that a Frozen hands out is valid until anything changes.
type Payload struct {
	B          []byte // a listpack, the one element of a Plain node, or LZF data
	Size       int    // bytes, uncompressed
	Count      int    // elements
	Plain, LZF bool
}

// Unpacked returns the uncompressed payload. It uses buf if it must decompress.
func (n *Payload) Unpacked(buf []byte) []byte {
	if !n.LZF {
		return n.B
	}
	buf = slices.Grow(buf[:0], n.Size)[:n.Size]
	if err := lzf.Decompress(buf, n.B); err != nil {
		panic("quicklist: a node does not decompress") // we compressed it ourselves
	}
	return buf
}

// EachPayload calls f for the payload of each node, from the head on, until f returns false. f must
// not change the list.
func (q *List) EachPayload(f func(p *Payload) bool) {
	var p Payload
	for r := q.head; r != 0; {
		n := q.load(r)
		p = Payload{B: n.payload(), Size: n.size, Count: n.count, Plain: n.kind == plain,
			LZF: n.kind == compressed}
		if p.LZF {
			p.B = p.B[lzfHead:]
		}
		if !f(&p) {
			return
		}
		r = n.next
	}
}
