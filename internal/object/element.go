package object

import (
	"godwit/internal/listpack"
	"godwit/internal/quicklist"
	"godwit/internal/stream"
)

// Element is one element of a value, whatever its type and encoding. Digests, files and commands
// are made from them. The bytes are good until the next change of anything.
type Element struct {
	Name     listpack.Value     // the member, the field of a hash, or the string
	Value    listpack.Value     // of a field; of a sketch, the next bytes of a block
	Deadline int64              // of a field, unix ms, 0 for none
	Score    float64            // of a sorted set's member
	Node     *quicklist.Payload // of a list: a whole node, and nothing else
	Block    int                // of a sketch: the number of the block
	Part     *stream.Part       // of a stream: a part, and nothing else
}

// Outline is what a file says of a value before its elements.
type Outline struct {
	Type        Type
	Len         int   // elements; of a list nodes, of a sketch chunks or blocks, of a stream parts
	MinDeadline int64 // of the fields of a hash, unix ms, 0 if none has one
	// Due counts the fields that are due when the outline is made, at the time DueAt, unix ms. It
	// is set for a large hash with deadlines that is being saved, and called before anything
	// changes.
	Due   func() int
	DueAt int64

	Header []byte // of a sketch
	Blocks []int  // of a sketch: how long its blocks are in bytes

	StreamMeta *stream.Meta // of a stream
}

// Outline fills in the outline of the value, with Len as Each counts.
func (x *Edit) Outline(o *Outline) {
	*o = Outline{Type: x.E.Type()}
	descriptions[o.Type].Outline(x, o)
}

// Each calls visit for every element of the value until it returns false: lists node by node,
// sketches block by block, due fields included. The value must not be changed meanwhile.
func (x *Edit) Each(visit func(el *Element) bool) {
	x.el = Element{}
	descriptions[x.E.Type()].Each(x, visit)
}

// Len returns the number of elements that a client sees.
func (x *Edit) Len() int { return descriptions[x.E.Type()].Len(x) }

// Range calls emit for the elements with the numbers from … to-1, which are within the value. The
// type must have a Range.
func (x *Edit) Range(from, to int, reverse bool, emit func(v listpack.Value)) {
	if from < to {
		descriptions[x.E.Type()].Range(x, from, to, reverse, emit)
	}
}

// EachInNode calls visit for every element of a node of a list. A compressed node is unpacked into
// buf, which is returned.
func EachInNode(n *quicklist.Payload, buf []byte, visit func(v listpack.Value)) []byte {
	if n.Plain {
		visit(listpack.Str(n.B))
		return buf
	}
	lp := n.Unpacked(buf)
	for p := listpack.First(lp); p != 0; p = listpack.Next(lp, p) {
		visit(listpack.Get(lp, p))
	}
	if n.LZF {
		buf = lp
	}
	return buf
}
