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
	pending   rows
	nacked    rows
	consumers []*Consumer // by name
	numbers   []*Consumer // by number; none has 0
	unused    []uint32    // numbers
	last      int64       // place in the queue of nacked
}

// ReadUnknown is Group.Read when it is not known.
const ReadUnknown = -1

// Consumer is a consumer of a group.
type Consumer struct {
	Name   string
	Seen   int64 // when it last tried something, unix ms
	Active int64 // when it last got something, unix ms; NeverActive before

	number uint32
	owned  rows
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
	groupGoBytes    = 384
	consumerGoBytes = 160
	pointerBytes    = 8
)

// streamGroups is what a Stream keeps of its groups and producers. The zero value is none.
type streamGroups struct {
	groups   []*Group // by name
	held     *held    // nil if it is not needed
	groupMem int64    // see groupBytes
	idmp     *idmp
}

// countGo counts bytes that groups or producers take of Go's heap.
func (s *Stream) countGo(n int) {
	s.groupMem += int64(n)
	s.sh.GoBytes += int64(n)
}

// named finds a name in a slice that is sorted by it. A name is compared without being copied.
func named[T any](list []T, name []byte, of func(T) string) (i int, ok bool) {
	i = sort.Search(len(list), func(i int) bool { return of(list[i]) >= string(name) })
	return i, i < len(list) && of(list[i]) == string(name)
}

func groupName(g *Group) string       { return g.Name }
func consumerName(c *Consumer) string { return c.Name }

// inserted inserts an element into a slice and counts its memory.
func inserted[T any](s *Stream, list []T, i int, e T) []T {
	was := cap(list)
	list = slices.Insert(list, i, e)
	s.countGo((cap(list) - was) * pointerBytes)
	return list
}

// without deletes an element of a slice, which goes with its last one, and counts its memory.
func without[T any](s *Stream, list []T, i int) []T {
	was := cap(list)
	if list = slices.Delete(list, i, i+1); len(list) == 0 {
		list = nil
	} else if cap(list) > 4*len(list) {
		list = append(make([]T, 0, 2*len(list)), list...)
	}
	s.countGo((cap(list) - was) * pointerBytes)
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
	g := &Group{Name: string(name), LastID: last, Read: read, s: s}
	g.pending.init(s.sh, &s.groupMem, pendingCols, pendingRising)
	g.nacked.init(s.sh, &s.groupMem, nackedCols, nackedRising)
	s.groups = inserted(s, s.groups, i, g)
	s.countGo(groupGoBytes + len(name))
	return g
}

// DestroyGroup removes a group with all that it has pending.
func (s *Stream) DestroyGroup(g *Group) {
	s.forgetHeld()
	i, _ := named(s.groups, []byte(g.Name), groupName)
	s.groups = without(s, s.groups, i)
	g.pending.drop()
	g.nacked.drop()
	for _, c := range g.consumers {
		c.owned.drop()
	}
	g.forget()
}

// forget counts the group and its consumers as gone.
func (g *Group) forget() {
	for _, c := range g.consumers {
		g.s.countGo(-consumerGoBytes - len(c.Name))
	}
	elements := cap(g.consumers) + cap(g.numbers) + cap(g.unused)
	g.s.countGo(-groupGoBytes - len(g.Name) - elements*pointerBytes)
	g.consumers, g.numbers, g.unused = nil, nil, nil
}

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
	c.owned.init(g.s.sh, &g.s.groupMem, ownedCols, ownedRising)
	g.consumers = inserted(g.s, g.consumers, i, c)
	if n := len(g.unused); n > 0 {
		c.number = g.unused[n-1]
		g.numbers[c.number-1] = c
		g.unused = without(g.s, g.unused, n-1)
	} else {
		g.numbers = inserted(g.s, g.numbers, len(g.numbers), c)
		c.number = uint32(len(g.numbers))
	}
	g.s.countGo(consumerGoBytes + len(name))
	return c
}

// DeleteConsumer removes a consumer. What it has pending is not pending any more.
func (g *Group) DeleteConsumer(c *Consumer) {
	if c.owned.n > 0 {
		g.s.forgetHeld()
	}
	g.pending.removeOwned(c)
	c.owned.drop()
	i, _ := named(g.consumers, []byte(c.Name), consumerName)
	g.consumers = without(g.s, g.consumers, i)
	g.numbers[c.number-1] = nil
	g.unused = inserted(g.s, g.unused, len(g.unused), c.number)
	g.s.countGo(-consumerGoBytes - len(c.Name))
}

// owner returns the consumer with a number, nil for 0.
func (g *Group) owner(number uint64) *Consumer {
	if number == 0 {
		return nil
	}
	return g.numbers[number-1]
}

// Pending returns the number of entries that the consumer has pending.
func (c *Consumer) Pending() int { return c.owned.n }

// Pending returns the number of pending entries, NACKed ones included.
func (g *Group) Pending() int { return g.pending.n }

// Nacked returns the number of NACKed entries.
func (g *Group) Nacked() int { return g.nacked.n }
