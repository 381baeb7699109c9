package persist

import (
	"slices"

	"godwit/internal/keyspace"
	"godwit/internal/object"
	"godwit/internal/persist/rdb"
	"godwit/internal/propagation"
)

// CommandFormat writes a snapshot as the commands that make the data set. It is the base of an
// append-only log without an RDB preamble.
//
//	*3 FUNCTION LOAD code                      libraries of functions
//	*2 SELECT 0
//	*3 SET key value                           strings
//	*66 RPUSH key e1 … e64                     collections, 64 elements a command
//	*3 PEXPIREAT key 1700000000000             for keys with a deadline
//
// Deadlines follow the values, because nothing expires while a log is loaded. Redis writes its own
// bases with the same commands.
type CommandFormat struct {
	h         *object.Heap
	stamp     int64
	functions [][]byte // source of the function libraries
	small     rdb.Commands
}

// NewCommandFormat makes a format for values of the heap, and the libraries of functions with the
// given sources. A stamp that is not 0 is the unix time in seconds of an annotation in front.
func NewCommandFormat(h *object.Heap, stamp int64, functions ...[]byte) *CommandFormat {
	return &CommandFormat{h: h, stamp: stamp, functions: functions}
}

// Head implements Format.
func (f *CommandFormat) Head(dst []byte) []byte {
	if f.stamp != 0 {
		dst = appendTimestamp(dst, f.stamp)
	}
	f.small.B = dst
	for _, code := range f.functions {
		f.small.Command("FUNCTION", []byte("LOAD"), code)
	}
	return f.take()
}

// Database implements Format.
func (f *CommandFormat) Database(dst []byte, db keyspace.SavedDB) []byte {
	return propagation.AppendSelect(dst, db.ID)
}

// Tail implements Format.
func (f *CommandFormat) Tail(dst []byte) []byte { return dst }

// Key implements Format. The type (rdb.Type) says what its commands are. The elements of large
// values come one by one: see commandLarge.
func (f *CommandFormat) Key(dst []byte, e object.Entry) []byte {
	f.small.B = dst
	f.small.Record(f.h, e)
	return f.take()
}

// LongString implements Format.
func (f *CommandFormat) LongString(dst []byte, e object.Entry) []byte {
	f.small.B = dst
	f.small.StringHead(e.Key(), e.StringLen())
	return f.take()
}

// LongStringEnd implements Format.
func (f *CommandFormat) LongStringEnd(dst []byte, e object.Entry) []byte {
	f.small.B = append(dst, "\r\n"...)
	f.small.Deadline(e.Key(), e.Deadline())
	return f.take()
}

// take returns what small was appended to.
func (f *CommandFormat) take() []byte {
	b := f.small.B
	f.small.B = nil
	return b
}

// Large implements Format.
func (f *CommandFormat) Large(
	dst []byte, e object.Entry, c *object.Capture,
) ([]byte, LargeEncoder) {
	r := &commandLarge{key: slices.Clone(e.Key()), deadline: e.Deadline()}
	r.c.B = dst
	r.to = r.c.Large(r.key, &c.Outline)
	return r.c.B, r
}

// commandLarge is a large value on its way into commands.
type commandLarge struct {
	c        rdb.Commands
	to       rdb.Rewriter
	key      []byte
	deadline int64
}

// Element implements LargeEncoder.
func (r *commandLarge) Element(dst []byte, el *object.Element) []byte {
	r.c.B = dst
	r.to.Element(&r.c, el)
	return r.c.B
}

// End implements LargeEncoder.
func (r *commandLarge) End(dst []byte) []byte {
	r.c.B = dst
	r.to.End(&r.c)
	r.c.Deadline(r.key, r.deadline)
	return r.c.B
}
