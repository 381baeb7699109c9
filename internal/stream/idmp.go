package stream

import (
	"math"
	"slices"
)

// IDMP keeps which entries producers have added lately, so that one that is sent again is not added
// again. Its records are few and short-lived, and lie in Go's heap.
type IDMP struct {
	Duration  int64 // seconds that a record counts
	MaxSize   int   // records of a producer
	Added     int64 // records ever added
	Duplicate int64 // entries that were not added again
}

// What the directives stream-idmp-duration and stream-idmp-maxsize are by default. A stream without
// settings of its own has these.
const (
	DefaultDuration = 100
	DefaultMaxSize  = 100
)

// DefaultIDMP returns the settings of a stream that has none of its own, and no counts.
func DefaultIDMP() IDMP { return IDMP{Duration: DefaultDuration, MaxSize: DefaultMaxSize} }

// Record is what a producer has added.
type Record struct {
	IID string // the idempotent ID
	ID  ID     // of the entry
}

// Producer is what one producer has added, oldest first.
type Producer struct {
	PID     string
	Records []Record // must not be changed
}

// idmp is what a stream keeps of its producers.
type idmp struct {
	IDMP
	byPID   map[string]*producer
	list    []*producer // the same, in no order
	records int
	bytes   int   // of Go's heap, see below
	place   int   // in Shared.producing plus 1; 0: it has no records
	walk    sweep // of Expire
}

// sweep is a walk over the producers that finds the records that do not count any more. It goes
// from the end of the list to its front, some producers at a time.
type sweep struct {
	left   int    // producers that are still to be looked at
	lowest uint64 // the earliest record that it has met, or that came since it began
	oldest uint64 // a bound below the times of all records
}

// producer is a Producer that changes. Its records only grow at the end and shrink at the start, so
// a copy of the slice stays as it is.
type producer struct {
	Producer
	byIID map[string]ID // nil while there are few
	at    int           // in idmp.list
}

// manyRecords is how many records have a map.
const manyRecords = 16

// What a stream's IDMP, a producer and a record take in Go's heap besides names, and a record of a
// map.
const (
	idmpGoBytes     = 112
	producerGoBytes = 56
	recordGoBytes   = 32
	mappedGoBytes   = 40
	listedGoBytes   = producerGoBytes + mappedGoBytes + pointerBytes
)

// IDMP returns the stream's settings and counts, nil if it has none of its own.
func (s *Stream) IDMP() *IDMP {
	if s.idmp == nil {
		return nil
	}
	return &s.idmp.IDMP
}

// UseIDMP returns IDMP, which it makes with these settings if there is none.
func (s *Stream) UseIDMP(duration int64, maxSize int) *IDMP {
	if s.idmp == nil {
		s.idmp = &idmp{IDMP: IDMP{Duration: duration, MaxSize: maxSize}}
		s.countIDMP(idmpGoBytes)
		s.sh.census.IDMP++
		s.sh.ever.IDMP++
	}
	return &s.idmp.IDMP
}

// countIDMP counts bytes that producers take of Go's heap.
func (s *Stream) countIDMP(n int) {
	s.idmp.bytes += n
	s.countGo(n)
}

// Producers returns the producers, in no order. Their records must not be changed.
func (s *Stream) Producers() []Producer {
	if s.idmp == nil || len(s.idmp.list) == 0 {
		return nil
	}
	p := make([]Producer, len(s.idmp.list))
	for i, from := range s.idmp.list {
		p[i] = from.Producer
		p[i].Records = slices.Clip(from.Records)
	}
	return p
}

// Tracked returns the number of producers, and of the records that they have in all.
func (s *Stream) Tracked() (producers, records int) {
	if s.idmp == nil {
		return 0, 0
	}
	return len(s.idmp.list), s.idmp.records
}

// Lookup returns the entry that the producer has added with this idempotent ID, if that counts yet
// at the time now in unix ms. A record is as old as the time in its entry's ID.
func (s *Stream) Lookup(pid, iid []byte, now int64) (id ID, ok bool) {
	if s.idmp == nil {
		return id, false
	}
	p := s.idmp.byPID[string(pid)]
	if p == nil {
		return id, false
	}
	id, ok = p.find(iid)
	return id, ok && !s.idmp.due(id.Ms, now)
}

// find returns the entry that was added last with the idempotent ID.
func (p *producer) find(iid []byte) (id ID, ok bool) {
	if p.byIID != nil {
		id, ok = p.byIID[string(iid)]
		return id, ok
	}
	for i := len(p.Records) - 1; i >= 0; i-- {
		if p.Records[i].IID == string(iid) {
			return p.Records[i].ID, true
		}
	}
	return id, false
}

// due reports whether a record of that time does not count any more.
func (m *idmp) due(ms uint64, now int64) bool {
	last := now - m.Duration*1000
	return now >= 0 && last >= 0 && ms <= uint64(last)
}

// Note records that the producer has added the entry. UseIDMP must have been called. The records of
// the producer that do not count any more at the time now go, and its oldest if there are too many.
func (s *Stream) Note(pid, iid []byte, id ID, now int64) {
	m := s.idmp
	p := m.byPID[string(pid)]
	if p == nil {
		p = s.addProducer(string(pid))
	}
	if _, again := p.find(iid); again {
		s.forgetIID(p, iid)
	}
	s.addRecord(p, Record{string(iid), id})
	m.Added = More(m.Added)
	s.dropRecords(p, max(m.expired(p, now), len(p.Records)-m.MaxSize))
}

// expired returns how many records of the producer do not count any more, up to the first that
// does.
func (m *idmp) expired(p *producer, now int64) (n int) {
	for n < len(p.Records) && m.due(p.Records[n].ID.Ms, now) {
		n++
	}
	return n
}

func (s *Stream) addProducer(pid string) *producer {
	m := s.idmp
	if m.byPID == nil {
		m.byPID = map[string]*producer{}
	}
	p := &producer{Producer: Producer{PID: pid}, at: len(m.list)}
	m.byPID[pid] = p
	m.list = append(m.list, p)
	s.countIDMP(listedGoBytes + len(pid))
	return p
}

// addRecord adds a record, whose idempotent ID the producer does not have.
func (s *Stream) addRecord(p *producer, r Record) {
	m := s.idmp
	was := cap(p.Records)
	p.Records = append(p.Records, r)
	s.countIDMP((cap(p.Records)-was)*recordGoBytes + len(r.IID))
	if m.records == 0 {
		m.walk = sweep{oldest: r.ID.Ms}
	}
	m.walk.oldest, m.walk.lowest = min(m.walk.oldest, r.ID.Ms), min(m.walk.lowest, r.ID.Ms)
	s.setRecords(m.records + 1)
	switch {
	case p.byIID != nil:
		p.byIID[r.IID] = r.ID
		s.countIDMP(mappedGoBytes)
	case len(p.Records) > manyRecords:
		p.byIID = make(map[string]ID, 2*manyRecords)
		for _, r := range p.Records {
			p.byIID[r.IID] = r.ID
		}
		s.countIDMP(len(p.byIID) * mappedGoBytes)
	}
}

// dropRecords drops the n oldest records of a producer, and the producer if it has no other.
func (s *Stream) dropRecords(p *producer, n int) {
	if n <= 0 {
		return
	}
	for _, r := range p.Records[:n] {
		s.countIDMP(-recordGoBytes - len(r.IID))
		if p.byIID != nil {
			delete(p.byIID, r.IID)
			s.countIDMP(-mappedGoBytes)
		}
	}
	p.Records = p.Records[n:] // an addition that finds no room copies what is left
	s.setRecords(s.idmp.records - n)
	if len(p.Records) == 0 {
		s.countIDMP(-cap(p.Records) * recordGoBytes)
		s.dropProducer(p)
	}
}

// forgetIID drops one record of a producer.
func (s *Stream) forgetIID(p *producer, iid []byte) {
	old := p.Records
	i := slices.IndexFunc(old, func(r Record) bool { return r.IID == string(iid) })
	kept := make([]Record, 0, len(old))
	kept = append(append(kept, old[:i]...), old[i+1:]...)
	s.countIDMP((cap(kept)-cap(old))*recordGoBytes - len(iid))
	if p.byIID != nil {
		delete(p.byIID, string(iid))
		s.countIDMP(-mappedGoBytes)
	}
	p.Records = kept
	s.setRecords(s.idmp.records - 1)
}

// dropProducer removes a producer that has no records. The last one takes its place in the list. A
// walk has looked at that already, or it came later.
func (s *Stream) dropProducer(p *producer) {
	m := s.idmp
	delete(m.byPID, p.PID)
	last := len(m.list) - 1
	moved := m.list[last]
	m.list[p.at], moved.at = moved, p.at
	m.list[last] = nil
	m.list = m.list[:last]
	s.countIDMP(-listedGoBytes - len(p.PID))
}

// Expire drops records that do not count any more at the time now, unix ms, and producers without
// records. It looks at n producers at most, and goes on with others the next time. It returns how
// many it has looked at: none as long as no record is due.
func (s *Stream) Expire(now int64, n int) (looked int) {
	m := s.idmp
	if m == nil || m.records == 0 {
		return 0
	}
	w := &m.walk
	if w.left == 0 {
		if !m.due(w.oldest, now) {
			return 0
		}
		w.left, w.lowest = len(m.list), math.MaxUint64
	}
	for ; looked < n && w.left > 0; looked++ {
		w.left = min(w.left, len(m.list)) - 1
		if w.left < 0 {
			break
		}
		p := m.list[w.left]
		if s.dropRecords(p, m.expired(p, now)); len(p.Records) > 0 {
			w.lowest = min(w.lowest, p.Records[0].ID.Ms)
		}
	}
	if w.left <= 0 {
		w.left, w.oldest = 0, w.lowest
	}
	return looked
}

// ClearIDMP drops all records. Go's collector frees them.
func (s *Stream) ClearIDMP() {
	m := s.idmp
	if m == nil {
		return
	}
	s.countIDMP(idmpGoBytes - m.bytes)
	s.setRecords(0)
	m.byPID, m.list, m.walk = nil, nil, sweep{}
}

// dropIDMP drops records, settings and counts.
func (s *Stream) dropIDMP() {
	if s.idmp != nil {
		s.ClearIDMP()
		s.countIDMP(-idmpGoBytes)
		s.sh.census.IDMP--
		s.idmp = nil
	}
}

// cloneIDMP copies records, settings and counts.
func (s *Stream) cloneIDMP(to *Stream) {
	if s.idmp == nil {
		return
	}
	to.UseIDMP(0, 0)
	to.idmp.IDMP = s.idmp.IDMP
	for _, p := range s.idmp.list {
		to.copyProducer(&p.Producer)
	}
}

// copyProducer adds a producer that is not there.
func (s *Stream) copyProducer(from *Producer) {
	p := s.addProducer(from.PID)
	for _, r := range from.Records {
		s.addRecord(p, r)
	}
}
