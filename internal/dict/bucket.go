package dict

import (
	"math/bits"
	"unsafe"

	"godwit/internal/arena"
)

// bucket is one line of a chain: see the package comment. The last bucket of several may be shorter
// than a line, so only code that has looked at meta may touch what lies behind the entries.
type bucket [8]uint64

const (
	bucketShift = 6
	// BucketBytes is the size of one bucket of the table.
	BucketBytes = 1 << bucketShift

	countMask = 15
	hasLink   = 1 << 4

	slots  = 9
	linked = slots - 1 // entries of a bucket whose last slot is a link

	slotBytes = 6
	slotBase  = 10 // offset of slot 0
	lowSlots  = 7  // slots whose fingerprints are in word 0

	lowBytes  = 0x0101010101010101
	lowSevens = 0x7f7f7f7f7f7f7f7f
	highBits  = 0x8080808080808080
)

// filled has, for each number of entries, the bits that matches may set.
var filled = func() (masks [countMask + 1]uint64) {
	for n := range masks {
		for i := range min(n, slots) {
			if i < lowSlots {
				masks[n] |= 0x80 << (8 * (i + 1))
			} else {
				masks[n] |= 0x40 << (8 * (i - lowSlots + 1))
			}
		}
	}
	return masks
}()

func (b *bucket) count() int { return int(b[0] & countMask) }

// fpOf returns h's fingerprint.
func fpOf(h uint64) uint64 { return h >> fpShift & 0xff }

// fpLanes returns h's fingerprint in all eight bytes.
func fpLanes(h uint64) uint64 { return fpOf(h) * lowBytes }

// matches returns a word with one bit for each entry whose fingerprint is the one in lanes; slotOf
// tells which.
func (b *bucket) matches(lanes uint64) uint64 {
	// Word 1 begins with the last two fingerprints. Their bits go below those of slots 0 and 1.
	return (zeroBytes(b[0]^lanes) | zeroBytes(b[1]^lanes)<<7) & filled[b[0]&countMask]
}

// zeroBytes returns a word with the top bit set of each byte of x that is 0.
func zeroBytes(x uint64) uint64 {
	return ^((x&lowSevens + lowSevens) | x) & highBits // exact: no carry crosses a byte
}

// slotOf returns the slot that the lowest bit of matches stands for.
func slotOf(m uint64) int {
	bit := bits.TrailingZeros64(m)
	return bit>>3 - 1 + lowSlots*(^bit&1)
}

// slot returns slot i.
func (b *bucket) slot(i int) uint64 {
	// The eight bytes that end with the slot: those that begin with it may leave the bucket.
	return *(*uint64)(unsafe.Add(unsafe.Pointer(b), slotBase-2+slotBytes*i)) >> 16
}

// setSlot writes slot i.
func (b *bucket) setSlot(i int, slot uint64) {
	p := unsafe.Add(unsafe.Pointer(b), slotBase+slotBytes*i)
	*(*uint32)(p) = uint32(slot)
	*(*uint16)(unsafe.Add(p, 4)) = uint16(slot >> 32)
}

// ref returns the entry in slot i.
func (b *bucket) ref(i int) arena.Ref { return arena.Unpack(b.slot(i)) }

// setFP writes the fingerprint of slot i.
func (b *bucket) setFP(i int, fp uint64) {
	*(*byte)(unsafe.Add(unsafe.Pointer(b), i+1)) = byte(fp)
}

// add writes entry n, behind the n that are there. There must be room.
func (b *bucket) add(n int, fp, slot uint64) {
	b.setSlot(n, slot)
	if at := 8 * (n + 1); n < lowSlots {
		b[0] = b[0]&^(0xff<<(at&63)) | fp<<(at&63)
		b[0]++
	} else {
		*(*byte)(unsafe.Add(unsafe.Pointer(b), n+1)) = byte(fp)
		b[0]++
	}
}

func (b *bucket) fp(i int) uint64 {
	return uint64(*(*byte)(unsafe.Add(unsafe.Pointer(b), i+1)))
}

// link returns the Ref of the bucket that b's link leads to.
func (b *bucket) link() arena.Ref { return b.ref(linked) }

func (b *bucket) setLink(r arena.Ref) { b.setSlot(linked, r.Pack()) }

// next returns the bucket that b's link leads to.
func (d *Dict) next(b *bucket) *bucket {
	return (*bucket)(d.a.Pointer(b.link()))
}

// put adds a slot with its fingerprint to the end of the chain that starts at b. It returns the
// number of the chain's entries.
func (d *Dict) put(b *bucket, fp, slot uint64) int {
	var parent *bucket
	before := 0
	for b[0]&hasLink != 0 {
		parent, b = b, d.next(b)
		before += linked
	}
	n := b.count()
	if n == slots {
		ref, t := d.newTail()
		t[0] = 1
		t.setFP(0, b.fp(linked))
		t.setSlot(0, b.slot(linked))
		b.setLink(ref)
		b[0] = b[0]&^countMask | linked | hasLink
		b, n = t, 1
		before += linked
	} else if parent != nil {
		b = d.resizeTail(parent, b, n, n+1)
	}
	b.add(n, fp, slot)
	return before + n + 1
}

// remove takes slot i of bucket b out of the chain that starts at head. The chain's last entry
// takes its place.
func (d *Dict) remove(head, b *bucket, i int) {
	var parent *bucket
	tail := head
	for tail[0]&hasLink != 0 {
		parent, tail = tail, d.next(tail)
	}
	n := tail.count() - 1
	b.setSlot(i, tail.slot(n))
	b.setFP(i, tail.fp(n))
	tail[0]--
	switch {
	case parent == nil:
	case n == 1: // it fits in the parent again, where the link was
		slot, fp := tail.slot(0), tail.fp(0)
		d.freeTail(parent.link(), sizeFor(n+1))
		parent.setSlot(linked, slot)
		parent.setFP(linked, fp)
		parent[0] = parent[0]&^(hasLink|countMask) | slots
	default:
		d.resizeTail(parent, tail, n+1, n)
	}
}

// sizeFor returns the bytes of the last bucket of several, when it has n entries.
func sizeFor(n int) int { return arena.ClassSize(slotBase + slotBytes*n) }

// tailBytes returns the size of an overflow bucket.
func tailBytes(b *bucket) int {
	if b[0]&hasLink != 0 {
		return BucketBytes
	}
	return sizeFor(b.count())
}

// newTail returns a last bucket for two entries.
func (d *Dict) newTail() (arena.Ref, *bucket) {
	size := sizeFor(2)
	ref := d.a.Alloc(size, arena.Tables)
	d.bytes += int64(size)
	return ref, (*bucket)(d.a.Pointer(ref))
}

// resizeTail gives the last bucket, which has room for a number of entries, room for another. It
// returns where the bucket is now.
func (d *Dict) resizeTail(parent, tail *bucket, from, to int) *bucket {
	old, size := sizeFor(from), sizeFor(to)
	if size == old {
		return tail
	}
	ref := d.a.Resize(parent.link(), old, size, arena.Tables)
	d.bytes += int64(size - old)
	parent.setLink(ref)
	return (*bucket)(d.a.Pointer(ref))
}

// freeTail frees an overflow bucket of that many bytes.
func (d *Dict) freeTail(ref arena.Ref, size int) {
	d.a.Free(ref, size, arena.Tables)
	d.bytes -= int64(size)
}

// chainLen returns the number of entries in the chain.
func (d *Dict) chainLen(b *bucket) int {
	n := b.count()
	for b[0]&hasLink != 0 {
		b = d.next(b)
		n += b.count()
	}
	return n
}

// nth returns entry i of the chain, counted from 0.
func (d *Dict) nth(b *bucket, i int) arena.Ref {
	for i >= b.count() {
		i -= b.count()
		b = d.next(b)
	}
	return b.ref(i)
}

// freeChain frees the chain's overflow buckets.
func (d *Dict) freeChain(b *bucket) {
	more, ref := b[0]&hasLink != 0, b.link()
	for more {
		t := (*bucket)(d.a.Pointer(ref))
		size := tailBytes(t)
		var after arena.Ref
		if more = t[0]&hasLink != 0; more {
			after = t.link()
		}
		d.freeTail(ref, size)
		ref = after
	}
}
