package command

import (
	"strconv"

	"godwit/internal/bloom"
	"godwit/internal/engine"
	"godwit/internal/object"
)

// bfAdd adds an item and replies for it. It reports false when the filter is full.
func bfAdd(c *engine.Ctx, x *object.Edit, item []byte) bool {
	s := x.ChangingSketch()
	res := bloom.Add(s, item)
	if res == bloom.Full {
		if !bloom.Scales(s.Head()) {
			c.Err("ERR non scaling filter is full")
			return false
		}
		grown, bytes, err := bloom.NextLink(s.Head())
		if err != nil || !c.E.Fits(bytes) {
			c.Err("ERR problem inserting into filter")
			return true
		}
		bloom.Grow(s, grown)
		res = bloom.Add(s, item)
	}
	if res == bloom.Added {
		c.Dirty(1)
		c.Changed(c.Args[1])
	}
	bfReply(c, res == bloom.Added)
	return true
}

// bfReply replies yes or no: a boolean in RESP3, a number in RESP2.
func bfReply(c *engine.Ctx, yes bool) { c.Bool(yes) }

// readFilter returns the filter at key, or nil if the key is missing or holds another type.
func readFilter(c *engine.Ctx, key []byte) *object.Sketch {
	if e := c.DB.LookupRead(key); e.Exists() && e.Type() == object.TypeBloom {
		return c.DB.Open(e).Sketch()
	}
	return nil
}

// touchFilter prefetches the memory that BF.ADD and BF.EXISTS will read.
func touchFilter(w *object.Warmup, e object.Entry, argv [][]byte) {
	if e.Exists() && e.Type() == object.TypeBloom {
		bloom.Prefetch(w.H.LargeOf(e).(*object.Sketch), argv[2])
	}
}

func bfExistsCmd(c *engine.Ctx) {
	s := readFilter(c, c.Args[1])
	bfReply(c, s != nil && bloom.Has(s, c.Args[2]))
}

func bfMexistsCmd(c *engine.Ctx) {
	s := readFilter(c, c.Args[1])
	c.Array(len(c.Args) - 2)
	for _, item := range c.Args[2:] {
		bfReply(c, s != nil && bloom.Has(s, item))
	}
}

func bfCardCmd(c *engine.Ctx) {
	x, ok := openRead(c, c.Args[1], object.TypeBloom)
	switch {
	case !ok:
	case x == nil:
		c.Int(0)
	default:
		c.Int(int64(bloom.InfoOf(x.Sketch().Head()).Items))
	}
}

// existingFilter opens the filter at the first argument. It replies with an error if there is none.
func existingFilter(c *engine.Ctx) *object.Sketch {
	x, ok := openRead(c, c.Args[1], object.TypeBloom)
	if !ok {
		return nil
	}
	if x == nil {
		c.Err(errNotFound)
		return nil
	}
	return x.Sketch()
}

func bfInfoCmd(c *engine.Ctx) {
	if len(c.Args) > 3 {
		c.WrongArity()
		return
	}
	s := existingFilter(c)
	if s == nil {
		return
	}
	in := bloom.InfoOf(s.Head())
	fields := []struct {
		token, name string
		n           int64
	}{
		{"capacity", "Capacity", int64(in.Capacity)}, {"size", "Size", s.Size()},
		{"filters", "Number of filters", int64(in.Links)},
		{"items", "Number of items inserted", int64(in.Items)},
		{"expansion", "Expansion rate", int64(in.Growth)},
	}
	value := func(i int) {
		if fields[i].token == "expansion" && !in.Scales {
			c.Null()
		} else {
			c.Int(fields[i].n)
		}
	}
	if len(c.Args) == 2 {
		c.Map(len(fields))
		for i, f := range fields {
			c.Simple(f.name)
			value(i)
		}
		return
	}
	for i, f := range fields {
		if !is(c.Args[2], f.token) {
			continue
		}
		if c.Proto == 3 {
			c.Map(1)
			c.Simple(f.name)
		} else {
			c.Array(1)
		}
		value(i)
		return
	}
	c.Err("Invalid information value")
}

func bfDebugCmd(c *engine.Ctx) {
	s := existingFilter(c)
	if s == nil {
		return
	}
	head := s.Head()
	in := bloom.InfoOf(head)
	c.Array(1 + in.Links)
	c.BulkString("size:" + strconv.FormatUint(in.Items, 10))
	var line []byte
	for i := range in.Links {
		line = bloom.AppendDebug(line[:0], head, i)
		c.Bulk(line)
	}
}
