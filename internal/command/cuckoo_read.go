package command

import (
	"fmt"

	"godwit/internal/cuckoo"
	"godwit/internal/engine"
	"godwit/internal/object"
)

// readCuckoo returns the filter at the key. It reports false if the key is missing or holds another
// type.
func readCuckoo(c *engine.Ctx, key []byte) (cuckoo.Filter, bool) {
	e := c.DB.LookupRead(key)
	if !e.Exists() || e.Type() != object.TypeCuckoo {
		return cuckoo.Filter{}, false
	}
	return openCuckoo(c, c.DB.Open(e).Sketch()), true
}

func cfExistsCmd(c *engine.Ctx) {
	f, ok := readCuckoo(c, c.Args[1])
	c.Bool(ok && f.Has(c.Args[2]))
}

func cfMexistsCmd(c *engine.Ctx) {
	f, ok := readCuckoo(c, c.Args[1])
	c.Array(len(c.Args) - 2)
	for _, item := range c.Args[2:] {
		c.Bool(ok && f.Has(item))
	}
}

func cfCountCmd(c *engine.Ctx) {
	f, ok := readCuckoo(c, c.Args[1])
	if !ok {
		c.Int(0)
		return
	}
	c.Int(int64(f.Count(c.Args[2])))
}

// existingCuckoo opens the filter at the first argument. It replies with the error if it cannot.
func existingCuckoo(c *engine.Ctx) (cuckoo.Filter, bool) {
	x, ok := openRead(c, c.Args[1], object.TypeCuckoo)
	if ok && x == nil {
		c.Err(errNotFound)
	}
	if x == nil {
		return cuckoo.Filter{}, false
	}
	return openCuckoo(c, x.Sketch()), true
}

func cfInfoCmd(c *engine.Ctx) {
	f, ok := existingCuckoo(c)
	if !ok {
		return
	}
	// The size is RedisBloom's: the sub-filters and the structures around them.
	size := uint64(40 + 16*f.Mem.Blocks())
	for i := range f.Mem.Blocks() {
		size += uint64(len(f.Mem.Block(i)))
	}
	infoFields(c, []infoField{
		{"Size", int64(size)}, {"Number of buckets", int64(f.Buckets)},
		{"Number of filters", int64(f.Mem.Blocks())}, {"Number of items inserted", int64(f.Items)},
		{"Number of items deleted", int64(f.Deletes)}, {"Bucket size", int64(f.BucketSize)},
		{"Expansion rate", int64(f.Expansion)}, {"Max iterations", int64(f.MaxIterations)},
	})
}

func cfDebugCmd(c *engine.Ctx) {
	f, ok := existingCuckoo(c)
	if !ok {
		return
	}
	c.Bulk(fmt.Appendf(nil,
		"bktsize:%d buckets:%d items:%d deletes:%d filters:%d max_iterations:%d expansion:%d",
		f.BucketSize, f.Buckets, f.Items, f.Deletes, f.Mem.Blocks(), f.MaxIterations, f.Expansion))
}

const errPosition = "Invalid position"

// cfScandumpCmd replies with the header for position 0, then with chunks of the sub-filters. The
// first element of the reply is the position to ask for next. CF.LOADCHUNK takes it with the chunk.
func cfScandumpCmd(c *engine.Ctx) {
	pos, ok := object.ParseInt(c.Args[2])
	if !ok || pos < 0 {
		c.Err(errPosition)
		return
	}
	f, ok := existingCuckoo(c)
	if !ok {
		return
	}
	var chunk []byte
	next := int64(1)
	switch {
	case f.Items == 0:
	case pos == 0:
		chunk = make([]byte, cuckoo.HeadSize)
		f.PutHead(chunk)
	default:
		chunk, next = f.Chunk(pos)
	}
	c.Array(2)
	if chunk == nil {
		c.Int(0)
		c.Null()
		return
	}
	c.Int(next)
	c.Bulk(chunk)
}

func cfLoadchunkCmd(c *engine.Ctx) {
	pos, ok := object.ParseInt(c.Args[2])
	if !ok || pos <= 0 {
		c.Err(errPosition)
		return
	}
	key, data := c.Args[1], c.Args[3]
	x, ok := openWrite(c, key, object.TypeCuckoo)
	if !ok {
		return
	}
	switch {
	case pos == 1 && x != nil:
		c.Err("ERR item exists")
		return
	case pos == 1:
		if !cfLoadHeader(c, key, data) {
			return
		}
	case x == nil:
		c.Err(errNotFound)
		return
	default:
		f := openCuckoo(c, x.ChangingSketch())
		if !f.LoadChunk(pos, data) {
			c.Err("Couldn't load chunk!")
			return
		}
		c.Changed(key)
	}
	c.Dirty(1)
	c.OK()
}

// cfLoadHeader makes an empty filter from a header. It reports false if it has replied with an
// error.
func cfLoadHeader(c *engine.Ctx, key, data []byte) bool {
	if len(data) != cuckoo.HeadSize {
		c.Err("Invalid header")
		return false
	}
	f, n := cuckoo.ParseHead(data)
	bytes, ok := f.TotalBytes(min(n, cuckoo.MaxFilters))
	if !f.Valid(n) || !ok || !c.E.Fits(uint64(bytes)) {
		c.Err("Couldn't create filter!")
		return false
	}
	return storeCuckoo(c, key, f, n) != nil
}
