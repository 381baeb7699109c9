package command

import (
	"godwit/internal/engine"
	"godwit/internal/object"
)

func blockingListCommands() []*engine.Command {
	pop := func(name, which string, left bool) *engine.Command {
		return &engine.Command{
			Name: name, Arity: -3, Flags: blockingFlags, Group: engine.GroupList, Since: "2.0.0",
			Summary:    "Takes the " + which + " element out of the first list that has any; waits for one if none has.",
			Complexity: "O(N) in the number of keys",
			History:    timeoutAsDouble(), Keys: popKeys(),
			Args: []engine.Arg{engine.Key("key", 0).Many(), engine.Dbl("timeout")},
			Run:  func(c *engine.Ctx) { bpopCmd(c, left) },
		}
	}
	side := func(name string) engine.Arg { return engine.OneOf(name, engine.Tok("left"), engine.Tok("right")) }
	moveKeys := []engine.KeySpec{keyAt(1, engine.RW|engine.AccessFlag|engine.Delete), keyAt(2, engine.RW|engine.Insert)}
	return []*engine.Command{pop("blpop", "first", true), pop("brpop", "last", false), {
		Name: "blmove", Arity: 6, Flags: blockingFlags | engine.DenyOOM, Group: engine.GroupList, Since: "6.2.0",
		Summary:    "Moves an element from an end of one list to an end of another; waits for one if there is none.",
		Complexity: "O(1)",
		Keys:       moveKeys,
		Args: []engine.Arg{engine.Key("source", 0), engine.Key("destination", 1), side("wherefrom"), side("whereto"),
			engine.Dbl("timeout")},
		Run: blmoveCmd,
	}, {
		Name: "brpoplpush", Arity: 4, Flags: blockingFlags | engine.DenyOOM, Group: engine.GroupList, Since: "2.2.0",
		Summary:    "Moves the last element of a list to the head of another; waits for one if there is none.",
		Complexity: "O(1)", DocFlags: []string{"deprecated"}, DeprecatedSince: "6.2.0",
		ReplacedBy: "`BLMOVE` with `RIGHT` and `LEFT`",
		History:    timeoutAsDouble(), Keys: moveKeys,
		Args: []engine.Arg{engine.Key("source", 0), engine.Key("destination", 1), engine.Dbl("timeout")},
		Run:  brpoplpushCmd,
	}, {
		Name: "blmpop", Arity: -5, Flags: engine.Write | engine.Blocking, Group: engine.GroupList, Since: "7.0.0",
		Summary:    "Takes elements out of the first list that has any; waits for one if none has.",
		Complexity: "O(N+M) for N keys and M elements",
		Keys:       mpopKeys(),
		Args: []engine.Arg{engine.Dbl("timeout"), engine.Int("numkeys"), engine.Key("key", 0).Many(), side("where"),
			engine.Int("count").Tokened("COUNT").Opt()},
		Run: blmpopCmd,
	}}
}

// bpopCmd answers with key and element, or with nothing when the time is up. It is propagated as LPOP or RPOP.
func bpopCmd(c *engine.Ctx, left bool) {
	keys := c.Args[1 : len(c.Args)-1]
	deadline, ok := deadlineArg(c, c.Args[len(c.Args)-1])
	if !ok {
		return
	}
	for _, key := range keys {
		l, ok := openList(c, key)
		if !ok {
			return
		}
		if l.Edit == nil {
			continue
		}
		c.Array(2)
		c.Bulk(key)
		popOne(c, l, key, left)
		c.PropagateAs(popName(left), key)
		return
	}
	waitFor(c, keys, object.List, deadline, replyNullArray)
}

func blmoveCmd(c *engine.Ctx) {
	fromLeft, ok := sideArg(c, c.Args[3])
	if !ok {
		return
	}
	toLeft, ok := sideArg(c, c.Args[4])
	if ok && bmove(c, fromLeft, toLeft, c.Args[5]) {
		c.PropagateAs([]byte("LMOVE"), c.Args[1], c.Args[2], c.Args[3], c.Args[4])
	}
}

func brpoplpushCmd(c *engine.Ctx) {
	if bmove(c, false, true, c.Args[3]) {
		c.PropagateAs([]byte("RPOPLPUSH"), c.Args[1], c.Args[2])
	}
}

// bmove moves an element from the list at the first argument to the one at the second, or waits. It reports whether it has answered.
func bmove(c *engine.Ctx, fromLeft, toLeft bool, timeout []byte) bool {
	deadline, ok := deadlineArg(c, timeout)
	if !ok || moveElement(c, c.Args[1], c.Args[2], fromLeft, toLeft) {
		return true
	}
	waitFor(c, c.Args[1:2], object.List, deadline, replyNull)
	return false
}

func blmpopCmd(c *engine.Ctx) {
	keys, left, count, ok := mpopArgs(c, 2)
	if !ok {
		return
	}
	deadline, ok := deadlineArg(c, c.Args[1])
	if ok && !popFromFirst(c, keys, left, count) {
		waitFor(c, keys, object.List, deadline, replyNullArray)
	}
}
