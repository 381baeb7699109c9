package stream

// producing is the streams that have records of producers, in no order, so that records go when
// their time is over although nobody asks for them.
type producing struct {
	list []*Stream
	next int // where ExpireRecords goes on, from the end to the front
}

// Producing returns the number of streams that have records of producers.
func (sh *Shared) Producing() int { return len(sh.producing.list) }

// ExpireRecords drops records that do not count any more at the time now, unix ms. It looks at n
// streams and producers at most, in turn. A stream without such records costs a comparison.
func (sh *Shared) ExpireRecords(now int64, n int) {
	p := &sh.producing
	for streams := len(p.list); n > 0 && streams > 0 && len(p.list) > 0; streams-- {
		if p.next--; p.next < 0 || p.next >= len(p.list) {
			p.next = len(p.list) - 1
		}
		s := p.list[p.next]
		n -= 1 + s.Expire(now, n)
		if s.idmp.walk.left > 0 {
			p.next++ // there is more to do
		}
	}
}

// setRecords sets the number of records of the stream.
func (s *Stream) setRecords(n int) {
	m, p := s.idmp, &s.sh.producing
	m.records = n
	switch {
	case n > 0 && m.place == 0:
		p.list = append(p.list, s)
		m.place = len(p.list)
	case n == 0 && m.place > 0:
		last := len(p.list) - 1
		p.list[m.place-1] = p.list[last]
		p.list[m.place-1].idmp.place = m.place
		p.list[last] = nil
		p.list = p.list[:last]
		m.place = 0
	}
}
