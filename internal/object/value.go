package object

import (
	"encoding/binary"

	"godwit/internal/arena"
	"godwit/internal/invariant"
	"godwit/internal/sds"
)

// Value is a payload on its way into an entry, or a view of one that is there. Enc tells which
// field counts: N for EncInt, B for EncRaw, EncEmbstr and packed payloads inside the entry, S for
// EncSDS and packed payloads in a block of their own, H for large collections.
type Value struct {
	Type Type
	Enc  Encoding
	N    int64
	B    []byte
	S    sds.Str
	H    uint32
}

// StringValue chooses the encoding that SET gives to b: int for a canonical 64-bit integer, embstr
// up to EmbstrMax, raw above. The value aliases b.
func StringValue(b []byte) (v Value) {
	v.SetString(b)
	return v
}

// SetString makes v the StringValue of b, without a copy of v's many words. v must be zero.
func (v *Value) SetString(b []byte) {
	if n, ok := ParseInt(b); ok {
		v.Enc, v.N = EncInt, n
		return
	}
	v.B, v.Enc = b, EncRaw
	if len(b) <= EmbstrMax {
		v.Enc = EncEmbstr
	}
}

// RawValue keeps b as bytes whatever they spell. The value aliases b.
func RawValue(b []byte) Value { return Value{Enc: EncRaw, B: b} }

// PlainValue keeps b as bytes whatever they spell, embstr up to EmbstrMax. The value aliases b.
func PlainValue(b []byte) Value {
	if len(b) <= EmbstrMax {
		return Value{Enc: EncEmbstr, B: b}
	}
	return Value{Enc: EncRaw, B: b}
}

// IntValue returns a string value that holds n.
func IntValue(n int64) Value { return Value{Enc: EncInt, N: n} }

// SDSValue hands the growing string over to the entry that is built from the value.
func SDSValue(s sds.Str) Value { return Value{Enc: EncSDS, S: s} }

// Value returns a view of the entry's payload.
func (e Entry) Value() Value {
	v := Value{Type: e.Type(), Enc: e.Encoding()}
	switch {
	case v.Enc == EncInt:
		v.N = e.Int()
	case v.Enc.inBlock():
		v.S = e.SDS()
	case v.Enc.Large():
		v.H = e.handle()
	default:
		v.B = e.inline()
	}
	return v
}

// form returns the first byte of an entry that holds the value.
func (v *Value) form() byte {
	f := forms[v.Type][v.Enc]
	invariant.Check(encodings[f] == v.Enc && Type(f>>formBits) == v.Type,
		"object: type %d has no encoding %d", v.Type, v.Enc)
	return f
}

// payloadLen returns the number of bytes that the payload takes in an entry.
func (v *Value) payloadLen() int {
	switch {
	case v.Enc == EncInt:
		return 8
	case v.Enc.inBlock():
		return sds.EncodedSize
	case v.Enc.Large():
		return handleLen
	default:
		return uvarintLen(uint64(len(v.B))) + len(v.B)
	}
}

// put writes the payload into b, which is exactly payloadLen long or longer.
func (v *Value) put(b []byte) {
	switch {
	case v.Enc == EncInt:
		binary.LittleEndian.PutUint64(b, uint64(v.N))
	case v.Enc.inBlock():
		v.S.Encode(b)
	case v.Enc.Large():
		binary.LittleEndian.PutUint32(b, v.H)
	default:
		copy(b[binary.PutUvarint(b, uint64(len(v.B))):], v.B)
	}
}

// Clone makes a deep copy that owns what it refers to off the heap. Inline bytes still alias the
// original.
func (v Value) Clone(h *Heap) Value {
	switch {
	case v.Enc.inBlock():
		v.S = sds.New(h.A, v.S.Bytes(h.A))
	case v.Enc.Large():
		v.H = h.add(h.slots[v.H].Clone(h))
	}
	return v
}

// Meta is what an entry carries beside key and value.
type Meta struct {
	Deadline int64  // unix ms, 0 for none
	LRU      uint32 // 24 bits
	Epoch    byte
	Flags    byte // the generation of its timing-wheel record; FlagDeadline follows from Deadline
}

// Meta reads the entry's metadata.
func (e Entry) Meta() Meta {
	return Meta{e.Deadline(), e.LRU(), e.Epoch(), e.Flags() &^ FlagDeadline}
}

// Build allocates an entry for key and v. Inline bytes longer than InlineMax move to an sds block.
func Build(a *arena.Arena, key []byte, v *Value, m Meta) Entry {
	if len(v.B) > InlineMax {
		v = &Value{Enc: EncSDS, S: sds.New(a, v.B)}
	}
	head := fixedHeader
	if m.Deadline != 0 {
		head += deadlineLen
	}
	kn := uvarintLen(uint64(len(key)))
	n := arena.ClassSize(head + kn + len(key) + v.payloadLen())
	ref := a.Alloc(n, arena.Values)
	b := a.Bytes(ref, n)
	b[0] = v.form()
	e := Entry{ref, b}
	b[offFlags] = m.Flags &^ FlagDeadline
	if m.Deadline != 0 {
		b[offFlags] |= FlagDeadline
		e.setDeadline(m.Deadline)
	}
	e.SetEpoch(m.Epoch)
	e.SetLRU(m.LRU)
	binary.PutUvarint(b[head:], uint64(len(key)))
	copy(b[head+kn:], key)
	v.put(b[head+kn+len(key):])
	return e
}

// Overwrite replaces value and deadline in place when the result has the same size class and the
// deadline does not appear or vanish. It reports whether it did. What the entry owned is not freed
// here. v must not alias the entry.
func (e Entry) Overwrite(v *Value, deadline int64) bool {
	if (deadline != 0) != (e.b[offFlags]&FlagDeadline != 0) {
		return false
	}
	if len(v.B) > InlineMax {
		return false
	}
	off, n := e.keySpan()
	if arena.ClassSize(off+n+v.payloadLen()) != e.blockSize() {
		return false
	}
	e.b[0] = v.form()
	if deadline != 0 {
		e.setDeadline(deadline)
	}
	v.put(e.b[off+n:])
	return true
}

// SetDeadline changes the deadline of an entry that has one, in place. It reports false when the
// entry has none.
func (e Entry) SetDeadline(ms int64) bool {
	if e.b[offFlags]&FlagDeadline == 0 || ms == 0 {
		return false
	}
	e.setDeadline(ms)
	return true
}

// FreeBlock frees the entry's own block, not what its payload owns.
func (e Entry) FreeBlock(a *arena.Arena) {
	a.Free(e.Ref, e.blockSize(), arena.Values)
}

// StringBytes returns the value's bytes. An integer is printed into scratch. The result is valid
// until the next change of the keyspace or use of scratch.
func (e Entry) StringBytes(a *arena.Arena, scratch *[24]byte) []byte {
	switch e.Encoding() {
	case EncInt:
		return appendInt(scratch[:0], e.Int())
	case EncSDS:
		s := e.SDS()
		return s.Bytes(a)
	default:
		return e.inline()
	}
}

// StringLen returns the length in bytes of the value as a string.
func (e Entry) StringLen() int {
	switch e.Encoding() {
	case EncInt:
		return intLen(e.Int())
	case EncSDS:
		return int(e.SDS().Len)
	default:
		return len(e.inline())
	}
}

// ToSDS rebuilds a string entry of another encoding as a growing string with room for n bytes and
// frees the old block.
func (e Entry) ToSDS(a *arena.Arena, n int) Entry {
	var scratch [24]byte
	b := e.StringBytes(a, &scratch)
	s := sds.New(a, b)
	s.Grow(a, n)
	v := SDSValue(s)
	ne := Build(a, e.Key(), &v, e.Meta())
	e.FreeBlock(a)
	return ne
}
