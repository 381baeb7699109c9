package command

import "godwit/internal/engine"

// zsetOpCommands are the commands that combine several sorted sets or sets.
func zsetOpCommands() []*engine.Command {
	return []*engine.Command{
		zsetOpReader(zsetUnion, "zunion", "Returns the union of sorted sets.", unionCost, weightArgs()...),
		zsetOpReader(zsetInter, "zinter", "Returns the intersection of sorted sets.", interCost, weightArgs()...),
		zsetOpReader(zsetDiff, "zdiff", "Returns the members of a sorted set that are in none of the others.", diffCost),
		zsetOpStorer(zsetUnion, "zunionstore", "2.0.0", "Stores the union of sorted sets.", unionCost, weightArgs()...),
		zsetOpStorer(zsetInter, "zinterstore", "2.0.0", "Stores the intersection of sorted sets.", interCost, weightArgs()...),
		zsetOpStorer(zsetDiff, "zdiffstore", "6.2.0", "Stores the members of a sorted set that are in none of the others.", diffCost),
		{
			Name: "zintercard", Arity: -3, Flags: engine.ReadOnly, Group: engine.GroupSortedSet, Since: "7.0.0",
			Summary: "Counts the members of the intersection of sorted sets.", Complexity: "O(N*K) for K keys, the smallest of N members",
			Keys: []engine.KeySpec{countedKeys(1)},
			Args: []engine.Arg{engine.Int("numkeys"), engine.Key("key", 0).Many(), engine.Int("limit").Tokened("LIMIT").Opt()},
			Run:  zintercardCmd,
		},
	}
}

const (
	unionCost = "O(N) for N members in all, and O(M) to sort the M members of the result"
	interCost = "O(N*K) for K keys, the smallest of N members, and O(M) to sort the M members of the result"
	diffCost  = "O(N) for N members in all, and O(M) to sort the M members of the result"
)

// countedKeys is the key spec of source keys that follow their number at argument i.
func countedKeys(i int) engine.KeySpec {
	return engine.KeySpec{Begin: engine.At(i), Find: engine.KeyNum(0, 1, 1), Access: engine.RO | engine.AccessFlag}
}

func weightArgs() []engine.Arg {
	return []engine.Arg{
		engine.Int("weight").Tokened("WEIGHTS").Many().Opt(),
		engine.OneOf("aggregate", engine.Tok("sum"), engine.Tok("min"), engine.Tok("max")).Tokened("AGGREGATE").Opt(),
	}
}

func zsetOpReader(op zsetOp, name, summary, complexity string, args ...engine.Arg) *engine.Command {
	args = append([]engine.Arg{engine.Int("numkeys"), engine.Key("key", 0).Many()}, args...)
	return &engine.Command{
		Name: name, Arity: -3, Flags: engine.ReadOnly, Group: engine.GroupSortedSet, Since: "6.2.0",
		Summary: summary, Complexity: complexity,
		Keys: []engine.KeySpec{countedKeys(1)},
		Args: append(args, engine.Tok("withscores").Opt()),
		Run:  func(c *engine.Ctx) { zsetOpReply(c, op) },
	}
}

func zsetOpStorer(op zsetOp, name, since, summary, complexity string, args ...engine.Arg) *engine.Command {
	return &engine.Command{
		Name: name, Arity: -4, Flags: engine.Write | engine.DenyOOM, Group: engine.GroupSortedSet, Since: since,
		Summary: summary, Complexity: complexity,
		Keys: []engine.KeySpec{keyAt(1, engine.OW|engine.Update), countedKeys(2)},
		Args: append([]engine.Arg{engine.Key("destination", 0), engine.Int("numkeys"), engine.Key("key", 1).Many()}, args...),
		Run:  func(c *engine.Ctx) { zsetOpStore(c, op, name) },
	}
}
