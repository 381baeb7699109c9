package rdb

import (
	"math"
	"strconv"

	"godwit/internal/listpack"
	"godwit/internal/object"
)

// Commands are written in the place of records where an append-only file's base is to consist of
// commands. The zero value is ready; B may be taken away and replaced between calls.
type Commands struct {
	B []byte // in the request form of RESP

	adder  adder
	w      Rewriter                      // of Record
	each   func(el *object.Element) bool // hands elements to w
	edit   object.Edit
	o      object.Outline
	digits [24]byte
}

// Rewriter turns the elements of a value into the commands that recreate it.
type Rewriter interface {
	Element(c *Commands, el *object.Element)
	End(c *Commands)
}

// Record adds the commands that recreate the entry, deadline included.
func (c *Commands) Record(h *object.Heap, en object.Entry) {
	x := &c.edit
	x.Reset(h, en, nil)
	x.Outline(&c.o)
	c.adder.begin()
	c.adder.packed = !en.Encoding().Large()
	c.w = TypeOf(c.o.Type).Rewrite(c, &c.adder, en.Key(), &c.o)
	if c.each == nil {
		c.each = func(el *object.Element) bool {
			c.w.Element(c, el)
			return true
		}
	}
	x.Each(c.each)
	c.w.End(c)
	c.Deadline(en.Key(), en.Deadline())
}

// Large begins the commands of a large value whose elements come one by one. Until the end the key
// must stay as it is, and no other value may be added.
func (c *Commands) Large(key []byte, o *object.Outline) Rewriter {
	return TypeOf(o.Type).Rewrite(c, &c.adder, key, o)
}

// Deadline adds the command that gives the key its deadline in unix ms, nothing for 0.
func (c *Commands) Deadline(key []byte, deadline int64) {
	if deadline != 0 {
		c.Command("PEXPIREAT", key, strconv.AppendInt(c.digits[:0], deadline, 10))
	}
}

// StringHead adds the SET of a string up to the length of its value. The caller adds the n bytes of
// the value and a line end.
func (c *Commands) StringHead(key []byte, n int) {
	c.head(3, "SET")
	c.B = appendArg(c.B, key)
	c.B = appendLength(c.B, n)
}

// Command adds a command.
func (c *Commands) Command(name string, args ...[]byte) {
	c.head(len(args)+1, name)
	for _, a := range args {
		c.B = appendArg(c.B, a)
	}
}

func (c *Commands) head(args int, name string) {
	c.B = append(strconv.AppendInt(append(c.B, '*'), int64(args), 10), "\r\n$"...)
	c.B = append(strconv.AppendInt(c.B, int64(len(name)), 10), "\r\n"...)
	c.B = append(append(c.B, name...), "\r\n"...)
}

// word adds an argument.
func (c *Commands) word(s string) {
	c.B = append(append(appendLength(c.B, len(s)), s...), "\r\n"...)
}

// textOf returns the element's bytes, printed into digits if it is an integer.
func textOf(v listpack.Value, digits *[24]byte) []byte {
	if v.IsInt {
		return v.Append(digits[:0])
	}
	return v.B
}

func appendArg(dst, b []byte) []byte {
	return append(append(appendLength(dst, len(b)), b...), "\r\n"...)
}

func appendLength(dst []byte, n int) []byte {
	return append(strconv.AppendInt(append(dst, '$'), int64(n), 10), "\r\n"...)
}

const (
	// perCommand is how many elements a command adds at most, so that replaying one takes no longer
	// than others.
	perCommand = 64
	// bytesPerCommand ends a command early: large elements are no reason for large commands.
	bytesPerCommand = 1 << 20
)

// adder is the Rewriter of collections: it collects elements into commands that add up to
// perCommand of them.
type adder struct {
	name   string
	args   int // of an element
	key    []byte
	packed bool // the value is small, and so is what is added to it
	most   int  // bytes of a command
	add    elementAdder

	items  []byte // arguments behind the key of the command that is being collected
	n      int    // elements in them
	after  []byte // commands that follow it: deadlines of fields
	unpack []byte // for a node
	digits [24]byte
	number [40]byte
}

// elementAdder adds one element to what a collects.
type elementAdder func(c *Commands, a *adder, el *object.Element)

// begin makes the adder be for another value. It keeps its buffers.
func (a *adder) begin() { a.items, a.after, a.n = a.items[:0], a.after[:0], 0 }

// with sets which command adds elements to the key, and how many arguments an element takes. add
// must call arg for each of these, and next after each element.
func (a *adder) with(name string, key []byte, args int, add elementAdder) *adder {
	a.name, a.key, a.args, a.add = name, key, args, add
	a.most = bytesPerCommand
	if a.packed {
		a.most = math.MaxInt
	}
	return a
}

// Element implements Rewriter.
func (a *adder) Element(c *Commands, el *object.Element) { a.add(c, a, el) }

// End implements Rewriter.
func (a *adder) End(c *Commands) {
	a.flush(c)
	c.B = append(c.B, a.after...)
}

// arg collects an argument.
func (a *adder) arg(v listpack.Value) { a.items = appendArg(a.items, textOf(v, &a.digits)) }

// next ends an element, and the command when it is full.
func (a *adder) next(c *Commands) {
	if a.n++; a.n == perCommand || len(a.items) >= a.most {
		a.flush(c)
	}
}

// flush writes the command collected so far, and for a large value the commands that follow it.
// Those of a packed value come at its end.
func (a *adder) flush(c *Commands) {
	if a.n == 0 {
		return
	}
	c.head(2+a.n*a.args, a.name)
	c.B = appendArg(c.B, a.key)
	c.B = append(c.B, a.items...)
	a.items, a.n = a.items[:0], 0
	if !a.packed {
		c.B = append(c.B, a.after...)
		a.after = a.after[:0]
	}
}
