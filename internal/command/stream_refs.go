package command

import (
	"math"

	"godwit/internal/engine"
	"godwit/internal/keyspace"
	"godwit/internal/object"
	"godwit/internal/stream"
)

// refPolicy says what becomes of the references that groups have to an entry which is to be
// deleted.
type refPolicy uint8

const (
	refsDefault refPolicy = iota // as refsKeep
	refsKeep                     // KEEPREF: they stay
	refsDelete                   // DELREF: they go with the entry
	refsAcked                    // ACKED: as long as there are some, the entry stays
)

// parse reads an option that sets the policy, and reports whether it was one. It is none if there
// was one before.
func (p *refPolicy) parse(arg []byte) bool {
	if *p != refsDefault {
		return false
	}
	switch {
	case is(arg, "keepref"):
		*p = refsKeep
	case is(arg, "delref"):
		*p = refsDelete
	case is(arg, "acked"):
		*p = refsAcked
	}
	return *p != refsDefault
}

// keep returns what Trim.Keep is for the policy.
func (p refPolicy) keep(s *stream.Stream) func(id stream.ID) bool {
	switch {
	case len(s.Groups()) == 0:
		return nil
	case p == refsDelete:
		return func(id stream.ID) bool {
			dropReferences(s, id)
			return false
		}
	case p == refsAcked:
		return referencedIn(s)
	}
	return nil
}

// referencedIn returns isReferenced for many entries. What is beyond the last ID of the slowest
// group needs no search, and entries near each other are mostly pending in the same group.
func referencedIn(s *stream.Stream) func(id stream.ID) bool {
	groups, slowest, first := s.Groups(), stream.MaxID, 0
	for _, g := range groups {
		if g.LastID.Less(slowest) {
			slowest = g.LastID
		}
	}
	return func(id stream.ID) bool {
		if slowest.Less(id) {
			return true
		}
		for i := range groups {
			at := (first + i) % len(groups)
			if _, ok := groups[at].Find(id); ok {
				first = at
				return true
			}
		}
		return false
	}
}

// dropReferences takes the entry out of what groups have pending, and reports whether it was there.
func dropReferences(s *stream.Stream, id stream.ID) (dropped bool) {
	for _, g := range s.Groups() {
		dropped = g.Ack(id) || dropped
	}
	return dropped
}

// isReferenced reports whether a group needs the entry: it has it pending, or has not delivered it
// yet.
func isReferenced(s *stream.Stream, id stream.ID) bool {
	for _, g := range s.Groups() {
		if g.LastID.Less(id) {
			return true
		}
		if _, ok := g.Find(id); ok {
			return true
		}
	}
	return false
}

// These are the replies to XDELEX and XACKDEL for each ID.
const (
	noSuchEntry  = -1
	entryDeleted = 1
	entryKept    = 2
)

// deleteEntry deletes an entry by the policy. It returns one of the replies to XDELEX, and whether
// references were dropped. Those to an entry that is gone already are dropped too.
func deleteEntry(s *stream.Stream, id stream.ID, p refPolicy) (reply int, dropped bool) {
	switch {
	case p == refsDelete:
		dropped = dropReferences(s, id)
	case p == refsAcked && s.Contains(id) && isReferenced(s, id):
		return entryKept, false
	}
	if !s.Delete(id) {
		return noSuchEntry, dropped
	}
	return entryDeleted, dropped
}

// refsAndIDs reads a policy and the block of IDs from argument i on, in any order. It replies with
// Redis's errors and reports false if they are wrong. Whether the IDs are any is not looked at.
func refsAndIDs(c *engine.Ctx, i int) (p refPolicy, ids [][]byte, ok bool) {
	for ; i < len(c.Args); i++ {
		if p.parse(c.Args[i]) {
			continue
		}
		more := c.Args[i+1:]
		if !is(c.Args[i], "ids") || len(more) == 0 {
			c.Err(engine.ErrSyntax)
			return p, nil, false
		}
		n, ok := rangeArg(c, more[0], 1, math.MaxInt64,
			"ERR Number of IDs must be a positive integer")
		if !ok {
			return p, nil, false
		}
		if n > int64(len(more)-1) {
			c.Err("ERR The `numids` parameter must match the number of arguments")
			return p, nil, false
		}
		ids = more[1 : n+1]
		i += int(n) + 1
	}
	if ids == nil {
		c.Err("ERR IDS option is required")
		return p, nil, false
	}
	return p, ids, true
}

// someIDs is how many IDs are kept on the stack.
const someIDs = 16

// xdelexCmd deletes entries as a policy for references says, and replies with what became of each.
func xdelexCmd(c *engine.Ctx) {
	policy, args, ok := refsAndIDs(c, 2)
	if !ok {
		return
	}
	key := c.Args[1]
	x, ok := openWrite(c, key, object.Stream)
	if !ok {
		return
	}
	var some [someIDs]stream.ID
	ids, ok := streamIDArgs(c, some[:0], args)
	if !ok {
		return
	}
	c.Array(len(ids))
	if x == nil {
		for range ids {
			c.Int(noSuchEntry)
		}
		return
	}
	s, deleted, dropped := x.ChangingStream(), 0, false
	for _, id := range ids {
		reply, refs := deleteEntry(s, id, policy)
		if reply == entryDeleted {
			deleted++
		}
		dropped = dropped || refs
		c.Int(int64(reply))
	}
	switch {
	case deleted > 0:
		streamDeleted(c, key, deleted)
	case dropped:
		c.Dirty(1)
	}
}

// streamDeleted announces that n entries were deleted.
func streamDeleted(c *engine.Ctx, key []byte, n int) {
	c.Changed(key)
	c.Notify(keyspace.EvStream, "xdel", key)
	c.Dirty(n)
}

// xdelCmd deletes entries.
func xdelCmd(c *engine.Ctx) {
	key := c.Args[1]
	x, ok := openWrite(c, key, object.Stream)
	if !ok {
		return
	}
	if x == nil {
		c.Int(0)
		return
	}
	var some [someIDs]stream.ID
	ids, ok := streamIDArgs(c, some[:0], c.Args[2:])
	if !ok {
		return
	}
	s, n := x.ChangingStream(), 0
	for _, id := range ids {
		if s.Delete(id) {
			n++
		}
	}
	if n > 0 {
		streamDeleted(c, key, n)
	}
	c.Int(int64(n))
}
