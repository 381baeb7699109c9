package object

import "godwit/internal/listpack"

// String is the type of strings. An entry keeps them itself, in encodings of their own: see
// value.go.
const String Type = 0

func init() {
	describe(String, Description{
		Name: "string",
		Encodings: []EncodingName{
			{EncRaw, "raw"}, {EncInt, "int"}, {EncEmbstr, "embstr"}, {EncSDS, "raw"},
		},
		Len:     func(*Edit) int { return 1 },
		Outline: func(_ *Edit, o *Outline) { o.Len = 1 },
		Each: func(x *Edit, visit func(el *Element) bool) {
			if x.E.Encoding() == EncInt {
				x.el.Name = listpack.Int(x.E.Int())
			} else {
				x.el.Name = listpack.Str(x.E.StringBytes(x.H.A, nil))
			}
			visit(&x.el)
		},
		Digest: func(d *Digest, x *Edit) {
			var scratch [24]byte
			d.Mix(x.E.StringBytes(x.H.A, &scratch))
		},
	})
}
