package rdb

import (
	"encoding/binary"
	"strconv"

	"godwit/internal/listpack"
	"godwit/internal/object"
)

// How hashes are written; see type_hash.go.

// fieldsOp returns the record type of a hash that is written field by field.
func (e *Encoder) fieldsOp(timed bool) byte {
	switch {
	case !timed || !e.Whole && !e.Target.FieldDeadlines():
		return typeHash
	case e.Target == ValkeyOwn:
		return typeValkeyHash
	}
	return typeHashMetadata
}

func hashOp(e *Encoder, x *object.Edit) byte {
	_, timed := object.AsHash(x).NextDeadline()
	if timed {
		e.Timed.count(x.E.Key())
	}
	op := e.fieldsOp(timed)
	switch {
	case !x.Base().Packed() || op == typeValkeyHash:
		return op
	case op == typeHashMetadata:
		return typeHashListpackEx
	case e.Target.ziplists():
		return typeHashZiplist
	}
	return typeHashListpack
}

func encodeHash(e *Encoder, op byte, x *object.Edit) {
	h := object.AsHash(x)
	switch op {
	case typeHashListpack:
		e.String(e.fields(x))
	case typeHashZiplist:
		e.ziplist(e.fields(x))
	case typeHashListpackEx:
		deadline, _ := h.NextDeadline()
		e.earliest(deadline)
		e.String(h.PackedDeadlines())
	default:
		n, earliest := h.StoredFields()
		f := fieldEncoder{op: op, earliest: earliest}
		if op == typeHash && earliest != 0 {
			n, f.before = h.Len(), x.H.Now
		}
		f.begin(e, n)
		h.EachStored(func(field, value listpack.Value, deadline int64) bool {
			f.field(e, field, value, deadline)
			return true
		})
	}
}

func hashHead(e *Encoder, o *object.Outline) ElementEncoder {
	f := fieldEncoder{op: e.fieldsOp(o.MinDeadline != 0), earliest: o.MinDeadline}
	n := o.Len
	if f.op == typeHash && f.earliest != 0 {
		n, f.before = n-o.Due(), o.DueAt
	}
	f.begin(e, n)
	return f
}

// earliest adds the earliest deadline of a field.
func (e *Encoder) earliest(ms int64) {
	e.asks(VersionFieldDeadlines)
	e.B = binary.LittleEndian.AppendUint64(e.B, uint64(ms))
}

// fieldEncoder is the ElementEncoder of hashes.
type fieldEncoder struct {
	noEnd
	op       byte
	earliest int64 // deadline of a field
	before   int64 // fields with a deadline before that are left out
}

// begin begins n fields.
func (f fieldEncoder) begin(e *Encoder, n int) {
	if f.op == typeHashMetadata {
		e.earliest(f.earliest)
	}
	e.Len(uint64(n))
}

func (f fieldEncoder) field(e *Encoder, field, value listpack.Value, deadline int64) {
	switch {
	case deadline != 0 && deadline < f.before:
		return
	case f.op != typeHashMetadata:
	case deadline == 0:
		e.Len(0)
	default:
		e.Len(uint64(deadline-f.earliest) + 1)
	}
	e.Element(field)
	e.Element(value)
	if f.op == typeValkeyHash {
		e.valkeyDeadline(deadline)
	}
}

// Element implements ElementEncoder.
func (f fieldEncoder) Element(e *Encoder, el *object.Element) {
	f.field(e, el.Name, el.Value, el.Deadline)
}

func addField(c *Commands, a *adder, el *object.Element) {
	a.arg(el.Name)
	a.arg(el.Value)
	if el.Deadline != 0 {
		after := Commands{B: a.after}
		var digits [24]byte
		deadline := strconv.AppendInt(digits[:0], el.Deadline, 10)
		after.Command("HPEXPIREAT", a.key, deadline, []byte("FIELDS"), []byte("1"),
			textOf(el.Name, &a.digits))
		a.after = after.B
	}
	a.next(c)
}

// fields returns the listpack of field, value … of a packed hash without the deadlines that fields
// have or had. Fields that are due are not in it. It is valid until the next call.
func (e *Encoder) fields(x *object.Edit) []byte {
	if x.Base() == object.EncPairs {
		e.scratch = listpack.PairsListpack(e.scratch[:0], x.Bytes())
		return e.scratch
	}
	s := listpack.NewSlice()
	object.AsHash(x).Each(func(field, value listpack.Value) bool {
		listpack.AppendValue(s, field)
		listpack.AppendValue(s, value)
		return true
	})
	return s.B
}
