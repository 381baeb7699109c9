package object

import (
	"fmt"

	"godwit/internal/listpack"
)

// Type is a data type. DEBUG DIGEST depends on its number, so that never changes. The numbers 5 and
// 6 are Redis's for modules' values and streams.
type Type uint8

// Description is what a data type is in memory, in one place: the rest of the server asks it and
// has no switch over types. What the type is in files hangs on the same Type, see rdb.Type.
//
// A type declares its number and calls describe in its own file. How its large form is freed,
// copied, defragmented, measured and saved is said by the methods of Large.
type Description struct {
	// Name is what TYPE replies.
	Name string
	// Encodings are those that a value of the type can have. Their order is part of the entry, see
	// form. Both forms of a packed encoding are listed.
	Encodings []EncodingName
	// Awaited says that commands may wait for a key of the type to appear.
	Awaited bool
	// Len returns the number of elements that a client sees.
	Len func(x *Edit) int
	// Outline fills in what there is to say before the elements; Type is set.
	Outline func(x *Edit, o *Outline)
	// Each is Edit.Each.
	Each func(x *Edit, visit func(el *Element) bool)
	// Digest adds the value to a digest.
	Digest func(d *Digest, x *Edit)
	// Range calls emit for the elements with the numbers from … to-1, in the value's own order or
	// in reverse, where the order can be turned. The range is within the value and not empty. Only
	// the types that SORT takes have it.
	Range func(x *Edit, from, to int, reverse bool, emit func(v listpack.Value))
	// HashOrder says that elements come in the order of a hash table, another in each process.
	HashOrder bool
}

// EncodingName is an encoding with the name that OBJECT ENCODING replies.
type EncodingName struct {
	Enc  Encoding
	Name string
}

var descriptions [NumTypes]Description

// describe registers a type. It panics if the number is taken or the description not complete.
func describe(t Type, d Description) {
	if descriptions[t].Name != "" || d.Name == "" ||
		len(d.Encodings) == 0 || len(d.Encodings) > maxForms ||
		d.Len == nil || d.Outline == nil || d.Each == nil || d.Digest == nil {
		panic(fmt.Sprintf("object: type %d, %q, is described twice or not in full", t, d.Name))
	}
	descriptions[t] = d
	for i, e := range d.Encodings {
		f := byte(t)<<formBits | byte(i)
		encodings[f], forms[t][e.Enc], encodingNames[e.Enc] = e.Enc, f, e.Name
	}
}

// Description returns what the type is.
func (t Type) Description() *Description { return &descriptions[t] }

// String returns the name that TYPE replies, "" for a number that is no type.
func (t Type) String() string { return descriptions[t].Name }
