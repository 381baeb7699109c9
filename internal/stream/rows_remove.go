package stream

// remove removes the row at a place.
func (x *rows) remove(at *place) {
	was := x.weight()
	x.changes++
	x.n--
	x.removeAt(at)
	x.total.add(x.weight() - was)
}

func (x *rows) removeAt(at *place) {
	if at.d.live == 1 && x.blocks > 1 {
		x.index.remove(at.pos)
		return
	}
	x.keepAt(at)
	size := x.rowSize(at.b)
	from := headSize(x.cols) + at.i*size
	copy(at.b[from:], at.b[from+size:])
	at.d.live--
	x.shrink(at, size)
	if at.d.live < sparseRows && at.d.live&7 == 0 {
		x.merge(at.pos)
	}
}

// shrink stores the descriptor of a block that has fewer rows than before.
func (x *rows) shrink(at *place, size int) {
	d := &at.d
	d.n = blockSize(x.cols, size, d.live)
	if d.room > d.n+d.n/2+128 {
		x.setRoom(d, d.n+d.n/8)
	}
	at.save(x)
}

// removeOwned removes the rows of a consumer, those of a block in one pass. Blocks that have none
// are not looked at.
func (x *rows) removeOwned(c *Consumer) {
	was := x.weight()
	for it := c.owned.walk(ID{}, MaxID); it.next(); {
		var at place
		x.blockOf(&at, it.last)
		at.enter(x, at.pos)
		n := x.filter(&at, uint64(c.number))
		x.n -= n
		it.skip(n - 1)
	}
	x.changes++
	x.total.add(x.weight() - was)
}

// filter removes the rows of an owner from the block at a place, and returns their number.
func (x *rows) filter(at *place, owner uint64) (n int) {
	f := &at.f
	if f.mask[colOwner] == 0 && f.base[colOwner] == owner && x.blocks > 1 {
		x.index.remove(at.pos)
		return at.d.live
	}
	x.keepAt(at)
	b, rows, to, from := at.b, at.b[headSize(x.cols):], 0, 0
	for i := range at.d.live {
		if f.get(b, i, colOwner) == owner {
			to += copy(rows[to:], rows[from*f.size:i*f.size])
			from = i + 1
			n++
		}
	}
	copy(rows[to:], rows[from*f.size:at.d.live*f.size])
	at.d.live -= n
	if at.d.live == 0 && x.blocks > 1 {
		x.index.remove(at.pos)
		return n
	}
	x.shrink(at, f.size)
	if at.d.live < sparseRows {
		x.merge(at.pos)
	}
	return n
}

// merge puts a sparse block and a neighbour together if that is sparse too.
func (x *rows) merge(p pos) {
	n := x.at(p).live
	if q, ok := x.next(p); ok && n+x.at(q).live <= mergedRows {
		x.join(p, q)
	} else if q, ok := x.prev(p); ok && n+x.at(q).live <= mergedRows {
		x.join(q, p)
	}
}

// join moves the rows of the block at q to the one before it, at p.
func (x *rows) join(p, q pos) {
	x.keep(p)
	var at, from place
	at.enter(x, p)
	from.enter(x, q)
	var r row
	from.get(&r)
	s := spanOf(&r)
	s.addRows(&from.f, from.b, from.d.live)
	s.addRows(&at.f, at.b, at.d.live)
	f := s.frame(x.cols, false)
	x.setFrame(&at, &f)
	n := at.d.live
	size := blockSize(x.cols, f.size, n+from.d.live)
	to := x.resize(&at.d, size, size)
	for i := range from.d.live {
		from.f.row(from.b, i, &r)
		f.putRow(to, n+i, 0, &r)
	}
	at.d.live += from.d.live
	at.d.low = min(at.d.low, from.d.low)
	at.save(x)
	x.index.remove(q)
}

// drop frees all rows, or leaves them to the walk of a frozen index.
func (x *rows) drop() {
	x.total.add(-x.weight())
	x.index.drop()
}
