package rdb

import (
	"encoding/binary"
	"math"
	"sync"

	"godwit/internal/listpack"
	"godwit/internal/lzf"
	"godwit/internal/object"
)

// Encoder appends records to B. The zero value is ready. B may be taken away and replaced at any
// time between calls. Only one goroutine may use it.
type Encoder struct {
	B []byte
	// Compress says that strings of more than 20 bytes are compressed where that saves something
	// (rdbcompression).
	Compress bool
	// Target is the version that is written for.
	Target Target
	// Whole says to go beyond Target's version rather than leave anything out.
	Whole bool
	// Version is the least version that the appended bytes ask for under Auto, or with Whole: 0 if
	// any will do. The caller resets it.
	Version int
	// Timed counts the hashes whose fields have deadlines, whether the target can tell them or not.
	Timed Tally
	// Streams counts streams.
	Streams StreamTallies

	lzf     *lzf.Compressor
	edit    object.Edit
	scratch []byte // a listpack that is made for writing
	later   bool   // see Frame
	spans   []later
}

// asks notes that the appended bytes ask for a version.
func (e *Encoder) asks(version int) { e.Version = max(e.Version, version) }

// Meta is what a record says beside key and value.
type Meta struct {
	Deadline int64 // unix ms, 0 for none
	Idle     int64 // seconds since the last access, below 0 for not told
	Freq     int   // access counter, 0 to 255, below 0 for not told
}

// NoAccess returns a Meta that tells no access time, without a deadline.
func NoAccess() Meta { return Meta{Idle: -1, Freq: -1} }

// Header begins a file.
func (e *Encoder) Header(version int) { e.B = AppendHeader(e.B, version) }

// Aux adds an auxiliary field.
func (e *Encoder) Aux(name, value string) {
	e.B = append(e.B, opAux)
	e.String([]byte(name))
	e.String([]byte(value))
}

// SelectDB says which database the records that follow belong to.
func (e *Encoder) SelectDB(n int) {
	e.B = append(e.B, opSelectDB)
	e.Len(uint64(n))
}

// Resize says how many keys the database has, and how many of them have a deadline, so that a
// loader can size its tables.
func (e *Encoder) Resize(keys, expires int) {
	e.B = append(e.B, opResize)
	e.Len(uint64(keys))
	e.Len(uint64(expires))
}

// Function adds the source of a function library.
func (e *Encoder) Function(code []byte) {
	e.B = append(e.B, opFunction2)
	e.String(code)
}

// EOF ends the records. The caller, who writes the bytes out, must append the checksum of
// everything from the header on: 8 bytes, little endian, 0 if there is none.
func (e *Encoder) EOF() { e.B = append(e.B, opEOF) }

// Meta begins a record: what it says comes before the record's type.
func (e *Encoder) Meta(m Meta) {
	if m.Deadline != 0 {
		e.B = append(e.B, opExpireMs)
		e.B = binary.LittleEndian.AppendUint64(e.B, uint64(m.Deadline))
	}
	if m.Idle >= 0 {
		e.B = append(e.B, opIdle)
		e.Len(uint64(m.Idle))
	}
	if m.Freq >= 0 {
		e.B = append(e.B, opFreq, byte(min(m.Freq, 255)))
	}
}

// Record adds type, key and value of an entry, large values in one go.
func (e *Encoder) Record(h *object.Heap, en object.Entry) {
	t := TypeOf(en.Type())
	x := &e.edit
	x.Reset(h, en, nil)
	op := t.Op(e, x)
	e.B = append(e.B, op)
	e.String(en.Key())
	t.Encode(e, op, x)
}

// Value adds type and value of an entry, without its key, as DUMP payloads begin.
func (e *Encoder) Value(h *object.Heap, en object.Entry) {
	t := TypeOf(en.Type())
	x := &e.edit
	x.Reset(h, en, nil)
	op := t.Op(e, x)
	e.B = append(e.B, op)
	t.Encode(e, op, x)
}

// Large begins the record of a large value that is added in steps: as many elements as the outline
// promised follow through the ElementEncoder, in any order that suits (those of lists, sketches and
// streams in their own), in whatever pieces, and then its end. Nothing else may be added to the
// same stream of bytes in between.
func (e *Encoder) Large(key []byte, o *object.Outline) ElementEncoder {
	t := TypeOf(o.Type)
	if o.MinDeadline != 0 {
		e.Timed.count(key)
	}
	if o.StreamMeta != nil {
		e.Streams.count(key, o.StreamMeta)
	}
	e.B = append(e.B, t.LargeOp(e, o))
	e.String(key)
	return t.Head(e, o)
}

// Len adds a length.
func (e *Encoder) Len(n uint64) {
	switch {
	case n < 1<<6:
		e.B = append(e.B, byte(n))
	case n < 1<<14:
		e.B = append(e.B, 0x40|byte(n>>8), byte(n))
	case n <= math.MaxUint32:
		e.B = binary.BigEndian.AppendUint32(append(e.B, 0x80), uint32(n))
	default:
		e.B = binary.BigEndian.AppendUint64(append(e.B, 0x81), n)
	}
}

// maxIntText is the length of the longest text that an integer of 32 bits has.
const maxIntText = 11

// String adds a string in its shortest form.
func (e *Encoder) String(b []byte) {
	if len(b) <= maxIntText {
		if n, ok := listpack.ParseInt(b); ok && n == int64(int32(n)) {
			e.smallInt(n)
			return
		}
	} else if e.Compress && len(b) >= minCompressedString {
		if e.later {
			e.spans = append(e.spans, later{len(e.B), len(b)})
		} else if e.deflate(b) {
			return
		}
	}
	e.Len(uint64(len(b)))
	e.B = append(e.B, b...)
}

// Int adds the text of an integer as a string.
func (e *Encoder) Int(n int64) {
	if n == int64(int32(n)) {
		e.smallInt(n)
		return
	}
	e.Len(uint64(listpack.IntLen(n)))
	e.B = listpack.Int(n).Append(e.B)
}

// Element adds an element of a packed collection as a string.
func (e *Encoder) Element(v listpack.Value) {
	if v.IsInt {
		e.Int(v.N)
	} else {
		e.String(v.B)
	}
}

func (e *Encoder) smallInt(n int64) {
	switch {
	case n == int64(int8(n)):
		e.B = append(e.B, 0xc0|encInt8, byte(n))
	case n == int64(int16(n)):
		e.B = append(e.B, 0xc0|encInt16, byte(n), byte(n>>8))
	default:
		e.B = binary.LittleEndian.AppendUint32(append(e.B, 0xc0|encInt32), uint32(n))
	}
}

// lzfHead is the most bytes that precede compressed data. lzfSaving is how many bytes shorter than
// the string the data must be, as in Redis.
const (
	lzfHead   = 1 + 9 + 9
	lzfSaving = 4
)

// compressors are those that Dump has used: a payload alone is not worth the 32 KB of a new one.
var compressors = sync.Pool{New: func() any { return new(lzf.Compressor) }}

// deflate adds the string compressed, and reports whether that was worth it.
func (e *Encoder) deflate(b []byte) bool {
	if e.lzf == nil {
		e.lzf = compressors.Get().(*lzf.Compressor)
	}
	// Compressed behind the place where its lengths go, then moved up to them.
	start := len(e.B)
	room := len(b) - lzfSaving
	e.B = grow(e.B, lzfHead+room)
	at := start + lzfHead
	n := e.lzf.Compress(e.B[at:at+room], b)
	if n == 0 {
		e.B = e.B[:start]
		return false
	}
	full := e.B
	e.B = e.B[:start]
	e.lzfLens(n, len(b))
	e.B = append(e.B, full[at:at+n]...)
	return true
}

// compressed adds a string that is compressed already.
func (e *Encoder) compressed(data []byte, size int) {
	e.lzfLens(len(data), size)
	e.B = append(e.B, data...)
}

func (e *Encoder) lzfLens(compressed, size int) {
	e.B = append(e.B, 0xc0|encLZF)
	e.Len(uint64(compressed))
	e.Len(uint64(size))
}

// grow makes b n bytes longer; the bytes are undefined.
func grow(b []byte, n int) []byte {
	if cap(b)-len(b) < n {
		b = append(make([]byte, 0, max(len(b)+n, 2*cap(b))), b...)
	}
	return b[:len(b)+n]
}
