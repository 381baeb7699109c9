package rdb

import (
	"fmt"

	"godwit/internal/object"
	"godwit/internal/stream"
)

// Type is how a data type goes into files and comes back: all that persistence knows of it. It is
// the other half of object.Description and hangs on the same object.Type. Each type registers
// itself in a file of its own (type_….go, module_….go).
type Type struct {
	Object object.Type

	// Ops are the record types that are read.
	Ops []Op

	// Op returns the record type that Encode is going to write for the value.
	Op func(e *Encoder, x *object.Edit) byte
	// Encode appends the value, without type and key.
	Encode func(e *Encoder, op byte, x *object.Edit)
	// LargeOp returns the record type of a value that is written element by element.
	LargeOp func(e *Encoder, o *object.Outline) byte
	// Head appends what stands between the key and the elements of a value that is written
	// element by element.
	Head func(e *Encoder, o *object.Outline) ElementEncoder
	// SavedLen returns the bytes of the value in a file that compresses nothing, spells no elements
	// as integers and knows no records of modules: serializedlength of DEBUG OBJECT.
	SavedLen func(x *object.Edit) int

	// Needs returns the least version that keeps all of the value that commands act upon, 0 for
	// any. It may be nil.
	Needs func(x *object.Edit) int

	// Rewrite returns the Rewriter that turns the elements of a value into the commands that
	// recreate it. That may be a, which is empty. The key does not change until the end.
	Rewrite func(c *Commands, a *adder, key []byte, o *object.Outline) Rewriter

	// Fits reports whether a packed value is within the limits of its encoding and goes into the
	// keyspace as it is.
	Fits func(l *object.Limits, v *Value) bool
	// Build makes a decoded value that does not go into the keyspace as it is: a collection of the
	// encoding that the limits of h ask for. ErrDuplicate: elements are equal, and nothing is left
	// behind.
	Build func(h *object.Heap, v *Value) (*object.Edit, error)

	layouts []*layout // of a sketch
}

// ElementEncoder appends the elements of a value, and what comes behind them.
type ElementEncoder interface {
	Element(e *Encoder, el *object.Element)
	End(e *Encoder)
}

// noEnd is the End of values that end with their last element.
type noEnd struct{}

// End implements ElementEncoder.
func (noEnd) End(*Encoder) {}

// Op is one record type.
type Op struct {
	Code byte
	// Shape is what the value is made of, so that the reader finds its end; see shape.
	Shape string
	// Decode reads the value, checks it completely, and leaves the decoder behind it.
	Decode func(d *Decoder) (Value, error)
}

// types are all types and record types.
var types struct {
	byType [object.NumTypes]*Type
	byOp   [256]*opEntry
}

type opEntry struct {
	t       *Type // nil: the value knows
	op      Op
	shape   shape
	skip    func(s *skimmer) error // for a shape with a name
	refused string                 // what such a value is, if it is not read; see refused.go
}

// register adds a type. It panics if the type is not complete, or at odds with another.
func register(t *Type) {
	switch {
	case t.Object.String() == "":
		panic(fmt.Sprintf("rdb: type %d is not described", t.Object))
	case types.byType[t.Object] != nil:
		panic("rdb: twice a type: " + t.Object.String())
	case !t.complete():
		panic("rdb: a type that is not complete: " + t.Object.String())
	}
	types.byType[t.Object] = t
	for _, op := range t.Ops {
		registerOp(t, op)
	}
}

// complete reports whether the type has all that its encodings ask for.
func (t *Type) complete() bool {
	var large, packed bool
	for _, e := range t.Object.Description().Encodings {
		large = large || e.Enc.Large()
		packed = packed || e.Enc.Packed()
	}
	return t.Op != nil && t.Encode != nil && t.SavedLen != nil && t.Rewrite != nil &&
		(!large || t.LargeOp != nil && t.Head != nil && t.Build != nil) &&
		(!packed || t.Fits != nil && t.Build != nil)
}

// registerOp adds a record type.
func registerOp(t *Type, op Op) {
	if types.byOp[op.Code] != nil {
		panic(fmt.Sprintf("rdb: twice record type %d", op.Code))
	}
	types.byOp[op.Code] = &opEntry{t: t, op: op, shape: compileShape(op.Shape),
		skip: skips[op.Shape]}
}

// TypeOf returns how values of the type go into files.
func TypeOf(t object.Type) *Type { return types.byType[t] }

// SavedLen returns what DEBUG OBJECT shows as the length of the value in a file, in bytes.
func SavedLen(x *object.Edit) int { return TypeOf(x.E.Type()).SavedLen(x) }

// savedLen is SavedLen of a collection that is written as its payload if it is packed, else as a
// length and its elements. Fields that are due are not there.
func savedLen(x *object.Edit, element func(el *object.Element) int) int {
	if x.Base().Packed() {
		return savedString(len(x.Bytes()))
	}
	n := lenWidth(x.Len())
	x.Each(func(el *object.Element) bool {
		if el.Deadline == 0 || el.Deadline >= x.H.Now {
			n += element(el)
		}
		return true
	})
	return n
}

// savedString is SavedLen of a string of n bytes.
func savedString(n int) int { return lenWidth(n) + n }

// Value is a decoded, checked value, independent of the keyspace. It may alias what it was decoded
// from.
type Value struct {
	t    *Type
	form form
	enc  object.Encoding // formPacked: which packed encoding
	n    int64           // formInt: the integer; else the number of elements (nodes, for formNodes)
	// b is the string (formString), the payload (formPacked), or what formElements and formNodes
	// say.
	b   []byte
	max int // bytes of the longest element, 0 where it does not count

	// timed says, for formElements, that before each field there is a length that tells its
	// deadline: 0 for none, else the deadline less earliest plus 1.
	timed    bool
	earliest int64

	rare *rareValue
}

// rareValue is what few values need: they are made by the million, so they have one pointer for it.
type rareValue struct {
	head     []byte // of formSketch
	blocks   [][]byte
	template *template       // of formTemplate
	stream   *stream.Builder // of formStream, which has come to its end
}

type form byte

const (
	formInt    form = iota + 1
	formString      // a string
	formPacked      // the payload of a packed collection
	// formElements has the elements as uncompressed strings, one behind the other, each with an
	// 8-byte score or deadline where the type has it.
	formElements
	formNodes  // of a list: for each node its container and an uncompressed string
	formSketch // rare.head and rare.blocks
	formStream // rare.stream; n is 1, for a stream may be empty
	// formTemplate has the values of a hash's fields, which template names: a listpack behind its
	// first element if enc is EncListpack, else uncompressed strings.
	formTemplate
)

// Empty reports a collection without elements, which no key can hold. Redis leaves such keys out
// when it loads a file and refuses them in RESTORE.
func (v *Value) Empty() bool { return v.form > formString && v.n == 0 }

// Sound reports whether nothing can be wrong with the value any more: Insert is going to find room
// for it, or the key to be busy, but no equal elements.
func (v *Value) Sound() bool { return v.form == formInt || v.form == formString }
