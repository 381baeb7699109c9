package command

import (
	"godwit/internal/engine"
	"godwit/internal/keyspace"
	"godwit/internal/listpack"
	"godwit/internal/object"
)

var _ = family(zsetRangeHandlers)

func zsetRangeHandlers() engine.Handlers {
	// older makes a command that ZRANGE replaces.
	older := func(by zrangeBy, dir direction) func(c *engine.Ctx) {
		return func(c *engine.Ctx) { zrange(c, zrangeSpec{by: by, dir: dir}) }
	}
	return engine.Handlers{
		"zrange":           func(c *engine.Ctx) { zrange(c, zrangeSpec{}) },
		"zrangestore":      zrangestoreCmd,
		"zrevrange":        older(byRank, descending),
		"zrangebyscore":    older(byScore, ascending),
		"zrevrangebyscore": older(byScore, descending),
		"zrangebylex":      older(byLex, ascending),
		"zrevrangebylex":   older(byLex, descending),
		"zremrangebyrank":  func(c *engine.Ctx) { zremrange(c, byRank, "zremrangebyrank") },
		"zremrangebyscore": func(c *engine.Ctx) { zremrange(c, byScore, "zremrangebyscore") },
		"zremrangebylex":   func(c *engine.Ctx) { zremrange(c, byLex, "zremrangebylex") },
		"zcount":           func(c *engine.Ctx) { zcount(c, byScore) },
		"zlexcount":        func(c *engine.Ctx) { zcount(c, byLex) },
	}
}

// zrangeBy says what the bounds of a range are. It is byAny until an option sets it.
type zrangeBy uint8

const (
	byAny zrangeBy = iota
	byRank
	byScore
	byLex
)

// direction is the order of a range. It is anyDirection until an option sets it.
type direction uint8

const (
	anyDirection direction = iota
	ascending
	descending
)

// zrangeSpec holds the arguments of a range command. For the older commands, by and dir are set
// from the start, and no option sets them.
type zrangeSpec struct {
	by            zrangeBy
	dir           direction
	withScores    bool
	exists        bool  // XX: null if the key does not exist.
	offset, limit int64 // A limit below 0 means all.

	start, stop int64 // By rank.
	scores      object.ScoreRange
	lex         object.LexRange
}

// parse reads the arguments from the lower bound on. It replies with an error and reports false if
// they are wrong.
func (r *zrangeSpec) parse(c *engine.Ctx, args [][]byte, store bool) bool {
	r.limit = -1
	if !r.parseOptions(c, args[2:], store) {
		return false
	}
	if r.dir == anyDirection {
		r.dir = ascending
	}
	if r.by == byAny {
		r.by = byRank
	}
	// By rank, LIMIT with a count of -1 passes too: Redis cannot tell it from a missing LIMIT.
	if r.limit != -1 && r.by == byRank {
		c.Err("ERR syntax error, LIMIT is only supported in combination with either BYSCORE or " +
			"BYLEX")
		return false
	}
	if r.withScores && r.by == byLex {
		c.Err("ERR syntax error, WITHSCORES not supported in combination with BYLEX")
		return false
	}
	first, last := args[0], args[1]
	if r.dir == descending && r.by != byRank {
		first, last = last, first // The upper end of such a range comes first.
	}
	return r.parseBounds(c, first, last)
}

func (r *zrangeSpec) parseOptions(c *engine.Ctx, args [][]byte, store bool) bool {
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case !store && is(arg, "withscores"):
			r.withScores = true
		case !store && is(arg, "xx"):
			r.exists = true
		case is(arg, "limit") && i+2 < len(args):
			var ok bool
			if r.offset, ok = intArg(c, args[i+1]); !ok {
				return false
			}
			if r.limit, ok = intArg(c, args[i+2]); !ok {
				return false
			}
			i += 2
		case r.dir == anyDirection && is(arg, "rev"):
			r.dir = descending
		case r.by == byAny && is(arg, "bylex"):
			r.by = byLex
		case r.by == byAny && is(arg, "byscore"):
			r.by = byScore
		default:
			c.Err(engine.ErrSyntax)
			return false
		}
	}
	return true
}

// parseBounds reads the bounds of a range according to r.by.
func (r *zrangeSpec) parseBounds(c *engine.Ctx, first, last []byte) (ok bool) {
	switch r.by {
	case byScore:
		if r.scores, ok = object.ParseScoreRange(first, last); !ok {
			c.Err("ERR min or max is not a float")
		}
	case byLex:
		if r.lex, ok = object.ParseLexRange(first, last); !ok {
			c.Err("ERR min or max not valid string range item")
		}
	default:
		if r.start, ok = intArg(c, first); !ok {
			return false
		}
		r.stop, ok = intArg(c, last)
	}
	return ok
}

// of returns an iterator over the range in a sorted set.
func (r *zrangeSpec) of(z object.SortedSet) object.ZIter {
	reverse := r.dir == descending
	switch r.by {
	case byScore:
		return z.ByScore(r.scores, reverse, int(r.offset), int(r.limit))
	case byLex:
		return z.ByLex(r.lex, reverse, int(r.offset), int(r.limit))
	}
	return z.ByRank(int(r.start), int(r.stop), reverse)
}

// zrange runs ZRANGE and the older commands that it replaces.
func zrange(c *engine.Ctx, r zrangeSpec) {
	if !r.parse(c, c.Args[2:], false) {
		return
	}
	x, ok := openRead(c, c.Args[1], object.ZSet)
	if !ok {
		return
	}
	switch {
	case x != nil:
	case r.exists:
		c.NullArray()
		return
	default:
		c.Array(0)
		return
	}
	it := r.of(object.AsZSet(x))
	scoredArray(c, it.Len(), r.withScores)
	for it.Next() {
		scoredMember(c, it.Member, it.Score, r.withScores)
	}
}

// scoredArray begins a reply of n members. With scores, it is a flat array in RESP2 and an array of
// pairs in RESP3.
func scoredArray(c *engine.Ctx, n int, withScores bool) {
	if withScores && c.Proto != 3 {
		n *= 2
	}
	c.Array(n)
}

// scoredMember adds a member to the reply that scoredArray began.
func scoredMember(c *engine.Ctx, m listpack.Value, score float64, withScores bool) {
	if withScores && c.Proto == 3 {
		c.Array(2)
	}
	bulkValue(c, m)
	if withScores {
		c.Double(score)
	}
}

func zrangestoreCmd(c *engine.Ctx) {
	var r zrangeSpec
	if !r.parse(c, c.Args[3:], true) {
		return
	}
	x, ok := openRead(c, c.Args[2], object.ZSet)
	if !ok {
		return
	}
	var b *object.ZBuilder
	if x != nil {
		it := r.of(object.AsZSet(x))
		b = object.NewZBuilder(c.E.KS.Heap, it.Len())
		lim := &c.E.KS.P.Limits
		// So far the result would be a listpack, in which -0 is 0. Redis begins with one too,
		// unless ranks tell it that there are too many members.
		packs := r.by != byRank || it.Len() <= lim.ZSetMaxListpackEntries
		for it.Next() {
			packs = packs && b.Len() < lim.ZSetMaxListpackEntries &&
				it.Member.Len() <= lim.ZSetMaxListpackValue
			if packs && it.Score == 0 {
				it.Score = 0
			}
			b.Add(it.Member, it.Score)
		}
		if r.dir == descending {
			b.Reverse()
		}
	}
	storeZSet(c, c.Args[1], b, "zrangestore")
}

// storeZSet stores the members in b at key and replies with their number. If there are none, it
// deletes the key.
func storeZSet(c *engine.Ctx, key []byte, b *object.ZBuilder, event string) {
	if b == nil || b.Len() == 0 {
		storedNothing(c, key)
		return
	}
	b.Store(c.DB.CreateOver(key, object.ZSet, object.EncListpack, listpack.Empty()))
	c.Changed(key)
	c.Notify(keyspace.EvZSet, event, key)
	c.Dirty(1)
	c.Int(int64(b.Len()))
}

// zremrange runs ZREMRANGEBYRANK and its siblings. event is the command's name.
func zremrange(c *engine.Ctx, by zrangeBy, event string) {
	r := zrangeSpec{by: by}
	if !r.parseBounds(c, c.Args[2], c.Args[3]) {
		return
	}
	key := c.Args[1]
	x, ok := openWrite(c, key, object.ZSet)
	if !ok {
		return
	}
	if x == nil {
		c.Int(0)
		return
	}
	n := r.removeFrom(object.AsZSet(x))
	if n > 0 {
		c.Changed(key)
		c.Notify(keyspace.EvZSet, event, key)
		if object.AsZSet(x).Len() == 0 {
			emptied(c, x, key)
		}
		c.Dirty(n)
	}
	c.Int(int64(n))
}

func (r *zrangeSpec) removeFrom(z object.SortedSet) int {
	switch r.by {
	case byScore:
		return z.RemoveByScore(r.scores)
	case byLex:
		return z.RemoveByLex(r.lex)
	}
	return z.RemoveByRank(int(r.start), int(r.stop))
}

// zcount runs ZCOUNT and ZLEXCOUNT.
func zcount(c *engine.Ctx, by zrangeBy) {
	r := zrangeSpec{by: by}
	if !r.parseBounds(c, c.Args[2], c.Args[3]) {
		return
	}
	x, ok := openRead(c, c.Args[1], object.ZSet)
	if !ok {
		return
	}
	n := 0
	if x != nil {
		if z := object.AsZSet(x); by == byScore {
			n = z.CountByScore(r.scores)
		} else {
			n = z.CountByLex(r.lex)
		}
	}
	c.Int(int64(n))
}
