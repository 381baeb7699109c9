package wheel

import (
	"encoding/binary"

	"godwit/internal/arena"
	"godwit/internal/invariant"
)

const (
	headerSize = 16
	// RecordBytes is the size of a record.
	RecordBytes = 18
	classes     = 7

	offNext  = 0
	offN     = 8
	offTaken = 10
	offClass = 12
)

// capacities has the record count of a block of each class, chosen to fill the arena's size
// classes from 88 bytes to 4 KiB.
var capacities = [classes]uint16{4, 8, 16, 34, 70, 141, 226}

func blockSize(class uint8) int { return headerSize + RecordBytes*int(capacities[class]) }

// chain is a queue of blocks; both Refs are 0 when it is empty, and no block in a
// chain is empty (of records not yet taken).
type chain struct{ head, tail arena.Ref }

type record struct {
	deadline int64 // ms
	hash     uint64
	db       uint16
}

// append writes r behind the last record of c.
func (w *Wheel) append(c *chain, r record) {
	class := uint8(0)
	if c.tail != 0 {
		h := w.a.Bytes(c.tail, headerSize)
		class = h[offClass]
		n := binary.LittleEndian.Uint16(h[offN:])
		if n < capacities[class] {
			binary.LittleEndian.PutUint16(h[offN:], n+1)
			r.encode(w.a.Bytes(c.tail, blockSize(class))[headerSize+RecordBytes*int(n):])
			return
		}
		class = min(class+1, classes-1)
	}
	b := w.newBlock(c, class)
	binary.LittleEndian.PutUint16(b[offN:], 1)
	r.encode(b[headerSize:])
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
func (w *Wheel) take(c *chain) record {
	h := w.a.Bytes(c.head, headerSize)
	i := binary.LittleEndian.Uint16(h[offTaken:])
	n := binary.LittleEndian.Uint16(h[offN:])
	invariant.Check(i < n, "wheel: empty block in a chain")
	r := decode(w.a.Bytes(c.head, blockSize(h[offClass]))[headerSize+RecordBytes*int(i):])
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

func (r record) encode(b []byte) {
	_ = b[RecordBytes-1]
	binary.LittleEndian.PutUint64(b, uint64(r.deadline))
	binary.LittleEndian.PutUint64(b[8:], r.hash)
	binary.LittleEndian.PutUint16(b[16:], r.db)
}

func decode(b []byte) record {
	_ = b[RecordBytes-1]
	return record{
		deadline: int64(binary.LittleEndian.Uint64(b)),
		hash:     binary.LittleEndian.Uint64(b[8:]),
		db:       binary.LittleEndian.Uint16(b[16:]),
	}
}
