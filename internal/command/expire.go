package command

import (
	"math"
	"strconv"

	"godwit/internal/engine"
	"godwit/internal/keyspace"
)

var _ = family(expireHandlers)

func expireHandlers() engine.Handlers {
	return engine.Handlers{
		"expire":      func(c *engine.Ctx) { expire(c, 1000, false) },
		"pexpire":     func(c *engine.Ctx) { expire(c, 1, false) },
		"expireat":    func(c *engine.Ctx) { expire(c, 1000, true) },
		"pexpireat":   func(c *engine.Ctx) { expire(c, 1, true) },
		"ttl":         ttlCmd,
		"pttl":        pttlCmd,
		"expiretime":  expiretimeCmd,
		"pexpiretime": pexpiretimeCmd,
		"persist":     persistCmd,
	}
}

func ttlCmd(c *engine.Ctx) {
	deadlineReply(c, func(c *engine.Ctx, d int64) { c.Int((max(d-c.E.KS.Now(), 0) + 500) / 1000) })
}

func pttlCmd(c *engine.Ctx) {
	deadlineReply(c, func(c *engine.Ctx, d int64) { c.Int(max(d-c.E.KS.Now(), 0)) })
}

func expiretimeCmd(c *engine.Ctx) {
	deadlineReply(c, func(c *engine.Ctx, d int64) { c.Int(int64(uint64(d+500) / 1000)) })
}

func pexpiretimeCmd(c *engine.Ctx) {
	deadlineReply(c, func(c *engine.Ctx, d int64) { c.Int(d) })
}

// expireCondition is the set of NX, XX, GT and LT.
type expireCondition struct{ nx, xx, gt, lt bool }

// parse reads the conditions and replies with Redis's errors.
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

// met reports whether the condition allows to change the deadline old to deadline. 0 is no
// deadline, which counts as infinitely late.
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

// deadlineOf converts a time argument to unix ms. unit is the argument's unit in ms, and absolute
// tells whether it counts from the epoch or from now. It reports false on overflow.
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

// replyInvalidExpire replies that a deadline is out of range.
func replyInvalidExpire(c *engine.Ctx) {
	c.Err("ERR invalid expire time in '" + c.Cmd.FullName() + "' command")
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
		replyInvalidExpire(c)
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

// deadlineReply replies with -2 for a missing key and -1 for a key without a deadline. Else it
// calls reply with the deadline.
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
