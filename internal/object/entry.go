// Package object lays out a typed value as one off-heap entry and owns its encodings.
//
// # Entry
//
// A key and its value share one arena block, so that a lookup costs one cache miss after the
// bucket's:
//
//	 0      1      2      3..5   6..13            then
//	+------+------+------+------+----------------+--------+-----+---------+
//	| form | flag | epoch| lru  | deadline (opt) | keylen | key | payload |
//	+------+------+------+------+----------------+--------+-----+---------+
//
//	form    Type and Encoding, see encoding.go
//	flag    FlagDeadline: the 8-byte deadline is there;
//	        high 6 bits: the generation of its timing-wheel record
//	epoch   the snapshot epoch in which the entry was last saved or born
//	lru     24 bits: LRU clock in seconds, or LFU (16 bits minutes, 8 bits logarithmic counter)
//	keylen  unsigned varint, 1 to 5 bytes
//
// The payload depends on the encoding:
//
//	EncInt              8 bytes, little endian
//	EncEmbstr, EncRaw   unsigned varint length, bytes
//	EncSDS              16 bytes: an sds.Str that lives in a block of its own (OBJECT ENCODING: raw)
//	packed collections  as EncRaw up to PackedInline bytes; longer ones as EncSDS
//	large collections   4 bytes: the handle of a Large in the Heap
//
// Blocks are always allocated with arena.ClassSize of the bytes needed, so a value may be
// overwritten in place by any other that falls into the same class.
//
// Invariants: the block's owner is exactly one dict slot. A payload of EncSDS has exactly one
// owner, the entry.
package object

import (
	"encoding/binary"

	"godwit/internal/arena"
	"godwit/internal/sds"
)

// Entry flags.
const (
	FlagDeadline = 1 << iota // the entry has a deadline
	_                        // free

	// GenBits is how many bits at the top of the flag byte count the generation of that record.
	GenBits  = 6
	genShift = 8 - GenBits
)

const (
	offFlags    = 1
	offEpoch    = 2
	fixedHeader = 6
	deadlineLen = 8
	handleLen   = 4

	// EmbstrMax is the longest string that OBJECT ENCODING calls embstr, in bytes.
	EmbstrMax = 44
	// InlineMax is the longest value in bytes that shares the entry's block. A longer one gets an
	// sds block.
	InlineMax = 16 << 10
)

// Entry is a decoded view of an entry block. The zero Entry stands for a missing key. It is valid
// until the next change of the keyspace.
type Entry struct {
	Ref arena.Ref
	b   []byte // from the block's first byte to at least its last
}

// View decodes the entry at r.
func View(a *arena.Arena, r arena.Ref) Entry { return Entry{Ref: r, b: a.From(r)} }

// Exists reports whether the entry stands for a key.
func (e Entry) Exists() bool { return e.Ref != 0 }

// Type returns the value's type.
func (e Entry) Type() Type { return Type(e.b[0] >> formBits) }

// Encoding returns the value's encoding.
func (e Entry) Encoding() Encoding { return encodings[e.b[0]] }

// Flags returns the flag byte.
func (e Entry) Flags() byte { return e.b[offFlags] }

// Gen returns the generation of the timing-wheel record that the entry counts on.
func (e Entry) Gen() byte { return e.b[offFlags] >> genShift }

// SetGen sets the generation.
func (e Entry) SetGen(gen byte) {
	e.b[offFlags] = e.b[offFlags]&(1<<genShift-1) | gen<<genShift
}

// Epoch returns the snapshot epoch that the entry was last saved or born in.
func (e Entry) Epoch() byte { return e.b[offEpoch] }

// SetEpoch marks the entry as saved or born in the epoch.
func (e Entry) SetEpoch(v byte) { e.b[offEpoch] = v }

// LRU returns the 24-bit access field.
func (e Entry) LRU() uint32 {
	return uint32(e.b[3]) | uint32(e.b[4])<<8 | uint32(e.b[5])<<16
}

// SetLRU sets the 24-bit access field.
func (e Entry) SetLRU(v uint32) {
	e.b[3], e.b[4], e.b[5] = byte(v), byte(v>>8), byte(v>>16)
}

// Deadline returns the expiry time in unix ms, 0 for none.
func (e Entry) Deadline() int64 {
	if e.b[offFlags]&FlagDeadline == 0 {
		return 0
	}
	return int64(binary.LittleEndian.Uint64(e.b[fixedHeader:]))
}

// setDeadline overwrites the deadline of an entry that has room for one.
func (e Entry) setDeadline(ms int64) {
	binary.LittleEndian.PutUint64(e.b[fixedHeader:], uint64(ms))
}

// Key returns the key's bytes.
func (e Entry) Key() []byte {
	off, n := e.keySpan()
	return e.b[off : off+n : off+n]
}

// keySpan returns where the key begins and how long it is.
func (e Entry) keySpan() (off, n int) {
	off = fixedHeader
	if e.b[offFlags]&FlagDeadline != 0 {
		off += deadlineLen
	}
	if c := e.b[off]; c < 0x80 {
		return off + 1, int(c)
	}
	v, w := binary.Uvarint(e.b[off:])
	return off + w, int(v)
}

// payload returns the bytes behind the key, to the end of the view.
func (e Entry) payload() []byte {
	off, n := e.keySpan()
	return e.b[off+n:]
}

// inline returns the value of EncRaw and EncEmbstr.
func (e Entry) inline() []byte {
	p := e.payload()
	if c := p[0]; c < 0x80 {
		return p[1 : 1+int(c) : 1+int(c)]
	}
	v, w := binary.Uvarint(p)
	return p[w : w+int(v) : w+int(v)]
}

// Int returns the integer of EncInt.
func (e Entry) Int() int64 { return int64(binary.LittleEndian.Uint64(e.payload())) }

// SetInt overwrites the integer of an EncInt entry.
func (e Entry) SetInt(v int64) { binary.LittleEndian.PutUint64(e.payload(), uint64(v)) }

// handle returns the place of a large collection in the heap.
func (e Entry) handle() uint32 { return binary.LittleEndian.Uint32(e.payload()) }

// SDS returns the growing string of EncSDS and of packed payloads in a block of their own.
func (e Entry) SDS() sds.Str { return sds.Decode(e.payload()) }

// setSDS stores the growing string's place of an EncSDS entry.
func (e Entry) setSDS(s sds.Str) { s.Encode(e.payload()) }

// blockSize returns the number of bytes that the entry's own block was allocated with.
func (e Entry) blockSize() int {
	off, n := e.keySpan()
	n += off
	switch enc := e.Encoding(); {
	case enc == EncInt:
		n += 8
	case enc.inBlock():
		n += sds.EncodedSize
	case enc.Large():
		n += handleLen
	default:
		v := len(e.inline())
		n += uvarintLen(uint64(v)) + v
	}
	return arena.ClassSize(n)
}

func uvarintLen(v uint64) int {
	n := 1
	for v >= 0x80 {
		v >>= 7
		n++
	}
	return n
}
