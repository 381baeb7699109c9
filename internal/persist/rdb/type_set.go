package rdb

import (
	"godwit/internal/intset"
	"godwit/internal/listpack"
	"godwit/internal/object"
)

// Sets are written as an intset (11) or as members (2). A set that is a listpack in memory is
// written as members too, unless for Redis 7.2 and later: they have a record type for it (20). All
// three are read.
func init() {
	register(&Type{
		Object: object.Set,
		Ops: []Op{
			{typeSet, "*(s)", decodeListPlain},
			{typeSetIntset, "s", decodeSetIntset},
			{typeSetListpack, "s", decodeSetListpack},
		},
		Op: func(e *Encoder, x *object.Edit) byte {
			switch {
			case x.Base() == object.EncIntset:
				return typeSetIntset
			case x.Base() == object.EncListpack && e.Target.setListpacks():
				return typeSetListpack
			}
			return typeSet
		},
		Encode:  encodeSet,
		LargeOp: func(*Encoder, *object.Outline) byte { return typeSet },
		Head: func(e *Encoder, o *object.Outline) ElementEncoder {
			e.Len(uint64(o.Len))
			return memberEncoder{}
		},
		SavedLen: func(x *object.Edit) int {
			return savedLen(x, func(el *object.Element) int { return savedString(el.Name.Len()) })
		},
		Rewrite: func(_ *Commands, a *adder, key []byte, _ *object.Outline) Rewriter {
			return a.with("SADD", key, 1, addMember)
		},
		Fits: func(l *object.Limits, v *Value) bool {
			if v.enc == object.EncIntset {
				return int(v.n) <= l.IntsetMax()
			}
			return int(v.n) <= l.SetMaxListpackEntries
		},
		Build: buildSet,
	})
}

func encodeSet(e *Encoder, op byte, x *object.Edit) {
	if op != typeSet {
		e.String(x.Bytes())
		return
	}
	s := object.AsSet(x)
	e.Len(uint64(s.Len()))
	s.Each(func(v listpack.Value) bool {
		e.Element(v)
		return true
	})
}

// memberEncoder is the ElementEncoder of sets.
type memberEncoder struct{ noEnd }

// Element implements ElementEncoder.
func (memberEncoder) Element(e *Encoder, el *object.Element) { e.Element(el.Name) }

func addMember(c *Commands, a *adder, el *object.Element) {
	a.arg(el.Name)
	a.next(c)
}

func decodeSetIntset(d *Decoder) (Value, error) {
	at := d.pos
	b, err := d.String()
	if err != nil {
		return Value{}, err
	}
	if err := intset.Validate(b); err != nil {
		d.pos = at
		return Value{}, d.errorf("%v", err)
	}
	return Value{form: formPacked, enc: object.EncIntset, n: int64(intset.Len(b)), b: b}, nil
}

func decodeSetListpack(d *Decoder) (Value, error) {
	lp, err := d.listpack(1, true)
	return Value{form: formPacked, enc: object.EncListpack, n: int64(count(lp)), b: lp}, err
}

// next gives the elements of a value that has such, as text.
func (v *Value) next() object.Next {
	switch {
	case v.form == formTemplate:
		return v.nextOfTemplate()
	case v.form == formElements:
		r := reader{b: v.b}
		return r.string
	case v.enc == object.EncIntset:
		i := -1
		return func(buf []byte) []byte {
			i++
			return listpack.Int(intset.At(v.b, i)).Append(buf)
		}
	}
	pos := 0
	return func(buf []byte) []byte {
		if pos == 0 {
			pos = listpack.First(v.b)
		} else {
			pos = listpack.Next(v.b, pos)
		}
		e := listpack.Get(v.b, pos)
		if e.IsInt {
			return e.Append(buf)
		}
		return e.B
	}
}

// buildSet chooses as Redis does: integers in an intset, a few short members in a listpack, as long
// as an intset could hold as many.
func buildSet(h *object.Heap, v *Value) (*object.Edit, error) {
	n, lim := int(v.n), h.Lim
	if v.form == formElements && n <= lim.IntsetMax() {
		if b, ok, err := packInts(v); ok || err != nil {
			return detach(h, object.Set, object.EncIntset, b, err)
		}
		if n <= lim.SetMaxListpackEntries && v.max <= lim.SetMaxListpackValue {
			b, err := packElements(v, 1)
			return detach(h, object.Set, object.EncListpack, b, err)
		}
	}
	x, ok := object.LoadSet(h, n, v.next())
	if !ok {
		return nil, ErrDuplicate
	}
	return x, nil
}

func detach(
	h *object.Heap, t object.Type, enc object.Encoding, b []byte, err error,
) (*object.Edit, error) {
	if err != nil {
		return nil, err
	}
	return object.NewDetached(h, t, enc, b), nil
}

// packInts makes an intset of the elements if they are all integers.
func packInts(v *Value) (b []byte, ok bool, err error) {
	s := listpack.Slice{B: append(make([]byte, 0, 8+2*v.n), intset.Empty()...)}
	next := v.next()
	var buf [24]byte
	for range v.n {
		n, isInt := listpack.ParseInt(next(buf[:0]))
		if !isInt {
			return nil, false, nil
		}
		if !intset.Add(&s, n) {
			return nil, false, ErrDuplicate
		}
	}
	return s.B, true, nil
}

// packElements makes a listpack of the elements. Every stride-th of them must differ from the
// others.
func packElements(v *Value, stride int) ([]byte, error) {
	s := listpack.NewSlice()
	next := v.next()
	var buf [24]byte
	for range int(v.n) * stride {
		listpack.Append(s, next(buf[:0]))
	}
	var t dupTable
	if !t.distinct(s.B, stride) {
		return nil, ErrDuplicate
	}
	return s.B, nil
}
