package command

import (
	"math"

	"godwit/internal/engine"
	"godwit/internal/keyspace"
	"godwit/internal/listpack"
	"godwit/internal/object"
)

var _ = family(zsetHandlers)

func zsetHandlers() engine.Handlers {
	return engine.Handlers{
		"zadd":        zaddCmd,
		"zincrby":     zincrbyCmd,
		"zrem":        zremCmd,
		"zpopmin":     func(c *engine.Ctx) { zpopCmd(c, false) },
		"zpopmax":     func(c *engine.Ctx) { zpopCmd(c, true) },
		"zmpop":       zmpopCmd,
		"zcard":       zcardCmd,
		"zscore":      zscoreCmd,
		"zmscore":     zmscoreCmd,
		"zrank":       func(c *engine.Ctx) { zrankCmd(c, false) },
		"zrevrank":    func(c *engine.Ctx) { zrankCmd(c, true) },
		"zrandmember": zrandmemberCmd,
		"zscan":       zscanCmd,
	}
}

// zsetRead opens a sorted set for reading. found tells whether there is one. ok is false after a
// WRONGTYPE reply.
func zsetRead(c *engine.Ctx, key []byte) (z object.SortedSet, found, ok bool) {
	x, ok := openRead(c, key, object.ZSet)
	return object.AsZSet(x), x != nil, ok
}

// zsetChanged announces a change of a sorted set under the event's name. If the set is empty, it
// deletes the key.
func zsetChanged(c *engine.Ctx, z object.SortedSet, event string, key []byte) {
	c.Changed(key)
	c.Notify(keyspace.EvZSet, event, key)
	if z.Len() == 0 {
		emptied(c, z.Edit, key)
	}
}

func zcardCmd(c *engine.Ctx) {
	z, found, ok := zsetRead(c, c.Args[1])
	switch {
	case !ok:
	case !found:
		c.Int(0)
	default:
		c.Int(int64(z.Len()))
	}
}

func zscoreCmd(c *engine.Ctx) {
	z, found, ok := zsetRead(c, c.Args[1])
	if ok {
		zscoreReply(c, z, found, c.Args[2])
	}
}

// zscoreReply replies with a member's score, or null.
func zscoreReply(c *engine.Ctx, z object.SortedSet, found bool, member []byte) {
	if found {
		if score, ok := z.Score(member); ok {
			c.Double(score)
			return
		}
	}
	c.Null()
}

func zmscoreCmd(c *engine.Ctx) {
	z, found, ok := zsetRead(c, c.Args[1])
	if !ok {
		return
	}
	members := c.Args[2:]
	c.Array(len(members))
	ahead := z.Lookahead(members, 1)
	for i, m := range members {
		ahead.Reach(i)
		zscoreReply(c, z, found, m)
	}
}

func zrankCmd(c *engine.Ctx, reverse bool) {
	withScore := len(c.Args) > 3
	if withScore {
		if len(c.Args) > 4 {
			c.Err("ERR wrong number of arguments for '" + c.Cmd.FullName() + "' command")
			return
		}
		if !is(c.Args[3], "withscore") {
			c.Err(engine.ErrSyntax)
			return
		}
	}
	z, found, ok := zsetRead(c, c.Args[1])
	if !ok {
		return
	}
	var rank int
	var score float64
	if found {
		rank, score, found = z.Rank(c.Args[2], reverse)
	}
	switch {
	case !found && withScore:
		c.NullArray()
	case !found:
		c.Null()
	case withScore:
		c.Array(2)
		c.Int(int64(rank))
		c.Double(score)
	default:
		c.Int(int64(rank))
	}
}

func zscanCmd(c *engine.Ctx) {
	var o scanOptions
	x, ok := o.open(c, object.ZSet, scanScored)
	if !ok {
		return
	}
	z, r := object.AsZSet(x), o.reply(c)
	packed, text := z.Base() != object.EncSkiplist, object.AppendScanned
	if packed {
		text = object.AppendScore
	}
	var digits [20]byte
	var number [32]byte
	emit := func(m listpack.Value, score float64) {
		b := valueText(m, &digits)
		if !r.wants(b) {
			return
		}
		r.bulk(b)
		if !o.noValues {
			r.bulk(text(number[:0], score))
		}
	}
	if packed {
		r.done(z.Scan(0, emit))
		return
	}
	r.done(o.walk(func(cursor uint64) (next uint64, seen int) {
		next = z.Scan(cursor, func(m listpack.Value, score float64) {
			seen++
			emit(m, score)
		})
		return next, seen
	}))
}

func zrandmemberCmd(c *engine.Ctx) {
	if len(c.Args) == 2 {
		z, found, ok := zsetRead(c, c.Args[1])
		switch {
		case !ok:
		case !found:
			c.Null()
		default:
			m, _ := z.Random()
			bulkValue(c, m)
		}
		return
	}
	count, ok := rangeArg(c, c.Args[2], -math.MaxInt64, math.MaxInt64, "")
	if !ok {
		return
	}
	scores := len(c.Args) == 4 && is(c.Args[3], "withscores")
	if len(c.Args) > 4 || len(c.Args) == 4 && !scores {
		c.Err(engine.ErrSyntax)
		return
	}
	if scores && (count < -math.MaxInt64/2 || count > math.MaxInt64/2) {
		c.Err("ERR value is out of range")
		return
	}
	z, found, ok := zsetRead(c, c.Args[1])
	switch {
	case !ok:
	case !found || count == 0:
		c.Array(0)
	case count < 0:
		zrandomRepeated(c, z, -count, scores)
	default:
		zrandomDistinct(c, z, int(min(count, int64(z.Len()))), scores)
	}
}

// zrandomRepeated replies with n members, each chosen independently.
func zrandomRepeated(c *engine.Ctx, z object.SortedSet, n int64, scores bool) {
	scoredArray(c, int(n), scores)
	for ; n > 0 && !overOutput(c); n-- {
		m, score := z.Random()
		scoredMember(c, m, score, scores)
	}
}

// zrandomDistinct replies with n different members. Every choice has the same probability. If n is
// a good part of the set, one walk takes each member with the probability (members to
// choose)/(members left). Else it draws ranks until enough are different.
func zrandomDistinct(c *engine.Ctx, z object.SortedSet, n int, scores bool) {
	scoredArray(c, n, scores)
	rnd, left := z.H.Rand, z.Len()
	if n > left/16 {
		for it := z.All(); n > 0 && it.Next(); left-- {
			if rnd.IntN(left) < n {
				scoredMember(c, it.Member, it.Score, scores)
				n--
			}
		}
		return
	}
	drawn := make(map[int]struct{}, n)
	for len(drawn) < n {
		rank := rnd.IntN(left)
		if _, again := drawn[rank]; again {
			continue
		}
		drawn[rank] = struct{}{}
		it := z.ByRank(rank, rank, false)
		it.Next()
		scoredMember(c, it.Member, it.Score, scores)
	}
}
