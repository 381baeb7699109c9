package rdb

import (
	"godwit/internal/object"
)

// Strings have one record type. An integer of up to 32 bits is written as an integer.
func init() {
	register(&Type{
		Object:   object.String,
		Ops:      []Op{{typeString, "s", decodeString}},
		Op:       func(*Encoder, *object.Edit) byte { return typeString },
		Encode:   encodeString,
		SavedLen: savedStringLen,
		Rewrite: func(_ *Commands, a *adder, key []byte, _ *object.Outline) Rewriter {
			a.key = key
			return (*setter)(a)
		},
	})
}

func encodeString(e *Encoder, _ byte, x *object.Edit) {
	if x.E.Encoding() == object.EncInt {
		e.Int(x.E.Int())
		return
	}
	var scratch [24]byte
	e.String(x.E.StringBytes(x.H.A, &scratch))
}

func decodeString(d *Decoder) (Value, error) {
	t, err := d.text()
	if err != nil {
		return Value{}, err
	}
	if t.isInt {
		return Value{form: formInt, n: t.n}, nil
	}
	return Value{form: formString, b: t.b}, nil
}

// savedStringLen counts an integer of 32 bits as one.
func savedStringLen(x *object.Edit) int {
	if x.E.Encoding() == object.EncInt {
		var e Encoder
		e.Int(x.E.Int())
		return len(e.B)
	}
	return savedString(x.E.StringLen())
}

// setter is the Rewriter of strings.
type setter adder

// Element implements Rewriter.
func (s *setter) Element(c *Commands, el *object.Element) {
	c.Command("SET", s.key, textOf(el.Name, &s.digits))
}

// End implements Rewriter.
func (*setter) End(*Commands) {}
