package stream

import "godwit/internal/arena"

// copyOf makes the empty index a copy of another, which may be of another heap.
func (x *index) copyOf(from *index) {
	for p, ok := from.head(); ok; p, ok = from.next(p) {
		d := from.at(p)
		x.insertCopy(d, from.data(&d))
	}
}

// insertCopy inserts a copy of a block.
func (x *index) insertCopy(d block, b []byte) {
	c := x.alloc(d.first, len(b))
	c.n, c.live, c.dead, c.low = len(b), d.live, d.dead, d.low
	copy(x.data(&c), b)
	x.insert(c)
}

// defrag offers the pages from the given one on, and their blocks, to arena.Move, as long as
// budget, from which it takes blocks and KiB, is above 0. It returns the next page, and whether
// there is none.
func (x *index) defrag(page int, budget *int) (next int, done bool) {
	for ; page < len(x.pages) && *budget > 0; page++ {
		pg := &x.pages[page]
		pg.ref = x.sh.A.Move(pg.ref, int(pg.room)*blockInfo, arena.Tables)
		for i := range int(pg.n) {
			p := pos{page, i}
			d := x.at(p)
			*budget -= 1 + d.room>>10
			if ref := x.sh.A.Move(d.ref, d.room, arena.Values); ref != d.ref {
				d.ref = ref
				x.put(p, d)
			}
		}
	}
	return page, page >= len(x.pages)
}
