package stream

// rows is a sorted sequence of rows in blocks of an index. The ID is the first two columns.
//
// # Invariants
//
//   - A block has rows, unless it is the only one. That one stays when its last row goes, so that a
//     queue that is always nearly empty does not allocate.
//   - live of a block is the number of its rows. The first ID of a block may be below that of its
//     first row.
//   - low of a block is not above the times of its rows that have an owner, if the rows have times.
//   - total has what the blocks, the pages and the slice of pages take.
type rows struct {
	index
	cols    int
	n       int     // rows
	total   *tally  // of the group
	near    rowHint // where the last search ended
	lastSet rowHint // where the last row was set
	changes uint32  // counts what moves rows
	rising  uint8   // bits of the columns that grow from row to row as a rule
}

// rowHint is the place of a block, if that has not changed, and of a row in the last block that was
// searched, or nowhere in one that was not.
type rowHint struct {
	page   int32
	i, row int16
}

const nowhere = rowsPerBlock + 1

// A block with fewer rows than sparseRows is merged with a neighbour if they have no more than
// mergedRows together.
const (
	sparseRows = rowsPerBlock / 4
	mergedRows = rowsPerBlock / 2
)

func (x *rows) init(sh *Shared, total *tally, cols int, rising uint8) {
	x.sh, x.total, x.cols, x.rising = sh, total, cols, rising
}

// weight returns what the index takes in all.
func (x *rows) weight() int64 { return x.bytes + int64(cap(x.pages))*pageGoBytes }

// blockOf finds the last block whose first ID is not above id. ok is false if there is none.
func (x *rows) blockOf(at *place, id ID) (ok bool) {
	last := len(x.pages) - 1
	if last < 0 {
		return false
	}
	if pg := &x.pages[last]; !id.Less(pg.first) {
		i := int(pg.n) - 1
		if b := x.table(pg)[i*blockInfo:]; !id.Less(getID(b)) {
			at.pos, at.info = pos{last, i}, b
			return true
		}
	}
	at.pos = pos{int(x.near.page), int(x.near.i)}
	if at.page <= last && at.pos.i < int(x.pages[at.page].n) && x.covers(at, id) {
		return true
	}
	if at.pos, ok = x.find(id); ok {
		x.near = rowHint{int32(at.page), int16(at.pos.i), nowhere}
		at.info = x.info(at.pos)
	}
	return ok
}

// covers reports whether an ID belongs into the block at a place.
func (x *rows) covers(at *place, id ID) bool {
	pg := &x.pages[at.page]
	b := x.table(pg)[at.pos.i*blockInfo:]
	at.info = b
	switch {
	case id.Less(getID(b)):
		return false
	case len(b) > blockInfo:
		return id.Less(getID(b[blockInfo:]))
	}
	return at.page+1 == len(x.pages) || id.Less(x.pages[at.page+1].first)
}

// place is where a row is or belongs.
type place struct {
	pos
	i    int    // the row in the block
	info []byte // the block's descriptor, or more
	b    []byte // the block
	d    block
	f    frame
}

// enter goes to the beginning of a block.
func (at *place) enter(x *rows, p pos) {
	at.pos, at.i = p, 0
	at.info = x.info(p)
	at.open(x)
	at.f.read(at.b, x.cols)
}

// open reads the descriptor.
func (at *place) open(x *rows) {
	getInfo(at.info, &at.d)
	at.b = x.data(&at.d)
}

// save stores the descriptor.
func (at *place) save(x *rows) { x.storeInfo(at.pos, at.info, &at.d) }

// seek finds the place of the row with that ID, but not the frame. If there is no block that it
// could be in, it leaves d and f as they were.
func (x *rows) seek(at *place, id ID) (found bool) {
	if !x.blockOf(at, id) {
		return false
	}
	at.open(x)
	x.fetch(at)
	head := headSize(x.cols)
	var f idFrame
	f.read(at.b[:head])
	at.i, found = f.search(at.b[head:], at.d.live, int(x.near.row), id)
	x.near.row = int16(at.i)
	return found
}

// seekFrame is seek for those who need the frame.
func (x *rows) seekFrame(at *place, id ID) (found bool) {
	if !x.blockOf(at, id) {
		return false
	}
	at.open(x)
	x.fetch(at)
	at.f.read(at.b, x.cols)
	f := at.f.ids()
	at.i, found = f.search(at.b[headSize(x.cols):], at.d.live, int(x.near.row), id)
	x.near.row = int16(at.i)
	return found
}

// fetchFrom is the number of blocks from which rows are hardly ever cached if IDs come at random.
const fetchFrom = 512

// fetch starts to bring a block that was not searched last into the cache, all of it at once. The
// search reads every third line, and who removes a row moves half of them.
func (x *rows) fetch(at *place) {
	if x.blocks >= fetchFrom && x.near.row == nowhere {
		x.index.fetch(&at.d, at.d.n)
	}
}

// get reads the row at a place that seekFrame has found.
func (at *place) get(r *row) { at.f.row(at.b, at.i, r) }

// lowOf returns the bound of a row's time for low.
func lowOf(cols int, r *row) int64 {
	switch {
	case cols != pendingCols:
		return 0
	case r[colOwner] == 0:
		return maxLow
	}
	return unflip(r[colTime])
}

// insert adds a row, whose ID must not be there yet.
func (x *rows) insert(r *row) {
	var at place
	x.seekFrame(&at, r.id())
	x.insertAt(&at, r)
}

// insertAt adds a row at the place where seekFrame has not found it.
func (x *rows) insertAt(at *place, r *row) {
	was := x.weight()
	x.changes++
	x.n++
	switch {
	case len(x.pages) == 0:
		x.begin(r, nil)
	case at.d.ref == 0: // it comes before all
		at.enter(x, pos{})
		fallthrough
	default:
		x.putInto(at, r)
	}
	x.total.add(x.weight() - was)
}

// begin makes a block of one row. like is the frame of the block before it, or nil.
func (x *rows) begin(r *row, like *frame) {
	f := span{*r, *r}.frameLike(like, x.cols, x.rising)
	d := x.alloc(r.id(), blockSize(x.cols, f.size, 1))
	b := x.resize(&d, blockSize(x.cols, f.size, 1), 0)
	f.write(b)
	f.putRow(b, 0, 0, r)
	d.live, d.low = 1, lowOf(x.cols, r)
	x.index.insert(d)
}

// frameLike returns a frame for rows that begin with one row and are much like those of another
// frame, which may be nil.
func (s span) frameLike(like *frame, cols int, rising uint8) (f frame) {
	if like == nil {
		return s.frame(cols, true)
	}
	f = *like
	for c := range cols {
		v := s.lo[c]
		if rising>>c&1 != 0 {
			f.base[c] = v
		} else if v < f.base[c] || v-f.base[c] > f.mask[c]>>1 {
			f.base[c] = v - min(v, f.mask[c]>>2)
		}
	}
	return f
}

// putInto puts a row into the block at a place, or beside it if that is full.
func (x *rows) putInto(at *place, r *row) {
	if at.d.live == rowsPerBlock {
		if at.i == rowsPerBlock || at.i == 0 && r.id().Less(at.d.first) {
			if at.i != 0 {
				x.tighten(at)
			}
			x.begin(r, &at.f)
			return
		}
		x.split(at)
		x.seekFrame(at, r.id())
	}
	x.keepAt(at)
	d := &at.d
	n := d.live
	switch {
	case n == 0: // the only block, and nothing in it
		at.f = span{*r, *r}.frameLike(&at.f, x.cols, x.rising)
		at.f.write(at.b)
		d.first, d.low = r.id(), maxLow
	case !at.f.fits(r):
		x.reframe(at, r)
	}
	f := &at.f
	size := blockSize(x.cols, f.size, n+1)
	b := x.resize(d, size, size+size/4)
	from := headSize(x.cols) + at.i*f.size
	copy(b[from+f.size:], b[from:headSize(x.cols)+n*f.size])
	f.putRow(b, at.i, 0, r)
	d.live++
	d.low = min(d.low, lowOf(x.cols, r))
	if id := r.id(); id.Less(d.first) {
		d.first = id
	}
	at.save(x)
}

// reframe gives a block, which has been kept, a frame that the row fits into. put must follow.
func (x *rows) reframe(at *place, r *row) {
	s := spanOf(r)
	s.addRows(&at.f, at.b, at.d.live)
	f := s.frame(x.cols, false)
	x.setFrame(at, &f)
}

// setFrame gives a block, which has been kept, another frame. put must follow.
func (x *rows) setFrame(at *place, f *frame) {
	x.changes++
	n := at.d.live
	size := blockSize(x.cols, f.size, n)
	at.b = x.resize(&at.d, max(size, at.d.n), size+size/4)
	recode(at.b, n, &at.f, f)
	at.d.n, at.b = size, at.b[:size]
	at.f = *f
}

// tighten makes a block that is full as small as it can be.
func (x *rows) tighten(at *place) {
	x.keepAt(at)
	x.pack(at)
	x.changes++
	x.fit(&at.d)
	at.save(x)
}

// split moves the second half of a full block into a new one.
func (x *rows) split(at *place) {
	x.keep(at.pos)
	d := x.at(at.pos)
	b := x.data(&d)
	half := d.live / 2
	size := blockSize(x.cols, at.f.size, d.live-half)
	to := x.alloc(at.f.id(b, half), size)
	nb := x.resize(&to, size, size)
	at.f.write(nb)
	copy(nb[headSize(x.cols):], b[headSize(x.cols)+half*at.f.size:])
	to.live, to.low = d.live-half, d.low
	d.live = half
	d.n = blockSize(x.cols, at.f.size, half)
	x.fit(&d)
	x.put(at.pos, d)
	x.index.insert(to)
}

// keepAt keeps the block at a place, which is about to change.
func (x *rows) keepAt(at *place) {
	if x.frozen != nil {
		x.keep(at.pos)
		at.open(x)
	}
}

// rowSize returns the size of a block's rows.
func (x *rows) rowSize(b []byte) int {
	var f idFrame
	f.read(b[:headSize(x.cols)])
	return f.size
}

// set changes the row at a place, whose ID stays.
func (x *rows) set(at *place, r *row) {
	x.keepAt(at)
	if !at.f.fits(r) {
		was := x.weight()
		x.reframe(at, r)
		x.total.add(x.weight() - was)
	}
	low := at.d.low
	var old row
	at.get(&old)
	at.f.putRow(at.b, at.i, 2, r)
	at.d.low = min(low, lowOf(x.cols, r))
	if x.cols != pendingCols {
		at.save(x)
		return
	}
	// A walk sets one row after the other. What it leaves behind is put right at the block's end.
	here := rowHint{int32(at.page), int16(at.pos.i), int16(at.i)}
	walk := x.lastSet == rowHint{here.page, here.i, here.row - 1}
	x.lastSet = here
	switch {
	case at.i == at.d.live-1:
		x.settle(at)
	case !walk && lowOf(x.cols, &old) == low:
		at.lowest()
	}
	at.save(x)
	if pg := &x.pages[at.page]; low < at.d.low && low == pg.low {
		b := x.table(pg)
		i, _ := lowestBlock(b)
		pg.low = lowAt(b[i*blockInfo:])
	}
}

// settle puts a block, which has been kept, in order after its last row was set: a walk over many
// entries sets the last one when it has set the others. If the first and the last row suggest that
// all times are near each other again, rows become as small as they can be. Such a walk makes the
// first block wider, where old and new times meet. save must follow.
func (x *rows) settle(at *place) {
	first, last := at.f.get(at.b, 0, colTime), at.f.get(at.b, at.i, colTime)
	if widthOf(max(first, last)-min(first, last)) < widthOf(at.f.mask[colTime]) {
		was := x.weight()
		x.pack(at)
		x.total.add(x.weight() - was)
	}
	at.b = x.data(&at.d)
	at.lowest()
}

// pack gives a block, which has been kept, the tightest frame. store must follow.
func (x *rows) pack(at *place) {
	var r row
	at.f.row(at.b, 0, &r)
	s := spanOf(&r)
	s.addRows(&at.f, at.b, at.d.live)
	if f := s.frame(x.cols, true); f.size < at.f.size {
		x.setFrame(at, &f)
		x.fit(&at.d)
	}
}
