package object

// Encoding is how a payload is stored.
type Encoding uint8

// The encodings. A packed one has two forms, next to each other, the first of them even: inside the
// entry and in a block of its own. A new type may add its own below firstLarge or maxEncodings.
const (
	EncRaw    Encoding = iota // inline bytes, more than 44 or made raw by a change in place
	EncInt                    // 64-bit signed integer
	EncEmbstr                 // inline bytes, up to 44
	EncSDS                    // bytes in a growing block of their own

	EncListpack        // packed: a listpack
	EncListpackBlock   // the same in a block of its own
	EncIntset          // packed: an intset
	EncIntsetBlock     // the same in a block of its own
	EncPairs           // packed: a hash without field deadlines, see listpack.PairsOf
	EncPairsBlock      // the same in a block of its own
	EncListpackEx      // packed: a hash with field deadlines
	EncListpackExBlock // the same in a block of its own
)

const (
	EncQuicklist Encoding = firstLarge + iota // large: a list of listpacks
	EncHashtable                              // large: a dict of fields or members
	EncSkiplist                               // large: a skiplist and a dict of its nodes
	EncSketch                                 // large: a header and blocks of bytes
)

const (
	firstPacked  = EncListpack
	firstLarge   = 32
	maxEncodings = 64
)

// The first byte of an entry, its form, tells type and encoding:
//
//	 7       3 2        0
//	+---------+----------+
//	|  Type   | encoding |     encoding: an index into Description.Encodings
//	+---------+----------+
//
// So there is room for 32 types with up to 8 encodings each, and for maxEncodings encodings in all.
const (
	formBits = 3
	maxForms = 1 << formBits

	// NumTypes bounds the numbers of types: what is kept for each type is an array of this length.
	NumTypes = 1 << (8 - formBits)
)

var (
	encodings     [NumTypes * maxForms]Encoding // by form
	forms         [NumTypes][maxEncodings]byte
	encodingNames [maxEncodings]string
)

// Packed reports whether the encoding is one of the packed ones.
func (e Encoding) Packed() bool { return e >= firstPacked && e < firstLarge }

// Large reports whether the encoding is one of the large ones.
func (e Encoding) Large() bool { return e >= firstLarge }

// Base returns the same for both forms of a packed encoding: the one inside the entry.
func (e Encoding) Base() Encoding {
	if e.Packed() {
		return e &^ 1
	}
	return e
}

// inBlock reports whether the payload lies in a block of its own.
func (e Encoding) inBlock() bool { return e == EncSDS || e.Packed() && e&1 != 0 }

// String returns the name that OBJECT ENCODING replies.
func (e Encoding) String() string { return encodingNames[e] }
