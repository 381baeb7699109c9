package stream

// MaxEntry is the largest entry in bytes, its names and values added up, that a stream takes.
const MaxEntry = 1 << 30

// tail is what Append needs to know of the last block. Whoever writes that block anew or removes it
// sets known to false.
type tail struct {
	known  bool
	recent uint8 // the shape that was used last
	last   ID    // of the last entry, deleted or not
	shapes shapes
}

// Append adds an entry, whose ID must be larger than LastID. fields are names and values in turn.
// It sets LastID and counts Added up to math.MaxInt64. O(n) in the length of the entry.
func (s *Stream) Append(id ID, fields [][]byte, lim Limits) {
	s.lim = lim.bounded()
	bound := 0 // of what follows the length
	for i := 1; i < len(fields); i += 2 {
		bound += valueBound(len(fields[i]))
	}
	var d block
	follows := s.follows(id)
	if s.held != nil && !s.held.to.Less(id) {
		s.forgetHeld() // XSETID has taken LastID back
	}
	p, open := s.openTail(&d, bound+maxForm)
	open = open && follows
	number, known := uint8(0), false
	if open {
		number, known = s.tail.shapes.match(s.entries.data(&d), fields, s.tail.recent)
	}
	if !known {
		bound += shapeLen(fields)
		if !open || s.full(&d, bound+maxForm) {
			p = s.newTail(&d, id, bound+maxForm)
		}
		if number = ownShape; s.tail.shapes.room(d.n, 0) {
			number = newShape
		}
	}
	s.putEntry(p, &d, id, number, bound, fields)
	s.LastID = id
	s.Added = uint64(More(int64(s.Added)))
	s.n++
}

// maxForm is the most that an entry takes before what follows its length.
const maxForm = 1 + 2*maxUvarint + 5

// full reports whether the block has no room for another entry of n bytes.
func (s *Stream) full(d *block, n int) bool { return s.lim.full(d.n, d.live+d.dead, n) }

// openTail loads the last block. ok is false if it cannot take an entry of n bytes.
func (s *Stream) openTail(d *block, n int) (p pos, ok bool) {
	x := &s.entries
	if p, ok = x.tail(); !ok {
		return p, false
	}
	x.load(p, d)
	if s.full(d, n) {
		return p, false
	}
	if x.frozen != nil {
		x.keep(p)
		x.load(p, d)
	}
	return p, true
}

// follows learns the last block and reports whether an entry with that ID can follow in it. Where
// XSETID has taken LastID back, deleted entries with larger IDs may stand there: then the block is
// written anew without them.
func (s *Stream) follows(id ID) bool {
	x := &s.entries
	p, ok := x.tail()
	if !ok || s.tail.known && s.tail.last.Less(id) {
		return true
	}
	d := x.at(p)
	s.tail.learn(&d, x.data(&d))
	if s.tail.last.Less(id) {
		return true
	}
	if !s.repack(p) {
		return false
	}
	d = x.at(p)
	s.tail.learn(&d, x.data(&d))
	return true
}

// learn walks the last block.
func (t *tail) learn(d *block, b []byte) {
	*t = tail{known: true, last: d.first}
	c := scanOf(d.first, b)
	for c.next() {
		t.shapes.met(&c)
	}
	t.last = c.id
}

// newTail begins a block with room for an entry of n bytes. The block before gives back what room
// it does not use.
func (s *Stream) newTail(d *block, id ID, n int) pos {
	x := &s.entries
	room := n
	if p, ok := x.tail(); ok {
		last := x.at(p)
		// The next block is going to be about as large. But what is not in use yet must be little
		// compared with the stream.
		room = max(n, min(last.n, int(x.bytes/spareShare), int(s.lim.bytes)))
		if x.fit(&last) {
			x.put(p, last)
		}
	}
	*d = x.alloc(id, room)
	s.tail = tail{known: true, last: id}
	s.countLarge()
	return x.insert(*d)
}

// spareShare is which part of a stream's memory its last block may hold in advance.
const spareShare = 8

// putEntry adds an entry to the last block. bound is a bound of what follows its length.
func (s *Stream) putEntry(p pos, d *block, id ID, number uint8, bound int, fields [][]byte) {
	x, t, start := &s.entries, &s.tail, d.n
	need := start + maxForm + bound
	b := x.resize(d, need, need+start/2)[start:]
	form, n := putForm(b[1:], t.last, id)
	b[0] = form | number
	body := 1 + n + uvarintLen(uint64(bound))
	at := body
	if number >= ownShape {
		at += putShape(b[at:], fields)
	}
	if number == newShape {
		number = t.shapes.n
		t.shapes.note(start + body)
	}
	for i := 1; i < len(fields); i += 2 {
		at += putValue(b[at:], fields[i])
	}
	putPadded(b[1+n:body], uint64(at-body))
	t.last, t.recent = id, number
	d.n = start + at
	d.live++
	if d.live+d.dead == 1 && x.blocks == 1 {
		x.fit(d) // a stream may well stay as small as that
	}
	x.store(p, d)
}

// find returns where the entry with that ID is. ok is false if there is none.
func (s *Stream) find(id ID) (p pos, d block, c scan, ok bool) {
	x := &s.entries
	if p, ok = x.find(id); !ok {
		return p, d, c, false
	}
	x.load(p, &d)
	c = scanOf(d.first, x.data(&d))
	return p, d, c, c.seek(id) && c.id == id && !c.dead()
}

// Contains reports whether there is an entry with that ID.
func (s *Stream) Contains(id ID) bool {
	_, _, _, ok := s.find(id)
	return ok
}

// Delete removes the entry with that ID and reports whether it was there. It keeps MaxDeleted.
// What groups have pending stays.
func (s *Stream) Delete(id ID) bool {
	p, d, c, ok := s.find(id)
	if !ok {
		return false
	}
	if s.MaxDeleted.Less(id) {
		s.MaxDeleted = id
	}
	if d.live == 1 {
		s.removeBlock(p)
		return true
	}
	x := &s.entries
	x.keep(p)
	d = x.at(p)
	x.data(&d)[c.at] |= deadBit
	s.count(p, d, 1)
	s.settle(p, 1)
	return true
}

// count takes note of n more deleted entries of the block at p.
func (s *Stream) count(p pos, d block, n int) {
	d.live -= n
	d.dead += n
	s.n -= n
	s.entries.put(p, d)
}

// removeBlock removes the block at p with what is left in it. It returns the place of the block
// that followed, if there is one.
func (s *Stream) removeBlock(p pos) (next pos, ok bool) {
	s.n -= s.entries.at(p).live
	next, ok = s.entries.remove(p)
	if !ok {
		s.tail.known = false
	}
	return next, ok
}

// First returns the ID of the first entry, 0-0 if there is none.
func (s *Stream) First() ID {
	p, ok := s.entries.head()
	if !ok {
		return ID{}
	}
	d := s.entries.at(p)
	c := scanOf(d.first, s.entries.data(&d))
	c.live()
	return c.id
}

// Last returns the ID of the last entry that is there, 0-0 if there is none.
func (s *Stream) Last() ID {
	p, ok := s.entries.tail()
	if !ok {
		return ID{}
	}
	d := s.entries.at(p)
	return lastOf(&d, s.entries.data(&d))
}

// lastOf returns the ID of the last entry of a block that was not deleted.
func lastOf(d *block, b []byte) (last ID) {
	for c := scanOf(d.first, b); c.live(); {
		last = c.id
	}
	return last
}
