package object

// The types of sketches have the names of the module types that they stand in for.
const (
	TypeBloom   Type = 7
	TypeCuckoo  Type = 8
	TypeCMS     Type = 9
	TypeTopK    Type = 10
	TypeTDigest Type = 11
)

func init() {
	sketch := func(t Type, name string) {
		describe(t, Description{Name: name, Encodings: []EncodingName{{EncSketch, "raw"}}})
	}
	sketch(TypeBloom, "MBbloom--")
	sketch(TypeCuckoo, "MBbloomCF")
	sketch(TypeCMS, "CMSk-TYPE")
	sketch(TypeTopK, "TopK-TYPE")
	sketch(TypeTDigest, "TDIS-TYPE")
}

// Sketch reports whether values of the type are sketches.
func (t Type) Sketch() bool { return t >= TypeBloom && t <= TypeTDigest }
