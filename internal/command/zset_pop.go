package command

import (
	"math"
	"strconv"
	"strings"

	"godwit/internal/engine"
	"godwit/internal/listpack"
	"godwit/internal/object"
)

// zpopEvent returns the keyspace event of a pop. In upper case, it is the command's name.
func zpopEvent(max bool) string {
	if max {
		return "zpopmax"
	}
	return "zpopmin"
}

// zpop removes up to n members, n >= 1, from a sorted set that is not empty. It passes them to emit
// and sends the event.
func zpop(c *engine.Ctx, z object.SortedSet, key []byte, n int, max bool,
	emit func(m listpack.Value, score float64)) {
	n = z.Pop(n, max, emit)
	zsetChanged(c, z, zpopEvent(max), key)
	c.Dirty(n)
}

func zpopCmd(c *engine.Ctx, max bool) {
	count, single := int64(1), len(c.Args) == 2
	if len(c.Args) > 3 {
		c.Err(engine.ErrSyntax)
		return
	}
	if !single {
		var ok bool
		if count, ok = positiveArg(c, c.Args[2]); !ok {
			return
		}
	}
	key := c.Args[1]
	x, ok := openWrite(c, key, object.ZSet)
	if !ok {
		return
	}
	if x == nil || count == 0 {
		c.Array(0)
		return
	}
	z := object.AsZSet(x)
	n := int(min(count, int64(z.Len())))
	nested := c.Proto == 3 && !single
	if nested {
		c.Array(n)
	} else {
		c.Array(2 * n)
	}
	zpop(c, z, key, n, max, func(m listpack.Value, score float64) {
		if nested {
			c.Array(2)
		}
		bulkValue(c, m)
		c.Double(score)
	})
}

// zmpopArgs are the arguments of ZMPOP, and of BZMPOP after its timeout.
type zmpopArgs struct {
	keys  [][]byte
	max   bool
	count int64
}

// parse reads numkeys key [key ...] MIN|MAX [COUNT count] and replies with Redis's errors.
func (a *zmpopArgs) parse(c *engine.Ctx, args [][]byte) bool {
	n, ok := rangeArg(c, args[0], 1, math.MaxInt64, "ERR numkeys should be greater than 0")
	if !ok {
		return false
	}
	if n >= int64(len(args)-1) {
		c.Err(engine.ErrSyntax)
		return false
	}
	a.keys, args = args[1:n+1], args[n+1:]
	a.max = is(args[0], "max")
	a.count = 1
	if !a.max && !is(args[0], "min") || len(args) == 2 || len(args) > 2 && !is(args[1], "count") {
		c.Err(engine.ErrSyntax)
		return false
	}
	if len(args) > 2 {
		if a.count, ok = rangeArg(c, args[2], 1, math.MaxInt64,
			"ERR count should be greater than 0"); ok && len(args) > 3 {
			c.Err(engine.ErrSyntax)
			ok = false
		}
	}
	return ok
}

// zmpop removes members from the first of the sets that exists. It replies with its key and the
// members, each a pair with its score. It propagates as ZPOPMIN or ZPOPMAX of that key. It reports
// false, without a reply, if no set exists.
func zmpop(c *engine.Ctx, a *zmpopArgs) bool {
	for _, key := range a.keys {
		x, ok := openWrite(c, key, object.ZSet)
		if !ok {
			return true
		}
		if x == nil {
			continue
		}
		z := object.AsZSet(x)
		n := int(min(a.count, int64(z.Len())))
		c.Array(2)
		c.Bulk(key)
		c.Array(n)
		zpop(c, z, key, n, a.max, func(m listpack.Value, score float64) {
			c.Array(2)
			bulkValue(c, m)
			c.Double(score)
		})
		var scratch [20]byte
		c.PropagateAs([]byte(strings.ToUpper(zpopEvent(a.max))), key,
			strconv.AppendInt(scratch[:0], int64(n), 10))
		return true
	}
	return false
}

func zmpopCmd(c *engine.Ctx) {
	var a zmpopArgs
	if a.parse(c, c.Args[1:]) && !zmpop(c, &a) {
		c.NullArray()
	}
}
