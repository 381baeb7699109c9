package stream

// Trim says which entries to remove, from the first one on.
type Trim struct {
	MaxLen int  // keep that many at most; below 0: trim by MinID
	MinID  ID   // remove what comes before
	Approx bool // remove whole blocks only, so that less may be removed
	Limit  int  // do not remove more than that many; 0: no limit
	// Refs is for entries that groups need. Where one is held, the walk goes on behind it, with
	// Approx too: a block of which something stays is searched entry by entry.
	Refs Refs
	// Dropped and Removed, if they are set, are called for each reference that goes with RefsDrop,
	// and for each entry that goes with RefsHold from a stream that has groups.
	Dropped func(g *Group, id ID)
	Removed func(id ID)
}

// Trim removes entries and returns their number. MaxDeleted stays, as it does in Redis. A block of
// which nothing stays goes in O(1). With RefsDrop it is O(n) in entries and references that go,
// with RefsHold in those that go, came or were acknowledged since the last time.
func (s *Stream) Trim(t Trim) (removed int) {
	w := trimWalk{Trim: t}
	p, ok := s.entries.head()
	if t.Refs != RefsStay && len(s.groups) > 0 {
		w.refs = s.References()
		defer w.refs.Done()
		if t.Refs == RefsHold {
			w.held = s.holding()
			p, ok = s.skipHeld(w.held, p, ok)
		}
	}
	for ok && (t.MaxLen < 0 || s.n > t.MaxLen) {
		d := s.entries.at(p)
		whole := s.beyond(&t, p, &d)
		if t.Approx && (!whole || t.Limit > 0 && removed+d.live > t.Limit) {
			break
		}
		if whole && w.refs == nil && (t.Limit <= 0 || removed+d.live <= t.Limit) {
			removed += d.live
			p, ok = s.removeBlock(p)
			continue
		}
		n, more := s.trimBlock(&w, p, t.Limit-removed)
		removed += n
		if d = s.entries.at(p); d.live == 0 {
			p, ok = s.removeBlock(p)
		} else {
			p, ok = s.entries.next(s.settleBack(p, n))
		}
		if !more {
			break
		}
		p, ok = s.skipHeld(w.held, p, ok)
	}
	return removed
}

// trimWalk is a Trim under way. refs is nil for RefsStay and for a stream without groups, held for
// RefsDrop too.
type trimWalk struct {
	Trim
	refs *References
	held *held
}

// ends reports whether nothing is to be removed from the entry on, of a stream of so many entries.
func (w *trimWalk) ends(left int, id ID) bool {
	if w.MaxLen >= 0 && left <= w.MaxLen || w.MaxLen < 0 && !id.Less(w.MinID) {
		return true
	}
	return w.held != nil && w.refs.slowest.Less(id)
}

// stays reports whether the entry stays because a group needs it.
func (w *trimWalk) stays(id ID) bool {
	switch {
	case w.refs == nil:
		return false
	case w.held == nil:
		w.refs.Drop(id, func(g *Group) {
			if w.Dropped != nil {
				w.Dropped(g, id)
			}
		})
		return false
	case w.held.skips(id):
		return true
	}
	w.held.passed(id)
	return w.refs.Hold(id)
}

// skipHeld passes the block at p, if there is one, and those behind it of which all is known to be
// held.
func (s *Stream) skipHeld(h *held, p pos, ok bool) (pos, bool) {
	if h == nil || !ok {
		return p, ok
	}
	x := &s.entries
	if q, more := x.next(p); more && !h.start().Less(x.at(q).first) {
		p, ok = x.find(h.start())
	}
	return p, ok
}

// beyond reports whether all entries of the block at p are to be removed. Unless Approx is set it
// may miss that, because trimBlock finds out as well.
func (s *Stream) beyond(t *Trim, p pos, d *block) bool {
	if t.MaxLen >= 0 {
		return s.n-d.live >= t.MaxLen
	}
	x := &s.entries
	if q, ok := x.next(p); ok && !t.MinID.Less(x.at(q).first) {
		return true
	}
	return t.Approx && d.first.Less(t.MinID) && lastOf(d, x.data(d)).Less(t.MinID)
}

// trimBlock marks entries of the block at p as deleted: at most limit of them, if there is a limit.
// It reports how many, and whether entries behind the block may have to go as well.
func (s *Stream) trimBlock(w *trimWalk, p pos, limit int) (n int, more bool) {
	x := &s.entries
	d := x.at(p)
	b := x.data(&d)
	for c := scanOf(d.first, b); ; {
		if !c.live() {
			more = true
			break
		}
		if w.Limit > 0 && n == limit || w.ends(s.n-n, c.id) {
			break
		}
		if w.stays(c.id) {
			continue
		}
		if n == 0 {
			x.keep(p)
		}
		b[c.at] |= deadBit
		n++
		if w.held != nil && w.Removed != nil {
			w.Removed(c.id)
		}
	}
	if n > 0 {
		s.count(p, x.at(p), n)
	}
	return n, more
}
