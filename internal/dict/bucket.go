package dict

import (
	"unsafe"

	"godwit/internal/arena"
)

// bucket is one line of a chain: see the package comment. An overflow bucket with the small bit
// ends after word 3, so only code that has looked at meta may touch the later words.
type bucket [8]uint64

const (
	bucketShift = 6
	// BucketBytes is the size of one bucket of the table.
	BucketBytes = 1 << bucketShift
	smallBytes  = 32

	countMask = 7
	hasLink   = 1 << 3
	small     = 1 << 4

	slots      = 7
	smallSlots = 3
	linked     = slots - 1 // entries of a bucket whose last slot is a link

	lowBytes  = 0x0101010101010101
	lowSevens = 0x7f7f7f7f7f7f7f7f
	highBits  = 0x8080808080808080
)

func (b *bucket) count() int { return int(b[0] & countMask) }

// fpLanes returns h's fingerprint in all eight bytes.
func fpLanes(h uint64) uint64 { return h >> 56 * lowBytes }

// matches returns a word with the top bit of byte i set for each entry i whose fingerprint is the
// one in lanes. w is the bucket's word 0.
func matches(w, lanes uint64) uint64 {
	x := w ^ lanes
	zero := ^((x&lowSevens + lowSevens) | x) & highBits // exact: no carry crosses a byte
	return zero & (highBits >> 8 >> (8 * (slots - w&countMask)) << 8)
}

// setFP writes the fingerprint fp of slot i.
func (b *bucket) setFP(i int, fp uint64) {
	b[0] = b[0]&^(0xff<<(8*i)) | fp<<(8*i)
}

func (b *bucket) fp(i int) uint64 { return b[0] >> (8 * i) & 0xff }

// next returns the bucket that b's link leads to.
func (d *Dict) next(b *bucket) *bucket {
	return (*bucket)(d.a.Pointer(arena.Ref(b[slots])))
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
	switch {
	case b[0]&small != 0 && n == smallSlots:
		b = d.resizeTail(parent, b, smallBytes, BucketBytes)
		b[0] &^= small
	case n == slots:
		ref, t := d.newTail()
		t[0] = small | 1
		t.setFP(1, b.fp(slots))
		t[1] = b[slots]
		b[slots] = uint64(ref)
		b[0] = b[0]&^countMask | linked | hasLink
		b, n = t, 1
		before += linked
	}
	b[n+1] = slot
	b.setFP(n+1, fp)
	b[0]++
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
	n := tail.count()
	b[i] = tail[n]
	b.setFP(i, tail.fp(n))
	tail[0]--
	n--
	if parent == nil {
		return
	}
	switch {
	case n == 1: // it fits in the parent again, where the link was
		slot, fp := tail[1], tail.fp(1)
		d.freeTail(arena.Ref(parent[slots]), tail)
		parent[slots] = slot
		parent.setFP(slots, fp)
		parent[0] = parent[0]&^(hasLink|countMask) | slots
	case n == smallSlots-1 && tail[0]&small == 0:
		tail = d.resizeTail(parent, tail, BucketBytes, smallBytes)
		tail[0] |= small
	}
}

func (d *Dict) newTail() (arena.Ref, *bucket) {
	ref := d.a.Alloc(smallBytes, arena.Tables)
	d.bytes += smallBytes
	return ref, (*bucket)(d.a.Pointer(ref))
}

// resizeTail moves the tail to a block of another size and updates the parent's link.
func (d *Dict) resizeTail(parent, tail *bucket, from, to int) *bucket {
	ref := d.a.Alloc(to, arena.Tables)
	t := (*bucket)(d.a.Pointer(ref))
	n := smallSlots + 1
	copy(t[:n], unsafe.Slice(&tail[0], n))
	d.a.Free(arena.Ref(parent[slots]), from, arena.Tables)
	d.bytes += int64(to - from)
	parent[slots] = uint64(ref)
	return t
}

func (d *Dict) freeTail(ref arena.Ref, t *bucket) {
	n := tailBytes(t)
	d.a.Free(ref, n, arena.Tables)
	d.bytes -= int64(n)
}

func tailBytes(t *bucket) int {
	if t[0]&small != 0 {
		return smallBytes
	}
	return BucketBytes
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
	return arena.Ref(b[i+1] & refMask)
}

// freeChain frees the chain's overflow buckets.
func (d *Dict) freeChain(b *bucket) {
	linkedOn := b[0]&hasLink != 0
	ref := arena.Ref(b[slots])
	for linkedOn {
		t := (*bucket)(d.a.Pointer(ref))
		linkedOn = t[0]&hasLink != 0
		var after arena.Ref
		if linkedOn {
			after = arena.Ref(t[slots])
		}
		d.freeTail(ref, t)
		ref = after
	}
}
