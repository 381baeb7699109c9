package command

import (
	"math"

	"godwit/internal/engine"
	"godwit/internal/object"
)

var _ = family(blockingHandlers)

// blockingHandlers returns the commands that wait for a key when they find nothing. Whether served
// at once or later, each acts as its sibling without the B: it gives the same replies and events,
// and propagates as that sibling.
func blockingHandlers() engine.Handlers {
	return engine.Handlers{
		"blpop":      func(c *engine.Ctx) { bpopCmd(c, true) },
		"brpop":      func(c *engine.Ctx) { bpopCmd(c, false) },
		"blmove":     blmoveCmd,
		"blmovem":    blmovemCmd,
		"brpoplpush": brpoplpushCmd,
		"blmpop":     blmpopCmd,
		"bzpopmin":   func(c *engine.Ctx) { bzpopCmd(c, false) },
		"bzpopmax":   func(c *engine.Ctx) { bzpopCmd(c, true) },
		"bzmpop":     bzmpopCmd,
	}
}

// deadlineArg reads a timeout in seconds, with or without a fraction. It returns the time at which
// it ends, in ms of the steady clock, or 0 for never. It replies with Redis's errors and reports
// false if the timeout is invalid.
func deadlineArg(c *engine.Ctx, arg []byte) (deadline int64, ok bool) {
	seconds, ok := secondsOf(arg)
	if !ok {
		c.Err("ERR timeout is not a float or out of range")
		return 0, false
	}
	ms := math.Ceil(seconds * 1000)
	switch {
	case ms < 0:
		c.Err("ERR timeout is negative")
		return 0, false
	case ms >= 1<<63 || int64(ms) > math.MaxInt64-c.E.Steady():
		c.Err("ERR timeout is out of range")
		return 0, false
	case ms == 0:
		return 0, true
	}
	return c.E.Steady() + int64(ms), true
}

// secondsOf reads a number as Redis does for timeouts, which accepts more texts than for scores. A
// number too small for a double is no 0 here: 0 would mean to wait for ever.
func secondsOf(arg []byte) (float64, bool) {
	if f, ok := object.ParseScore(arg); ok {
		return f, true
	}
	d, ok := object.ParseLongDouble(arg)
	f := d.Float64()
	if f == 0 && d.Cmp(object.LongDouble{}) > 0 {
		f = math.SmallestNonzeroFloat64
	}
	return f, ok
}

// waitFor blocks the client until one of the keys holds a value of the type. Where blocking is not
// allowed, it calls none for the reply instead.
func waitFor(c *engine.Ctx, keys [][]byte, t object.Type, deadline int64, none func(*engine.Ctx)) {
	if !c.MayBlock() {
		none(c)
		return
	}
	c.Block(engine.Wait{Keys: keys, Type: t, Deadline: deadline, OnTimeout: replyNullArray})
}

func replyNullArray(c *engine.Ctx) { c.NullArray() }

func replyNull(c *engine.Ctx) { c.Null() }
