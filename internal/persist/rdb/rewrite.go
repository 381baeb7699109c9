package rdb

import (
	"strconv"

	"godwit/internal/listpack"
	"godwit/internal/object"
)

// Commands are written in the place of records where an append-only file's base is to consist of commands. The zero value is ready; B may be taken away and
// replaced between records.
type Commands struct {
	B []byte // in the request form of RESP

	name      string // the command that elements are added by
	key       []byte
	left, now int // elements: not yet begun, in the current command
	per       int // arguments of an element
	edit      object.Edit
	digits    [24]byte
}

// perCommand is how many elements a command adds at most, so that replaying one takes no longer than others.
const perCommand = 64

// Record adds the commands that recreate the entry, deadline included.
func (c *Commands) Record(h *object.Heap, en object.Entry) {
	x := &c.edit
	x.Reset(h, en, nil)
	key := en.Key()
	TypeOf(en.Type()).Rewrite(c, key, x)
	c.Deadline(key, en.Deadline())
}

// SelectDB adds the command that makes what follows go to the database.
func (c *Commands) SelectDB(n int) { c.Command("SELECT", strconv.AppendInt(nil, int64(n), 10)) }

// Deadline adds the command that gives the key its deadline in unix ms, nothing for 0.
func (c *Commands) Deadline(key []byte, deadline int64) {
	if deadline != 0 {
		c.Command("PEXPIREAT", key, strconv.AppendInt(c.digits[:0], deadline, 10))
	}
}

// Command adds a command.
func (c *Commands) Command(name string, args ...[]byte) {
	c.head(len(args)+1, name)
	for _, a := range args {
		c.Arg(a)
	}
}

func (c *Commands) head(args int, name string) {
	c.B = append(strconv.AppendInt(append(c.B, '*'), int64(args), 10), "\r\n$"...)
	c.B = append(strconv.AppendInt(c.B, int64(len(name)), 10), "\r\n"...)
	c.B = append(append(c.B, name...), "\r\n"...)
}

// Arg adds an argument of the command that was begun.
func (c *Commands) Arg(b []byte) {
	c.B = append(strconv.AppendInt(append(c.B, '$'), int64(len(b)), 10), "\r\n"...)
	c.B = append(append(c.B, b...), "\r\n"...)
}

// Element is Arg for an element of a collection.
func (c *Commands) Element(v listpack.Value) {
	if v.IsInt {
		var digits [24]byte
		c.Arg(v.Append(digits[:0]))
	} else {
		c.Arg(v.B)
	}
}

// Begin prepares for n elements of the key, of per arguments each, that the command of that name adds: for each comes Item and then its arguments. Elements go into
// commands of up to 64. The key must stay as it is until then.
func (c *Commands) Begin(name string, key []byte, n, per int) {
	c.name, c.key, c.left, c.now, c.per = name, key, n, 0, per
}

// Item begins an element.
func (c *Commands) Item() {
	if c.now == 0 {
		c.now = min(c.left, perCommand)
		c.left -= c.now
		c.head(2+c.now*c.per, c.name)
		c.Arg(c.key)
	}
	c.now--
}

// FieldDeadline adds the command that gives a field of a hash its deadline in unix ms.
func (c *Commands) FieldDeadline(key []byte, field listpack.Value, deadline int64) {
	c.head(6, "HPEXPIREAT")
	c.Arg(key)
	c.Arg(strconv.AppendInt(c.digits[:0], deadline, 10))
	c.Arg([]byte("FIELDS"))
	c.Arg([]byte("1"))
	c.Element(field)
}
