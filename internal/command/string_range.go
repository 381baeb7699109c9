package command

import (
	"godwit/internal/engine"
	"godwit/internal/object"
)

// maxString is the length in bytes beyond which no command lengthens a string, whatever the
// configuration says. Lengths take 32 bits.
const maxString = 4<<30 - 16<<20

// stringLimit returns the length in bytes up to which the client may lengthen a string:
// proto-max-bulk-len. Replayed effects need not keep to it.
func stringLimit(c *engine.Ctx) int64 {
	if c.Obeyed() {
		return maxString
	}
	return min(c.E.Cfg.ProtoMaxBulkLen, maxString)
}

// fitsString reports whether a string of old + more bytes is within the limit. If not, it replies
// with the error.
func fitsString(c *engine.Ctx, old, more int64) bool {
	if old > stringLimit(c)-more {
		c.Err(engine.ErrStringTooLong)
		return false
	}
	return true
}

func appendCmd(c *engine.Ctx) {
	key, tail := c.Args[1], c.Args[2]
	e := c.DB.Lookup(key)
	if !isString(c, e) {
		return
	}
	n := len(tail)
	if !e.Exists() {
		c.DB.Set(key, object.StringValue(tail), 0)
	} else {
		old := e.StringLen()
		if !fitsString(c, int64(old), int64(n)) {
			return
		}
		n += old
		copy(c.DB.Mutable(e, n).Change(old, n), tail)
	}
	c.Dirty(1)
	changed(c, "append", key)
	c.Int(int64(n))
}

func setrangeCmd(c *engine.Ctx) {
	key, part := c.Args[1], c.Args[3]
	offset, ok := intArg(c, c.Args[2])
	if !ok {
		return
	}
	if offset < 0 {
		c.Err(engine.ErrOffsetRange)
		return
	}
	e := c.DB.Lookup(key)
	if !isString(c, e) {
		return
	}
	old := 0
	if e.Exists() {
		old = e.StringLen()
	}
	if len(part) == 0 {
		c.Int(int64(old))
		return
	}
	if !fitsString(c, offset, int64(len(part))) {
		return
	}
	n := max(old, int(offset)+len(part))
	if !c.E.HasRoom(int64(n - old)) {
		c.Err(engine.ErrNoMemory)
		return
	}
	copy(mutable(c, key, e, n).Change(int(offset), int(offset)+len(part)), part)
	c.Dirty(1)
	changed(c, "setrange", key)
	c.Int(int64(n))
}

// mutable opens the string at key for changes and makes it at least n bytes long. e is the entry
// that Lookup found there.
func mutable(c *engine.Ctx, key []byte, e object.Entry, n int) object.StringEdit {
	if !e.Exists() {
		return c.DB.NewMutable(key, n)
	}
	return c.DB.Mutable(e, n)
}

// span converts a range with Redis's negative indexes to the first and the last of n elements. It
// reports whether the range holds any. A range whose ends both lie before the first element holds
// that element, unless start is after end.
func span(start, end, n int64) (first, last int64, ok bool) {
	if start < 0 && end < 0 && start > end {
		return 0, 0, false
	}
	if start < 0 {
		start = max(start+n, 0)
	}
	if end < 0 {
		end = max(end+n, 0)
	}
	end = min(end, n-1)
	return start, end, start <= end
}

func getrangeCmd(c *engine.Ctx) {
	start, ok := intArg(c, c.Args[2])
	if !ok {
		return
	}
	end, ok := intArg(c, c.Args[3])
	if !ok {
		return
	}
	e := c.DB.LookupRead(c.Args[1])
	if !isString(c, e) {
		return
	}
	if !e.Exists() {
		c.Bulk(nil)
		return
	}
	var scratch [24]byte
	b := c.DB.StringBytes(e, &scratch)
	first, last, ok := span(start, end, int64(len(b)))
	if !ok {
		c.Bulk(nil)
		return
	}
	c.Bulk(b[first : last+1])
}
