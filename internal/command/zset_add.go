package command

import (
	"godwit/internal/engine"
	"godwit/internal/listpack"
	"godwit/internal/object"
)

const errScoreNaN = "ERR resulting score is not a number (NaN)"

// zaddOptions are the options of ZADD.
type zaddOptions struct {
	flags object.ZAddFlags
	ch    bool // Count changed members too.
}

// parse reads options from the front of args and replies with Redis's errors. It returns the pairs
// of score and member that follow them.
func (o *zaddOptions) parse(c *engine.Ctx, args [][]byte) (pairs [][]byte, ok bool) {
	for len(args) > 0 && o.one(args[0]) {
		args = args[1:]
	}
	has := func(f object.ZAddFlags) bool { return o.flags&f == f }
	switch {
	case len(args) == 0 || len(args)%2 != 0:
		c.Err(engine.ErrSyntax)
	case has(object.ZAddNX | object.ZAddXX):
		c.Err("ERR XX and NX options at the same time are not compatible")
	case has(object.ZAddGT | object.ZAddNX), has(object.ZAddLT | object.ZAddNX),
		has(object.ZAddGT | object.ZAddLT):
		c.Err("ERR GT, LT, and/or NX options at the same time are not compatible")
	case has(object.ZAddIncr) && len(args) > 2:
		c.Err("ERR INCR option supports a single increment-element pair")
	default:
		return args, true
	}
	return nil, false
}

func (o *zaddOptions) one(arg []byte) bool {
	switch {
	case is(arg, "nx"):
		o.flags |= object.ZAddNX
	case is(arg, "xx"):
		o.flags |= object.ZAddXX
	case is(arg, "gt"):
		o.flags |= object.ZAddGT
	case is(arg, "lt"):
		o.flags |= object.ZAddLT
	case is(arg, "incr"):
		o.flags |= object.ZAddIncr
	case is(arg, "ch"):
		o.ch = true
	default:
		return false
	}
	return true
}

func zaddCmd(c *engine.Ctx) {
	var o zaddOptions
	if pairs, ok := o.parse(c, c.Args[2:]); ok {
		zadd(c, &o, pairs, 2, scoreArg)
	}
}

// zincrbyCmd takes an increment that is spelled like an option of ZADD for that option, as Redis
// does. Then no pair is left, which is an error.
func zincrbyCmd(c *engine.Ctx) {
	o := zaddOptions{flags: object.ZAddIncr}
	if pairs, ok := o.parse(c, c.Args[2:]); ok {
		zadd(c, &o, pairs, 2, scoreArg)
	}
}

// scoreArg reads the score of a pair of ZADD. It replies with Redis's error and reports false if it
// is invalid.
func scoreArg(c *engine.Ctx, pair [][]byte) (float64, bool) {
	f, ok := object.ParseScore(pair[0])
	if !ok {
		c.Err(engine.ErrNotFloat)
	}
	return f, ok
}

// maxParsed is the number of scores that are kept after all have been checked. Any further scores
// are parsed twice, a group of so many at a time.
const maxParsed = object.WarmupMax

// zadd runs ZADD once its options have been read. args has items of width arguments, and each ends
// with the member. score computes the item's score.
func zadd(c *engine.Ctx, o *zaddOptions, args [][]byte, width int,
	score func(c *engine.Ctx, item [][]byte) (float64, bool)) {
	var parsed [maxParsed]float64
	for i := 0; i < len(args)/width; i++ {
		f, ok := score(c, args[i*width:][:width])
		if !ok {
			return
		}
		if i < maxParsed {
			parsed[i] = f
		}
	}
	key := c.Args[1]
	x, ok := openWrite(c, key, object.ZSet)
	if !ok {
		return
	}
	if x == nil {
		if o.flags&object.ZAddXX != 0 {
			zaddReply(c, o, 0, 0, object.ZAddNone, 0)
			return
		}
		x = c.DB.Create(key, object.ZSet, object.EncListpack, listpack.Empty())
	}
	z := object.AsZSet(x)
	z.Reserve(len(args) / width)
	added, updated := 0, 0
	var res object.ZAddResult
	var now float64
	for i := 0; i < len(args)/width; i++ {
		item := args[i*width:][:width]
		if i%maxParsed == 0 {
			group := parsed[:min(len(args)/width-i, maxParsed)]
			for j := range group {
				if i > 0 {
					group[j], _ = score(c, args[(i+j)*width:][:width])
				}
			}
			if len(group) > 1 {
				warmZAdd(c, z, args[i*width:], width, group)
			}
		}
		switch res, now = z.Add(parsed[i%maxParsed], item[width-1], o.flags); res {
		case object.ZAddNaN:
			c.Err(errScoreNaN)
			return
		case object.ZAddAdded:
			added++
		case object.ZAddUpdated:
			updated++
		}
	}
	if added+updated > 0 {
		event := "zadd"
		if o.flags&object.ZAddIncr != 0 {
			event = "zincr"
		}
		zsetChanged(c, z, event, key)
		c.Dirty(added + updated)
	}
	zaddReply(c, o, added, updated, res, now)
}

// zaddReply replies with the new score (INCR) or with a count. res and score belong to the last
// member.
func zaddReply(c *engine.Ctx, o *zaddOptions, added, updated int, res object.ZAddResult,
	score float64) {
	switch {
	case o.flags&object.ZAddIncr != 0 && res == object.ZAddNone:
		c.Null()
	case o.flags&object.ZAddIncr != 0:
		c.Double(score)
	case o.ch:
		c.Int(int64(added + updated))
	default:
		c.Int(int64(added))
	}
}

func zremCmd(c *engine.Ctx) {
	key := c.Args[1]
	x, ok := openWrite(c, key, object.ZSet)
	if !ok {
		return
	}
	if x == nil {
		c.Int(0)
		return
	}
	z := object.AsZSet(x)
	n, members := 0, c.Args[2:]
	ahead := z.Lookahead(members, 1)
	for i, m := range members {
		ahead.Reach(i)
		if z.Remove(m) {
			if n++; z.Len() == 0 {
				break
			}
		}
	}
	if n > 0 {
		zsetChanged(c, z, "zrem", key)
		c.Dirty(n)
	}
	c.Int(int64(n))
}
