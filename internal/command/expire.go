package command

import (
	"math"
	"strconv"

	"godwit/internal/engine"
	"godwit/internal/keyspace"
)

func expireCommands() []*engine.Command {
	condition := engine.OneOf("condition", engine.Tok("nx"), engine.Tok("xx"), engine.Tok("gt"), engine.Tok("lt")).Opt().From("7.0.0")
	set := func(name, since, summary string, when engine.Arg, unit int64, absolute bool) *engine.Command {
		return &engine.Command{
			Name: name, Arity: -3, Flags: engine.Write | engine.Fast, Group: engine.GroupGeneric, Since: since,
			Summary: summary, Complexity: "O(1)",
			History: []engine.History{{Since: "7.0.0", Change: "Takes the conditions `NX`, `XX`, `GT` and `LT`."}},
			Keys:    []engine.KeySpec{keyAt(1, engine.RW|engine.Update)},
			Args:    []engine.Arg{engine.Key("key", 0), when, condition},
			Run:     func(c *engine.Ctx) { expire(c, unit, absolute) },
		}
	}
	get := func(name, since, summary string, history []engine.History, tips []string, run func(c *engine.Ctx, deadline int64)) *engine.Command {
		return &engine.Command{
			Name: name, Arity: 2, Flags: engine.ReadOnly | engine.Fast, Group: engine.GroupGeneric, Since: since,
			Summary: summary, Complexity: "O(1)", History: history, Tips: tips,
			Keys: []engine.KeySpec{keyAt(1, engine.RO|engine.AccessFlag)},
			Args: []engine.Arg{engine.Key("key", 0)},
			Run:  func(c *engine.Ctx) { deadlineReply(c, run) },
		}
	}
	ttlHistory := []engine.History{{Since: "2.8.0", Change: "Answers -2 for a missing key."}}
	ttlTips := []string{"nondeterministic_output"}
	return []*engine.Command{
		set("expire", "1.0.0", "Gives a key a time to live in seconds.", engine.Int("seconds"), 1000, false),
		set("pexpire", "2.6.0", "Gives a key a time to live in milliseconds.", engine.Int("milliseconds"), 1, false),
		set("expireat", "1.2.0", "Makes a key expire at a Unix time in seconds.", engine.UnixTime("unix-time-seconds"), 1000, true),
		set("pexpireat", "2.6.0", "Makes a key expire at a Unix time in milliseconds.", engine.UnixTime("unix-time-milliseconds"), 1, true),
		get("ttl", "1.0.0", "Shows a key's time to live in seconds.", ttlHistory, ttlTips,
			func(c *engine.Ctx, d int64) { c.Int((max(d-c.E.KS.Now(), 0) + 500) / 1000) }),
		get("pttl", "2.6.0", "Shows a key's time to live in milliseconds.", ttlHistory, ttlTips,
			func(c *engine.Ctx, d int64) { c.Int(max(d-c.E.KS.Now(), 0)) }),
		get("expiretime", "7.0.0", "Shows the Unix time in seconds at which a key expires.", nil, nil,
			func(c *engine.Ctx, d int64) { c.Int(int64(uint64(d+500) / 1000)) }),
		get("pexpiretime", "7.0.0", "Shows the Unix time in milliseconds at which a key expires.", nil, nil,
			func(c *engine.Ctx, d int64) { c.Int(d) }),
		{
			Name: "persist", Arity: 2, Flags: engine.Write | engine.Fast, Group: engine.GroupGeneric, Since: "2.2.0",
			Summary: "Takes a key's time to live away.", Complexity: "O(1)",
			Keys: []engine.KeySpec{keyAt(1, engine.RW|engine.Update)},
			Args: []engine.Arg{engine.Key("key", 0)},
			Run:  persistCmd,
		},
	}
}

// expireCondition is the set of NX, XX, GT and LT.
type expireCondition struct{ nx, xx, gt, lt bool }

// parse reads the conditions, answering with Redis's errors.
func (o *expireCondition) parse(c *engine.Ctx, args [][]byte) bool {
	for _, a := range args {
		switch {
		case is(a, "nx"):
			o.nx = true
		case is(a, "xx"):
			o.xx = true
		case is(a, "gt"):
			o.gt = true
		case is(a, "lt"):
			o.lt = true
		default:
			c.Err("ERR Unsupported option " + cString(a, len(a)))
			return false
		}
	}
	switch {
	case o.nx && (o.xx || o.gt || o.lt):
		c.Err("ERR NX and XX, GT or LT options at the same time are not compatible")
		return false
	case o.gt && o.lt:
		c.Err("ERR GT and LT options at the same time are not compatible")
		return false
	}
	return true
}

// met reports whether a deadline (0: none) may be changed to another one. No deadline counts as infinitely late.
func (o *expireCondition) met(old, deadline int64) bool {
	switch {
	case o.nx && old != 0, o.xx && old == 0:
		return false
	case o.gt && (old == 0 || deadline <= old):
		return false
	case o.lt && old != 0 && deadline >= old:
		return false
	}
	return true
}

// deadlineOf turns a time argument in units of that many ms, absolute or relative to now, into unix ms. It reports false on overflow.
func deadlineOf(n, unit, now int64, absolute bool) (int64, bool) {
	if n > math.MaxInt64/unit || n < math.MinInt64/unit {
		return 0, false
	}
	n *= unit
	if absolute {
		return n, true
	}
	if n > math.MaxInt64-now {
		return 0, false
	}
	return n + now, true
}

func expire(c *engine.Ctx, unit int64, absolute bool) {
	var cond expireCondition
	if !cond.parse(c, c.Args[3:]) {
		return
	}
	n, ok := intArg(c, c.Args[2])
	if !ok {
		return
	}
	deadline, ok := deadlineOf(n, unit, c.E.KS.Now(), absolute)
	if !ok {
		c.Err("ERR invalid expire time in '" + c.Cmd.Name + "' command")
		return
	}
	key := c.Args[1]
	e := c.DB.Lookup(key)
	if !e.Exists() || !cond.met(e.Deadline(), deadline) {
		c.Int(0)
		return
	}
	if c.Past(deadline) {
		c.DB.Delete(key)
		c.PropagateAs([]byte("DEL"), key)
		c.Notify(keyspace.EvGeneric, "del", key)
	} else {
		c.DB.SetDeadline(e, deadline)
		c.PropagateAs([]byte("PEXPIREAT"), key, strconv.AppendInt(nil, deadline, 10))
		c.Notify(keyspace.EvGeneric, "expire", key)
	}
	c.Changed(key)
	c.Dirty(1)
	c.Int(1)
}

// deadlineReply answers -2 for a missing key, -1 for one without a deadline, else what reply makes of the deadline.
func deadlineReply(c *engine.Ctx, reply func(c *engine.Ctx, deadline int64)) {
	e := c.DB.Query(c.Args[1])
	switch {
	case !e.Exists():
		c.Int(-2)
	case e.Deadline() == 0:
		c.Int(-1)
	default:
		reply(c, e.Deadline())
	}
}

func persistCmd(c *engine.Ctx) {
	key := c.Args[1]
	e := c.DB.Lookup(key)
	if !e.Exists() || e.Deadline() == 0 {
		c.Int(0)
		return
	}
	c.DB.SetDeadline(e, 0)
	c.Changed(key)
	c.Notify(keyspace.EvGeneric, "persist", key)
	c.Dirty(1)
	c.Int(1)
}
