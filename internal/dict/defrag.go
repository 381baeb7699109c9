package dict

import (
	"godwit/internal/arena"
	"godwit/internal/scan"
)

// Defrag offers the blocks of one bucket index to be moved and returns the next cursor. 0 begins
// and ends a full walk, which guarantees what Scan's does. move is called for each entry and
// returns where it is from now on; it must not use the dict. The dict's own blocks go through
// arena.Move.
func (d *Dict) Defrag(cursor uint64, move func(r arena.Ref) arena.Ref) uint64 {
	if d.used == 0 {
		return 0
	}
	t0, t1 := &d.tab[0], &d.tab[1]
	mask := t0.mask
	switch {
	case t1.base == nil:
		d.defragChain(t0.at(cursor), move)
	case t0.mask < t1.mask:
		i := cursor & mask
		if i >= d.moved {
			d.defragChain(t0.at(i), move)
			break
		}
		for ; i <= t1.mask; i += mask + 1 {
			d.defragChain(t1.at(i), move)
		}
	default:
		mask = t1.mask
		i := cursor & mask
		d.defragChain(t1.at(i), move)
		for ; i <= t0.mask; i += mask + 1 {
			if i >= d.moved {
				d.defragChain(t0.at(i), move)
			}
		}
	}
	next := scan.NextCursor(cursor, mask)
	if next == 0 {
		for i := range d.tab {
			d.moveTable(&d.tab[i])
		}
	}
	return next
}

// defragChain is Defrag for the chain that starts at b.
func (d *Dict) defragChain(b *bucket, move func(r arena.Ref) arena.Ref) {
	for head := b; ; head = d.next(head) { // one pass first, so that the entries' misses overlap
		for i := range head.count() {
			d.PrefetchRef(head.ref(i))
		}
		if head[0]&hasLink == 0 {
			break
		}
	}
	for {
		for i := range b.count() {
			s := b.slot(i)
			b.setSlot(i, s&^refMask|move(arena.Unpack(s)).Pack())
		}
		if b[0]&hasLink == 0 {
			return
		}
		b.setLink(d.a.Move(b.link(), tailBytes(d.next(b)), arena.Tables))
		b = d.next(b)
	}
}

// moveTable offers a table of buckets to be moved.
func (d *Dict) moveTable(t *table) {
	if t.base == nil {
		return
	}
	t.ref = d.a.Move(t.ref, t.bytes(), arena.Tables)
	t.base = d.a.Pointer(t.ref)
}
