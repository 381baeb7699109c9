package command

import (
	"math"

	"godwit/internal/engine"
	"godwit/internal/listpack"
	"godwit/internal/object"
)

func hrandfieldCmd(c *engine.Ctx) {
	if len(c.Args) > 2 {
		hrandfieldCount(c)
		return
	}
	h, found, ok := readHash(c)
	switch {
	case found && h.Len() > 0:
		h.RandomFields(1, func(field, _ listpack.Value) bool {
			bulkValue(c, field)
			return false
		})
	case ok:
		c.Null()
	}
}

// randCount reads the count and WITHVALUES or WITHSCORES of HRANDFIELD and ZRANDMEMBER.
func randCount(c *engine.Ctx, token string) (n int64, with, ok bool) {
	if n, ok = intArg(c, c.Args[2]); !ok {
		return 0, false, false
	}
	with = len(c.Args) > 3
	switch {
	case n == math.MinInt64:
		c.Err("ERR value is out of range, value must between -9223372036854775807 and " +
			"9223372036854775807")
		return 0, false, false
	case len(c.Args) > 4 || with && !is(c.Args[3], token):
		c.Err(engine.ErrSyntax)
		return 0, false, false
	case with && (n < -math.MaxInt64/2 || n > math.MaxInt64/2):
		c.Err("ERR value is out of range")
		return 0, false, false
	}
	return n, with, true
}

func hrandfieldCount(c *engine.Ctx) {
	n, values, ok := randCount(c, "withvalues")
	if !ok {
		return
	}
	h, found, ok := readHash(c)
	if !ok {
		return
	}
	size := 0
	if found {
		size = h.Len()
	}
	if n == 0 || size == 0 {
		c.Array(0)
		return
	}
	emit := func(field, value listpack.Value) {
		if values && c.Proto == 3 {
			c.Array(2)
		}
		bulkValue(c, field)
		if values {
			bulkValue(c, value)
		}
	}
	count := int(-n)
	if n > 0 {
		count = int(min(n, int64(size)))
	}
	if values && c.Proto != 3 {
		c.Array(2 * count)
	} else {
		c.Array(count)
	}
	if n < 0 {
		h.RandomFields(count, func(field, value listpack.Value) bool {
			emit(field, value)
			return !overOutput(c)
		})
	} else {
		h.SampleFields(count, emit)
	}
}

func hscanCmd(c *engine.Ctx) {
	var o scanOptions
	x, ok := o.open(c, object.Hash, scanFields)
	if !ok {
		return
	}
	h, r := object.AsHash(x), o.reply(c)
	emit := func(field, value listpack.Value) {
		var digits [20]byte
		if b := valueText(field, &digits); r.wants(b) {
			r.bulk(b)
			if !o.noValues {
				r.bulk(valueText(value, &digits))
			}
		}
	}
	if h.Base() != object.EncHashtable {
		h.Each(func(field, value listpack.Value) bool {
			emit(field, value)
			return true
		})
		r.done(0)
		return
	}
	r.done(o.walk(func(cursor uint64) (uint64, int) { return h.ScanStep(cursor, emit) }))
}
