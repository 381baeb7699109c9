package command

import (
	"strconv"

	"godwit/internal/engine"
	"godwit/internal/keyspace"
	"godwit/internal/stream"
)

func xlenCmd(c *engine.Ctx) {
	s, ok := readStream(c, c.Args[1])
	switch {
	case !ok:
	case s == nil:
		c.Int(0)
	default:
		c.Int(int64(s.Len()))
	}
}

// xrange replies with the entries between two IDs. A COUNT of 0 makes that null.
func xrange(c *engine.Ctx, first, last []byte, reverse bool) {
	from, ok := streamStartArg(c, first)
	if !ok {
		return
	}
	to, ok := streamEndArg(c, last)
	if !ok {
		return
	}
	limit := int64(-1)
	for args := c.Args[4:]; len(args) > 0; args = args[2:] {
		if len(args) == 1 || !is(args[0], "count") {
			c.Err(engine.ErrSyntax)
			return
		}
		if limit, ok = intArg(c, args[1]); !ok {
			return
		}
		limit = max(limit, 0)
	}
	s, ok := readStream(c, c.Args[1])
	switch {
	case !ok:
	case s == nil:
		c.Array(0)
	case limit == 0:
		c.NullArray()
	default:
		replyEntries(c, s, from, to, reverse, limit)
	}
}

// xsetidArgs are the arguments of XSETID.
type xsetidArgs struct {
	last, deleted stream.ID
	added         int64 // -1 if it is not given
	undeletes     bool  // MAXDELETEDID is 0-0, behind another one
}

func (a *xsetidArgs) parse(c *engine.Ctx) (ok bool) {
	a.added = -1
	if a.last, ok = streamIDArg(c, c.Args[2], 0); !ok {
		return false
	}
	for args := c.Args[3:]; len(args) > 0; args = args[2:] {
		switch {
		case len(args) > 1 && is(args[0], "entriesadded"):
			if a.added, ok = intArg(c, args[1]); !ok {
				return false
			}
			if a.added < 0 {
				c.Err("ERR entries_added must be positive")
				return false
			}
		case len(args) > 1 && is(args[0], "maxdeletedid"):
			was := a.deleted
			if a.deleted, ok = streamIDArg(c, args[1], 0); !ok {
				return false
			}
			a.undeletes = a.deleted.IsZero() && !was.IsZero()
			if a.last.Less(a.deleted) {
				c.Err("ERR The ID specified in XSETID is smaller than the provided " +
					"max_deleted_entry_id")
				return false
			}
		default:
			c.Err(engine.ErrSyntax)
			return false
		}
	}
	return true
}

// check holds the arguments against the stream.
func (a *xsetidArgs) check(c *engine.Ctx, s *stream.Stream) bool {
	switch {
	case a.last.Less(s.MaxDeleted):
		c.Err("ERR The ID specified in XSETID is smaller than current max_deleted_entry_id")
	case s.Len() > 0 && a.last.Less(s.Last()):
		c.Err("ERR The ID specified in XSETID is smaller than the target stream top item")
	case a.added >= 0 && a.added < int64(s.Len()):
		c.Err("ERR The entries_added specified in XSETID is smaller than the target stream length")
	default:
		return true
	}
	return false
}

// xsetidCmd sets the last ID of a stream, and what it has counted. As in Redis, those who watch the
// key do not hear of it: only entries count.
func xsetidCmd(c *engine.Ctx) {
	var a xsetidArgs
	if !a.parse(c) {
		return
	}
	key := c.Args[1]
	x, ok := existingStreamToWrite(c, key)
	if !ok {
		return
	}
	if !a.check(c, x.Stream()) {
		return
	}
	s := x.ChangingStream()
	s.LastID = a.last
	if a.added >= 0 {
		s.Added = uint64(a.added)
		for _, g := range s.Groups() {
			g.Read = min(g.Read, a.added) // a group has read no more than there ever was
		}
	}
	// 0-0 says nothing, as in Redis, unless it is propagateGaps that says it.
	if !a.deleted.IsZero() || a.undeletes && c.Obeyed() {
		s.MaxDeleted = a.deleted
	}
	if a.undeletes && !c.Obeyed() { // whoever obeys would take it for what propagateGaps says
		argv := [][]byte{c.Args[0], key, c.Args[2]}
		if a.added >= 0 {
			argv = append(argv, []byte("ENTRIESADDED"), strconv.AppendInt(nil, a.added, 10))
		}
		c.PropagateAs(argv...)
	}
	c.OK()
	c.Notify(keyspace.EvStream, "xsetid", key)
	c.Dirty(1)
}
