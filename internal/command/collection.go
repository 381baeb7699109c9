package command

import (
	"fmt"

	"godwit/internal/engine"
	"godwit/internal/keyspace"
	"godwit/internal/listpack"
	"godwit/internal/object"
)

// openRead opens the collection of type t at key for reading. x is nil if the key is absent. It
// replies with WRONGTYPE and reports false if the key holds another type.
func openRead(c *engine.Ctx, key []byte, t object.Type) (x *object.Edit, ok bool) {
	return opened(c, c.DB.LookupRead(key), t)
}

// openWrite does what openRead does, for a command that may change the value.
func openWrite(c *engine.Ctx, key []byte, t object.Type) (x *object.Edit, ok bool) {
	return opened(c, c.DB.Lookup(key), t)
}

func opened(c *engine.Ctx, e object.Entry, t object.Type) (*object.Edit, bool) {
	if !e.Exists() {
		return nil, true
	}
	if e.Type() != t {
		c.Err(engine.ErrWrongType)
		return nil, false
	}
	return c.DB.Open(e), true
}

// emptied deletes the key of a collection that has lost its last element, and sends the event.
func emptied(c *engine.Ctx, x *object.Edit, key []byte) {
	c.DB.Remove(x)
	c.Notify(keyspace.EvGeneric, "del", key)
}

// storedNothing ends a STORE command whose result is empty. It deletes what was at dst.
func storedNothing(c *engine.Ctx, dst []byte) {
	if c.DB.Delete(dst) {
		c.Changed(dst)
		c.Notify(keyspace.EvGeneric, "del", dst)
		c.Dirty(1)
	}
	c.Int(0)
}

// valueText returns the element's bytes. It formats an integer into digits.
func valueText(v listpack.Value, digits *[20]byte) []byte {
	if v.IsInt {
		return v.Append(digits[:0])
	}
	return v.B
}

// bulkValue replies with an element of a collection.
func bulkValue(c *engine.Ctx, v listpack.Value) {
	if v.IsInt {
		c.BulkInt(v.N)
		return
	}
	c.Bulk(v.B)
}

// rangeArg reads an integer argument between lo and hi, both included. If it is invalid, it replies
// with msg, or with Redis's own errors if msg is empty, and reports false.
func rangeArg(c *engine.Ctx, arg []byte, lo, hi int64, msg string) (int64, bool) {
	n, ok := object.ParseInt(arg)
	switch {
	case ok && lo <= n && n <= hi:
		return n, true
	case msg != "":
		c.Err(msg)
	case !ok:
		c.Err(engine.ErrNotInteger)
	case lo == 0:
		c.Err(engine.ErrNegativeCount)
	default:
		c.Err(fmt.Sprintf("ERR value is out of range, value must between %d and %d", lo, hi))
	}
	return 0, false
}

// overOutput reports whether the reply exceeds the client's hard output limit, which ends the
// connection. Commands that change nothing call it while they build a reply whose length the client
// may choose freely. Such a reply must not fill the memory first. What changes something goes on,
// and its reply is dropped. There is no limit for scripts and logs, whose client is never closed.
func overOutput(c *engine.Ctx) bool {
	if c.Client.Origin != engine.OriginConnection {
		return false
	}
	if hard := c.E.Cfg.OutputLimits[c.Client.Class].Hard; hard > 0 && int64(c.Size()) >= hard {
		c.Client.CloseASAP = true
	}
	return c.Client.CloseASAP
}
