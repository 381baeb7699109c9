package dict

import (
	"math/bits"

	"godwit/internal/arena"
)

const (
	emptySkip    = 10   // empty buckets that one step may skip
	discardEvery = 4096 // moved buckets (256 KiB) after which the old table gives memory back
)

// step moves one bucket. Each operation does that while rehashing.
func (d *Dict) step() { d.moveBuckets(1) }

// RehashSlice moves up to the given number of non-empty buckets and reports whether there is more
// to do now. While Pause is set it does nothing and reports false.
func (d *Dict) RehashSlice(buckets int) bool {
	if d.tab[1].base == nil || d.Pause > 0 {
		return false
	}
	d.moveBuckets(buckets)
	return d.Rehashing()
}

// RehashLeft returns how many buckets are still to be moved, empty ones included.
func (d *Dict) RehashLeft() int {
	if d.tab[1].base == nil {
		return 0
	}
	return int(d.tab[0].mask + 1 - d.moved)
}

func (d *Dict) moveBuckets(n int) {
	t := &d.tab[0]
	skip := n * emptySkip
	for ; n > 0; n-- {
		b := t.at(d.moved)
		for b[0]&countMask == 0 {
			skip--
			if d.advance() || skip == 0 {
				return
			}
			b = t.at(d.moved)
		}
		d.moveChain(b)
		if d.advance() {
			return
		}
	}
}

// moveChain moves the entries of the chain at b, bucket number d.moved, into tab[1].
func (d *Dict) moveChain(b *bucket) {
	from, to := &d.tab[0], &d.tab[1]
	newBits := to.mask &^ from.mask // index bits that the bucket's number does not give
	head := b
	for {
		for i := range b.count() {
			slot, fp := b.slot(i), b.fp(i)
			at := d.moved
			switch {
			case newBits == 0: // the table shrinks
			case newBits&^tagIndex == 0:
				at |= (slot>>arena.PackedBits<<tagShift | fp<<fpShift) & newBits
			default:
				at = d.f.Hash(arena.Unpack(slot))
			}
			d.longest[1] = max(d.longest[1], d.put(to.at(at), fp, slot))
		}
		if b[0]&hasLink == 0 {
			break
		}
		b = d.next(b)
	}
	d.freeChain(head)
}

// advance counts bucket d.moved as moved. After the last one it ends the rehash and reports true.
func (d *Dict) advance() bool {
	d.moved++
	t := &d.tab[0]
	if d.moved <= t.mask {
		d.giveBack(d.moved)
		return false
	}
	d.freeTable(t)
	d.tab[0], d.tab[1] = d.tab[1], table{}
	d.longest[0], d.longest[1] = d.longest[1], 0
	d.moved, d.drain = 0, 0
	d.shrinkIfSparse()
	return true
}

// giveBack is called when the first n buckets of tab[0] will not be used again. From time to time
// it returns their memory.
func (d *Dict) giveBack(n uint64) {
	if n%discardEvery == 0 {
		t := &d.tab[0]
		d.bytes -= d.a.Discard(t.ref, t.bytes(), int(n)<<bucketShift, arena.Tables)
	}
}

// grow makes the first table, or starts to move to one in which maxLoad holds with room to spare.
func (d *Dict) grow() {
	t := &d.tab[0]
	if t.base == nil {
		*t = d.newTable(1)
		return
	}
	if d.Pause > 0 || d.fixed() {
		return
	}
	n := (t.mask + 1) * 2
	for uint64(d.used) >= n*maxLoad {
		n *= 2
	}
	if d.f.MayGrow != nil && uint64(d.used) < (t.mask+1)*fullLoad &&
		!d.f.MayGrow(int(n)<<bucketShift) {
		return
	}
	if !d.a.Fits(int(n) << bucketShift) {
		return // the system has no memory: chains grow longer meanwhile
	}
	d.tab[1] = d.newTable(n)
	d.moved = 0
}

// shrinkIfSparse is called whenever entries may have become few.
func (d *Dict) shrinkIfSparse() {
	if uint64(d.used) < (d.tab[0].mask+1)*minLoad {
		d.shrink()
	}
}

// shrink frees the table of an empty dict, or starts to move to a smaller one.
func (d *Dict) shrink() {
	t := &d.tab[0]
	if d.Pause > 0 || t.base == nil {
		return
	}
	if d.used == 0 {
		d.freeTables()
		return
	}
	if d.tab[1].base != nil || d.fixed() {
		return
	}
	n := d.bucketsFor(d.used)
	n = max(n, (t.mask+1)/maxShrink)
	if n > t.mask {
		return
	}
	d.tab[1] = d.newTable(n)
	d.moved = 0
}

func (d *Dict) fixed() bool { return d.f.Fixed != nil && d.f.Fixed() }

// bucketsFor returns the table size for n entries that leaves them room to double.
func (d *Dict) bucketsFor(n int) uint64 {
	return 1 << bits.Len64(uint64(max(n-1, 0))*2/maxLoad)
}

// Expand makes the table of an empty dict large enough for n entries, so that a load of known size
// needs no doublings. It does nothing if there are entries.
func (d *Dict) Expand(n int) {
	if d.used > 0 || n <= slots {
		return
	}
	d.freeTables()
	d.tab[0] = d.newTable(1 << bits.Len64(uint64(n-1)/maxLoad))
}

func (t *table) bytes() int { return int(t.mask+1) << bucketShift }

func (d *Dict) newTable(buckets uint64) table {
	t := table{mask: buckets - 1}
	t.ref = d.a.AllocZero(t.bytes(), arena.Tables)
	t.base = d.a.Pointer(t.ref)
	d.bytes += int64(arena.ClassSize(t.bytes()))
	return t
}

func (d *Dict) freeTable(t *table) {
	d.bytes -= d.a.Counted(t.ref, t.bytes())
	d.a.Free(t.ref, t.bytes(), arena.Tables)
	*t = table{}
}

// freeTables frees both tables of a dict without entries.
func (d *Dict) freeTables() {
	for i := range d.tab {
		if d.tab[i].base != nil {
			d.freeTable(&d.tab[i])
		}
	}
	d.longest = [2]int{}
	d.moved, d.drain = 0, 0
}
