package object

// String is the type of strings. An entry keeps them itself, in encodings of their own; value.go has
// what they do.
const String Type = 0

func init() {
	describe(String, Description{
		Name:      "string",
		Encodings: []EncodingName{{EncRaw, "raw"}, {EncInt, "int"}, {EncEmbstr, "embstr"}, {EncSDS, "raw"}},
	})
}
