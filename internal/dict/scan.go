package dict

import (
	"godwit/internal/arena"
	"godwit/internal/scan"
)

// Scan calls emit for the entries of one bucket index and returns the next cursor. 0 begins and
// ends a full scan. While rehashing, the index is one of the smaller table, and the buckets of the
// larger one that correspond to it are included.
//
// An entry that is in the dict throughout a full scan is emitted at least once, whatever is
// inserted, deleted or resized between the calls. The reason is that the cursor counts in reversed
// bit order. So when a table of n buckets becomes one of 2n or n/2, no entry that is still to come
// moves to an index that the cursor has passed. An entry may be emitted more than once.
//
// emit may look up, insert into and delete from the dict. If it deletes an entry of the same bucket
// index before that entry's turn, the entry is still emitted. So it should delete only the one it
// was given.
func (d *Dict) Scan(cursor uint64, emit func(r arena.Ref)) uint64 {
	if d.used == 0 {
		return 0
	}
	// Collected first, because emit may delete, which moves entries about in their chain.
	var buf [64]arena.Ref
	refs, mask := d.collect(cursor, buf[:0])
	d.Pause++ // a step between two emits could move entries of the index past the cursor
	for _, r := range refs {
		emit(r)
	}
	d.Pause--
	d.shrinkIfSparse() // it could not run when emit deleted
	return scan.NextCursor(cursor, mask)
}

// collect appends the entries of the cursor's index and returns the mask that the cursor counts by.
func (d *Dict) collect(cursor uint64, refs []arena.Ref) ([]arena.Ref, uint64) {
	t0, t1 := &d.tab[0], &d.tab[1]
	switch {
	case t1.base == nil:
		return d.appendChain(refs, t0.at(cursor)), t0.mask
	case t0.mask < t1.mask:
		i := cursor & t0.mask
		if i >= d.moved {
			return d.appendChain(refs, t0.at(i)), t0.mask
		}
		for ; i <= t1.mask; i += t0.mask + 1 {
			refs = d.appendChain(refs, t1.at(i))
		}
		return refs, t0.mask
	}
	i := cursor & t1.mask
	refs = d.appendChain(refs, t1.at(i))
	for ; i <= t0.mask; i += t1.mask + 1 {
		if i >= d.moved {
			refs = d.appendChain(refs, t0.at(i))
		}
	}
	return refs, t1.mask
}

func (d *Dict) appendChain(refs []arena.Ref, b *bucket) []arena.Ref {
	for {
		for i := range b.count() {
			refs = append(refs, b.ref(i))
		}
		if b[0]&hasLink == 0 {
			return refs
		}
		b = d.next(b)
	}
}

// Drain removes entries bucket by bucket, giving each to free, until it has passed about n entries
// or empty buckets. It reports true when the dict is empty and its tables are freed. Other
// operations are allowed between the calls, but a drain ends only if deletes outrun inserts.
func (d *Dict) Drain(n int, free func(r arena.Ref)) bool {
	var buf [64]arena.Ref
	for n > 0 && d.used > 0 {
		b := d.drainNext()
		refs := d.appendChain(buf[:0], b)
		d.freeChain(b)
		b[0] = 0
		d.used -= len(refs)
		n -= 1 + len(refs)
		if d.Rehashing() {
			d.advance() // an empty bucket counts as moved
		} else {
			d.drain++
			d.giveBack(d.drain)
		}
		for _, r := range refs {
			free(r)
		}
	}
	if d.used > 0 {
		return false
	}
	d.freeTables()
	return true
}

// drainNext returns the bucket that Drain empties next: the one whose turn it is to be moved, or
// else bucket number d.drain.
func (d *Dict) drainNext() *bucket {
	if d.Rehashing() {
		return d.tab[0].at(d.moved)
	}
	if d.drain > d.tab[0].mask {
		d.drain = 0
	}
	return d.tab[0].at(d.drain)
}
