package command

import "godwit/internal/engine"

const (
	rangeCost  = "O(log(N)+M) for N members, M of which are returned"
	removeCost = "O(log(N)+M) for N members, M of which are removed"
)

// zsetRangeCommands are the commands that read, store, count or remove a range of a sorted set.
func zsetRangeCommands() []*engine.Command {
	return append(zrangeFamily(), append(zremrangeFamily(), zcountFamily()...)...)
}

// zsetCommand is entry for the sorted set commands whose first argument is their only key.
func zsetCommand(cmd engine.Command, access engine.Access, args ...engine.Arg) *engine.Command {
	return entry(engine.GroupSortedSet, cmd, access, append([]engine.Arg{engine.Key("key", 0)}, args...)...)
}

func limitArg() engine.Arg {
	return engine.Block("offset_count", engine.Int("offset"), engine.Int("count")).Tokened("LIMIT").Opt()
}

func sortByArg() engine.Arg {
	return engine.OneOf("sortby", engine.Tok("byscore"), engine.Tok("bylex")).Opt()
}

func zrangeFamily() []*engine.Command {
	return append([]*engine.Command{
		zsetCommand(engine.Command{
			Name: "zrange", Arity: -4, Flags: engine.ReadOnly, Since: "1.2.0",
			Summary: "Returns the members of a sorted set in a range of ranks, scores or names.", Complexity: rangeCost,
			History: []engine.History{{Since: "6.2.0", Change: "Takes `REV`, `BYSCORE`, `BYLEX` and `LIMIT`."}},
			Run:     func(c *engine.Ctx) { zrange(c, zrangeSpec{}) },
		}, engine.RO|engine.AccessFlag, engine.Str("start"), engine.Str("stop"), sortByArg().From("6.2.0"),
			engine.Tok("rev").Opt().From("6.2.0"), limitArg().From("6.2.0"), engine.Tok("withscores").Opt()),
		{
			Name: "zrangestore", Arity: -5, Flags: engine.Write | engine.DenyOOM, Group: engine.GroupSortedSet, Since: "6.2.0",
			Summary: "Stores a range of a sorted set under another key.", Complexity: "O(log(N)+M) for N members, M of which are stored",
			Keys: []engine.KeySpec{keyAt(1, engine.OW|engine.Update), keyAt(2, engine.RO|engine.AccessFlag)},
			Args: []engine.Arg{engine.Key("dst", 0), engine.Key("src", 1), engine.Str("min"), engine.Str("max"), sortByArg(),
				engine.Tok("rev").Opt(), limitArg()},
			Run: zrangestoreCmd,
		},
	}, zrangeOlder()...)
}

// zrangeOlder are the commands that ZRANGE's options have replaced.
func zrangeOlder() []*engine.Command {
	older := func(cmd engine.Command, spec zrangeSpec, instead string, args ...engine.Arg) *engine.Command {
		cmd.Arity, cmd.Flags, cmd.Complexity = -4, engine.ReadOnly, rangeCost
		cmd.DocFlags, cmd.DeprecatedSince, cmd.ReplacedBy = []string{"deprecated"}, "6.2.0", instead
		cmd.Run = func(c *engine.Ctx) { zrange(c, spec) }
		return zsetCommand(cmd, engine.RO|engine.AccessFlag, args...)
	}
	scores := engine.Tok("withscores").Opt()
	return []*engine.Command{
		older(engine.Command{
			Name: "zrevrange", Since: "1.2.0", Summary: "Returns the members of a sorted set in a range of ranks, from high scores to low.",
		}, zrangeSpec{by: byRank, dir: descending}, "`ZRANGE` with `REV`", engine.Int("start"), engine.Int("stop"), scores),
		older(engine.Command{
			Name: "zrangebyscore", Since: "1.0.5", Summary: "Returns the members of a sorted set in a range of scores.",
			History: []engine.History{{Since: "2.0.0", Change: "Takes `WITHSCORES`."}},
		}, zrangeSpec{by: byScore, dir: ascending}, "`ZRANGE` with `BYSCORE`", engine.Dbl("min"), engine.Dbl("max"), scores.From("2.0.0"), limitArg()),
		older(engine.Command{
			Name: "zrevrangebyscore", Since: "2.2.0", Summary: "Returns the members of a sorted set in a range of scores, from high to low.",
			History: []engine.History{{Since: "2.1.6", Change: "Either bound may be exclusive."}},
		}, zrangeSpec{by: byScore, dir: descending}, "`ZRANGE` with `REV` and `BYSCORE`", engine.Dbl("max"), engine.Dbl("min"), scores, limitArg()),
		older(engine.Command{
			Name: "zrangebylex", Since: "2.8.9", Summary: "Returns the members of a sorted set of equal scores in a range of names.",
		}, zrangeSpec{by: byLex, dir: ascending}, "`ZRANGE` with `BYLEX`", engine.Str("min"), engine.Str("max"), limitArg()),
		older(engine.Command{
			Name: "zrevrangebylex", Since: "2.8.9", Summary: "Returns the members of a sorted set of equal scores in a range of names, backwards.",
		}, zrangeSpec{by: byLex, dir: descending}, "`ZRANGE` with `REV` and `BYLEX`", engine.Str("max"), engine.Str("min"), limitArg()),
	}
}

func zremrangeFamily() []*engine.Command {
	remove := func(name, since, summary string, by zrangeBy, args ...engine.Arg) *engine.Command {
		return zsetCommand(engine.Command{
			Name: name, Arity: 4, Flags: engine.Write, Since: since, Summary: summary, Complexity: removeCost,
			Run: func(c *engine.Ctx) { zremrange(c, by, name) },
		}, engine.RW|engine.Delete, args...)
	}
	return []*engine.Command{
		remove("zremrangebyrank", "2.0.0", "Removes the members of a sorted set in a range of ranks.", byRank,
			engine.Int("start"), engine.Int("stop")),
		remove("zremrangebyscore", "1.2.0", "Removes the members of a sorted set in a range of scores.", byScore,
			engine.Dbl("min"), engine.Dbl("max")),
		remove("zremrangebylex", "2.8.9", "Removes the members of a sorted set of equal scores in a range of names.", byLex,
			engine.Str("min"), engine.Str("max")),
	}
}

func zcountFamily() []*engine.Command {
	count := func(name, since, summary string, by zrangeBy, args ...engine.Arg) *engine.Command {
		return zsetCommand(engine.Command{
			Name: name, Arity: 4, Flags: engine.ReadOnly | engine.Fast, Since: since, Summary: summary, Complexity: "O(log(N)) for N members",
			Run: func(c *engine.Ctx) { zcount(c, by) },
		}, engine.RO|engine.AccessFlag, args...)
	}
	return []*engine.Command{
		count("zcount", "2.0.0", "Counts the members of a sorted set in a range of scores.", byScore, engine.Dbl("min"), engine.Dbl("max")),
		count("zlexcount", "2.8.9", "Counts the members of a sorted set of equal scores in a range of names.", byLex,
			engine.Str("min"), engine.Str("max")),
	}
}
