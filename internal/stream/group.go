package stream

import (
	"slices"
	"sort"
)

// Group is a consumer group.
//
//	pending   ID → owner, time, count       all that was delivered and is not acknowledged
//	nacked    place in the queue → ID       the part of it that is NACKed
//	owned     ID, for each consumer         the part of it that a consumer has
//
// A pending entry has the number of its owner or, if it is NACKed, 0 and its place in the
// queue instead of a time. So each finds the other: no entry is searched for.
type Group struct {
	Name   string
	LastID ID    // the last entry that was delivered
	Read   int64 // entries delivered, as the group's lag needs it; ReadUnknown if not known

	s         *Stream
	mem       tally
	pending   rows
	nacked    *rows       // nil before anything was NACKed
	consumers []*Consumer // by name
	numbered  numbered
	last      int64 // place in the queue of nacked
	hasNacked bool  // in the Census
}

// ReadUnknown is Group.Read when it is not known.
const ReadUnknown = -1

// Consumer is a consumer of a group.
type Consumer struct {
	Name   string
	Seen   int64 // when it last tried something, unix ms
	Active int64 // when it last got something, unix ms; NeverActive before

	number uint32 // from 1 on
	owned  *rows  // nil before it got anything
}

// NeverActive is Consumer.Active before the consumer has got anything.
const NeverActive = -1

// The columns of rows behind the ID. The ID of a nacked row is 0 and its place in the queue.
const (
	colTime  = 2
	colOwner = 3
	colCount = 4

	colMs  = 2
	colSeq = 3

	pendingCols = 5
	nackedCols  = 4
	ownedCols   = 2
)

// The columns that grow.
const (
	pendingRising = 1 | 1<<colTime
	nackedRising  = 1<<1 | 1<<colMs
	ownedRising   = 1
)

// What groups and consumers take in Go's heap besides their names and slices.
const (
	groupGoBytes    = 256
	consumerGoBytes = 48
	rowsGoBytes     = 112
	pointerBytes    = 8
)

// streamGroups is what a Stream keeps of its groups and producers. The zero value is none.
type streamGroups struct {
	groups   []*Group // by name
	held     *held    // nil if it is not needed
	groupMem int64    // see groupBytes
	idmp     *idmp
}

// tally is what a group takes in bytes. It is a part of what the groups of a stream take.
type tally struct {
	n  int64
	of *int64 // nil for a group that was destroyed
}

func (t *tally) add(n int64) {
	t.n += n
	if t.of != nil {
		*t.of += n
	}
}

// goCounter counts bytes of Go's heap.
type goCounter interface{ countGo(n int) }

// countGo counts what the list of groups and what producers take of Go's heap.
func (s *Stream) countGo(n int) {
	s.groupMem += int64(n)
	s.sh.GoBytes += int64(n)
}

// countGo counts what the group takes of Go's heap.
func (g *Group) countGo(n int) {
	g.mem.add(int64(n))
	g.s.sh.GoBytes += int64(n)
}

// named finds a name in a slice that is sorted by it. A name is compared without being copied.
func named[T any](list []T, name []byte, of func(T) string) (i int, ok bool) {
	i = sort.Search(len(list), func(i int) bool { return of(list[i]) >= string(name) })
	return i, i < len(list) && of(list[i]) == string(name)
}

func groupName(g *Group) string       { return g.Name }
func consumerName(c *Consumer) string { return c.Name }

// inserted inserts an element into a slice and counts its memory.
func inserted[T any](by goCounter, list []T, i int, e T) []T {
	was := cap(list)
	list = slices.Insert(list, i, e)
	by.countGo((cap(list) - was) * pointerBytes)
	return list
}

// without deletes an element of a slice, which goes with its last one, and counts its memory.
func without[T any](by goCounter, list []T, i int) []T {
	was := cap(list)
	if list = slices.Delete(list, i, i+1); len(list) == 0 {
		list = nil
	} else if cap(list) > 4*len(list) {
		list = append(make([]T, 0, 2*len(list)), list...)
	}
	by.countGo((cap(list) - was) * pointerBytes)
	return list
}

// Group returns a group, nil if there is none.
func (s *Stream) Group(name []byte) *Group {
	if i, ok := named(s.groups, name, groupName); ok {
		return s.groups[i]
	}
	return nil
}

// Groups returns the groups in the order of their names. The slice must not be changed.
func (s *Stream) Groups() []*Group { return s.groups }

// CreateGroup adds a group. There must be none of that name.
func (s *Stream) CreateGroup(name []byte, last ID, read int64) *Group {
	i, _ := named(s.groups, name, groupName)
	g := &Group{Name: string(name), LastID: last, Read: read, s: s, mem: tally{of: &s.groupMem}}
	g.pending.init(s.sh, &g.mem, pendingCols, pendingRising)
	s.groups = inserted(s, s.groups, i, g)
	s.sh.census.Groups++
	s.sh.ever.Groups++
	g.countGo(groupGoBytes + len(name))
	return g
}

// DestroyGroup removes a group with all that it has pending. The caller must Drain it.
func (s *Stream) DestroyGroup(g *Group) {
	if g.pending.n > 0 {
		s.forgetHeld()
	}
	i, _ := named(s.groups, []byte(g.Name), groupName)
	s.groups = without(s, s.groups, i)
	s.groupMem -= g.mem.n
	g.mem.of = nil
	g.uncount()
}

// Size returns the memory of the group in bytes, in O(1).
func (g *Group) Size() int64 { return g.mem.n }

// Consumer returns a consumer, nil if there is none.
func (g *Group) Consumer(name []byte) *Consumer {
	if i, ok := named(g.consumers, name, consumerName); ok {
		return g.consumers[i]
	}
	return nil
}

// Consumers returns the consumers in the order of their names. The slice must not be changed.
func (g *Group) Consumers() []*Consumer { return g.consumers }

// CreateConsumer adds a consumer that was seen at that time. There must be none of that name.
func (g *Group) CreateConsumer(name []byte, seen int64) *Consumer {
	i, _ := named(g.consumers, name, consumerName)
	c := &Consumer{Name: string(name), Seen: seen, Active: NeverActive}
	g.consumers = inserted(g, g.consumers, i, c)
	g.numbered.add(g, c)
	g.countGo(consumerGoBytes + len(name))
	return c
}

// DeleteConsumer removes a consumer. What it has pending is not pending any more. The caller must
// Drain it.
func (g *Group) DeleteConsumer(c *Consumer) {
	if c.owned != nil {
		g.s.releasedAll(c.owned)
		g.pending.removeOwned(c)
		c.owned.detach()
		g.countGo(-rowsGoBytes)
	}
	i, _ := named(g.consumers, []byte(c.Name), consumerName)
	g.consumers = without(g, g.consumers, i)
	g.numbered.remove(g, c)
	g.countGo(-consumerGoBytes - len(c.Name))
}

// ids returns the IDs of what the consumer has pending, to be read.
func (c *Consumer) ids() *rows { return orNone(c.owned) }

// queue returns the queue of what is NACKed, to be read.
func (g *Group) queue() *rows { return orNone(g.nacked) }

// noRows is what is read of rows that have not been made. It is never changed.
var noRows rows

func orNone(x *rows) *rows {
	if x == nil {
		return &noRows
	}
	return x
}

// make makes rows if there are none yet.
func (g *Group) make(x **rows, cols int, rising uint8) *rows {
	if *x == nil {
		*x = &rows{}
		(*x).init(g.s.sh, &g.mem, cols, rising)
		g.countGo(rowsGoBytes)
	}
	return *x
}

// makeOwned returns the rows of a consumer, to be changed.
func (g *Group) makeOwned(c *Consumer) *rows { return g.make(&c.owned, ownedCols, ownedRising) }

// makeQueue returns the queue of what is NACKed, to be changed.
func (g *Group) makeQueue() *rows { return g.make(&g.nacked, nackedCols, nackedRising) }

// Pending returns the number of entries that the consumer has pending.
func (c *Consumer) Pending() int { return c.ids().n }

// Pending returns the number of pending entries, NACKed ones included.
func (g *Group) Pending() int { return g.pending.n }

// Nacked returns the number of NACKed entries.
func (g *Group) Nacked() int { return g.queue().n }
