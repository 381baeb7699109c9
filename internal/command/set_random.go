package command

import (
	"math"

	"godwit/internal/engine"
	"godwit/internal/keyspace"
	"godwit/internal/listpack"
	"godwit/internal/object"
)

func spopCmd(c *engine.Ctx) {
	switch len(c.Args) {
	case 2:
		spopOne(c)
	case 3:
		spopCount(c)
	default:
		c.Err(engine.ErrSyntax)
	}
}

func spopOne(c *engine.Ctx) {
	key := c.Args[1]
	x, ok := openWrite(c, key, object.Set)
	if !ok {
		return
	}
	if x == nil {
		c.Null()
		return
	}
	s := object.AsSet(x)
	s.Pop(1, func(v listpack.Value) {
		bulkValue(c, v)
		var tmp [24]byte
		c.PropagateAs([]byte("SREM"), key, v.Append(tmp[:0]))
	})
	spopped(c, s, key, 1)
}

// spopped announces that n members were removed.
func spopped(c *engine.Ctx, s object.Members, key []byte, n int) {
	c.Changed(key)
	c.Notify(keyspace.EvSet, "spop", key)
	if s.Len() == 0 {
		emptied(c, s.Edit, key)
	}
	c.Dirty(n)
}

func spopCount(c *engine.Ctx) {
	key := c.Args[1]
	count, ok := object.ParseInt(c.Args[2])
	if !ok || count < 0 {
		c.Err(engine.ErrNegativeCount)
		return
	}
	x, ok := openWrite(c, key, object.Set)
	if !ok {
		return
	}
	if x == nil || count == 0 {
		c.Set(0)
		return
	}
	s := object.AsSet(x)
	if size := s.Len(); count >= int64(size) {
		spopAll(c, s, key)
		return
	}
	n := int(count)
	c.Set(n)
	propagates := c.Propagating()
	if !propagates {
		c.NoPropagate()
	}
	m := newManyArgs(c, []byte("SREM"), key)
	s.Pop(n, func(v listpack.Value) {
		bulkValue(c, v)
		if propagates {
			m.text = v.Append(m.text)
			m.added()
		}
	})
	m.end()
	spopped(c, s, key, n)
}

// spopAll runs SPOP with a count that takes all members. It replies as SMEMBERS does and propagates
// as a deletion.
func spopAll(c *engine.Ctx, s object.Members, key []byte) {
	n := s.Len()
	wholeSet(c, s)
	del := "DEL"
	if c.E.KS.P.LazyServerDel {
		del = "UNLINK"
	}
	c.PropagateAs([]byte(del), key)
	c.Changed(key)
	c.Notify(keyspace.EvSet, "spop", key)
	emptied(c, s.Edit, key)
	c.Dirty(n)
}

func srandmemberCmd(c *engine.Ctx) {
	switch len(c.Args) {
	case 2:
		srandmemberOne(c)
	case 3:
		srandmemberCount(c)
	default:
		c.Err(engine.ErrSyntax)
	}
}

func srandmemberOne(c *engine.Ctx) {
	s, found, ok := readSet(c, c.Args[1])
	switch {
	case !ok:
	case found:
		bulkValue(c, s.Random())
	default:
		c.Null()
	}
}

func srandmemberCount(c *engine.Ctx) {
	count, ok := intArg(c, c.Args[2])
	if !ok {
		return
	}
	if count == math.MinInt64 {
		c.Err("ERR value is out of range, value must between -9223372036854775807 and " +
			"9223372036854775807")
		return
	}
	s, found, ok := readSet(c, c.Args[1])
	if !ok {
		return
	}
	if !found || count == 0 {
		c.Array(0)
		return
	}
	size := s.Len()
	switch {
	case count < 0:
		c.Array(int(-count))
		for n := -count; n > 0 && !overOutput(c); n-- {
			bulkValue(c, s.Random())
		}
	case count >= int64(size):
		c.Array(size)
		s.Each(func(v listpack.Value) bool {
			bulkValue(c, v)
			return true
		})
	default:
		c.Array(int(count))
		s.Sample(int(count), func(v listpack.Value) { bulkValue(c, v) })
	}
}
