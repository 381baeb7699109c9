package stream

import "slices"

// Refs says what becomes of the references that groups have to an entry which is to be removed.
type Refs uint8

const (
	RefsStay Refs = iota // they stay, without an entry
	RefsDrop             // they go with the entry
	RefsHold             // the entry stays as long as a group needs it
)

// References walks what the groups have pending, all groups together by ascending ID. So many
// entries that are next to each other cost about as many steps as there are references to them,
// however many groups there are. The groups may change meanwhile, but not their number.
type References struct {
	s       *Stream
	slowest ID          // the smallest last ID of the groups
	all     []reference // a heap by next, of groups that have one
	begun   bool
}

// reference is where the walk is in a group.
type reference struct {
	next ID // the first that was not passed
	g    *Group
	it   rowIter
}

// References begins to walk. Done must follow before another walk, of any stream of the keyspace,
// begins.
func (s *Stream) References() *References {
	r := &s.sh.references
	r.s, r.slowest = s, MaxID
	for _, g := range s.groups {
		if g.LastID.Less(r.slowest) {
			r.slowest = g.LastID
		}
	}
	return r
}

// keptReferences is for how many groups a walk's memory is kept.
const keptReferences = 16

// Done ends the walk.
func (r *References) Done() {
	clear(r.all)
	if r.all = r.all[:0]; cap(r.all) > keptReferences {
		r.all = nil
	}
	r.s, r.begun = nil, false
}

// Hold reports whether a group needs the entry: it has it pending, or has not delivered it yet.
// Calls of Hold and Drop must come by ascending ID.
func (r *References) Hold(id ID) bool {
	if r.slowest.Less(id) && len(r.s.groups) > 0 {
		return true
	}
	for r.moveTo(id); len(r.all) > 0 && r.all[0].next == id; {
		c := &r.all[0]
		if c.it.changes == c.g.pending.changes {
			return true
		}
		c.it = c.g.pending.walk(id, MaxID) // it may have been acknowledged
		r.step(id)
	}
	return false
}

// Drop takes the entry out of what groups have pending, and reports whether it was there. It calls
// each, if that is not nil, for the groups that had it.
func (r *References) Drop(id ID, each func(g *Group)) (dropped bool) {
	for r.moveTo(id); len(r.all) > 0 && r.all[0].next == id; r.step(id) {
		if g := r.all[0].g; g.Ack(id) {
			dropped = true
			if each != nil {
				each(g)
			}
		}
	}
	return dropped
}

// moveTo passes what is below the ID.
func (r *References) moveTo(id ID) {
	if !r.begun {
		r.begin(id)
	}
	for len(r.all) > 0 && r.all[0].next.Less(id) {
		r.step(id)
	}
}

// begin finds the first reference of each group from the ID on.
func (r *References) begin(id ID) {
	r.begun = true
	r.all = slices.Grow(r.all, len(r.s.groups))
	for _, g := range r.s.groups {
		if g.pending.n == 0 {
			continue
		}
		c := reference{g: g, it: g.pending.walk(id, MaxID)}
		if c.it.next() {
			c.next = c.it.last
			r.all = append(r.all, c)
		}
	}
	for i := len(r.all)/2 - 1; i >= 0; i-- {
		r.sink(i)
	}
}

// nearSteps is how many rows are passed one by one before a search.
const nearSteps = 8

// step moves the group in front, which is below the ID or at it, to its next reference from the ID
// on.
func (r *References) step(id ID) {
	c := &r.all[0]
	more := c.it.next()
	for n := 0; more && c.it.last.Less(id); n++ {
		if n == nearSteps {
			c.it = c.g.pending.walk(id, MaxID)
		}
		more = c.it.next()
	}
	if c.next = c.it.last; !more {
		last := len(r.all) - 1
		*c, r.all[last] = r.all[last], reference{}
		r.all = r.all[:last]
	}
	r.sink(0)
}

// sink moves a reference down to its place in the heap.
func (r *References) sink(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(r.all); child++ {
			if r.all[child].next.Less(r.all[least].next) {
				least = child
			}
		}
		if least == i {
			return
		}
		r.all[i], r.all[least] = r.all[least], r.all[i]
		i = least
	}
}
