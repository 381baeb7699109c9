package rdb

import (
	"godwit/internal/object"
)

// Strings: one record type, a string. What is an integer of 32 bits is written as one.
func stringType() *Type {
	return &Type{
		Name:   "string",
		Object: object.String,
		Ops:    []Op{{typeString, "s", decodeString}},
		Op:     func(*object.Edit) byte { return typeString },
		Encode: encodeString,
		Rewrite: func(c *Commands, key []byte, x *object.Edit) {
			var scratch [24]byte
			c.Command("SET", key, x.E.StringBytes(x.H.A, &scratch))
		},
	}
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
