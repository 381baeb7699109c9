package stream

// A walk in reverse. Entries can only be read forwards. So the first walk through a block marks
// places in it. Then the entries between two marks are read at once and given out backwards.

// window is some entries of a block, the last ones up to some place.
type window struct {
	n, last int // entries to be given out; one more than the place of the next, modulo windowLen
	end     int // offset up to which entries are still to be put into windows
	step    int // entries from one mark to the next
	marked  int // marks that are set
	e       [windowLen]windowEntry
	marks   [maxMarks]scanMark
	more    []scanMark // those that follow, of a block that a Builder has made long
}

const (
	windowLen = 16
	maxMarks  = 8
	maxStep   = maxNodeEntries / maxMarks // so that a walk is linear, however long the block is
)

// windowEntry is an entry in a window.
type windowEntry struct {
	id          ID
	shape, body uint32
}

// scanMark is a place where a scan can go on.
type scanMark struct {
	at int
	id ID // of the entry before, or the block's first ID
}

// reset begins a block of so many bytes and entries.
func (w *window) reset(bytes, entries int) {
	w.n, w.marked, w.end, w.more = 0, 0, bytes, w.more[:0]
	w.step = min(max(windowLen, (entries+maxMarks-1)/maxMarks), maxStep)
}

// set adds a mark behind the others.
func (w *window) set(m scanMark) {
	if w.marked < maxMarks {
		w.marks[w.marked] = m
	} else {
		w.more = append(w.more, m)
	}
	w.marked++
}

// lastMark returns the last mark.
func (w *window) lastMark() *scanMark {
	if w.marked > maxMarks {
		return &w.more[w.marked-maxMarks-1]
	}
	return &w.marks[w.marked-1]
}

// nextBack moves to the entry before and reports whether there is one.
func (it *Iter) nextBack() bool {
	for w := &it.back; ; {
		switch {
		case w.n > 0:
			w.n--
			w.last--
			e := &w.e[w.last%windowLen]
			it.ID, it.shape, it.body = e.id, int(e.shape), int(e.body)
			return true
		case w.end > 0:
			it.fill()
			continue
		case it.x == nil:
			return false
		}
		p, ok := it.x.prev(it.p)
		if !ok || !it.from.Less(it.c.id) {
			it.x = nil
			return false
		}
		it.enter(p)
	}
}

// fill puts the last entries up to the window's end into the window, from the last mark before it
// on. There are marks only after the first call for a block, which also takes note of the shapes.
func (it *Iter) fill() {
	w, c, n := &it.back, it.c, 0
	var starts [windowLen]int
	begin, fresh := 0, w.marked == 0
	if !fresh {
		for w.lastMark().at >= w.end {
			w.marked--
		}
		m := w.lastMark()
		begin, c.end, c.id = m.at, m.at, m.id
	}
	for i := 0; ; i++ {
		if fresh && i == w.marked*w.step {
			w.set(scanMark{c.end, c.id})
		}
		if !c.next() || c.at >= w.end || it.to.Less(c.id) {
			break
		}
		if fresh {
			it.shapes.met(&c)
		}
		if c.dead() || c.id.Less(it.from) {
			continue
		}
		starts[n%windowLen] = c.at
		w.e[n%windowLen] = windowEntry{c.id, uint32(it.shapes.of(&c)), uint32(c.body)}
		n++
	}
	w.n, w.last, w.end = min(n, windowLen), n, begin
	if n > windowLen {
		w.end = starts[n%windowLen]
	}
}
