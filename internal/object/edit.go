package object

import (
	"encoding/binary"

	"godwit/internal/arena"
	"godwit/internal/invariant"
	"godwit/internal/quicklist"
	"godwit/internal/sds"
)

// Block is a packed payload in a block of its own, shaped like a growing string.
type Block = sds.Str

// PackedInline is the longest packed payload in bytes that shares the entry's block. Above it,
// every change that crosses a size class would copy key and payload. A block of its own is resized
// instead.
const PackedInline = 512

// Slot is the place of an entry in its table. A change of the value may move the entry to another
// block, which the table must learn at once. from is not yet freed.
type Slot interface {
	Moved(from, to arena.Ref)
	// Changing is called before the value of an entry changes that the running snapshot has not
	// saved, and before any change while sizes are kept.
	Changing(e Entry)
}

// Edit is the value of one key while a command reads or changes it. Its packed bytes are a
// listpack.Space. It is valid until the command ends or the key is changed or removed in another
// way. E follows the entry as it moves.
type Edit struct {
	H    *Heap
	E    Entry
	slot Slot
	el   Element           // what Each shows
	node quicklist.Payload // of el
}

// Reset makes x the edit of the entry in the slot.
func (x *Edit) Reset(h *Heap, e Entry, s Slot) { x.H, x.E, x.slot = h, e, s }

// Base returns the encoding, the same for packed payloads inside the entry and in a block of their
// own.
func (x *Edit) Base() Encoding { return x.E.Encoding().Base() }

// Bytes returns the packed payload. It is stale after the next change.
func (x *Edit) Bytes() []byte {
	if x.E.Encoding().inBlock() {
		s := x.E.SDS()
		return s.Bytes(x.H.A)
	}
	return x.E.inline()
}

// Large returns the large collection.
func (x *Edit) Large() Large { return x.H.LargeOf(x.E) }

// Splice replaces del bytes of the packed payload at offset at by ins undefined ones and returns
// the whole payload. What earlier calls returned is stale.
func (x *Edit) Splice(at, del, ins int) []byte {
	x.change()
	if x.E.Encoding().inBlock() {
		return x.spliceBlock(at, del, ins)
	}
	b := x.E.inline()
	n := len(b) - del + ins
	invariant.Check(at >= 0 && del >= 0 && ins >= 0 && at+del <= len(b),
		"object: splice %d -%d +%d of %d bytes", at, del, ins, len(b))
	if n > PackedInline {
		s := newBlock(x.H.A, n)
		to := s.Bytes(x.H.A)
		copy(to, b[:at])
		copy(to[at+ins:], b[at+del:])
		x.rebuild(Value{Type: x.E.Type(), Enc: x.Base() + 1, S: s})
		return to
	}
	off, kn := x.E.keySpan()
	off += kn // the payload's start
	if uvarintLen(uint64(n)) == uvarintLen(uint64(len(b))) &&
		arena.ClassSize(off+uvarintLen(uint64(n))+n) == x.E.blockSize() {
		p := x.E.b[off:]
		w := binary.PutUvarint(p, uint64(n))
		p = p[w:]
		copy(p[at+ins:n], p[at+del:len(b)])
		return p[:n:n]
	}
	return x.respliceInline(b, off, at, del, ins)
}

// respliceInline is Splice for an entry that has to move to a block of another size class.
func (x *Edit) respliceInline(b []byte, off, at, del, ins int) []byte {
	a := x.H.A
	n := len(b) - del + ins
	size := arena.ClassSize(off + uvarintLen(uint64(n)) + n)
	ref := a.Alloc(size, arena.Values)
	nb := a.Bytes(ref, size)
	copy(nb, x.E.b[:off])
	w := off + binary.PutUvarint(nb[off:], uint64(n))
	to := nb[w : w+n : w+n]
	copy(to, b[:at])
	copy(to[at+ins:], b[at+del:])
	x.moved(Entry{ref, nb})
	return to
}

// moved puts the entry's copy in the place of the entry.
func (x *Edit) moved(ne Entry) {
	x.slot.Moved(x.E.Ref, ne.Ref)
	x.E.FreeBlock(x.H.A)
	x.E = ne
}

func newBlock(a *arena.Arena, n int) Block {
	var s Block
	s.Reserve(a, n)
	s.Len = uint32(n)
	return s
}

func (x *Edit) spliceBlock(at, del, ins int) []byte {
	a := x.H.A
	s := x.E.SDS()
	was := int(s.Len)
	n := was - del + ins
	invariant.Check(at >= 0 && del >= 0 && ins >= 0 && at+del <= was,
		"object: splice %d -%d +%d of %d bytes", at, del, ins, was)
	if n > was {
		s.Reserve(a, n)
		s.Len = uint32(n)
		b := s.Bytes(a)
		copy(b[at+ins:], b[at+del:was])
		x.E.setSDS(s)
		return b
	}
	b := s.Bytes(a)
	copy(b[at+ins:], b[at+del:])
	s.Len = uint32(n)
	if n <= PackedInline/2 {
		x.rebuild(Value{Type: x.E.Type(), Enc: x.Base(), B: b[:n]})
		s.Free(a)
		return x.E.inline()
	}
	if arena.ClassSize(n) < int(s.Cap)-int(s.Cap)/4 {
		s.Compact(a)
	}
	x.E.setSDS(s)
	return s.Bytes(a)
}

// rebuild gives the entry another payload; what the old one owned is not freed.
func (x *Edit) rebuild(v Value) {
	x.moved(Build(x.H.A, x.E.Key(), &v, x.E.Meta()))
}

// change comes before every change of the value, because a snapshot may have to save it first.
// Large collections look after their elements themselves, but here the snapshot learns of the
// collection.
func (x *Edit) change() {
	if x.H.Saving && x.E.Epoch() != x.H.Epoch || x.H.Sizing {
		x.slot.Changing(x.E)
	}
}

// SetPacked replaces the payload by a copy of b, which must not alias it, in the packed encoding
// enc. What the old payload owned is freed at once.
func (x *Edit) SetPacked(enc Encoding, b []byte) {
	x.change()
	o := x.H.Take(x.E)
	x.rebuild(PackedValue(x.H.A, x.E.Type(), enc, b))
	o.Free(x.H)
}

// PackedValue returns a packed payload. Bytes up to PackedInline are aliased, more are copied to a
// block of their own.
func PackedValue(a *arena.Arena, t Type, enc Encoding, b []byte) Value {
	if len(b) > PackedInline {
		s := newBlock(a, len(b))
		copy(s.Bytes(a), b)
		return Value{Type: t, Enc: enc + 1, S: s}
	}
	return Value{Type: t, Enc: enc, B: b}
}

// SetLarge makes l the payload; what the old one owned is freed at once.
func (x *Edit) SetLarge(enc Encoding, l Large) {
	x.change()
	o := x.H.Take(x.E)
	x.rebuild(Value{Type: x.E.Type(), Enc: enc, H: x.H.add(l)})
	o.Free(x.H)
}

// unplaced is the Slot of an entry that is in no table.
type unplaced struct{}

func (unplaced) Moved(arena.Ref, arena.Ref) {}
func (unplaced) Changing(Entry)             {}

// NewDetached makes a collection that no key holds yet. A STORE command collects its result in one,
// because its destination may be one of its sources. keyspace.DB.Install gives it a key; Discard
// frees it.
func NewDetached(h *Heap, t Type, enc Encoding, packed []byte) *Edit {
	v := PackedValue(h.A, t, enc, packed)
	e := Build(h.A, nil, &v, Meta{Epoch: h.Epoch})
	return &Edit{H: h, E: e, slot: unplaced{}}
}

// Discard frees a detached collection.
func (x *Edit) Discard() {
	x.H.Take(x.E).Free(x.H)
	x.E.FreeBlock(x.H.A)
	x.E = Entry{}
}
