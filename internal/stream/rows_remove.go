package stream

// remove removes the row at a place.
func (x *rows) remove(at *place) {
	was := x.weight()
	x.changes++
	x.n--
	x.removeAt(at)
	*x.total += x.weight() - was
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

// removeOwned removes the rows of a consumer. Those of a block are removed in one pass.
func (x *rows) removeOwned(c *Consumer) {
	was := x.weight()
	for it := c.owned.walk(ID{}, MaxID); it.next(); {
		var at place
		x.seekFrame(&at, it.last)
		n := x.filter(&at, uint64(c.number))
		for x.n -= n; n > 1; n-- {
			it.next()
		}
	}
	x.changes++
	*x.total += x.weight() - was
}

// filter removes the rows of an owner from the row at a place to the end of its block. It returns
// their number.
func (x *rows) filter(at *place, owner uint64) (n int) {
	x.keepAt(at)
	b, f, to := at.b, &at.f, at.i
	rows := b[headSize(x.cols):]
	for i := at.i; i < at.d.live; i++ {
		if f.get(b, i, colOwner) != owner {
			copy(rows[to*f.size:], rows[i*f.size:(i+1)*f.size])
			to++
		}
	}
	n, at.d.live = at.d.live-to, to
	if to == 0 && x.blocks > 1 {
		x.index.remove(at.pos)
		return n
	}
	x.shrink(at, f.size)
	if to < sparseRows {
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
	*x.total -= x.weight()
	x.index.drop()
}
