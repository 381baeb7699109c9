package stream

// Trim says which entries to remove, from the first one on.
type Trim struct {
	MaxLen int  // keep that many at most; below 0: trim by MinID
	MinID  ID   // remove what comes before
	Approx bool // remove whole blocks only, so that less may be removed
	Limit  int  // do not remove more than that many; 0: no limit
	// Keep, if not nil, is asked for each entry whether it has to stay although it is beyond the
	// bound. The walk goes on behind it. With Approx, a block of which something stays is searched
	// entry by entry. Keep may change what groups have pending, not the entries.
	Keep func(id ID) bool
}

// Trim removes entries and returns their number. MaxDeleted stays, as it does in Redis. A block of
// which nothing stays goes in O(1).
func (s *Stream) Trim(t Trim) (removed int) {
	p, ok := s.entries.head()
	for ok && (t.MaxLen < 0 || s.n > t.MaxLen) {
		d := s.entries.at(p)
		whole := s.beyond(&t, p, &d)
		if t.Approx && (!whole || t.Limit > 0 && removed+d.live > t.Limit) {
			break
		}
		if whole && t.Keep == nil && (t.Limit <= 0 || removed+d.live <= t.Limit) {
			removed += d.live
			p, ok = s.removeBlock(p)
			continue
		}
		n, more := s.trimBlock(&t, p, t.Limit-removed)
		removed += n
		if d = s.entries.at(p); d.live == 0 {
			p, ok = s.removeBlock(p)
		} else {
			p, ok = s.entries.next(s.settleBack(p, n))
		}
		if !more {
			break
		}
	}
	return removed
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
// It reports how many, and whether it went to the end of the block.
func (s *Stream) trimBlock(t *Trim, p pos, limit int) (n int, more bool) {
	x := &s.entries
	d := x.at(p)
	b := x.data(&d)
	for c := scanOf(d.first, b); ; {
		if !c.live() {
			more = true
			break
		}
		if t.MaxLen >= 0 && s.n-n <= t.MaxLen || t.MaxLen < 0 && !c.id.Less(t.MinID) ||
			t.Limit > 0 && n == limit {
			break
		}
		if t.Keep != nil && t.Keep(c.id) {
			continue
		}
		if n == 0 {
			x.keep(p)
		}
		b[c.at] |= deadBit
		n++
	}
	if n > 0 {
		s.count(p, x.at(p), n)
	}
	return n, more
}
