package command

import (
	"godwit/internal/engine"
	"godwit/internal/object"
)

// bpopCmd replies with a key and an element, or with null after the timeout. It propagates as LPOP
// or RPOP.
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

// bmove moves an element from the list at the first argument to the list at the second, or waits
// for one. It reports whether it has replied.
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
