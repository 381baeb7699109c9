package command

import (
	"godwit/internal/bloom"
	"godwit/internal/engine"
	"godwit/internal/object"
)

func bfScandumpCmd(c *engine.Ctx) {
	s := existingFilter(c)
	if s == nil {
		return
	}
	iter, ok := object.ParseInt(c.Args[2])
	if !ok {
		c.Err("Second argument must be numeric")
		return
	}
	c.Array(2)
	if iter == 0 {
		c.Int(1)
		c.Bulk(s.Head())
		return
	}
	block, off, n, next := bloom.Chunk(s.Head(), iter)
	c.Int(next)
	if n == 0 {
		c.BulkString("")
		return
	}
	c.Bulk(s.Block(block)[off : off+n])
}

const errBadData = "ERR received bad data"

func bfLoadchunkCmd(c *engine.Ctx) {
	iter, ok := object.ParseInt(c.Args[2])
	if !ok {
		c.Err("ERR Second argument must be numeric")
		return
	}
	key, data := c.Args[1], c.Args[3]
	x, ok := openWrite(c, key, object.TypeBloom)
	switch {
	case !ok:
	case x == nil && iter != 1:
		c.Err(errNotFound)
	case x == nil && bloom.CheckHeader(data) != nil:
		c.Err(errBadData)
	case x == nil:
		if storeFilter(c, key, data) != nil {
			c.Dirty(1)
			c.OK()
		}
	default:
		loadChunk(c, x, iter, data)
	}
}

// loadChunk copies a chunk of bits to its place.
func loadChunk(c *engine.Ctx, x *object.Edit, iter int64, data []byte) {
	if iter <= 0 || iter < int64(len(data)) {
		c.Err(errBadData)
		return
	}
	block, off, known, fits := bloom.Place(x.Sketch().Head(), iter, len(data))
	switch {
	case !known:
		c.Err("ERR invalid offset - no link found")
	case !fits:
		c.Err("ERR invalid chunk - Too big for current filter")
	default:
		copy(x.ChangingSketch().Change(block, off, len(data)), data)
		c.Changed(c.Args[1])
		c.Dirty(1)
		c.OK()
	}
}
