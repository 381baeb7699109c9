package stream

// rowIter walks rows by ascending ID. It goes on behind the row that it is at whatever happens to
// the rows meanwhile.
type rowIter struct {
	x       *rows
	at      place
	to      ID
	last    ID // of the row that it is at
	begun   bool
	changes uint32 // of x when at was right
}

// walk walks from one ID to another, both included.
func (x *rows) walk(from, to ID) rowIter {
	it := rowIter{x: x, to: to, last: from, changes: x.changes}
	it.seek(from)
	return it
}

// seek goes to the first row from id on.
func (it *rowIter) seek(id ID) {
	it.changes = it.x.changes
	it.at.d.ref, it.at.d.live, it.at.i = 0, 0, 0
	if it.x.seekFrame(&it.at, id); it.at.d.ref == 0 && len(it.x.pages) > 0 {
		it.at.enter(it.x, pos{})
	}
}

// next goes to the next row and reports whether there is one.
func (it *rowIter) next() bool {
	switch {
	case it.changes != it.x.changes:
		id, ok := it.last, true
		if it.begun {
			id, ok = id.Next()
		}
		if !ok {
			return false
		}
		it.seek(id)
	case it.begun:
		it.at.i++
	}
	for it.at.i >= it.at.d.live {
		if it.at.d.ref == 0 {
			return false // there is no block
		}
		p, ok := it.x.next(it.at.pos)
		if !ok {
			return false
		}
		it.at.enter(it.x, p)
	}
	it.begun = true
	it.last = it.at.f.id(it.at.b, it.at.i)
	return !it.to.Less(it.last)
}

// skip passes n rows, which must be there, without a look at them. Nothing must have changed.
func (it *rowIter) skip(n int) {
	for it.at.i += n; it.at.i >= it.at.d.live; {
		i := it.at.i - it.at.d.live
		p, ok := it.x.next(it.at.pos)
		if !ok {
			return
		}
		it.at.enter(it.x, p)
		it.at.i = i
	}
}

// value returns a value of the row that it is at.
func (it *rowIter) value(c int) uint64 { return it.at.f.get(it.at.b, it.at.i, c) }
