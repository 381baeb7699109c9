package quicklist

// NodeInfo describes one node, for DEBUG and for files: its uncompressed bytes, its elements,
// whether it holds one huge element, and whether it is compressed.
type NodeInfo struct {
	Size, Count       int
	Plain, Compressed bool
}

// EachNode calls f for each node, from the head on.
func (q *List) EachNode(f func(n NodeInfo)) {
	for r := q.head; r != 0; {
		n := q.load(r)
		f(NodeInfo{Size: n.size, Count: n.count, Plain: n.kind == plain,
			Compressed: n.kind == compressed})
		r = n.next
	}
}
