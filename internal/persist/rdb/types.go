package rdb

import (
	"godwit/internal/keyspace"
	"godwit/internal/object"
)

// Type is how one type of value goes into files and comes back: all that the rest of the package knows of it.
type Type struct {
	Name   string
	Object object.Type

	// Ops are the record types that are read.
	Ops []Op
	// Op is the record type that Encode is going to write for the value.
	Op func(x *object.Edit) byte
	// Encode appends the value, without type and key.
	Encode func(e *Encoder, op byte, x *object.Edit)
	// Build makes a decoded value that does not go into the keyspace as it is (see Value.direct): a collection of the encoding that the limits of h ask
	// for. ErrDuplicate: elements are equal, and nothing is left behind.
	Build func(h *object.Heap, v *Value) (*object.Edit, error)
	// Rewrite gives the commands that recreate the value.
	Rewrite func(c *Commands, key []byte, x *object.Edit)
}

// Op is one record type.
type Op struct {
	Code byte
	// Shape is what the value is made of, so that the reader finds its end:
	//
	//	s  string   l  length   8  eight bytes   d  score as text   *(…)  a length, then the parts in the brackets that many times
	//
	// or shapeModule.
	Shape string
	// Decode reads the value, checks it completely, and leaves the decoder behind it.
	Decode func(d *Decoder) (Value, error)
}

// shapeModule is the shape of modules' values, whose parts say what they are.
const shapeModule = "module"

// types are all types; a new one is a line here.
var types = newRegistry(append(sketchTypes(), stringType(), listType(), setType(), zsetType(), hashType())...)

// registry finds types.
type registry struct {
	byType [object.NumTypes]*Type
	byOp   [256]*opEntry
}

type opEntry struct {
	t  *Type
	op Op
}

func newRegistry(list ...*Type) *registry {
	r := &registry{}
	for _, t := range list {
		r.byType[t.Object] = t
		for _, op := range t.Ops {
			r.byOp[op.Code] = &opEntry{t, op}
		}
	}
	r.byOp[typeModule2] = &opEntry{op: moduleOp}
	return r
}

// TypeOf is the type of a value.
func TypeOf(t object.Type) *Type { return types.byType[t] }

// Value is a decoded, checked value, independent of the keyspace. It may alias what it was decoded from.
type Value struct {
	t    *Type
	form form
	kind object.Encoding // formPacked: which packed encoding
	n    int64           // formInt: the integer; else the number of elements (nodes, for formNodes)
	b    []byte          // formString: the string; formPacked: the payload; formElements, formNodes: see there
	max  int             // bytes of the longest element, 0 where it does not count

	timed    bool  // formElements: before each field there is a length that tells its deadline: 0 for none, else
	earliest int64 // it is the deadline less this plus 1

	sketch *sketchValue
}

type form byte

const (
	formInt      form = iota + 1
	formString        // a string
	formPacked        // the payload of a packed collection
	formElements      // the elements as uncompressed strings, one behind the other (with an 8-byte score or deadline each where the type has it)
	formNodes         // of a list: for each node its container and an uncompressed string
	formSketch        // sketch
)

// Type is the type of the value.
func (v *Value) Type() object.Type { return v.t.Object }

// Empty reports a collection without elements, which no key can hold: Redis leaves such keys out when it loads a file and refuses them in RESTORE.
func (v *Value) Empty() bool { return v.form > formString && v.n == 0 }

// Insert puts a value under a key that is not there. It chooses the encodings that Redis would choose under the current limits. Neither key nor value is
// aliased afterwards. A key whose deadline has passed is inserted like others and expires. ErrBusy: the key exists; ErrDuplicate: the value is broken. Nothing
// is changed then. Keyspace events are the caller's.
func Insert(db *keyspace.DB, key []byte, v *Value, m Meta) error { return insert(db, key, v, m) }
