package command

import (
	"math"

	"godwit/internal/engine"
	"godwit/internal/object"
	"godwit/internal/stream"
)

// groupToAck opens the stream at the first argument and finds the group of the second. g is nil if
// one of them is missing. It replies with WRONGTYPE and reports false if the key holds another
// type. As in Redis the commands that use it count as readers, and announce a key that is missing.
func groupToAck(c *engine.Ctx) (x *object.Edit, g *stream.Group, ok bool) {
	if x, ok = openRead(c, c.Args[1], object.Stream); x != nil {
		g = x.Stream().Group(c.Args[2])
	}
	return x, g, ok
}

// xackCmd removes entries from what the group has pending.
func xackCmd(c *engine.Ctx) {
	x, g, ok := groupToAck(c)
	if !ok {
		return
	}
	if g == nil {
		c.Int(0)
		return
	}
	var some [someIDs]stream.ID
	ids, ok := streamIDArgs(c, some[:0], c.Args[3:])
	if !ok {
		return
	}
	x.ChangingStream()
	n := 0
	for _, id := range ids {
		if g.Ack(id) {
			n++
		}
	}
	c.Dirty(n)
	c.Int(int64(n))
}

// xackdelCmd removes entries from what the group has pending, and then from the stream as a policy
// for references says. It replies with what became of each.
func xackdelCmd(c *engine.Ctx) {
	policy, args, ok := refsAndIDs(c, 3)
	if !ok {
		return
	}
	x, g, ok := groupToAck(c)
	if !ok {
		return
	}
	var some [someIDs]stream.ID
	ids, ok := streamIDArgs(c, some[:0], args)
	if !ok {
		return
	}
	if g == nil {
		replyNoEntries(c, len(ids))
		return
	}
	d, acked, deleted := newDeleter(c, x, policy), 0, 0
	d.deleteEach(c, ids, func(id stream.ID) int8 {
		if !g.Ack(id) {
			return noSuchEntry
		}
		acked++
		d.drop(g, id)
		switch d.delete(id) {
		case entryKept:
			return entryKept
		case entryDeleted:
			deleted++
		}
		return entryDeleted // perhaps before
	})
	c.Dirty(acked)
	if deleted > 0 {
		streamDeleted(c, c.Args[1], deleted)
	}
	d.propagate(c)
}

// nackMode says what becomes of the count of deliveries of an entry that is NACKed.
type nackMode uint8

const (
	nackSilent nackMode = iota // it was not delivered
	nackFail                   // it was
	nackFatal                  // it is not to be delivered any more
)

// count returns the new count.
func (m nackMode) count(was int64) int64 {
	switch m {
	case nackSilent:
		return max(was-1, 0)
	case nackFatal:
		return math.MaxInt64
	}
	return was
}

// nackOptions are the arguments of XNACK.
type nackOptions struct {
	mode  nackMode
	count int64 // below 0: by mode
	force bool
	ids   [][]byte
}

// parse reads the arguments. It replies with Redis's errors and reports false if they are wrong.
func (o *nackOptions) parse(c *engine.Ctx) bool {
	o.count = -1
	switch mode := c.Args[3]; {
	case is(mode, "silent"):
		o.mode = nackSilent
	case is(mode, "fail"):
		o.mode = nackFail
	case is(mode, "fatal"):
		o.mode = nackFatal
	default:
		c.Err("ERR mode must be SILENT, FAIL, or FATAL")
		return false
	}
	ok := true
	for args := c.Args[4:]; ok && len(args) > 0; {
		args, ok = o.parseOption(c, args)
	}
	if ok && o.ids == nil {
		c.Err("ERR syntax error, expected IDS keyword")
		return false
	}
	return ok
}

// parseOption reads the option that the arguments begin with, and returns those behind it.
func (o *nackOptions) parseOption(c *engine.Ctx, args [][]byte) (rest [][]byte, ok bool) {
	opt, rest := args[0], args[1:]
	switch {
	case is(opt, "force"):
		o.force = true
	case is(opt, "retrycount") && len(rest) > 0:
		if o.count, ok = intArg(c, rest[0]); !ok {
			return nil, false
		}
		if o.count < 0 {
			c.Err("ERR Invalid RETRYCOUNT value, must be >= 0")
			return nil, false
		}
		rest = rest[1:]
	case is(opt, "ids") && len(rest) > 0:
		n, ok := rangeArg(c, rest[0], 1, math.MaxInt64, "ERR numids must be a positive integer")
		if !ok {
			return nil, false
		}
		if rest = rest[1:]; n > int64(len(rest)) {
			c.Err("ERR number of IDs doesn't match numids")
			return nil, false
		}
		o.ids, rest = rest[:n], rest[n:]
	default:
		c.Err("ERR Unrecognized XNACK option '" + untilNUL(opt) + "'")
		return nil, false
	}
	return rest, true
}

// xnackCmd takes pending entries from their owners. They are the next that are claimed.
func xnackCmd(c *engine.Ctx) {
	var o nackOptions
	if !o.parse(c) {
		return
	}
	x, g, ok := groupToClaim(c)
	if !ok {
		return
	}
	var some [someIDs]stream.ID
	ids, ok := streamIDArgs(c, some[:0], o.ids)
	if !ok {
		return
	}
	s, n := x.ChangingStream(), 0
	for _, id := range ids {
		p, ok := g.Find(id)
		if !ok && !(o.force && s.Contains(id)) {
			continue
		}
		if p.Count = o.mode.count(p.Count); o.count >= 0 {
			p.Count = o.count
		}
		g.Nack(id, p.Count)
		n++
	}
	if n > 0 {
		c.Happened(c.Args[1], object.Stream, engine.WaitDue)
		c.Dirty(n)
	}
	c.Int(int64(n))
}
