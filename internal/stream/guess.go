package stream

// guessFrom is the number of blocks in a page from which a search begins where the block should be.
// A binary search reads five lines of a full page, each of which is to be waited for.
const guessFrom = 24

// guess returns where the block of an ID should be in its page, if about as many entries came at
// any time: mostly it is there, or beside.
func (x *index) guess(page int, id ID) int {
	pg := &x.pages[page]
	if page+1 == len(x.pages) {
		return int(pg.n) - 1
	}
	first, next := pg.first, x.pages[page+1].first
	at, span := id.Ms-first.Ms, next.Ms-first.Ms
	if span == 0 {
		at, span = id.Seq-first.Seq, next.Seq-first.Seq
	}
	return min(int(float64(at)/float64(span)*float64(pg.n)), int(pg.n)-1)
}

// around returns between which places find has to go on searching in a page, if it begins at one
// of them and goes away from it by steps that double.
func around(b []byte, at int, id ID) (lo, hi int) {
	n := len(b) / blockInfo
	step := 1
	if id.Less(getID(b[at*blockInfo:])) {
		for hi = at; ; step *= 2 {
			if at = hi - step; at <= 0 {
				return 1, hi
			}
			if !id.Less(getID(b[at*blockInfo:])) {
				return at + 1, hi
			}
			hi = at
		}
	}
	for lo = at + 1; ; step *= 2 {
		if at = lo + step - 1; at >= n {
			return lo, n
		}
		if id.Less(getID(b[at*blockInfo:])) {
			return lo, at
		}
		lo = at + 1
	}
}
