package stream

// Part is a piece of a stream on its way into a file, a rewritten log or another stream. All parts
// of a stream together are the stream. They come in this order:
//
//	PartEntries …                              the entries, a block each, by ascending ID
//	PartMeta
//	for each group, in the order of their names:
//	    PartGroup
//	    PartPending …                          all that is pending, by ascending ID
//	    for each consumer, in the order of their names:
//	        PartConsumer
//	        PartOwned …                        what it has pending, by ascending ID
//	    PartNacked …                           what is NACKed, in that order
//	PartEnd
//
// What a Part refers to is good until the next one or the next change of the stream.
type Part struct {
	Kind     PartKind
	Group    *GroupInfo    // of PartGroup, PartPending, PartConsumer, PartOwned and PartNacked
	Consumer *ConsumerInfo // of PartConsumer and PartOwned

	meta  *Meta   // of PartMeta; nil until it is asked for, if of is set
	of    *Stream // the stream to ask for it
	block []byte  // of entries, rows or IDs
	info  block   // of entries
	it    Iter    // of EachEntry
	partRows
}

// PartKind is what a Part is.
type PartKind uint8

// The kinds of parts.
const (
	PartEntries PartKind = iota
	PartMeta
	PartGroup
	PartPending
	PartConsumer
	PartOwned
	PartNacked
	PartEnd
)

// Meta is what there is to say of a stream beside its parts.
type Meta struct {
	Nodes      int // PartEntries
	Len        int
	LastID     ID
	First      ID
	MaxDeleted ID
	Added      uint64
	Groups     int
	Nacked     int   // NACKed entries of all groups
	IDMP       *IDMP // nil if the stream has none of its own
	Known      int   // length of Producers, which Summary leaves out
	Producers  []Producer
}

// GroupInfo is a group as it is saved.
type GroupInfo struct {
	Name      string
	LastID    ID
	Read      int64
	Pending   int
	Nacked    int
	Consumers []*ConsumerInfo
}

// ConsumerInfo is a consumer as it is saved.
type ConsumerInfo struct {
	Name         string
	Seen, Active int64
	Pending      int
}

// EachEntry calls f for the entries of PartEntries.
func (p *Part) EachEntry(f func(it *Iter)) {
	p.it.x, p.it.from, p.it.to = nil, ID{}, MaxID
	p.it.begin(&p.info, p.block)
	for p.it.Next() {
		f(&p.it)
	}
}

// Meta returns what PartMeta says.
func (p *Part) Meta() *Meta {
	if p.meta == nil {
		p.meta = p.of.Meta()
	}
	return p.meta
}

// Rows returns the number of entries, rows or IDs of the part.
func (p *Part) Rows() int {
	if p.Kind == PartEntries {
		return p.info.live
	}
	return p.groupRows()
}

// EachPart calls visit for all parts of the stream until it returns false.
func (s *Stream) EachPart(visit func(p *Part) bool) {
	p := &Part{}
	x := &s.entries
	for at, ok := x.head(); ok; at, ok = x.next(at) {
		p.info = x.at(at)
		p.block = x.data(&p.info)
		if !visit(p) {
			return
		}
	}
	*p = Part{Kind: PartMeta, of: s}
	if !visit(p) || !s.eachGroupPart(p, visit) {
		return
	}
	*p = Part{Kind: PartEnd}
	visit(p)
}

// Parts returns the number of parts.
func (s *Stream) Parts() int { return s.entries.blocks + 1 + s.groupParts() + 1 }

// Meta returns what there is to say of the stream beside its parts. It copies the list of
// producers.
func (s *Stream) Meta() *Meta {
	m := s.Summary()
	if m.IDMP != nil {
		settings := *m.IDMP
		m.IDMP, m.Producers = &settings, s.Producers()
	}
	return &m
}

// Summary returns Meta without Producers. It copies nothing: IDMP is good until the stream's next
// change.
func (s *Stream) Summary() Meta {
	m := Meta{Nodes: s.Nodes(), Len: s.n, LastID: s.LastID, First: s.First(),
		MaxDeleted: s.MaxDeleted, Added: s.Added, Groups: len(s.groups), IDMP: s.IDMP()}
	for _, g := range s.groups {
		m.Nacked += g.Nacked()
	}
	m.Known, _ = s.Tracked()
	return m
}
