package rdb

import (
	"math"

	"godwit/internal/listpack"
	"godwit/internal/stream"
)

// streamDecoder reads a stream into a stream.Builder, which finds what is at odds: nodes that
// overlap, names that are there twice, pending entries without an owner or with two. Its methods
// keep the first error and read nothing behind it.
type streamDecoder struct {
	d   *Decoder
	op  byte
	b   *stream.Builder
	m   stream.Meta
	err error

	first stream.ID // of the entries
}

func decodeStream(d *Decoder) (Value, error)  { return d.stream(typeStream) }
func decodeStream2(d *Decoder) (Value, error) { return d.stream(typeStream2) }
func decodeStream3(d *Decoder) (Value, error) { return d.stream(typeStream3) }
func decodeStream4(d *Decoder) (Value, error) { return d.stream(typeStream4) }
func decodeStream5(d *Decoder) (Value, error) { return d.stream(typeStream5) }

// stream reads a stream in the form of the record type.
func (d *Decoder) stream(op byte) (Value, error) {
	at := d.pos
	s := &streamDecoder{d: d, op: op, b: stream.NewBuilder(d.streams)}
	for range s.count(2) {
		s.node()
	}
	s.first = s.b.First()
	s.numbers()
	for range s.count(5) {
		s.group()
	}
	if op >= typeStream4 {
		s.producers()
	}
	if s.err == nil {
		s.b.Meta(&s.m)
		s.must(at, s.b.Finish())
	}
	if s.err != nil {
		return Value{}, s.err
	}
	return Value{form: formStream, n: 1, rare: &rareValue{stream: s.b}}, nil
}

// must keeps the Builder's error for what began at the position.
func (s *streamDecoder) must(at int, err error) {
	if err != nil {
		s.refuse(at, "%v", err)
	}
}

// refuse keeps the error of what began at the position.
func (s *streamDecoder) refuse(at int, format string, args ...any) {
	if s.err == nil {
		s.d.pos = at
		s.err = s.d.errorf(format, args...)
	}
}

// count reads the number of elements to come, each of which takes at least size bytes.
func (s *streamDecoder) count(size int) (n int) {
	if s.err == nil {
		if n, s.err = s.d.Count(size); s.err != nil {
			n = 0
		}
	}
	return n
}

func (s *streamDecoder) length() (n uint64) {
	if s.err == nil {
		n, s.err = s.d.Len()
	}
	return n
}

// number reads a length that is at least from and at most to. what names it in the error.
func (s *streamDecoder) number(what string, from, to uint64) uint64 {
	at := s.d.pos
	n := s.length()
	if n < from || n > to {
		s.refuse(at, "%s: %d", what, n)
	}
	return n
}

func (s *streamDecoder) string() (b []byte) {
	if s.err == nil {
		b, s.err = s.d.String()
	}
	return b
}

// time reads a time in unix ms, which is not below least.
func (s *streamDecoder) time(least int64) int64 {
	if s.err != nil {
		return 0
	}
	at := s.d.pos
	var n uint64
	n, s.err = s.d.Uint64()
	if int64(n) < least {
		s.refuse(at, "a time of %d ms", int64(n))
	}
	return int64(n)
}

// id reads an ID that is two lengths.
func (s *streamDecoder) id() stream.ID {
	ms := s.length()
	return stream.ID{Ms: ms, Seq: s.length()}
}

// rawID reads an ID in 16 bytes.
func (s *streamDecoder) rawID() (id stream.ID) {
	if s.err != nil {
		return id
	}
	var b []byte
	if b, s.err = s.d.bytes(stream.IDLen); s.err == nil {
		id = stream.IDOf(b)
	}
	return id
}

// node reads a node of entries.
func (s *streamDecoder) node() {
	at := s.d.pos
	id := s.string()
	if len(id) != stream.IDLen {
		s.refuse(at, "a node's ID of %d bytes", len(id))
	}
	if s.err != nil {
		return
	}
	at = s.d.pos
	var lp []byte
	if lp, s.err = s.d.String(); s.err != nil {
		return
	}
	if s.must(at, listpack.Validate(lp)); s.err == nil {
		s.must(at, s.b.Listpack(stream.IDOf(id), lp))
	}
}

// numbers reads what describes the whole stream. In 15 there were no deletions, as far as it tells.
// Redis's count of entries wraps around where XSETID has set it to the largest: ours stays there.
func (s *streamDecoder) numbers() {
	at := s.d.pos
	n := s.length()
	if n != uint64(s.b.Entries()) {
		s.refuse(at, "%d entries in the nodes of a stream of %d", s.b.Entries(), n)
	}
	s.m.LastID = s.id()
	if s.m.Added = n; s.op == typeStream {
		return
	}
	s.id() // the first, which the nodes tell
	at = s.d.pos
	if s.m.MaxDeleted = s.id(); s.m.LastID.Less(s.m.MaxDeleted) {
		s.refuse(at, "the last ID is %v, but %v was deleted", s.m.LastID, s.m.MaxDeleted)
	}
	s.m.Added = min(s.number("entries ever added", n, math.MaxUint64), math.MaxInt64)
}

// producers reads what producers have added lately. Nothing is kept of streams that never had any.
func (s *streamDecoder) producers() {
	m := &stream.IDMP{
		Duration: int64(s.number("seconds that producers are remembered", 1, 86400)),
		MaxSize:  int(s.number("records kept of a producer", 1, 10000)),
	}
	for range s.count(2) {
		s.producer(m.MaxSize)
	}
	m.Added = int64(s.number("records ever added", 0, math.MaxInt64))
	m.Duplicate = int64(s.number("entries not added again", 0, math.MaxInt64))
	s.m.IDMP, s.m.Known = m, len(s.m.Producers)
	if !knowsProducers(&s.m) {
		s.m.IDMP = nil
	}
}

// producer reads a producer that has no more records than most.
func (s *streamDecoder) producer(most int) {
	at := s.d.pos
	pid := s.string()
	n := s.count(3)
	p := stream.Producer{PID: string(pid)}
	for range n {
		r := stream.Record{IID: string(s.string()), ID: s.id()}
		if r.IID == "" {
			s.refuse(at, "an idempotent ID is empty")
		}
		if s.err != nil {
			return
		}
		p.Records = append(p.Records, r)
	}
	switch {
	case len(pid) == 0:
		s.refuse(at, "a producer's ID is empty")
	case n > most:
		s.refuse(at, "%d records of a producer", n)
	case n > 0:
		s.m.Producers = append(s.m.Producers, p)
	}
}
