package rdb

import (
	"cmp"
	"slices"

	"godwit/internal/listpack"
	"godwit/internal/object"
)

// Hashes are written as a listpack of field, value … (16) or as fields with their values (4). Redis
// 5 and 6 get a ziplist (13) in place of the listpack. If fields have deadlines, the record types
// of Redis 7.4 are needed, or for Valkey its own (valkey.go). For other targets the deadlines are
// left out, and with them the fields that are due. Both types of Redis begin with the earliest
// deadline in 8 bytes, which a reader does not need for 25:
//
//   - 25 is a listpack of field, value, deadline … by rising deadline, those without one (0) last.
//   - 24 is the fields with a length before each: 0, or its deadline less the earliest of all plus
//     1.
//
// They are read as those, as zipmap (9), with a template for the names of the fields (template.go),
// and as the release candidates of 7.4 had them: 23, without the earliest deadline, and 22, without
// it and with absolute deadlines.
func init() {
	register(&Type{
		Object: object.Hash,
		Ops: []Op{
			{typeHash, "*(ss)", decodeHash},
			{typeHashZipmap, "s", decodeHashZipmap},
			{typeHashZiplist, "s", func(d *Decoder) (Value, error) {
				return decodeHashPacked(d, (*Decoder).ziplistPairs)
			}},
			{typeHashListpack, "s", func(d *Decoder) (Value, error) {
				return decodeHashPacked(d, (*Decoder).listpackPairs)
			}},
			{typeHashMetadataRC, "*(lss)", func(d *Decoder) (Value, error) {
				return decodeHashMetadata(d, 1)
			}},
			{typeValkeyHashIn, "*(ss8)", decodeHashValkey},
			{typeHashListpackRC, "s", decodeHashListpackEx},
			{typeHashMetadata, "8*(lss)", decodeHashRelative},
			{typeHashListpackEx, "8s", decodeHashEarliest},
			{typeTemplateLP, shapeTemplateLP, decodeTemplateLP},
			{typeTemplateLPRef, "s", decodeTemplateLPRef},
			{typeTemplateArray, shapeTemplateArray, decodeTemplateArray},
			{typeTemplateArrRef, shapeTemplateRef, decodeTemplateArrRef},
		},
		Op:     hashOp,
		Encode: encodeHash,
		LargeOp: func(e *Encoder, o *object.Outline) byte {
			return e.fieldsOp(o.MinDeadline != 0)
		},
		Head: hashHead,
		Needs: func(x *object.Edit) int {
			if x.H.HasFieldDeadlines(x.E) {
				return VersionFieldDeadlines
			}
			return 0
		},
		SavedLen: func(x *object.Edit) int {
			if x.Base() == object.EncPairs { // written as a listpack
				return savedString(len(listpack.PairsListpack(nil, x.Bytes())))
			}
			return savedLen(x, func(el *object.Element) int {
				return savedString(el.Name.Len()) + savedString(el.Value.Len())
			})
		},
		Rewrite: func(_ *Commands, a *adder, key []byte, _ *object.Outline) Rewriter {
			if a.packed {
				return a.with("HMSET", key, 2, addField)
			}
			return a.with("HSET", key, 2, addField)
		},
		Fits: func(l *object.Limits, v *Value) bool {
			// The loader of Redis asks for the length of fields in zipmaps only, and so does max.
			return int(v.n) <= l.HashMaxListpackEntries && v.max <= l.HashMaxListpackValue
		},
		Build: buildHash,
	})
}

// maxDeadline is the latest deadline of a field, unix ms: 48 bits, as in Redis.
const maxDeadline = 1<<48 - 1

func decodeHash(d *Decoder) (Value, error) {
	n, err := d.Count(2)
	if err != nil {
		return Value{}, err
	}
	f := d.flatten()
	for range 2 * n {
		if err := f.string(); err != nil {
			return Value{}, err
		}
	}
	return Value{form: formElements, n: int64(n), b: f.end(), max: f.max}, nil
}

func decodeHashZipmap(d *Decoder) (Value, error) {
	at := d.pos
	b, err := d.String()
	if err != nil {
		return Value{}, err
	}
	lp, longest, err := zipmapListpack(b)
	if err != nil {
		d.pos = at
		return Value{}, d.errorf("%v", err)
	}
	if !d.dup.distinct(lp, 2) {
		d.pos = at
		return Value{}, d.errorf("duplicate elements")
	}
	v := packedHash(lp)
	v.max = longest
	return v, nil
}

func decodeHashPacked(d *Decoder, pairs func(*Decoder) ([]byte, error)) (Value, error) {
	lp, err := pairs(d)
	if err != nil {
		return Value{}, err
	}
	return packedHash(lp), nil
}

// packedHash returns the value that is a listpack of field, value …
func packedHash(lp []byte) Value {
	return Value{form: formPacked, enc: object.EncPairs, n: int64(listpack.Count(lp) / 2),
		b: listpack.PairsOf(make([]byte, 0, len(lp)), lp)}
}

// earliest reads the earliest deadline.
func (d *Decoder) earliest() (int64, error) {
	at := d.pos
	u, err := d.Uint64()
	if err == nil && u > maxDeadline {
		d.pos = at
		return 0, d.errorf("a field's deadline is %d", u)
	}
	return int64(u), err
}

func decodeHashMetadata(d *Decoder, earliest int64) (Value, error) {
	n, err := d.Count(3)
	if err != nil {
		return Value{}, err
	}
	f := d.flatten()
	for range n {
		at := d.pos
		ttl, err := d.Len()
		if err != nil {
			return Value{}, err
		}
		if ttl > maxDeadline || ttl != 0 && int64(ttl)-1+earliest > maxDeadline {
			d.pos = at
			return Value{}, d.errorf("a field's deadline is %d behind %d", ttl, earliest)
		}
		for range 2 {
			if err := f.string(); err != nil {
				return Value{}, err
			}
		}
	}
	return Value{form: formElements, n: int64(n), b: f.end(), max: f.max, timed: true,
		earliest: earliest}, nil
}

// timedField is a field of a value with deadlines.
type timedField struct {
	field, value listpack.Value
	deadline     int64
}

// decodeHashRelative reads deadlines relative to the earliest, which comes first.
func decodeHashRelative(d *Decoder) (Value, error) {
	earliest, err := d.earliest()
	if err != nil {
		return Value{}, err
	}
	return decodeHashMetadata(d, earliest)
}

// decodeHashEarliest reads a listpack behind the earliest deadline.
func decodeHashEarliest(d *Decoder) (Value, error) {
	if _, err := d.earliest(); err != nil {
		return Value{}, err
	}
	return decodeHashListpackEx(d)
}

func decodeHashListpackEx(d *Decoder) (Value, error) {
	at := d.pos
	lp, err := d.listpack(3, true)
	if err != nil {
		return Value{}, err
	}
	sorted := true
	last := int64(0)
	var fields []timedField
	for pos := listpack.First(lp); pos != 0; {
		v := listpack.Next(lp, pos)
		t := listpack.Next(lp, v)
		dl := listpack.Get(lp, t)
		if !dl.IsInt || dl.N < 0 || dl.N > maxDeadline {
			d.pos = at
			return Value{}, d.errorf("a field's deadline is %.32q", dl.Append(nil))
		}
		fields = append(fields, timedField{listpack.Get(lp, pos), listpack.Get(lp, v), dl.N})
		if len(fields) > 1 && byDeadline(last, dl.N) > 0 {
			sorted = false
		}
		last = dl.N
		pos = listpack.Next(lp, t)
	}
	if !sorted {
		lp = sortedFields(fields)
	}
	return Value{form: formPacked, enc: object.EncListpackEx, n: int64(len(fields)),
		b: object.AppendPackedDeadlines(nil, lp)}, nil
}

// byDeadline orders fields by deadline, those without one (0) last.
func byDeadline(a, b int64) int { return cmp.Compare(uint64(a)-1, uint64(b)-1) }

// sortedFields makes the listpack of the fields in the order that it must have.
func sortedFields(fields []timedField) []byte {
	slices.SortStableFunc(fields, func(a, b timedField) int {
		return byDeadline(a.deadline, b.deadline)
	})
	s := listpack.NewSlice()
	for _, f := range fields {
		listpack.AppendValue(s, f.field)
		listpack.AppendValue(s, f.value)
		listpack.AppendInt(s, f.deadline)
	}
	return s.B
}

// nextField gives the fields of a value.
func (v *Value) nextField() func(fbuf, vbuf []byte) (field, value []byte, deadline int64) {
	switch v.form {
	case formTemplate:
		next := v.nextOfTemplate()
		return func(fbuf, vbuf []byte) (field, value []byte, deadline int64) {
			field = next(fbuf)
			return field, next(vbuf), 0
		}
	case formElements:
		r := reader{b: v.b}
		return func(fbuf, vbuf []byte) (field, value []byte, deadline int64) {
			if v.timed {
				if ttl := r.length(); ttl != 0 {
					deadline = int64(ttl) - 1 + v.earliest
				}
			}
			field = r.string(fbuf)
			return field, r.string(vbuf), deadline
		}
	}
	timed := v.enc == object.EncListpackEx
	var lp []byte
	if timed {
		lp = object.PackedDeadlines(v.b)
	} else {
		lp = listpack.PairsListpack(nil, v.b)
	}
	next := (&Value{form: formPacked, enc: object.EncListpack, b: lp}).next()
	return func(fbuf, vbuf []byte) (field, value []byte, deadline int64) {
		field = next(fbuf)
		value = next(vbuf)
		if timed {
			var digits [24]byte
			deadline, _ = listpack.ParseInt(next(digits[:0]))
		}
		return field, value, deadline
	}
}

func buildHash(h *object.Heap, v *Value) (*object.Edit, error) {
	lim := h.Lim
	if v.form != formPacked && int(v.n) <= lim.HashMaxListpackEntries &&
		v.max <= lim.HashMaxListpackValue {
		if v.timed {
			b, err := packTimed(v)
			return detach(h, object.Hash, object.EncListpackEx, b, err)
		}
		lp, err := packElements(v, 2)
		if err != nil {
			return nil, err
		}
		return object.NewDetached(h, object.Hash, object.EncPairs, listpack.PairsOf(nil, lp)), nil
	}
	x, ok := object.LoadHash(h, int(v.n), v.nextField())
	if !ok {
		return nil, ErrDuplicate
	}
	return x, nil
}

// packTimed makes the packed payload of fields with deadlines.
func packTimed(v *Value) ([]byte, error) {
	fields := make([]timedField, 0, v.n)
	next := v.nextField()
	for range v.n {
		field, value, deadline := next(make([]byte, 0, 24), make([]byte, 0, 24))
		fields = append(fields, timedField{element(field), element(value), deadline})
	}
	lp := sortedFields(fields)
	var t dupTable
	if !t.distinct(lp, 3) {
		return nil, ErrDuplicate
	}
	return object.AppendPackedDeadlines(nil, lp), nil
}

// element returns b as an element of a listpack: an integer if it spells one.
func element(b []byte) listpack.Value {
	if n, ok := listpack.ParseInt(b); ok {
		return listpack.Int(n)
	}
	return listpack.Str(b)
}
