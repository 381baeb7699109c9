package stream

// A block of entries is nothing but its entries, one behind the other by ascending ID:
//
//	+------+------+---------+---------------------------------------------+
//	| head | ID   | length  | shape, if it is new: n, length, name ...    | value ...
//	| 1    | 0–20 | uvarint |                                             |
//	+------+------+---------+---------------------------------------------+
//	                        |<------------------ length ------------------------->|
//
//	head    bit 7      the entry was deleted
//	        bits 6, 5  how the ID follows from the one of the entry before, deleted or not; the
//	                   first follows from the block's first ID (see below)
//	        bits 4..0  number of the shape in the block; newShape or ownShape: it is defined here
//	length  bytes of what follows, so that an entry is passed in one step
//
// A shape is the list of an entry's names: their number as an uvarint, then each one's length as an
// uvarint and its bytes. It is stored with the first entry that has it. A shape gets a number when
// an entry defines it as newShape, in the order of the entries; up to maxShapes have one. One that
// is defined as ownShape is of this entry only.
//
// An ID follows in one of four ways, numbers being uvarints:
//
//	sameNext   nothing: the same time, the next number
//	newTime    by how much the time is later; the number is 0
//	sameTime   by how much the number is larger; the time is the same
//	newBoth    by how much the time is later, and the number
//
// So three small fields that a sensor has added by "*" take some ten bytes, whatever the names.
//
// # Invariants
//
//   - IDs ascend strictly. The first ID of a block is that of its first entry when it was made.
//   - The block's descriptor counts the entries that were deleted and those that were not, of which
//     there is at least one.
//   - Shapes with numbers are in the first 64 KiB.
const (
	deadBit   = 0x80
	shapeBits = 0x1f
	newShape  = 0x1f
	ownShape  = 0x1e
	maxShapes = 0x1e

	sameNext = 0 << 5
	newTime  = 1 << 5
	sameTime = 2 << 5
	newBoth  = 3 << 5
	formBits = 3 << 5
)

// maxNodeBytes and maxNodeEntries bound a block whatever Limits say.
const (
	maxNodeBytes   = 64 << 10
	maxNodeEntries = 4096
)

// bounds are Limits that are in force.
type bounds struct{ bytes, entries int32 }

// bounded returns the limits with what is not limited, or too much, set to the maxima.
func (l Limits) bounded() bounds {
	b := bounds{maxNodeBytes, maxNodeEntries}
	if l.NodeBytes > 0 {
		b.bytes = int32(min(l.NodeBytes, maxNodeBytes))
	}
	if l.NodeEntries > 0 {
		b.entries = int32(min(l.NodeEntries, maxNodeEntries))
	}
	return b
}

// full reports whether a block of so many bytes and entries has no room for one of n bytes more.
func (l bounds) full(bytes, entries, n int) bool {
	return entries >= int(l.entries) || bytes+n > int(l.bytes)
}

// mergeable reports whether blocks with so many bytes and entries together should be one. What they
// leave of it lets entries be deleted from it, and added to it, before it is written again.
func (l bounds) mergeable(bytes, entries int) bool {
	return 4*entries <= 3*int(l.entries) && 4*bytes <= 3*int(l.bytes)
}

// scan walks the entries of a block, deleted ones included. Before the first call of next, id is
// the block's first ID.
type scan struct {
	b    []byte
	id   ID
	head byte
	at   int // offset of the entry
	body int // of what follows its length
	end  int // behind it
}

// scanOf begins to walk a block.
func scanOf(first ID, b []byte) scan { return scan{b: b, id: first} }

// next moves to the next entry and reports whether there is one.
func (c *scan) next() bool {
	b, at := c.b, c.end
	if at >= len(b) {
		return false
	}
	c.at = at
	h := b[at]
	at++
	var u uint64
	switch h & formBits {
	case sameNext:
		c.id.Seq++
	case newTime:
		u, at = getUvarint(b, at)
		c.id.Ms += u
		c.id.Seq = 0
	case sameTime:
		u, at = getUvarint(b, at)
		c.id.Seq += u
	default:
		u, at = getUvarint(b, at)
		c.id.Ms += u
		c.id.Seq, at = getUvarint(b, at)
	}
	u, at = getUvarint(b, at)
	c.head, c.body, c.end = h, at, at+int(u)
	return true
}

// dead reports whether the entry was deleted.
func (c *scan) dead() bool { return c.head&deadBit != 0 }

// defines reports whether the entry's shape is defined with it.
func (c *scan) defines() bool { return c.head&shapeBits >= ownShape }

// seek moves on to the first entry whose ID is not below id and reports whether there is one.
func (c *scan) seek(id ID) bool {
	for c.next() {
		if !c.id.Less(id) {
			return true
		}
	}
	return false
}

// live moves on to the next entry that was not deleted and reports whether there is one.
func (c *scan) live() bool {
	for c.next() {
		if !c.dead() {
			return true
		}
	}
	return false
}

// putForm writes how an ID follows from the one before to the start of b, which has room for two
// numbers. It returns the bits for the head, and the length.
func putForm(b []byte, before, id ID) (form byte, n int) {
	switch {
	case id.Ms == before.Ms && id.Seq == before.Seq+1:
		return sameNext, 0
	case id.Ms == before.Ms:
		return sameTime, putUvarint(b, id.Seq-before.Seq)
	case id.Seq == 0:
		return newTime, putUvarint(b, id.Ms-before.Ms)
	}
	n = putUvarint(b, id.Ms-before.Ms)
	return newBoth, n + putUvarint(b[n:], id.Seq)
}
