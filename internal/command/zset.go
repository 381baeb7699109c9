package command

import (
	"math"

	"godwit/internal/engine"
	"godwit/internal/keyspace"
	"godwit/internal/listpack"
	"godwit/internal/object"
)

func zsetCommands() []*engine.Command {
	return append(zsetWriteCommands(), append(zsetPopCommands(), zsetReadCommands()...)...)
}

func zsetWriteCommands() []*engine.Command {
	several := []engine.History{{Since: "2.4.0", Change: "Takes several members."}}
	return []*engine.Command{
		zsetCommand(engine.Command{
			Name: "zadd", Arity: -4, Flags: engine.Write | engine.DenyOOM | engine.Fast, Since: "1.2.0",
			Summary: "Adds members with scores to a sorted set, or changes scores.", Complexity: "O(log N) a member, N being the set's size",
			History: append(several[:1:1], engine.History{Since: "3.0.2", Change: "Takes `XX`, `NX`, `CH` and `INCR`."},
				engine.History{Since: "6.2.0", Change: "Takes `GT` and `LT`."}),
			Run: zaddCmd,
		}, engine.RW|engine.Update,
			engine.OneOf("condition", engine.Tok("nx"), engine.Tok("xx")).Opt().From("3.0.2"),
			engine.OneOf("comparison", engine.Tok("gt"), engine.Tok("lt")).Opt().From("6.2.0"),
			engine.Tok("change").Tokened("CH").Opt().From("3.0.2"),
			engine.Tok("increment").Tokened("INCR").Opt().From("3.0.2"),
			engine.Block("score_member", engine.Dbl("score"), engine.Str("member")).Many()),
		zsetCommand(engine.Command{
			Name: "zincrby", Arity: 4, Flags: engine.Write | engine.DenyOOM | engine.Fast, Since: "1.2.0",
			Summary: "Adds a number to the score of a sorted set's member.", Complexity: "O(log N) in the size of the set",
			Run: zincrbyCmd,
		}, engine.RW|engine.AccessFlag|engine.Update, engine.Int("increment"), engine.Str("member")),
		zsetCommand(engine.Command{
			Name: "zrem", Arity: -3, Flags: engine.Write | engine.Fast, Since: "1.2.0",
			Summary: "Removes members of a sorted set.", Complexity: "O(M log N) for M members of a set of N",
			History: several, Run: zremCmd,
		}, engine.RW|engine.Delete, engine.Str("member").Many()),
	}
}

func zsetPopCommands() []*engine.Command {
	pop := func(name, summary string, max bool) *engine.Command {
		return zsetCommand(engine.Command{
			Name: name, Arity: -2, Flags: engine.Write | engine.Fast, Since: "5.0.0", Summary: summary,
			Complexity: "O(M log N) for M members of a set of N", Run: func(c *engine.Ctx) { zpopCmd(c, max) },
		}, engine.RW|engine.AccessFlag|engine.Delete, engine.Int("count").Opt())
	}
	return []*engine.Command{
		pop("zpopmin", "Takes the members with the lowest scores out of a sorted set.", false),
		pop("zpopmax", "Takes the members with the highest scores out of a sorted set.", true),
		{
			Name: "zmpop", Arity: -4, Flags: engine.Write, Group: engine.GroupSortedSet, Since: "7.0.0",
			Summary:    "Takes members out of the first of several sorted sets that has any.",
			Complexity: "O(K + M log N) for M members of a set of N, K sets being given",
			Keys:       []engine.KeySpec{{Begin: engine.At(1), Find: engine.KeyNum(0, 1, 1), Access: engine.RW | engine.AccessFlag | engine.Delete}},
			Args: []engine.Arg{engine.Int("numkeys"), engine.Key("key", 0).Many(),
				engine.OneOf("where", engine.Tok("min"), engine.Tok("max")), engine.Int("count").Tokened("COUNT").Opt()},
			Run: zmpopCmd,
		},
	}
}

func zsetReadCommands() []*engine.Command {
	const ro = engine.RO | engine.AccessFlag
	const fast = engine.ReadOnly | engine.Fast
	withScore := []engine.History{{Since: "7.2.0", Change: "Takes `WITHSCORE`."}}
	tips := []string{"nondeterministic_output"}
	return []*engine.Command{
		zsetCommand(engine.Command{Name: "zcard", Arity: 2, Flags: fast, Since: "1.2.0",
			Summary: "Counts the members of a sorted set.", Complexity: "O(1)", Run: zcardCmd}, engine.RO),
		zsetCommand(engine.Command{Name: "zscore", Arity: 3, Flags: fast, Since: "1.2.0",
			Summary: "Shows the score of a sorted set's member.", Complexity: "O(1)", Run: zscoreCmd}, ro, engine.Str("member")),
		zsetCommand(engine.Command{Name: "zmscore", Arity: -3, Flags: fast, Since: "6.2.0",
			Summary: "Shows the scores of several members of a sorted set.", Complexity: "O(N) in the number of members asked for",
			Run: zmscoreCmd}, ro, engine.Str("member").Many()),
		zsetCommand(engine.Command{Name: "zrank", Arity: -3, Flags: fast, Since: "2.0.0", History: withScore,
			Summary: "Tells how many members of a sorted set come before one.", Complexity: "O(log N)",
			Run: func(c *engine.Ctx) { zrankCmd(c, false) }}, ro, engine.Str("member"), engine.Tok("withscore").Opt().From("7.2.0")),
		zsetCommand(engine.Command{Name: "zrevrank", Arity: -3, Flags: fast, Since: "2.0.0", History: withScore,
			Summary: "Tells how many members of a sorted set come behind one.", Complexity: "O(log N)",
			Run: func(c *engine.Ctx) { zrankCmd(c, true) }}, ro, engine.Str("member"), engine.Tok("withscore").Opt().From("7.2.0")),
		zsetCommand(engine.Command{Name: "zrandmember", Arity: -2, Flags: engine.ReadOnly, Since: "6.2.0", Tips: tips,
			Summary: "Shows random members of a sorted set.", Complexity: "O(M log N) for M members of a set of N",
			Run: zrandmemberCmd}, ro,
			engine.Block("options", engine.Int("count"), engine.Tok("withscores").Opt()).Opt()),
		zsetCommand(engine.Command{Name: "zscan", Arity: -3, Flags: engine.ReadOnly, Since: "2.8.0", Tips: tips,
			Summary: "Walks the members of a sorted set step by step.", Complexity: "O(1) a call, O(N) for a full walk",
			Run: zscanCmd}, ro, engine.Int("cursor"), engine.Pattern("pattern").Tokened("MATCH").Opt(),
			engine.Int("count").Tokened("COUNT").Opt()),
	}
}

// zsetRead opens a sorted set for reading: !ok after WRONGTYPE, a zero set when the key is absent.
func zsetRead(c *engine.Ctx, key []byte) (z object.SortedSet, found, ok bool) {
	x, ok := openRead(c, key, object.ZSet)
	return object.AsZSet(x), x != nil, ok
}

// zsetChanged announces a change of a sorted set under the event's name, and its end if it is empty now.
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

// zscoreReply answers with a member's score, null if there is none.
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
	c.Array(len(c.Args) - 2)
	for _, m := range c.Args[2:] {
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
	x, ok := o.open(c, object.ZSet, scanElems)
	if !ok {
		return
	}
	z, r := object.AsZSet(x), o.reply(c)
	packed := z.Base() != object.EncSkiplist
	var digits [20]byte
	var number [32]byte
	emit := func(m listpack.Value, score float64) {
		b := valueText(m, &digits)
		if !r.wants(b) {
			return
		}
		r.bulk(b)
		if packed {
			r.bulk(object.AppendPackedScore(number[:0], score))
		} else {
			r.bulk(object.AppendScore(number[:0], score))
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

// zrandomRepeated answers with n members, each chosen anew.
func zrandomRepeated(c *engine.Ctx, z object.SortedSet, n int64, scores bool) {
	scoredArray(c, int(n), scores)
	for ; n > 0 && !overOutput(c); n-- {
		m, score := z.Random()
		scoredMember(c, m, score, scores)
	}
}

// zrandomDistinct answers with n different members, every choice with the same probability. When they are a good part of the set, one walk
// takes each member with the probability (members to choose)/(members left); else ranks are drawn until enough are different.
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
