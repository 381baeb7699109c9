package stream

// Pending is an entry that was delivered and is not acknowledged.
type Pending struct {
	ID    ID
	Owner *Consumer // nil: NACKed (XNACK), without an owner
	Time  int64     // of the last delivery, unix ms; 0 without owner
	Count int64     // of deliveries
}

// flip returns the value of a column for a time, which ascends with it. unflip reverses it.
func flip(t int64) uint64   { return uint64(t) ^ 1<<63 }
func unflip(v uint64) int64 { return int64(v ^ 1<<63) }

// decode returns what a row says.
func (g *Group) decode(r *row) Pending {
	p := Pending{ID: r.id(), Owner: g.numbered.of(r[colOwner]), Count: int64(r[colCount])}
	if p.Owner != nil {
		p.Time = unflip(r[colTime])
	}
	return p
}

// Bounds returns the first and the last ID of the pending entries, of which there must be one.
func (g *Group) Bounds() (first, last ID) {
	var at place
	x := &g.pending
	at.enter(x, pos{})
	first = at.f.id(at.b, 0)
	p, _ := x.tail()
	at.enter(x, p)
	return first, at.f.id(at.b, at.d.live-1)
}

// Find returns the pending entry with that ID.
func (g *Group) Find(id ID) (p Pending, ok bool) {
	var at place
	if !g.pending.seekFrame(&at, id) {
		return p, false
	}
	var r row
	at.get(&r)
	return g.decode(&r), true
}

// Set makes the entry pending with this owner, time and count, whether it was pending or not. The
// owner must not be nil.
func (g *Group) Set(p Pending) { g.write(&p) }

// Nack takes the entry away from its owner, if it has one, or makes it pending without one. It
// comes behind all that were NACKed before.
func (g *Group) Nack(id ID, count int64) { g.write(&Pending{ID: id, Count: count}) }

// write makes the entry pending and moves it from who has had it to who has it now.
func (g *Group) write(p *Pending) {
	var at place
	var was row
	found := g.pending.seekFrame(&at, p.ID)
	if found {
		at.get(&was)
	}
	r := row{p.ID.Ms, p.ID.Seq, 0, 0, uint64(p.Count)}
	if p.Owner != nil {
		r[colTime], r[colOwner] = flip(p.Time), uint64(p.Owner.number)
	} else {
		r[colTime] = flip(g.nextPlace(&was))
	}
	if found {
		g.pending.set(&at, &r)
		if was[colOwner] == r[colOwner] && p.Owner != nil {
			return
		}
		g.disown(&was)
	} else {
		g.pending.insertAt(&at, &r)
	}
	if p.Owner != nil {
		g.makeOwned(p.Owner).insert(&row{p.ID.Ms, p.ID.Seq})
	} else {
		g.makeQueue().insert(&row{0, uint64(g.last), p.ID.Ms, p.ID.Seq})
		g.countNacked()
	}
}

// maxPlace bounds the times that places in the queue follow.
const maxPlace = 1 << 53

// nextPlace returns the next place in the queue of nacked. It is near the time of the entry's last
// delivery if it can be, because the column of times is then as narrow as before.
func (g *Group) nextPlace(was *row) int64 {
	g.last++
	if t := unflip(was[colTime]); was[colOwner] != 0 && t > g.last && t < maxPlace {
		g.last = t
	}
	return g.last
}

// disown removes a pending row's other half.
func (g *Group) disown(r *row) {
	var at place
	x, id := g.nacked, ID{0, uint64(unflip(r[colTime]))}
	if c := g.numbered.of(r[colOwner]); c != nil {
		x, id = c.owned, r.id()
	}
	x.seek(&at, id)
	x.remove(&at)
	if x == g.nacked {
		g.countNacked()
	}
}

// Ack removes a pending entry and reports whether it was there.
func (g *Group) Ack(id ID) bool {
	var at place
	if !g.pending.seek(&at, id) {
		return false
	}
	r := row{id.Ms, id.Seq}
	if r[colOwner] = valueAt(at.b, pendingCols, at.i, colOwner); r[colOwner] == 0 {
		r[colTime] = valueAt(at.b, pendingCols, at.i, colTime)
	}
	g.disown(&r)
	g.pending.remove(&at)
	g.s.held.released(id)
	return true
}

// PendingIter walks pending entries by ascending ID. The group may be changed meanwhile: the walk
// goes on behind the entry that it is at. The consumer whose entries it walks must stay.
type PendingIter struct {
	Pending
	g     *Group
	it    rowIter
	owned bool
}

// Range walks the pending entries from one ID to another, both included.
func (g *Group) Range(from, to ID) PendingIter {
	return PendingIter{g: g, it: g.pending.walk(from, to)}
}

// Owned walks those of a consumer.
func (g *Group) Owned(c *Consumer, from, to ID) PendingIter {
	return PendingIter{g: g, it: c.ids().walk(from, to), owned: true}
}

// Next moves to the next entry and reports whether there is one.
func (it *PendingIter) Next() bool {
	if !it.it.next() {
		return false
	}
	if it.owned {
		it.Pending, _ = it.g.Find(it.it.last)
		return true
	}
	var r row
	it.it.at.f.row(it.it.at.b, it.it.at.i, &r)
	it.Pending = it.g.decode(&r)
	return true
}
