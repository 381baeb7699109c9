package object

// String is the type of strings. An entry keeps them itself, in encodings of their own; value.go has
// what they do.
const String Type = 0

func init() {
	describe(String, Description{
		Name:      "string",
		Encodings: []EncodingName{{EncRaw, "raw"}, {EncInt, "int"}, {EncEmbstr, "embstr"}, {EncSDS, "raw"}},
		Len:       func(*Edit) int { return 1 },
		Outline:   func(_ *Edit, o *Outline) { o.Len = 1 },
		Each: func(x *Edit, visit func(el *Element) bool) {
			var scratch [24]byte
			x.el.Name.B = x.E.StringBytes(x.H.A, &scratch)
			visit(&x.el)
		},
		Digest: digestOrdered,
	})
}
