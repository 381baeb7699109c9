package stream

// Count returns the number of entries from one ID to another, both included, but no more than
// limit. It looks only into blocks that lie partly within the range.
func (s *Stream) Count(from, to ID, limit int) (n int) {
	x := &s.entries
	p, ok := x.find(from)
	if !ok {
		p, ok = x.head()
	}
	for ok && n < limit {
		d := x.at(p)
		if to.Less(d.first) {
			break
		}
		last := s.LastID // of the block's entries, or an ID between them and the next block
		next, more := x.next(p)
		if more {
			last = x.at(next).first
		}
		if !d.first.Less(from) && !to.Less(last) {
			n += d.live
		} else {
			n += countIn(d.first, x.data(&d), from, to, limit-n)
		}
		p, ok = next, more
	}
	return min(n, limit)
}

// countIn returns the number of entries of a block in the range, but no more than limit.
func countIn(first ID, b []byte, from, to ID, limit int) (n int) {
	for c := scanOf(first, b); n < limit && c.live() && !to.Less(c.id); {
		if !c.id.Less(from) {
			n++
		}
	}
	return n
}
