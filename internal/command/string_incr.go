package command

import (
	"math"

	"godwit/internal/engine"
	"godwit/internal/keyspace"
	"godwit/internal/object"
)

func incrbyCmd(c *engine.Ctx) {
	if n, ok := intArg(c, c.Args[2]); ok {
		incrBy(c, n)
	}
}

func decrbyCmd(c *engine.Ctx) {
	n, ok := intArg(c, c.Args[2])
	if !ok {
		return
	}
	if n == math.MinInt64 {
		c.Err("ERR decrement would overflow")
		return
	}
	incrBy(c, -n)
}

// addInt returns a + b. It reports false on overflow.
func addInt(a, b int64) (int64, bool) {
	sum := a + b
	return sum, (sum > a) == (b > 0)
}

// intAt looks up the integer at key, 0 if the key is missing. It replies with an error and reports
// false if the key holds something else.
func intAt(c *engine.Ctx, key []byte) (e object.Entry, n int64, ok bool) {
	e = c.DB.Lookup(key)
	switch {
	case !isString(c, e):
		return e, 0, false
	case !e.Exists():
		return e, 0, true
	case e.Encoding() == object.EncInt:
		return e, e.Int(), true
	}
	var scratch [24]byte
	n, ok = intArg(c, c.DB.StringBytes(e, &scratch))
	return e, n, ok
}

// storeInt writes n to key, in place if the key holds an integer. It keeps the deadline.
func storeInt(c *engine.Ctx, key []byte, e object.Entry, n int64) {
	if e.Exists() && e.Encoding() == object.EncInt {
		c.DB.SetInt(e, n)
		return
	}
	c.DB.Set(key, object.IntValue(n), keyspace.KeepTTL)
}

func incrBy(c *engine.Ctx, delta int64) {
	key := c.Args[1]
	e, old, ok := intAt(c, key)
	if !ok {
		return
	}
	n, ok := addInt(old, delta)
	if !ok {
		c.Err(engine.ErrOverflow)
		return
	}
	storeInt(c, key, e, n)
	c.Dirty(1)
	changed(c, "incrby", key)
	c.Int(n)
}

// floatAt looks up the number at key, 0 if the key is missing. It replies with an error and reports
// false if the key holds something else.
func floatAt(c *engine.Ctx, key []byte) (e object.Entry, f object.LongDouble, ok bool) {
	e = c.DB.Lookup(key)
	switch {
	case !isString(c, e):
		return e, f, false
	case !e.Exists():
		return e, f, true
	}
	var scratch [24]byte
	if f, ok = object.ParseLongDouble(c.DB.StringBytes(e, &scratch)); !ok {
		c.Err(engine.ErrNotFloat)
	}
	return e, f, ok
}

func incrbyfloatCmd(c *engine.Ctx) {
	key := c.Args[1]
	_, old, ok := floatAt(c, key)
	if !ok {
		return
	}
	delta, ok := object.ParseLongDouble(c.Args[2])
	if !ok {
		c.Err(engine.ErrNotFloat)
		return
	}
	sum, ok := old.Add(delta)
	if !ok {
		c.Err(engine.ErrNaNInfinity)
		return
	}
	var buf [64]byte
	text := sum.Append(buf[:0])
	c.DB.Set(key, object.PlainValue(text), keyspace.KeepTTL)
	c.Dirty(1)
	changed(c, "incrbyfloat", key)
	propagateSet(c, key, text, keyspace.KeepTTL)
	c.Bulk(text)
}
