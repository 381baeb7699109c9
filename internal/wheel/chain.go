package wheel

import (
	"encoding/binary"

	"godwit/internal/arena"
	"godwit/internal/invariant"
)

const (
	// HashBits is how many low bits of a hash a record keeps.
	HashBits = 48

	headerSize = 24
	fixedSize  = 8 // of a record: hash and db
	classes    = 5
	hashMask   = 1<<HashBits - 1
	whole      = 8 // the level of blocks whose records hold all bytes of their deadlines

	offNext  = 0
	offN     = 8
	offTaken = 10
	offClass = 12
	offLevel = 13
	offBase  = 16
)

// sizes are the bytes of a block of each class: size classes of the arena.
var sizes = [classes]uint16{88, 160, 304, 640, 1280}

func blockSize(class uint8) int { return int(sizes[class]) }

// recordSize returns the bytes of a record in a block of the level.
func recordSize(level uint8) int { return fixedSize + int(level) }

// capacities has the record count of a block of each class and level.
var capacities = func() (c [classes][whole + 1]uint16) {
	for class := range c {
		for level := range c[class] {
			c[class][level] = (sizes[class] - headerSize) / uint16(recordSize(uint8(level)))
		}
	}
	return c
}()

// baseOf returns the bytes that all deadlines of a block of the level share: those from the level's
// byte on. The others are 0.
func baseOf(ord uint64, level uint8) uint64 { return ord &^ (1<<(slotBits*level) - 1) }

// chain is a queue of blocks. Both Refs are 0 when it is empty, and no block in a chain is empty
// (of records not yet taken).
type chain struct{ head, tail arena.Ref }

// append writes r behind the last record of c, in a block of the level.
func (w *Wheel) append(c *chain, r Expiry, level uint8) {
	class, base := uint8(0), baseOf(ordinal(r.Deadline), level)
	if c.tail != 0 {
		h := w.a.Bytes(c.tail, headerSize)
		if h[offLevel] == level && blockBase(h) == base {
			class = h[offClass]
			n := int(binary.LittleEndian.Uint16(h[offN:]))
			if n < int(capacities[class][level]) {
				binary.LittleEndian.PutUint16(h[offN:], uint16(n+1))
				r.encode(w.a.Bytes(c.tail, blockSize(class)), n)
				return
			}
			class = min(class+1, classes-1)
		}
	}
	b := w.newBlock(c, class)
	b[offLevel] = level
	binary.LittleEndian.PutUint64(b[offBase:], base)
	binary.LittleEndian.PutUint16(b[offN:], 1)
	r.encode(b, 0)
}

// newBlock links an empty block behind c's tail and returns its bytes.
func (w *Wheel) newBlock(c *chain, class uint8) []byte {
	if w.trash.head != 0 {
		// A Reset wheel that is filled again gives back as fast as it takes.
		w.freeHead(&w.trash)
	}
	size := blockSize(class)
	ref := w.a.Alloc(size, arena.Tables)
	w.bytes += int64(arena.ClassSize(size))
	b := w.a.Bytes(ref, size)
	clear(b[:headerSize])
	b[offClass] = class
	w.link(c, ref, ref)
	return b
}

// link puts the blocks head..tail behind c's.
func (w *Wheel) link(c *chain, head, tail arena.Ref) {
	if c.tail == 0 {
		c.head = head
	} else {
		binary.LittleEndian.PutUint64(w.a.Bytes(c.tail, headerSize)[offNext:], uint64(head))
	}
	c.tail = tail
}

// concat moves all of src behind dst. O(1).
func (w *Wheel) concat(dst, src *chain) {
	if src.head != 0 {
		w.link(dst, src.head, src.tail)
		*src = chain{}
	}
}

// take removes and returns the first record of c, which must not be empty.
func (w *Wheel) take(c *chain) Expiry {
	h := w.a.Bytes(c.head, headerSize)
	i := binary.LittleEndian.Uint16(h[offTaken:])
	n := binary.LittleEndian.Uint16(h[offN:])
	invariant.Check(i < n, "wheel: empty block in a chain")
	r := decode(w.a.Bytes(c.head, blockSize(h[offClass])), int(i))
	if i++; i == n {
		w.freeHead(c)
	} else {
		binary.LittleEndian.PutUint16(h[offTaken:], i)
	}
	return r
}

// freeHead unlinks c's first block and gives its memory back.
func (w *Wheel) freeHead(c *chain) {
	h := w.a.Bytes(c.head, headerSize)
	size := blockSize(h[offClass])
	next := arena.Ref(binary.LittleEndian.Uint64(h[offNext:]))
	w.a.Free(c.head, size, arena.Tables)
	w.bytes -= int64(arena.ClassSize(size))
	c.head = next
	if next == 0 {
		c.tail = 0
	}
}

// blockNext returns the Ref of the block behind the one with the header h.
func blockNext(h []byte) uint64 { return binary.LittleEndian.Uint64(h[offNext:]) }

// blockRange returns which records of the block with the header h are there: those from taken to
// before filled.
func blockRange(h []byte) (taken, filled int) {
	return int(binary.LittleEndian.Uint16(h[offTaken:])), int(binary.LittleEndian.Uint16(h[offN:]))
}

// blockBase returns the base of the block with the header h.
func blockBase(h []byte) uint64 { return binary.LittleEndian.Uint64(h[offBase:]) }

// encode writes r as record i of the block b, whose level and base must be those of r.
func (r Expiry) encode(b []byte, i int) {
	level := b[offLevel]
	size := recordSize(level)
	p := b[headerSize+i*size:][:size]
	// The deadline's bytes are the last of the record: what stands before them is written next.
	binary.LittleEndian.PutUint64(p[size-8:], ordinal(r.Deadline)<<(64-slotBits*level))
	binary.LittleEndian.PutUint64(p, r.Hash&hashMask|uint64(r.DB)<<HashBits)
}

// decode returns record i of the block b.
func decode(b []byte, i int) Expiry {
	level := b[offLevel]
	size := recordSize(level)
	p := b[headerSize+i*size:][:size]
	low := binary.LittleEndian.Uint64(p[size-8:]) >> (64 - slotBits*level)
	tag := binary.LittleEndian.Uint64(p)
	return Expiry{
		Deadline: instant(blockBase(b) | low),
		Hash:     tag & hashMask,
		DB:       uint16(tag >> HashBits),
	}
}
