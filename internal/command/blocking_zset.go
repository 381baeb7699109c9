package command

import (
	"godwit/internal/engine"
	"godwit/internal/listpack"
	"godwit/internal/object"
)

// bzpopCmd replies with a key, a member and its score, or with null after the timeout. It
// propagates as ZPOPMIN or ZPOPMAX.
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
