package rdb

import (
	"encoding/binary"
	"math"
	"strconv"

	"godwit/internal/listpack"
	"godwit/internal/object"
)

// Sorted sets are written as a listpack of member, score … (17), or as members with a binary score
// each (5), highest score first. Redis 5 and 6 get ziplists (12) in place of listpacks.
//
// They are read as those, and with scores as text (3): one byte of length, then the text. Lengths
// 253, 254 and 255 are nan, inf and -inf.
func init() {
	register(&Type{
		Object: object.ZSet,
		Ops: []Op{
			{typeZSet, "*(sd)", func(d *Decoder) (Value, error) {
				return decodeZSet(d, (*Decoder).textScore, 2)
			}},
			{typeZSet2, "*(s8)", func(d *Decoder) (Value, error) {
				return decodeZSet(d, (*Decoder).score, 9)
			}},
			{typeZSetZiplist, "s", func(d *Decoder) (Value, error) {
				return decodeZSetPacked(d, (*Decoder).ziplistPairs)
			}},
			{typeZSetListpack, "s", func(d *Decoder) (Value, error) {
				return decodeZSetPacked(d, (*Decoder).listpackPairs)
			}},
		},
		Op: func(e *Encoder, x *object.Edit) byte {
			switch {
			case x.Base() != object.EncListpack:
				return typeZSet2
			case e.Target.ziplists():
				return typeZSetZiplist
			}
			return typeZSetListpack
		},
		Encode:  encodeZSet,
		LargeOp: func(*Encoder, *object.Outline) byte { return typeZSet2 },
		Head: func(e *Encoder, o *object.Outline) ElementEncoder {
			e.Len(uint64(o.Len))
			return scoreEncoder{}
		},
		SavedLen: func(x *object.Edit) int {
			return savedLen(x, func(el *object.Element) int {
				return savedString(el.Name.Len()) + 8
			})
		},
		Rewrite: func(_ *Commands, a *adder, key []byte, _ *object.Outline) Rewriter {
			return a.with("ZADD", key, 2, addScore)
		},
		Fits: func(l *object.Limits, v *Value) bool {
			return int(v.n) <= l.ZSetMaxListpackEntries
		},
		Build: buildZSet,
	})
}

// encodeZSet begins with the highest score: Redis loads members fastest in that order.
func encodeZSet(e *Encoder, op byte, x *object.Edit) {
	switch op {
	case typeZSetListpack:
		e.String(x.Bytes())
		return
	case typeZSetZiplist:
		e.ziplist(x.Bytes())
		return
	}
	z := object.AsZSet(x)
	e.Len(uint64(z.Len()))
	z.Descending(e.scored)
}

// scoreEncoder is the ElementEncoder of sorted sets.
type scoreEncoder struct{ noEnd }

// Element implements ElementEncoder.
func (scoreEncoder) Element(e *Encoder, el *object.Element) { e.scored(el.Name, el.Score) }

func (e *Encoder) scored(m listpack.Value, score float64) {
	e.Element(m)
	e.B = binary.LittleEndian.AppendUint64(e.B, math.Float64bits(score))
}

func addScore(c *Commands, a *adder, el *object.Element) {
	a.items = appendArg(a.items, object.AppendScore(a.number[:0], el.Score))
	a.arg(el.Name)
	a.next(c)
}

// score reads a binary score.
func (d *Decoder) score() (float64, error) {
	bits, err := d.Uint64()
	return math.Float64frombits(bits), err
}

// textScore reads a score as files before version 8 have it.
func (d *Decoder) textScore() (float64, error) {
	n, err := d.Byte()
	if err != nil {
		return 0, err
	}
	switch n {
	case 253:
		return math.NaN(), nil
	case 254:
		return math.Inf(1), nil
	case 255:
		return math.Inf(-1), nil
	}
	b, err := d.bytes(uint64(n))
	if err != nil {
		return 0, err
	}
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil && !math.IsInf(f, 0) {
		return 0, d.errorf("%.32q is no score", b)
	}
	return f, nil
}

func decodeZSet(d *Decoder, score func(*Decoder) (float64, error), size int) (Value, error) {
	n, err := d.Count(size)
	if err != nil {
		return Value{}, err
	}
	f := d.flatten()
	for range n {
		if err := f.string(); err != nil {
			return Value{}, err
		}
		at := d.pos
		s, err := score(d)
		if err != nil {
			return Value{}, err
		}
		if math.IsNaN(s) {
			d.pos = at
			return Value{}, d.errorf("a score is not a number")
		}
		if size != 9 {
			f.replace(at, binary.LittleEndian.AppendUint64(nil, math.Float64bits(s)))
		}
	}
	return Value{form: formElements, n: int64(n), b: f.end(), max: f.max}, nil
}

// decodeZSetPacked reads a sorted set that is a listpack or, converted to one, a ziplist.
func decodeZSetPacked(d *Decoder, pairs func(*Decoder) ([]byte, error)) (Value, error) {
	at := d.pos
	lp, err := pairs(d)
	if err != nil {
		return Value{}, err
	}
	sorted, ok := zsetOrder(lp)
	if !ok {
		d.pos = at
		return Value{}, d.errorf("a score is not a number")
	}
	n := int64(listpack.Count(lp) / 2)
	if sorted {
		return Value{form: formPacked, enc: object.EncListpack, n: n, b: lp}, nil
	}
	// Redis takes it, and finds nothing in it afterwards. As elements it is sorted again.
	v := zsetElements(lp)
	v.n = n
	return v, nil
}

// zsetOrder reports whether members are in order, and whether all scores are numbers.
func zsetOrder(lp []byte) (sorted, ok bool) {
	sorted = true
	var last float64
	before := 0
	for pos := listpack.First(lp); pos != 0; {
		at := listpack.Next(lp, pos)
		s, ok := object.PackedScore(listpack.Get(lp, at))
		if !ok {
			return false, false
		}
		if before != 0 &&
			(s < last || s == last &&
				object.CompareMembers(listpack.Get(lp, before), listpack.Get(lp, pos)) > 0) {
			sorted = false
		}
		last, before = s, pos
		pos = listpack.Next(lp, at)
	}
	return sorted, true
}

func zsetElements(lp []byte) Value {
	var e Encoder
	longest := 0
	for pos := listpack.First(lp); pos != 0; {
		at := listpack.Next(lp, pos)
		m := listpack.Get(lp, pos)
		s, _ := object.PackedScore(listpack.Get(lp, at))
		e.scored(m, s)
		longest = max(longest, m.Len())
		pos = listpack.Next(lp, at)
	}
	return Value{form: formElements, b: e.B, max: longest}
}

func buildZSet(h *object.Heap, v *Value) (*object.Edit, error) {
	src := *v
	if v.form == formPacked {
		src = zsetElements(v.b)
	}
	b := object.NewZBuilder(h, int(v.n))
	r := reader{b: src.b}
	var digits [24]byte
	for range v.n {
		m := r.string(digits[:0])
		b.Add(listpack.Str(m), math.Float64frombits(r.uint64()))
	}
	x, ok := b.Load()
	if !ok {
		return nil, ErrDuplicate
	}
	return x, nil
}
