package command

import (
	"math"
	"strconv"

	"godwit/internal/engine"
	"godwit/internal/keyspace"
	"godwit/internal/object"
)

// increxOptions are the options of INCREX. None may be given twice.
type increxOptions struct {
	writeOptions
	by            []byte
	float         bool
	lower, upper  []byte
	saturate, enx bool
}

func (o *increxOptions) parse(c *engine.Ctx, args [][]byte) bool {
	for len(args) > 0 {
		n := o.one(args)
		if n == 0 {
			c.Err(engine.ErrSyntax)
			return false
		}
		args = args[n:]
	}
	if o.enx && !o.expire.timed() {
		if o.expire == expirePersist {
			c.Err(engine.ErrSyntax)
		} else {
			c.Err("ERR ENX flag requires an expiration")
		}
		return false
	}
	return true
}

// one reads one option from the front of args. It returns the number of arguments it took, or 0 if
// there is no valid option.
func (o *increxOptions) one(args [][]byte) int {
	arg := args[0]
	switch {
	case is(arg, "saturate") && !o.saturate:
		o.saturate = true
		return 1
	case is(arg, "enx") && !o.enx:
		o.enx = true
		return 1
	case is(arg, "persist") && o.expire == expireNone:
		o.expire = expirePersist
		return 1
	case len(args) < 2:
		return 0
	case (is(arg, "byint") || is(arg, "byfloat")) && o.by == nil:
		o.by, o.float = args[1], is(arg, "byfloat")
	case is(arg, "lbound") && o.lower == nil:
		o.lower = args[1]
	case is(arg, "ubound") && o.upper == nil:
		o.upper = args[1]
	case expireToken(arg).timed() && o.expire == expireNone:
		o.expire, o.time = expireToken(arg), args[1]
	default:
		return 0
	}
	return 2
}

func increxCmd(c *engine.Ctx) {
	var o increxOptions
	if !o.parse(c, c.Args[2:]) {
		return
	}
	if o.float {
		increxFloat(c, &o)
	} else {
		increxInt(c, &o)
	}
}

const errBounds = "ERR LBOUND can't be greater than UBOUND"

// intOption reads an integer argument. missing is its default.
func intOption(c *engine.Ctx, arg []byte, what string, missing int64) (int64, bool) {
	if arg == nil {
		return missing, true
	}
	n, ok := object.ParseInt(arg)
	if !ok {
		c.Err("ERR " + what + " is not an integer or out of range")
	}
	return n, ok
}

func increxInt(c *engine.Ctx, o *increxOptions) {
	delta, ok := intOption(c, o.by, "Increment", 1)
	if !ok {
		return
	}
	lower, ok := intOption(c, o.lower, "LBOUND", math.MinInt64)
	if !ok {
		return
	}
	upper, ok := intOption(c, o.upper, "UBOUND", math.MaxInt64)
	if !ok {
		return
	}
	if lower > upper {
		c.Err(errBounds)
		return
	}
	deadline, ok := o.deadline(c)
	if !ok {
		return
	}
	e, old, ok := intAt(c, c.Args[1])
	if !ok {
		return
	}
	n, fits := addInt(old, delta)
	if !fits {
		n = math.MaxInt64
		if delta < 0 {
			n = math.MinInt64
		}
	}
	if clamped := min(max(n, lower), upper); !fits || clamped != n {
		if !o.saturate {
			c.Array(2)
			c.Int(old)
			c.Int(0)
			return
		}
		n = clamped
	}
	applied := n - old
	if (applied > 0) != (n > old) || n != old && applied == 0 {
		c.Err("ERR applied increment would overflow")
		return
	}
	var buf [20]byte
	o.store(c, e, object.IntValue(n), strconv.AppendInt(buf[:0], n, 10), deadline, "incrby")
	c.Array(2)
	c.Int(n)
	c.Int(applied)
}

// floatOption reads a number into f. If the argument is missing, it leaves f as it is.
func floatOption(c *engine.Ctx, arg []byte, what string, f *object.LongDouble) bool {
	if arg == nil {
		return true
	}
	v, ok := object.ParseLongDouble(arg)
	if !ok {
		c.Err("ERR " + what + " is not a valid float")
		return false
	}
	*f = v
	return true
}

func increxFloat(c *engine.Ctx, o *increxOptions) {
	var delta object.LongDouble
	lower, upper := object.MaxLongDouble().Neg(), object.MaxLongDouble()
	if !floatOption(c, o.by, "Increment", &delta) {
		return
	}
	if delta.IsInf() {
		c.Err("ERR BYFLOAT increment cannot be Infinity")
		return
	}
	if !floatOption(c, o.lower, "LBOUND", &lower) || !floatOption(c, o.upper, "UBOUND", &upper) {
		return
	}
	if lower.Cmp(upper) > 0 {
		c.Err(errBounds)
		return
	}
	deadline, ok := o.deadline(c)
	if !ok {
		return
	}
	e, old, ok := floatAt(c, c.Args[1])
	if !ok {
		return
	}
	if old.IsInf() {
		c.Err("ERR value cannot be Infinity")
		return
	}
	var buf, buf2 [64]byte
	sum, _ := old.Add(delta)
	out := sum.Cmp(lower) < 0 || sum.Cmp(upper) > 0
	if out && !o.saturate {
		c.Array(2)
		c.DoubleText(old.Append(buf[:0]))
		c.DoubleText(append(buf2[:0], '0'))
		return
	}
	if sum.Cmp(lower) < 0 {
		sum = lower
	}
	if sum.Cmp(upper) > 0 {
		sum = upper
	}
	applied, ok := sum.Add(old.Neg())
	if !ok {
		c.Err(engine.ErrNaNInfinity)
		return
	}
	text := sum.Append(buf[:0])
	o.store(c, e, object.PlainValue(text), text, deadline, "incrbyfloat")
	c.Array(2)
	c.DoubleText(text)
	c.DoubleText(applied.Append(buf2[:0]))
}

// store writes the result of INCREX. The key keeps its deadline unless the options set another.
func (o *increxOptions) store(c *engine.Ctx, e object.Entry, v object.Value, text []byte,
	deadline int64, event string) {
	key := c.Args[1]
	was := int64(0)
	if e.Exists() {
		was = e.Deadline()
	}
	if o.expire == expireNone || o.enx && was != 0 {
		deadline = keyspace.KeepTTL
	} else if o.past(c, deadline) {
		if e.Exists() {
			deleteKey(c, key)
		}
		return
	}
	c.DB.Set(key, v, deadline)
	c.Dirty(1)
	changed(c, event, key)
	switch {
	case deadline > 0:
		c.Notify(keyspace.EvGeneric, "expire", key)
	case deadline == 0 && was != 0:
		c.Notify(keyspace.EvGeneric, "persist", key)
	}
	propagateSet(c, key, text, deadline)
}
