package command

import (
	"godwit/internal/engine"
	"godwit/internal/keyspace"
	"godwit/internal/listpack"
	"godwit/internal/object"
)

var _ = family(setHandlers)

func setHandlers() engine.Handlers {
	return engine.Handlers{
		"sadd":        saddCmd,
		"srem":        sremCmd,
		"smove":       smoveCmd,
		"sismember":   sismemberCmd,
		"smismember":  smismemberCmd,
		"scard":       scardCmd,
		"smembers":    smembersCmd,
		"sscan":       sscanCmd,
		"spop":        spopCmd,
		"srandmember": srandmemberCmd,
		"sinter":      func(c *engine.Ctx) { answerSets(c, opInter) },
		"sunion":      func(c *engine.Ctx) { answerSets(c, opUnion) },
		"sdiff":       func(c *engine.Ctx) { answerSets(c, opDiff) },
		"sinterstore": func(c *engine.Ctx) { storeSets(c, opInter, "sinterstore") },
		"sunionstore": func(c *engine.Ctx) { storeSets(c, opUnion, "sunionstore") },
		"sdiffstore":  func(c *engine.Ctx) { storeSets(c, opDiff, "sdiffstore") },
		"sintercard":  func(c *engine.Ctx) { setCardCmd(c, opInter) },
		"sunioncard":  func(c *engine.Ctx) { setCardCmd(c, opUnion) },
		"sdiffcard":   func(c *engine.Ctx) { setCardCmd(c, opDiff) },
	}
}

// readSet opens the set at key for reading. found tells whether there is one. ok is false after a
// WRONGTYPE reply.
func readSet(c *engine.Ctx, key []byte) (s object.Members, found, ok bool) {
	x, ok := openRead(c, key, object.Set)
	return object.AsSet(x), x != nil, ok
}

// createSet creates an empty set at an absent key. first and n, the first member and the number of
// members to come, choose its encoding.
func createSet(c *engine.Ctx, key, first []byte, n int) *object.Edit {
	kind, packed := object.NewSetEncoding(&c.E.KS.P.Limits, first, n)
	return c.DB.Create(key, object.Set, kind, packed)
}

func saddCmd(c *engine.Ctx) {
	key, members := c.Args[1], c.Args[2:]
	x, ok := openWrite(c, key, object.Set)
	if !ok {
		return
	}
	if x == nil {
		x = createSet(c, key, members[0], len(members))
	}
	s := object.AsSet(x)
	s.Reserve(len(members))
	n := 0
	ahead := s.Lookahead(members, 1)
	for i, m := range members {
		ahead.Reach(i)
		if s.Add(m) {
			n++
		}
	}
	if n > 0 {
		c.Changed(key)
		c.Notify(keyspace.EvSet, "sadd", key)
		c.Dirty(n)
	}
	c.Int(int64(n))
}

func sremCmd(c *engine.Ctx) {
	key := c.Args[1]
	x, ok := openWrite(c, key, object.Set)
	if !ok {
		return
	}
	if x == nil {
		c.Int(0)
		return
	}
	s := object.AsSet(x)
	n, left := 0, s.Len()
	members := c.Args[2:]
	ahead := s.Lookahead(members, 1)
	for i, m := range members {
		ahead.Reach(i)
		if s.Remove(m) {
			n++
			if left--; left == 0 {
				break
			}
		}
	}
	if n > 0 {
		c.Changed(key)
		c.Notify(keyspace.EvSet, "srem", key)
		if left == 0 {
			emptied(c, x, key)
		}
		c.Dirty(n)
	}
	c.Int(int64(n))
}

func smoveCmd(c *engine.Ctx) {
	src, dst, m := c.Args[1], c.Args[2], c.Args[3]
	// Both keys are looked up before either type is checked. So they expire and are touched in
	// Redis's order.
	from, to := c.DB.Lookup(src), c.DB.Lookup(dst)
	if !from.Exists() {
		c.Int(0)
		return
	}
	x, ok := opened(c, from, object.Set)
	if !ok {
		return
	}
	y, ok := opened(c, to, object.Set)
	if !ok {
		return
	}
	s := object.AsSet(x)
	if from.Ref == to.Ref {
		c.Int(oneIf(s.Has(m)))
		return
	}
	if !s.Remove(m) {
		c.Int(0)
		return
	}
	c.Changed(src)
	c.Notify(keyspace.EvSet, "srem", src)
	if s.Len() == 0 {
		emptied(c, x, src)
	}
	c.Dirty(1)
	if y == nil {
		y = createSet(c, dst, m, 1)
	}
	d := object.AsSet(y)
	d.Reserve(1)
	if d.Add(m) {
		c.Changed(dst)
		c.Notify(keyspace.EvSet, "sadd", dst)
		c.Dirty(1)
	}
	c.Int(1)
}

// oneIf returns 1 for true, else 0.
func oneIf(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func sismemberCmd(c *engine.Ctx) {
	xx := len(c.Args) == 4 && is(c.Args[3], "xx")
	if len(c.Args) > 3 && !xx {
		c.Err(errArity(c))
		return
	}
	s, found, ok := readSet(c, c.Args[1])
	switch {
	case !ok:
	case xx && !found:
		c.Int(-1)
	default:
		c.Int(oneIf(found && s.Has(c.Args[2])))
	}
}

func smismemberCmd(c *engine.Ctx) {
	s, found, ok := readSet(c, c.Args[1])
	if !ok {
		return
	}
	members := c.Args[2:]
	c.Array(len(members))
	ahead := s.Lookahead(members, 1)
	for i, m := range members {
		ahead.Reach(i)
		c.Int(oneIf(found && s.Has(m)))
	}
}

func scardCmd(c *engine.Ctx) {
	s, found, ok := readSet(c, c.Args[1])
	switch {
	case !ok:
	case found:
		c.Int(int64(s.Len()))
	default:
		c.Int(0)
	}
}

func smembersCmd(c *engine.Ctx) {
	s, found, ok := readSet(c, c.Args[1])
	switch {
	case !ok:
	case found:
		wholeSet(c, s)
	default:
		c.Set(0)
	}
}

// wholeSet replies with all members.
func wholeSet(c *engine.Ctx, s object.Members) {
	c.Set(s.Len())
	s.Each(func(v listpack.Value) bool {
		bulkValue(c, v)
		return true
	})
}

func sscanCmd(c *engine.Ctx) {
	var o scanOptions
	x, ok := o.open(c, object.Set, scanElems)
	if !ok {
		return
	}
	s, r := object.AsSet(x), o.reply(c)
	if s.Base() == object.EncHashtable {
		r.done(o.walk(func(cursor uint64) (next uint64, seen int) {
			next = s.Scan(cursor, func(m []byte) {
				seen++
				if r.wants(m) {
					r.bulk(m)
				}
			})
			return next, seen
		}))
		return
	}
	var digits [20]byte
	s.Each(func(v listpack.Value) bool {
		if m := valueText(v, &digits); r.wants(m) {
			r.bulk(m)
		}
		return true
	})
	r.done(0)
}
