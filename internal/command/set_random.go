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
	p := removals{c: c, key: key}
	if !c.Propagating() {
		c.NoPropagate()
	}
	s.Pop(n, func(v listpack.Value) {
		bulkValue(c, v)
		p.add(v)
	})
	p.flush()
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

// removals collects removed members and propagates them as SREM commands, each with many members.
type removals struct {
	c    *engine.Ctx
	key  []byte
	text []byte
	ends []int
}

const removalsMax = 1024 // The number of members in one SREM.

func (p *removals) add(v listpack.Value) {
	if !p.c.Propagating() {
		return
	}
	p.text = v.Append(p.text)
	if p.ends = append(p.ends, len(p.text)); len(p.ends) == removalsMax {
		p.flush()
	}
}

func (p *removals) flush() {
	if len(p.ends) == 0 {
		return
	}
	argv := make([][]byte, 0, 2+len(p.ends))
	argv = append(argv, []byte("SREM"), p.key)
	from := 0
	for _, end := range p.ends {
		argv = append(argv, p.text[from:end])
		from = end
	}
	p.c.PropagateAs(argv...)
	p.text, p.ends = p.text[:0], p.ends[:0]
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
