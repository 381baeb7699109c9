package quicklist

import (
	"godwit/internal/arena"
	"godwit/internal/invariant"
)

// Frozen is a list as it was at one moment, emitted node by node while the list goes on changing.
//
// A walk goes from the head to the tail. Nodes with an epoch other than Shared.Epoch are those of
// the moment that are not emitted yet. A node gets the epoch when it is emitted, copied or created.
// What happens to an old node before the walk gets there:
//
//   - Its first change copies its payload, compressed if the user of the walk wants that. The walk
//     emits the copy in its place.
//   - Its removal leaves its payload (or its copy) waiting, with all that waits there already, to
//     be emitted before the node after it.
//
// So order needs no positions, only neighbours, and a node costs at most one copy. To bound the
// copies, whoever steps the walk should take more steps when Copied grows.
type Frozen struct {
	q      *List
	at     arena.Ref // the next node to look at; 0: all are passed
	left   int       // nodes not yet emitted
	copies map[arena.Ref]relic
	before map[arena.Ref][]relic // by the node that they stood before; 0: at the end
	bytes  int64                 // bytes of blocks that only the walk still needs
	kept   int64                 // the sum of all such bytes so far
	pack   bool                  // compress copies
	out    Payload
}

// packMax is the longest listpack in bytes that is compressed when it is copied, because the change
// waits for that.
const packMax = 64 << 10

// relic is the payload of a node that has changed or is gone. It owns its block.
type relic struct {
	ptr             arena.Ref
	off, size, room int
	count           int
	kind            kind
}

// Freeze starts to emit the list as it is now. No node may carry Shared.Epoch: it must have been
// raised just before the list is first changed or looked at. Close ends the walk.
func (q *List) Freeze() *Frozen {
	invariant.Check(q.frozen == nil, "quicklist: frozen twice")
	q.frozen = &Frozen{q: q, at: q.head, left: q.nodes}
	return q.frozen
}

// CompressCopies makes the walk compress its copies of nodes. They take less memory, and whoever
// writes them need not compress them, but the first change of each node takes longer.
func (f *Frozen) CompressCopies() { f.pack = true }

// Copied returns the memory in bytes that the walk holds beyond the list's own, and the sum of all
// that it has ever held.
func (f *Frozen) Copied() (now, ever int64) { return f.bytes, f.kept }

func (f *Frozen) hold(c relic) relic {
	f.bytes += int64(c.room)
	f.kept += int64(c.room)
	return c
}

// keep is called before a node's elements change.
func (q *List) keep(n *node) {
	if q.frozen == nil || n.epoch == q.s.Epoch {
		return
	}
	f := q.frozen
	if f.copies == nil {
		f.copies = map[arena.Ref]relic{}
	}
	f.copies[n.ref] = f.hold(f.copyOf(n))
	n.epoch = q.s.Epoch
	n.store()
}

func (f *Frozen) copyOf(n *node) relic {
	s := n.q.s
	c := relic{size: n.size, count: n.count, kind: n.kind}
	if f.pack && n.kind == packed && n.size <= packMax {
		if m := s.deflate(n.Bytes()); m > 0 {
			c.room, c.kind = lzfHead+m, compressed
			c.ptr = s.A.Alloc(c.room, arena.Values)
			s.putDeflated(c.ptr, m)
			return c
		}
	}
	c.room = n.used()
	c.ptr = s.A.Alloc(c.room, arena.Values)
	copy(s.A.Bytes(c.ptr, c.room), n.payload())
	return c
}

// removed is called before a node is unlinked. It may take the node's block.
func (f *Frozen) removed(n *node) {
	moved := f.before[n.ref]
	delete(f.before, n.ref)
	if c, ok := f.copies[n.ref]; ok {
		delete(f.copies, n.ref)
		moved = append(moved, c)
	} else if q := f.q; n.epoch != q.s.Epoch {
		moved = append(moved,
			f.hold(relic{ptr: n.ptr, off: n.off, size: n.size, room: n.room, count: n.count,
				kind: n.kind}))
		q.bytes -= int64(arena.ClassSize(n.room))
		n.ptr = 0
	}
	if f.at == n.ref {
		f.at = n.next
	}
	if len(moved) == 0 {
		return
	}
	if f.before == nil {
		f.before = map[arena.Ref][]relic{}
	}
	f.before[n.next] = append(moved, f.before[n.next]...)
}

// Step emits about n nodes and reports whether there are no more.
func (f *Frozen) Step(n int, emit func(n *Payload)) (done bool) {
	q := f.q
	for n > 0 {
		ref := f.at
		for len(f.before[ref]) > 0 && n > 0 {
			c := f.before[ref][0]
			f.before[ref] = f.before[ref][1:]
			f.giveRelic(c, emit)
			n--
		}
		if n <= 0 {
			return false
		}
		delete(f.before, ref)
		if ref == 0 {
			invariant.Check(f.left == 0, "quicklist: %d frozen nodes were not given out", f.left)
			return true
		}
		h := q.load(ref)
		f.at = h.next
		n--
		if c, ok := f.copies[ref]; ok {
			delete(f.copies, ref)
			f.giveRelic(c, emit)
		} else if h.epoch != q.s.Epoch {
			f.give(h.payload(), &relic{size: h.size, count: h.count, kind: h.kind}, emit)
			h.epoch = q.s.Epoch
			h.store()
		}
	}
	return false
}

func (f *Frozen) give(payload []byte, c *relic, emit func(n *Payload)) {
	f.out = Payload{B: payload, Size: c.size, Count: c.count, Plain: c.kind == plain,
		LZF: c.kind == compressed}
	if f.out.LZF {
		f.out.B = payload[lzfHead:]
	}
	f.left--
	emit(&f.out)
}

func (f *Frozen) giveRelic(c relic, emit func(n *Payload)) {
	n := node{q: f.q, ptr: c.ptr, off: c.off, size: c.size, room: c.room, kind: c.kind}
	f.give(n.payload(), &c, emit)
	f.drop(c)
}

func (f *Frozen) drop(c relic) {
	f.bytes -= int64(c.room)
	f.q.s.A.Free(c.ptr, c.room, arena.Values)
}

// Close ends the walk, complete or not.
func (f *Frozen) Close() {
	for _, c := range f.copies {
		f.drop(c)
	}
	for _, cs := range f.before {
		for _, c := range cs {
			f.drop(c)
		}
	}
	f.copies, f.before = nil, nil
	f.q.frozen = nil
}
