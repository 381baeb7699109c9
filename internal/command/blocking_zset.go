package command

import (
	"godwit/internal/engine"
	"godwit/internal/listpack"
	"godwit/internal/object"
)

func blockingZSetCommands() []*engine.Command {
	pop := func(name, which string, max bool) *engine.Command {
		return &engine.Command{
			Name: name, Arity: -3, Flags: blockingFlags | engine.Fast, Group: engine.GroupSortedSet, Since: "5.0.0",
			Summary:    "Takes the member with the " + which + " score out of the first sorted set that has any; waits for one if none has.",
			Complexity: "O(log N) in the number of members",
			History:    timeoutAsDouble(), Keys: popKeys(),
			Args: []engine.Arg{engine.Key("key", 0).Many(), engine.Dbl("timeout")},
			Run:  func(c *engine.Ctx) { bzpopCmd(c, max) },
		}
	}
	return []*engine.Command{pop("bzpopmin", "lowest", false), pop("bzpopmax", "highest", true), {
		Name: "bzmpop", Arity: -5, Flags: engine.Write | engine.Blocking, Group: engine.GroupSortedSet, Since: "7.0.0",
		Summary:    "Takes members with the lowest or highest scores out of the first sorted set that has any; waits for one if none has.",
		Complexity: "O(K + M log N) for K keys and M members taken out of N",
		Keys:       mpopKeys(),
		Args: []engine.Arg{engine.Dbl("timeout"), engine.Int("numkeys"), engine.Key("key", 0).Many(),
			engine.OneOf("where", engine.Tok("min"), engine.Tok("max")), engine.Int("count").Tokened("COUNT").Opt()},
		Run: bzmpopCmd,
	}}
}

// bzpopCmd answers with key, member and score, or with nothing when the time is up. It is propagated as ZPOPMIN or ZPOPMAX.
func bzpopCmd(c *engine.Ctx, max bool) {
	keys := c.Args[1 : len(c.Args)-1]
	deadline, ok := deadlineArg(c, c.Args[len(c.Args)-1])
	if !ok {
		return
	}
	for _, key := range keys {
		x, ok := openWrite(c, key, object.ZSet)
		if !ok {
			return
		}
		if x == nil {
			continue
		}
		c.Array(3)
		c.Bulk(key)
		zpop(c, object.AsZSet(x), key, 1, max, func(m listpack.Value, score float64) {
			bulkValue(c, m)
			c.Double(score)
		})
		c.PropagateAs([]byte(zpopEvent(max)), key)
		return
	}
	waitFor(c, keys, object.ZSet, deadline, replyNullArray)
}

func bzmpopCmd(c *engine.Ctx) {
	var a zmpopArgs
	if !a.parse(c, c.Args[2:]) {
		return
	}
	deadline, ok := deadlineArg(c, c.Args[1])
	if ok && !zmpop(c, &a) {
		waitFor(c, a.keys, object.ZSet, deadline, replyNullArray)
	}
}
