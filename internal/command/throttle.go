package command

import (
	"strconv"

	"godwit/internal/cell"
	"godwit/internal/engine"
	"godwit/internal/keyspace"
	"godwit/internal/object"
)

var _ = family(throttleHandlers)

func throttleHandlers() engine.Handlers {
	return engine.Handlers{
		"cl.throttle": throttleCmd,
	}
}

// throttleInt reads an integer as redis-cell does, which accepts a sign and leading zeros.
func throttleInt(c *engine.Ctx, arg []byte) (int64, bool) {
	n, ok := object.ParseInt(arg)
	if !ok {
		var err error
		if n, err = strconv.ParseInt(string(arg), 10, 64); err != nil {
			c.Err("ERR Couldn't parse as integer: " + string(arg))
			return 0, false
		}
	}
	return n, true
}

// throttleArgs reads the rate and the quantity. It replies with an error and reports false if they
// are invalid.
func throttleArgs(c *engine.Ctx) (rate cell.Rate, quantity int64, ok bool) {
	if len(c.Args) > 6 {
		c.Err("ERR wrong number of arguments for 'cl.throttle' command")
		return rate, 0, false
	}
	n := [4]int64{3: 1}
	for i, arg := range c.Args[2:] {
		if n[i], ok = throttleInt(c, arg); !ok {
			return rate, 0, false
		}
	}
	rate, err := cell.New(n[0], n[1], n[2])
	switch {
	case err == cell.ErrZero:
		c.Err("ERR Zero rates are not supported")
	case err == cell.ErrNegative || err == nil && n[3] < 0:
		c.Err("ERR Negative values are not supported")
	case err != nil:
		c.Err("ERR Rate is out of range")
	default:
		return rate, n[3], true
	}
	return rate, 0, false
}

// throttleCmd stores the bucket as an integer string: its theoretical arrival time in unix ns. The
// key expires when the bucket is empty. The command propagates this state and never the request,
// because a replica, or a log replayed later, has another clock.
func throttleCmd(c *engine.Ctx) {
	rate, quantity, ok := throttleArgs(c)
	if !ok {
		return
	}
	key := c.Args[1]
	e, was, ok := intAt(c, key)
	if !ok {
		return
	}
	tat, r := rate.Throttle(was, c.E.NowNanos(), quantity)
	if tat != was {
		storeTAT(c, key, e, tat)
	}
	c.Array(5)
	if r.Limited {
		c.Int(1)
	} else {
		c.Int(0)
	}
	c.Int(r.Limit)
	c.Int(r.Remaining)
	c.Int(cell.Seconds(r.RetryAfter))
	c.Int(cell.Seconds(r.ResetAfter))
}

// storeTAT writes the arrival time to key, in place if the key holds one. e is the entry found
// there.
func storeTAT(c *engine.Ctx, key []byte, e object.Entry, tat int64) {
	deadline := cell.Deadline(tat)
	if e.Exists() && e.Encoding() == object.EncInt {
		c.DB.SetInt(e, tat)
		c.DB.SetDeadline(e, deadline)
	} else {
		c.DB.Set(key, object.IntValue(tat), deadline)
	}
	c.Dirty(1)
	changed(c, "set", key)
	c.Notify(keyspace.EvGeneric, "expire", key)
	if c.Propagating() {
		var buf [20]byte
		propagateSet(c, key, strconv.AppendInt(buf[:0], tat, 10), deadline)
	}
}
