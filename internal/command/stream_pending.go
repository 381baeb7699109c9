package command

import (
	"fmt"

	"godwit/internal/engine"
	"godwit/internal/object"
	"godwit/internal/stream"
)

// replyNoGroup replies that the key or the group of the first arguments is missing.
func replyNoGroup(c *engine.Ctx) {
	c.Err(fmt.Sprintf("NOGROUP No such key '%s' or consumer group '%s'", untilNUL(c.Args[1]),
		untilNUL(c.Args[2])))
}

// pendingQuery is what XPENDING is asked for.
type pendingQuery struct {
	idle     int64 // that long at least, ms; 0 for all
	count    int64
	from, to stream.ID
	consumer []byte // nil: of all
}

// parse reads the arguments behind the group. It replies with Redis's errors and reports false if
// they are wrong.
func (q *pendingQuery) parse(c *engine.Ctx) (ok bool) {
	args := c.Args[3:]
	if len(args) < 3 || len(args) > 6 {
		c.Err(engine.ErrSyntax)
		return false
	}
	if is(args[0], "idle") {
		if q.idle, ok = intArg(c, args[1]); !ok {
			return false
		}
		if args = args[2:]; len(args) < 3 {
			c.Err(engine.ErrSyntax)
			return false
		}
	}
	if q.count, ok = intArg(c, args[2]); !ok {
		return false
	}
	if q.from, ok = streamStartArg(c, args[0]); !ok {
		return false
	}
	if q.to, ok = streamEndArg(c, args[1]); !ok {
		return false
	}
	if len(args) > 3 {
		q.consumer = args[3]
	}
	return true
}

// xpendingCmd replies with what a group or one of its consumers has pending, or sums it up.
func xpendingCmd(c *engine.Ctx) {
	var q pendingQuery
	if len(c.Args) > 3 && !q.parse(c) {
		return
	}
	s, ok := readStream(c, c.Args[1])
	if !ok {
		return
	}
	var g *stream.Group
	if s != nil {
		g = s.Group(c.Args[2])
	}
	switch {
	case g == nil:
		replyNoGroup(c)
	case len(c.Args) == 3:
		replyPendingSummary(c, g)
	default:
		q.reply(c, g)
	}
}

// replyPendingSummary replies with how much is pending, from where to where, and with the number of
// entries of each consumer that has some.
func replyPendingSummary(c *engine.Ctx, g *stream.Group) {
	c.Array(4)
	c.Int(int64(g.Pending()))
	if g.Pending() == 0 {
		c.Null()
		c.Null()
		c.NullArray()
		return
	}
	first, last := g.Bounds()
	bulkID(c, first)
	bulkID(c, last)
	n := 0
	for _, by := range g.Consumers() {
		if by.Pending() > 0 {
			n++
		}
	}
	c.Array(n)
	for _, by := range g.Consumers() {
		if by.Pending() > 0 {
			c.Array(2)
			c.BulkString(by.Name)
			c.BulkInt(int64(by.Pending()))
		}
	}
}

// walk begins to walk the entries in question. ok is false if there is no such consumer.
func (q *pendingQuery) walk(g *stream.Group) (it stream.PendingIter, ok bool) {
	if q.consumer == nil {
		return g.Range(q.from, q.to), true
	}
	by := g.Consumer(q.consumer)
	if by == nil {
		return it, false
	}
	return g.Owned(by, q.from, q.to), true
}

// next moves to the next entry that has been idle for long enough.
func (q *pendingQuery) next(c *engine.Ctx, it *stream.PendingIter) bool {
	for it.Next() {
		if q.idle == 0 || it.Owner == nil || c.Now-it.Time >= q.idle {
			return true
		}
	}
	return false
}

// reply replies with the entries.
func (q *pendingQuery) reply(c *engine.Ctx, g *stream.Group) {
	it, ok := q.walk(g)
	if !ok || q.count <= 0 || q.to.Less(q.from) {
		c.Array(0)
		return
	}
	at, n := c.Mark(), int64(0)
	for n < q.count && q.next(c, &it) && !overOutput(c) {
		n++
		replyPending(c, &it.Pending)
	}
	insertHead(c, at, '*', int(n))
}

// replyPending replies with an entry. What is NACKed has no owner and no idle time.
func replyPending(c *engine.Ctx, p *stream.Pending) {
	c.Array(4)
	bulkID(c, p.ID)
	if p.Owner == nil {
		c.BulkString("")
		c.Int(-1)
	} else {
		c.BulkString(p.Owner.Name)
		c.Int(idle(c, p))
	}
	c.Int(p.Count)
}

// groupToClaim opens the stream at the first argument and finds the group of the second. It replies
// with Redis's errors and reports false if one of them is missing.
func groupToClaim(c *engine.Ctx) (x *object.Edit, g *stream.Group, ok bool) {
	if x, g, ok = groupToAck(c); ok && g == nil {
		replyNoGroup(c)
		return nil, nil, false
	}
	return x, g, ok
}
