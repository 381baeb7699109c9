package command

import (
	"math"
	"slices"

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

// refs returns what stream calls the policy.
func (p refPolicy) refs() stream.Refs {
	switch p {
	case refsDelete:
		return stream.RefsDrop
	case refsAcked:
		return stream.RefsHold
	}
	return stream.RefsStay
}

// These are the replies to XDELEX and XACKDEL for each ID.
const (
	noSuchEntry  = -1
	entryDeleted = 1
	entryKept    = 2
)

// deleter deletes entries by a policy.
type deleter struct {
	s       *stream.Stream
	refs    stream.Refs
	walk    *stream.References // by ascending ID
	dropped bool               // references
	refEffects
}

func newDeleter(c *engine.Ctx, x *object.Edit, policy refPolicy) deleter {
	d := deleter{s: x.ChangingStream(), refs: policy.refs()}
	d.on = c.Propagating()
	return d
}

// deleteEach deletes the entries for which del calls delete, and replies with what del returns for
// each ID: one of the replies to XDELEX. If references count, del is called by ascending ID, and
// for equal ones in their order.
func (d *deleter) deleteEach(c *engine.Ctx, ids []stream.ID, del func(id stream.ID) int8) {
	var someOrder [someIDs]int
	var some [someIDs]int8
	order, replies := someOrder[:0], append(some[:0], make([]int8, len(ids))...)
	for i := range ids {
		order = append(order, i)
	}
	if d.refs != stream.RefsStay {
		d.walk = d.s.References()
		defer d.walk.Done()
		slices.SortStableFunc(order, func(i, j int) int { return ids[i].Compare(ids[j]) })
	}
	for _, i := range order {
		replies[i] = del(ids[i])
	}
	c.Array(len(ids))
	for _, reply := range replies {
		c.Int(int64(reply))
	}
}

// delete deletes an entry and returns one of the replies to XDELEX. References to an entry that is
// gone already are dropped too.
func (d *deleter) delete(id stream.ID) (reply int8) {
	switch {
	case d.refs == stream.RefsDrop:
		d.dropped = d.walk.Drop(id, func(g *stream.Group) { d.drop(g, id) }) || d.dropped
	case d.refs == stream.RefsHold && d.s.Contains(id) && d.walk.Hold(id):
		return entryKept
	}
	if !d.s.Delete(id) {
		return noSuchEntry
	}
	d.remove(id)
	return entryDeleted
}

// propagate sends what has become of entries and references.
func (d *deleter) propagate(c *engine.Ctx) {
	d.propagateAcks(c, d.s)
	d.propagateDeletions(c)
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
	if x == nil {
		replyNoEntries(c, len(ids))
		return
	}
	d, deleted := newDeleter(c, x, policy), 0
	d.deleteEach(c, ids, func(id stream.ID) int8 {
		reply := d.delete(id)
		if reply == entryDeleted {
			deleted++
		}
		return reply
	})
	switch {
	case deleted > 0:
		streamDeleted(c, key, deleted)
	case d.dropped:
		c.Dirty(1)
	}
	d.propagate(c)
}

// replyNoEntries replies that there are no such entries.
func replyNoEntries(c *engine.Ctx, n int) {
	c.Array(n)
	for range n {
		c.Int(noSuchEntry)
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
