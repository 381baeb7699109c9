package command

import (
	"godwit/internal/engine"
	"godwit/internal/keyspace"
	"godwit/internal/object"
)

func lsetCmd(c *engine.Ctx) {
	key, elem := c.Args[1], c.Args[3]
	l, ok := openList(c, key)
	if !ok {
		return
	}
	if l.Edit == nil {
		c.Err(engine.ErrNoSuchKey)
		return
	}
	index, ok := intArg(c, c.Args[2])
	if !ok {
		return
	}
	index = int64(int32(index)) // as Redis does, here only
	size := int64(l.Len())
	if index < 0 {
		index += size
	}
	if index < 0 || index >= size {
		c.Err(engine.ErrOutOfRange)
		return
	}
	l.MakeRoomFor(elem)
	it := l.Iter(int(index), false)
	it.Next()
	l.Replace(&it, elem)
	c.OK()
	c.Changed(key)
	c.Notify(keyspace.EvList, "lset", key)
	c.Dirty(1)
	l.Shrunk()
}

func linsertCmd(c *engine.Ctx) {
	after := is(c.Args[2], "after")
	if !after && !is(c.Args[2], "before") {
		c.Err(engine.ErrSyntax)
		return
	}
	key, pivot, elem := c.Args[1], c.Args[3], c.Args[4]
	l, ok := openList(c, key)
	if !ok {
		return
	}
	if l.Edit == nil {
		c.Int(0)
		return
	}
	// As in Redis, the list is converted before the search, even if that finds nothing. So one
	// walk is enough.
	l.MakeRoomFor(elem)
	if !insertBeside(l, pivot, elem, after) {
		c.Int(-1)
		return
	}
	c.Changed(key)
	c.Notify(keyspace.EvList, "linsert", key)
	c.Dirty(1)
	c.Int(int64(l.Len()))
}

// insertBeside inserts elem beside the first element that equals pivot. It reports whether there is
// one.
func insertBeside(l object.Elements, pivot, elem []byte, after bool) bool {
	it := l.Iter(0, false)
	for v, ok := it.Next(); ok; v, ok = it.Next() {
		if v.Equal(pivot) {
			l.Insert(&it, elem, after)
			return true
		}
	}
	return false
}

func lremCmd(c *engine.Ctx) {
	count, ok := signedArg(c, c.Args[2])
	if !ok {
		return
	}
	key := c.Args[1]
	l, ok := openList(c, key)
	if !ok {
		return
	}
	if l.Edit == nil {
		c.Int(0)
		return
	}
	n := removeEqual(l, count, c.Args[3])
	if n > 0 {
		c.Notify(keyspace.EvList, "lrem", key)
		removedFrom(c, l, key)
		c.Changed(key)
		c.Dirty(n)
	}
	c.Int(int64(n))
}

// removeEqual removes elements that equal elem: the first count ones, the last -count if count is
// negative, all if it is 0. It returns the number removed.
func removeEqual(l object.Elements, count int64, elem []byte) int {
	from, limit := 0, count
	if count < 0 {
		// The smallest integer stays negative. No number reaches it, so all go, as in Redis.
		from, limit = l.Len()-1, -count
	}
	it := l.Iter(from, count < 0)
	n := 0
	for v, ok := it.Next(); ok; v, ok = it.Next() {
		if !v.Equal(elem) {
			continue
		}
		l.Delete(&it)
		if n++; int64(n) == limit {
			break
		}
	}
	it.Close()
	return n
}
