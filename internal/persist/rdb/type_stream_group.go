package rdb

import (
	"math"

	"godwit/internal/stream"
)

// Bytes that a pending entry takes at least, and a consumer.
const (
	pendingBytes  = stream.IDLen + 8 + 1
	consumerBytes = 1 + 8 + 1
)

// group reads a group.
func (s *streamDecoder) group() {
	at := s.d.pos
	name, last := s.string(), s.id()
	read := s.read(last)
	if s.err != nil {
		return
	}
	s.must(at, s.b.Group(name, last, read))
	for range s.count(pendingBytes) {
		at := s.d.pos
		id, time := s.rawID(), s.time(0)
		count := min(s.length(), math.MaxInt64) // Redis's wraps around
		if s.err != nil {
			return
		}
		s.must(at, s.b.Pending(id, time, int64(count)))
	}
	for range s.count(consumerBytes) {
		s.consumer()
	}
	if s.op >= typeStream5 {
		s.ids(s.b.Nacked)
	}
}

// consumer reads a consumer. Before 21 it was active when it was seen.
func (s *streamDecoder) consumer() {
	at := s.d.pos
	name, seen := s.string(), s.time(0)
	active := seen
	if s.op >= typeStream3 {
		active = s.time(stream.NeverActive)
	}
	if s.err == nil {
		s.must(at, s.b.Consumer(name, seen, active))
		s.ids(s.b.Owned)
	}
}

// ids reads IDs of pending entries.
func (s *streamDecoder) ids(add func(id stream.ID) error) {
	for range s.count(stream.IDLen) {
		at := s.d.pos
		if id := s.rawID(); s.err == nil {
			s.must(at, add(id))
		}
	}
}

// read reads how many entries the group has read, or guesses it. Older servers took more than were
// ever added from XGROUP, and their count wraps around.
func (s *streamDecoder) read(last stream.ID) int64 {
	if s.op == typeStream {
		return s.guess(last)
	}
	n := s.length()
	if int64(n) == stream.ReadUnknown {
		return stream.ReadUnknown
	}
	return int64(min(n, s.m.Added))
}

// guess returns what a group has read that has got everything up to the entry last, as Redis does.
// It can only tell at both ends of the stream.
func (s *streamDecoder) guess(last stream.ID) int64 {
	if s.err != nil {
		return 0
	}
	n := int64(s.m.Added)
	switch first := s.first; {
	case n == 0, last.Less(first):
		return 0
	case last == s.m.LastID:
		return n
	case last == first:
		return 1
	}
	return stream.ReadUnknown
}
