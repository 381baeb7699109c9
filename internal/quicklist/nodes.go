package quicklist

// Payload is what a node holds, in the form that files keep.
type Payload struct {
	// B is a listpack, the bytes of one element (Plain), or LZF data (Compressed). It is valid
	// until the list changes.
	B     []byte
	Size  int // bytes, uncompressed
	Plain bool

	Compressed bool
}

// EachPayload calls f for the payload of each node, from the head on. f must not change the list.
func (q *List) EachPayload(f func(p Payload)) {
	for r := q.head; r != 0; {
		n := q.load(r)
		p := Payload{B: n.payload(), Size: n.size, Plain: n.kind == plain,
			Compressed: n.kind == compressed}
		if p.Compressed {
			p.B = p.B[lzfHead:]
		}
		f(p)
		r = n.next
	}
}
