package stream

import (
	"slices"
	"strings"
)

// groupsBuilder is what a Builder keeps of groups. Rows of a group that is complete are packed in
// blocks already, so Build only copies them.
type groupsBuilder struct {
	groups []*builtGroup
	ended  bool // the last group is checked and packed
}

// builtGroup is a group of a Builder.
type builtGroup struct {
	name      string
	last      ID
	read      int64
	rows      []builtRow
	consumers []builtConsumer
	nackedIDs []ID
	place     int64

	pending, nacked rowsBuilder
}

// builtRow is a pending entry of a Builder.
type builtRow struct {
	id          ID
	time, count int64
	owner       uint32 // 0: not known yet
}

// builtConsumer is a consumer of a Builder.
type builtConsumer struct {
	name         string
	seen, active int64
	ids          []ID
	owned        rowsBuilder
}

// noOwner is the owner of a NACKed row, as long as a group is not packed.
const noOwner = ^uint32(0)

// refuse notes the first error.
func (b *Builder) refuse(err error) error {
	if b.err == nil {
		b.err = err
	}
	return b.err
}

// group returns the group that is being built, nil if there is none.
func (b *Builder) group() *builtGroup {
	if n := len(b.groups); n > 0 && !b.ended {
		return b.groups[n-1]
	}
	return nil
}

// Group begins a group. What follows, up to the next group, belongs to it.
func (b *Builder) Group(name []byte, last ID, read int64) error {
	b.endGroup()
	b.groups = append(b.groups, &builtGroup{name: string(name), last: last, read: read})
	b.ended = false
	return b.err
}

// Pending adds a pending entry of the group, whose owner Owned tells later.
func (b *Builder) Pending(id ID, time, count int64) error {
	g := b.group()
	if g == nil {
		return b.refuse(ErrUnknown)
	}
	g.rows = append(g.rows, builtRow{id: id, time: time, count: count})
	return b.err
}

// Consumer adds a consumer to the group.
func (b *Builder) Consumer(name []byte, seen, active int64) error {
	g := b.group()
	if g == nil {
		return b.refuse(ErrUnknown)
	}
	g.consumers = append(g.consumers,
		builtConsumer{name: string(name), seen: seen, active: active})
	return b.err
}

// Owned says that a pending entry of the group belongs to the last consumer.
func (b *Builder) Owned(id ID) error {
	g := b.group()
	if g == nil || len(g.consumers) == 0 {
		return b.refuse(ErrUnknown)
	}
	c := &g.consumers[len(g.consumers)-1]
	c.ids = append(c.ids, id)
	return b.err
}

// Nacked says that a pending entry of the group is NACKed, behind those before.
func (b *Builder) Nacked(id ID) error {
	g := b.group()
	if g == nil {
		return b.refuse(ErrUnknown)
	}
	g.nackedIDs = append(g.nackedIDs, id)
	return b.err
}

// endGroup checks and packs the last group.
func (b *Builder) endGroup() {
	if g := b.group(); g != nil && b.err == nil {
		if err := g.finish(); err != nil {
			b.refuse(err)
		}
	}
	b.ended = true
}

// finish finds the owners of all rows and packs them.
func (g *builtGroup) finish() error {
	if err := g.order(); err != nil {
		return err
	}
	for i := range g.consumers {
		c := &g.consumers[i]
		if err := g.take(c.ids, uint32(i+1)); err != nil {
			return err
		}
		c.owned.init(ownedCols)
		for _, id := range c.ids {
			c.owned.add(&row{id.Ms, id.Seq})
		}
		c.owned.end()
		c.ids = nil
	}
	if err := g.take(g.nackedIDs, noOwner); err != nil {
		return err
	}
	return g.pack()
}

// order sorts what files have in any order, and finds what is there twice.
func (g *builtGroup) order() error {
	byID := func(a, b builtRow) int { return a.id.Compare(b.id) }
	if !slices.IsSortedFunc(g.rows, byID) {
		slices.SortFunc(g.rows, byID)
	}
	for i := 1; i < len(g.rows); i++ {
		if g.rows[i-1].id == g.rows[i].id {
			return ErrDuplicate
		}
	}
	slices.SortFunc(g.consumers, func(a, b builtConsumer) int {
		return strings.Compare(a.name, b.name)
	})
	for i := range g.consumers {
		if i > 0 && g.consumers[i-1].name == g.consumers[i].name {
			return ErrDuplicate
		}
		if ids := g.consumers[i].ids; !slices.IsSortedFunc(ids, ID.Compare) {
			slices.SortFunc(ids, ID.Compare)
		}
	}
	return nil
}

// take makes rows belong to an owner.
func (g *builtGroup) take(ids []ID, owner uint32) error {
	at := -1 // the row before is often that of the ID before
	for _, id := range ids {
		if at++; at == len(g.rows) || g.rows[at].id != id {
			var ok bool
			at, ok = slices.BinarySearchFunc(g.rows, id, func(r builtRow, id ID) int {
				return r.id.Compare(id)
			})
			if !ok {
				return ErrUnknown
			}
		}
		r := &g.rows[at]
		switch {
		case r.owner == owner:
			return ErrDuplicate
		case r.owner != 0:
			return ErrOwners
		}
		r.owner = owner
	}
	return nil
}

// pack packs the rows of a group that all have owners or are NACKed.
func (g *builtGroup) pack() error {
	g.nacked.init(nackedCols)
	for _, r := range g.rows {
		if t := r.time; r.owner != noOwner && t < maxPlace && (g.place == 0 || t < g.place) {
			g.place = max(t, 0)
		}
	}
	places := make([]int64, 0, len(g.nackedIDs)) // by row, of those that are NACKed
	if len(g.nackedIDs) > 0 {
		places = g.places()
	}
	g.pending.init(pendingCols)
	for i, r := range g.rows {
		out := row{r.id.Ms, r.id.Seq, flip(r.time), uint64(r.owner), uint64(r.count)}
		switch r.owner {
		case 0:
			return ErrOwners
		case noOwner:
			out[colTime], out[colOwner] = flip(places[i]), 0
		}
		g.pending.add(&out)
	}
	g.pending.end()
	g.rows, g.nackedIDs = nil, nil
	return nil
}

// places packs the queue of what is NACKed and returns the places by row.
func (g *builtGroup) places() []int64 {
	places := make([]int64, len(g.rows))
	for _, id := range g.nackedIDs {
		g.place++
		i, _ := slices.BinarySearchFunc(g.rows, id, func(r builtRow, id ID) int {
			return r.id.Compare(id)
		})
		places[i] = g.place
		g.nacked.add(&row{0, uint64(g.place), id.Ms, id.Seq})
	}
	g.nacked.end()
	return places
}

// finishGroups sorts the groups, and refuses two with one name. Builder.meta has the producers.
func (b *Builder) finishGroups() error {
	b.endGroup()
	if b.err != nil {
		return b.err
	}
	slices.SortFunc(b.groups, func(x, y *builtGroup) int {
		return strings.Compare(x.name, y.name)
	})
	for i := 1; i < len(b.groups); i++ {
		if b.groups[i-1].name == b.groups[i].name {
			return b.refuse(ErrDuplicate)
		}
	}
	return b.finishProducers()
}

// finishProducers sorts the producers, and finds what is there twice.
func (b *Builder) finishProducers() error {
	list := slices.Clone(b.meta.Producers)
	b.meta.Producers = list
	slices.SortFunc(list, func(x, y Producer) int { return strings.Compare(x.PID, y.PID) })
	for i, p := range list {
		if i > 0 && list[i-1].PID == p.PID {
			return b.refuse(ErrDuplicate)
		}
		seen := make(map[string]struct{}, len(p.Records))
		for _, r := range p.Records {
			seen[r.IID] = struct{}{}
		}
		if len(seen) < len(p.Records) {
			return b.refuse(ErrDuplicate)
		}
	}
	return nil
}

// buildGroups adds the groups and the producers to the stream.
func (b *Builder) buildGroups(s *Stream) {
	for _, from := range b.groups {
		g := s.CreateGroup([]byte(from.name), from.last, from.read)
		g.last = from.place
		from.pending.build(&g.pending)
		if from.nacked.n > 0 {
			from.nacked.build(g.makeQueue())
			g.countNacked()
		}
		for i := range from.consumers {
			c := &from.consumers[i]
			to := g.CreateConsumer([]byte(c.name), c.seen)
			to.Active = c.active
			if c.owned.n > 0 {
				c.owned.build(g.makeOwned(to))
			}
		}
	}
	if b.meta.IDMP == nil {
		return
	}
	s.UseIDMP(0, 0)
	s.idmp.IDMP = *b.meta.IDMP
	for i := range b.meta.Producers {
		p := b.meta.Producers[i]
		if more := len(p.Records) - s.idmp.MaxSize; more > 0 {
			p.Records = p.Records[more:]
		}
		if len(p.Records) > 0 {
			s.copyProducer(&p)
		}
	}
}
