package persist

import (
	"strconv"

	"godwit/internal/keyspace"
	"godwit/internal/listpack"
	"godwit/internal/object"
	"godwit/internal/persist/rdb"
	"godwit/internal/propagation"
)

// CommandFormat writes a snapshot as the commands that make the data set: the base of an append-only log without an RDB preamble.
//
//	*3 FUNCTION LOAD code                      libraries of functions
//	*2 SELECT 0
//	*3 SET key value                           strings
//	*66 RPUSH key e1 … e64                     collections, 64 elements a command
//	*3 PEXPIREAT key 1700000000000             for keys with a deadline
//
// Deadlines follow the values: nothing expires while a log is loaded. Redis writes its own bases with the same commands.
type CommandFormat struct {
	h         *object.Heap
	stamp     int64
	functions [][]byte // source of the function libraries
	small     rdb.Commands
}

const (
	// itemsPerCommand is how many elements go into one command.
	itemsPerCommand = 64
	// bytesPerCommand ends a command early: large elements are no reason for large commands.
	bytesPerCommand = 1 << 20
)

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
	for _, code := range f.functions {
		dst = append(dst, "*3\r\n$8\r\nFUNCTION\r\n$4\r\nLOAD\r\n"...)
		dst = appendBulk(dst, code)
	}
	return dst
}

// Database implements Format.
func (f *CommandFormat) Database(dst []byte, db keyspace.SavedDB) []byte {
	return propagation.AppendSelect(dst, db.ID)
}

// Tail implements Format.
func (f *CommandFormat) Tail(dst []byte) []byte { return dst }

// Key implements Format. What its commands are belongs to the type (rdb.Type); of large values, the elements come one by one, see commandRecord.
func (f *CommandFormat) Key(dst []byte, e object.Entry) []byte {
	f.small.B = dst
	f.small.Record(f.h, e)
	dst = f.small.B
	f.small.B = nil
	return dst
}

// LongString implements Format.
func (f *CommandFormat) LongString(dst []byte, e object.Entry) []byte {
	dst = append(dst, "*3\r\n$3\r\nSET\r\n"...)
	return appendHead(appendBulk(dst, e.Key()), '$', e.StringLen())
}

// LongStringEnd implements Format.
func (f *CommandFormat) LongStringEnd(dst []byte, e object.Entry) []byte {
	return appendDeadline(append(dst, "\r\n"...), e.Key(), e.Deadline())
}

// Large implements Format.
func (f *CommandFormat) Large(dst []byte, e object.Entry, tr *object.Track) ([]byte, Record) {
	if tr.Type.Sketch() {
		key := append([]byte(nil), e.Key()...)
		c := &sketchCommands{key: key, deadline: e.Deadline(), w: rdb.NewSketchCommands(tr.Type, key, tr.Header, tr.Blocks)}
		return c.w.Begin(dst), c
	}
	return dst, &commandRecord{t: e.Type(), deadline: e.Deadline(), key: append([]byte(nil), e.Key()...)}
}

func appendDeadline(dst, key []byte, deadline int64) []byte {
	if deadline == 0 {
		return dst
	}
	var num [20]byte
	dst = append(dst, "*3\r\n$9\r\nPEXPIREAT\r\n"...)
	dst = appendBulk(dst, key)
	return appendBulk(dst, strconv.AppendInt(num[:0], deadline, 10))
}

// commandRecord is a collection on its way into commands.
type commandRecord struct {
	t        object.Type
	key      []byte // a copy
	deadline int64

	items  []byte // arguments behind the key of the command that is being collected
	n      int    // elements in them
	after  []byte // commands that follow it: deadlines of fields
	buf    []byte // for an element
	unpack []byte // for a node
}

// rewriters are the commands by type, and how many arguments an element takes.
var rewriters = [...]struct {
	name string
	args int
}{object.List: {"RPUSH", 1}, object.Set: {"SADD", 1}, object.ZSet: {"ZADD", 2}, object.Hash: {"HSET", 2}}

// Element implements Record.
func (r *commandRecord) Element(dst []byte, el *object.Element) []byte {
	switch r.t {
	case object.List:
		if el.Node.Plain {
			r.arg(listpack.Value{B: el.Node.B})
			return r.counted(dst)
		}
		b := el.Node.B
		if el.Node.LZF {
			r.unpack = el.Node.Unpacked(r.unpack)
			b = r.unpack
		}
		return r.listpack(dst, b)
	case object.Set:
		return r.member(dst, listpack.Value{B: el.Name})
	case object.ZSet:
		return r.scored(dst, listpack.Value{B: el.Name}, el.Score)
	default:
		return r.field(dst, listpack.Value{B: el.Name}, listpack.Value{B: el.Value}, el.Deadline)
	}
}

// End implements Record.
func (r *commandRecord) End(dst []byte) []byte {
	return appendDeadline(r.flush(dst), r.key, r.deadline)
}

func (r *commandRecord) listpack(dst, lp []byte) []byte {
	for p := listpack.First(lp); p != 0; p = listpack.Next(lp, p) {
		dst = r.member(dst, listpack.Get(lp, p))
	}
	return dst
}

func (r *commandRecord) member(dst []byte, m listpack.Value) []byte {
	r.arg(m)
	return r.counted(dst)
}

func (r *commandRecord) scored(dst []byte, m listpack.Value, score float64) []byte {
	r.buf = object.AppendScore(r.buf[:0], score)
	r.items = appendBulk(r.items, r.buf)
	r.arg(m)
	return r.counted(dst)
}

func (r *commandRecord) field(dst []byte, field, value listpack.Value, deadline int64) []byte {
	r.arg(field)
	r.arg(value)
	if deadline != 0 {
		var num [20]byte
		r.after = append(r.after, "*6\r\n$10\r\nHPEXPIREAT\r\n"...)
		r.after = appendBulk(r.after, r.key)
		r.after = appendBulk(r.after, strconv.AppendInt(num[:0], deadline, 10))
		r.after = append(r.after, "$6\r\nFIELDS\r\n$1\r\n1\r\n"...)
		r.buf = field.Append(r.buf[:0])
		r.after = appendBulk(r.after, r.buf)
	}
	return r.counted(dst)
}

// arg collects an argument.
func (r *commandRecord) arg(v listpack.Value) {
	if !v.IsInt {
		r.items = appendBulk(r.items, v.B)
		return
	}
	r.buf = v.Append(r.buf[:0])
	r.items = appendBulk(r.items, r.buf)
}

// counted ends an element, and the command when it is full.
func (r *commandRecord) counted(dst []byte) []byte {
	if r.n++; r.n < itemsPerCommand && len(r.items) < bytesPerCommand {
		return dst
	}
	return r.flush(dst)
}

// flush writes the command collected so far.
func (r *commandRecord) flush(dst []byte) []byte {
	if r.n == 0 {
		return dst
	}
	w := &rewriters[r.t]
	dst = appendHead(dst, '*', 2+r.n*w.args)
	dst = appendBulk(dst, []byte(w.name))
	dst = appendBulk(dst, r.key)
	dst = append(dst, r.items...)
	dst = append(dst, r.after...)
	r.items, r.after, r.n = r.items[:0], r.after[:0], 0
	return dst
}

// sketchCommands is a sketch on its way into commands.
type sketchCommands struct {
	key      []byte
	deadline int64
	w        *rdb.SketchCommands
}

// Element implements Record.
func (c *sketchCommands) Element(dst []byte, el *object.Element) []byte {
	return c.w.Bytes(dst, el.Block, el.Value)
}

// End implements Record.
func (c *sketchCommands) End(dst []byte) []byte {
	return appendDeadline(c.w.End(dst), c.key, c.deadline)
}
