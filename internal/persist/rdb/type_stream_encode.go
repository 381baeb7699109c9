package rdb

import (
	"encoding/binary"

	"godwit/internal/object"
	"godwit/internal/stream"
)

// streamEncoder is the ElementEncoder of streams. Their parts come in the order of the record, so
// all that it adds is what stands between them.
type streamEncoder struct {
	noEnd
	op    byte
	meta  *stream.Meta
	group *stream.GroupInfo // the one that is being written, nil before the first
	stage groupStage
	heir  []byte // IDs of the group's NACKed entries, if the record cannot tell that they are
}

// groupStage is what of a group has begun.
type groupStage uint8

const (
	groupPending groupStage = iota
	groupConsumers
	groupNacked
)

func encodeStream(e *Encoder, op byte, x *object.Edit) {
	s := newStreamEncoder(e, op, x.Stream().Meta())
	x.Each(func(el *object.Element) bool {
		s.Element(e, el)
		return true
	})
}

func streamHead(e *Encoder, o *object.Outline) ElementEncoder {
	return newStreamEncoder(e, e.streamOp(o.StreamMeta), o.StreamMeta)
}

// newStreamEncoder begins the record.
func newStreamEncoder(e *Encoder, op byte, m *stream.Meta) *streamEncoder {
	e.Len(uint64(m.Nodes))
	return &streamEncoder{op: op, meta: m}
}

// savedStreamLen encodes the stream part by part.
func savedStreamLen(x *object.Edit) int {
	var e Encoder
	m := x.Stream().Meta()
	s := newStreamEncoder(&e, e.streamOp(m), m)
	n := len(e.B)
	x.Each(func(el *object.Element) bool {
		e.B = e.B[:0]
		s.Element(&e, el)
		n += len(e.B)
		return true
	})
	return n
}

// Element implements ElementEncoder.
func (s *streamEncoder) Element(e *Encoder, el *object.Element) {
	p := el.Part
	switch p.Kind {
	case stream.PartEntries:
		s.node(e, p)
	case stream.PartMeta:
		s.numbers(e)
	case stream.PartGroup:
		s.endGroup(e)
		s.beginGroup(e, p.Group)
	case stream.PartPending:
		p.EachPending(func(id stream.ID, owner *stream.ConsumerInfo, time, count int64) {
			e.rawID(id)
			e.time(time)
			e.Len(uint64(count))
			if owner == nil && s.op < typeStream5 {
				s.heir = id.AppendBytes(s.heir)
			}
		})
	case stream.PartConsumer:
		s.upTo(e, groupConsumers)
		s.consumer(e, p.Consumer)
	case stream.PartOwned:
		p.EachID(e.rawID)
	case stream.PartNacked:
		s.upTo(e, groupNacked)
		if s.op >= typeStream5 {
			p.EachID(e.rawID)
		}
	case stream.PartEnd:
		s.endGroup(e)
		if s.op >= typeStream4 {
			s.producers(e)
		}
	}
}

// node adds a node of entries.
func (s *streamEncoder) node(e *Encoder, p *stream.Part) {
	lp, master := p.AppendListpack(e.scratch[:0])
	var id [stream.IDLen]byte
	e.String(master.AppendBytes(id[:0]))
	e.String(lp)
	e.scratch = lp
	if cap(lp) > maxScratch {
		e.scratch = nil
	}
}

// maxScratch is the largest buffer in bytes that is kept for the next node.
const maxScratch = 1 << 20

// numbers adds what describes the whole stream.
func (s *streamEncoder) numbers(e *Encoder) {
	m := s.meta
	e.Len(uint64(m.Len))
	e.id(m.LastID)
	if s.op >= typeStream2 {
		e.id(m.First)
		e.id(m.MaxDeleted)
		e.Len(m.Added)
	}
	e.Len(uint64(m.Groups))
}

// beginGroup adds a group up to its pending entries.
func (s *streamEncoder) beginGroup(e *Encoder, g *stream.GroupInfo) {
	s.group, s.stage = g, groupPending
	e.String([]byte(g.Name))
	e.id(g.LastID)
	if s.op >= typeStream2 {
		e.Len(uint64(g.Read))
	}
	e.Len(uint64(g.Pending))
}

// upTo adds what stands before a stage of the group, if it has not begun.
func (s *streamEncoder) upTo(e *Encoder, stage groupStage) {
	if s.stage < groupConsumers && stage >= groupConsumers {
		s.beginConsumers(e)
	}
	if s.stage < groupNacked && stage >= groupNacked && s.op >= typeStream5 {
		e.Len(uint64(s.group.Nacked))
	}
	s.stage = max(s.stage, stage)
}

// endGroup ends the group, if there is one.
func (s *streamEncoder) endGroup(e *Encoder) {
	if s.group != nil {
		s.upTo(e, groupNacked)
		s.group, s.heir = nil, s.heir[:0]
	}
}

// beginConsumers begins the group's consumers. What is NACKed goes to the one whose name is
// empty, and which would be the first: it is added if there is none.
func (s *streamEncoder) beginConsumers(e *Encoder) {
	all := s.group.Consumers
	if len(s.heir) == 0 || len(all) > 0 && all[0].Name == "" {
		e.Len(uint64(len(all)))
		return
	}
	e.Len(uint64(len(all) + 1))
	s.consumer(e, &stream.ConsumerInfo{Active: stream.NeverActive})
}

// consumer adds a consumer up to the IDs of what it has pending.
func (s *streamEncoder) consumer(e *Encoder, c *stream.ConsumerInfo) {
	e.String([]byte(c.Name))
	e.time(c.Seen)
	if s.op >= typeStream3 {
		e.time(c.Active)
	}
	n := c.Pending
	if c.Name == "" {
		n += len(s.heir) / stream.IDLen
	}
	e.Len(uint64(n))
	if c.Name == "" {
		e.B = append(e.B, s.heir...)
	}
}

// producers adds what producers have added lately.
func (s *streamEncoder) producers(e *Encoder) {
	m := stream.DefaultIDMP()
	if s.meta.IDMP != nil {
		m = *s.meta.IDMP
	}
	e.Len(uint64(m.Duration))
	e.Len(uint64(m.MaxSize))
	e.Len(uint64(len(s.meta.Producers)))
	for _, p := range s.meta.Producers {
		e.String([]byte(p.PID))
		e.Len(uint64(len(p.Records)))
		for _, r := range p.Records {
			e.String([]byte(r.IID))
			e.id(r.ID)
		}
	}
	e.Len(uint64(m.Added))
	e.Len(uint64(m.Duplicate))
}

// id adds an ID as two lengths.
func (e *Encoder) id(id stream.ID) {
	e.Len(id.Ms)
	e.Len(id.Seq)
}

// rawID adds an ID in 16 bytes.
func (e *Encoder) rawID(id stream.ID) { e.B = id.AppendBytes(e.B) }

// time adds a time in unix ms.
func (e *Encoder) time(ms int64) { e.B = binary.LittleEndian.AppendUint64(e.B, uint64(ms)) }
