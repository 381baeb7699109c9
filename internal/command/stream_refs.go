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
		refs := referencesOf(s)
		return refs.have
	}
	return nil
}

// references tells which entries groups need. The zero value says that of none.
type references struct {
	groups  []*stream.Group
	slowest stream.ID // the smallest last ID of the groups
	first   int       // the group to search first
}

func referencesOf(s *stream.Stream) references {
	r := references{groups: s.Groups(), slowest: stream.MaxID}
	for _, g := range r.groups {
		if g.LastID.Less(r.slowest) {
			r.slowest = g.LastID
		}
	}
	return r
}

// have reports whether a group needs the entry: it has it pending, or has not delivered it yet.
// What is beyond the last ID of the slowest group needs no search, and entries near each other are
// mostly pending in the same group.
func (r *references) have(id stream.ID) bool {
	if len(r.groups) > 0 && r.slowest.Less(id) {
		return true
	}
	for i := range r.groups {
		at := (r.first + i) % len(r.groups)
		if _, ok := r.groups[at].Find(id); ok {
			r.first = at
			return true
		}
	}
	return false
}

// dropReferences takes the entry out of what groups have pending, and reports whether it was there.
func dropReferences(s *stream.Stream, id stream.ID) (dropped bool) {
	for _, g := range s.Groups() {
		dropped = g.Ack(id) || dropped
	}
	return dropped
}

// These are the replies to XDELEX and XACKDEL for each ID.
const (
	noSuchEntry  = -1
	entryDeleted = 1
	entryKept    = 2
)

// deleter deletes entries by a policy.
type deleter struct {
	s      *stream.Stream
	policy refPolicy
	refs   references // for refsAcked
}

func newDeleter(s *stream.Stream, p refPolicy) deleter {
	d := deleter{s: s, policy: p}
	if p == refsAcked {
		d.refs = referencesOf(s)
	}
	return d
}

// delete deletes an entry. It returns one of the replies to XDELEX, and whether references were
// dropped. Those to an entry that is gone already are dropped too.
func (d *deleter) delete(id stream.ID) (reply int, dropped bool) {
	switch {
	case d.policy == refsDelete:
		dropped = dropReferences(d.s, id)
	case d.policy == refsAcked && d.s.Contains(id) && d.refs.have(id):
		return entryKept, false
	}
	if !d.s.Delete(id) {
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
	d, deleted, dropped := newDeleter(x.ChangingStream(), policy), 0, false
	for _, id := range ids {
		reply, refs := d.delete(id)
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
