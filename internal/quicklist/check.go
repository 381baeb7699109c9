package quicklist

import (
	"fmt"

	"godwit/internal/arena"
	"godwit/internal/listpack"
)

// Check walks the whole list and reports the first violation of an invariant.
func (q *List) Check() error {
	var nodes, count int
	var bytes int64
	var prev arena.Ref
	for r := q.head; r != 0; {
		n := q.load(r)
		if n.prev != prev {
			return fmt.Errorf("quicklist: node %d has a wrong link back", nodes)
		}
		if err := q.checkNode(&n, nodes); err != nil {
			return err
		}
		nodes++
		count += n.count
		bytes += int64(arena.ClassSize(headerSize) + arena.ClassSize(n.room))
		prev, r = r, n.next
	}
	if prev != q.tail || nodes != q.nodes || count != q.count || bytes != q.bytes {
		return fmt.Errorf(
			"quicklist: %d nodes, %d elements, %d bytes; counted %d, %d, %d, right tail: %t",
			nodes, count, bytes, q.nodes, q.count, q.bytes, prev == q.tail)
	}
	return nil
}

func (q *List) checkNode(n *node, i int) error {
	if n.off+n.used() > n.room || n.room&kindMask != 0 {
		return fmt.Errorf("quicklist: node %d: %d bytes at %d in a block of %d", i, n.used(), n.off,
			n.room)
	}
	outer := i < q.depth || q.nodes-1-i < q.depth
	if n.kind == compressed && (outer || q.depth == 0) {
		return fmt.Errorf("quicklist: node %d of %d is compressed at depth %d", i, q.nodes, q.depth)
	}
	if n.kind == plain {
		if n.count != 1 {
			return fmt.Errorf("quicklist: plain node %d of %d elements", i, n.count)
		}
		return nil
	}
	var buf []byte
	lp := n.read(&buf)
	if err := listpack.Validate(lp); err != nil {
		return fmt.Errorf("quicklist: node %d: %w", i, err)
	}
	if c := listpack.Count(lp); c != n.count || c == 0 {
		return fmt.Errorf("quicklist: node %d: %d elements, counted %d", i, c, n.count)
	}
	return nil
}
