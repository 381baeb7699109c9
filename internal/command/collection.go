package command

import (
	"godwit/internal/engine"
	"godwit/internal/keyspace"
	"godwit/internal/listpack"
	"godwit/internal/object"
)

// openRead opens the collection of type t at key for a reading command. It reports false after answering WRONGTYPE; x is nil when the key is
// absent.
func openRead(c *engine.Ctx, key []byte, t object.Type) (x *object.Edit, ok bool) {
	return opened(c, c.DB.LookupRead(key), t)
}

// openWrite is openRead for a command that may change the value.
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

// emptied deletes the key of a collection that has lost its last element and announces it.
func emptied(c *engine.Ctx, x *object.Edit, key []byte) {
	c.DB.Remove(x)
	c.Notify(keyspace.EvGeneric, "del", key)
}

// bulkValue answers with an element of a collection.
func bulkValue(c *engine.Ctx, v listpack.Value) {
	if v.IsInt {
		c.BulkInt(v.N)
		return
	}
	c.Bulk(v.B)
}
