package stream

// Oldest returns the pending entry that was NACKed first or, if there is none, was delivered
// the longest time ago: of those with equal times the one with the smallest ID. ok is false if
// nothing is pending.
//
// Blocks and pages have bounds below their times. They may be too low after rows went or a walk set
// some rows of a block, and are put right here, when they are the lowest: that costs a look at a
// block and at a page of descriptors for one or more changes that were made before.
func (g *Group) Oldest() (p Pending, ok bool) {
	if g.Nacked() > 0 {
		it := g.nacked.walk(ID{}, MaxID)
		it.next()
		return g.Find(ID{it.value(colMs), it.value(colSeq)})
	}
	if g.pending.n == 0 {
		return p, false
	}
	var at place
	var r row
	g.pending.oldest(&at)
	at.get(&r)
	return g.decode(&r), true
}

// oldest goes to the row with the smallest time, the first of several. There must be one.
func (x *rows) oldest(at *place) {
	for {
		p, rest := x.lowestPage()
		for {
			pg := &x.pages[p]
			i, others := lowestBlock(x.table(pg))
			at.enter(x, pos{p, i})
			at.lowest()
			at.save(x)
			pg.low = min(at.d.low, others.before, others.behind)
			if !rest.above(pg.low) {
				break // another page may have less
			}
			if others.above(at.d.low) {
				return
			}
		}
	}
}

// timeBounds are the lowest bounds of the pages or blocks before and behind one of them.
type timeBounds struct {
	before, behind int64
	first          bool // there is none before
}

// above reports whether a time is smaller than all others, or the first of the smallest.
func (b *timeBounds) above(low int64) bool {
	return (b.first || low < b.before) && low <= b.behind
}

// lowestPage returns the page with the lowest bound, the first of several.
func (x *rows) lowestPage() (best int, others timeBounds) {
	others = timeBounds{maxLow, maxLow, true}
	low := x.pages[0].low
	for i := 1; i < len(x.pages); i++ {
		if l := x.pages[i].low; l < low {
			others = timeBounds{low, maxLow, false}
			best, low = i, l
		} else if l < others.behind {
			others.behind = l
		}
	}
	return best, others
}

// lowestBlock returns the block of a page with the lowest bound, the first of several.
func lowestBlock(b []byte) (best int, others timeBounds) {
	others = timeBounds{maxLow, maxLow, true}
	low := lowAt(b)
	for i := 1; ; i++ {
		if b = b[blockInfo:]; len(b) == 0 {
			return best, others
		}
		if l := lowAt(b); l < low {
			others = timeBounds{low, maxLow, false}
			best, low = i, l
		} else if l < others.behind {
			others.behind = l
		}
	}
}

// lowest goes to the row of the block with the smallest time, and makes that the block's bound.
// Rows without owner do not count.
func (at *place) lowest() {
	f, b, bound := &at.f, at.b, at.d.low
	at.d.low, at.i = maxLow, 0
	allOwned := f.base[colOwner] > 0
	for i := range at.d.live {
		t := unflip(f.get(b, i, colTime))
		if t < at.d.low && (allOwned || f.get(b, i, colOwner) > 0) {
			at.i, at.d.low = i, t
			if t == bound {
				break
			}
		}
	}
}
