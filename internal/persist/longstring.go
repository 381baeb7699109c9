package persist

import (
	"slices"

	"godwit/internal/object"
)

// Long strings are not copied into the stream. They are frozen, which takes no time however long
// they are, and the queue's goroutine reads them in pieces when their turn comes:
//
//	chunk │ chunk │ chunk + frozen string │ chunk │ …
//	                 └ type, key           └ the rest of the record, other keys
//
// The stream has them in the order in which they were frozen, so they are thawed in that order:
// when the goroutine is done with them (thaw), or when nothing will come of the snapshot (thawAll).
// That happens with the executor held, like all of SnapshotWriter. A read that comes later fails,
// and the file with it.

// longString is the least length in bytes of a string that is frozen. A shorter one is copied
// faster than a few of its pages that change.
const longString = 1 << 20

// freeze writes a key with a long string to the stream. It reports false if the string is not long.
func (s *SnapshotWriter) freeze(to *stream, e object.Entry) bool {
	if e.Encoding() != object.EncSDS || e.StringLen() < s.opt.LongString {
		return false
	}
	f := s.ks.Heap.Freeze(e)
	if f == nil {
		return false
	}
	s.frozen = append(s.frozen, f)
	to.buf = s.f.LongString(to.buf, e)
	to.addFrozen(f)
	to.buf = s.f.LongStringEnd(to.buf, e)
	to.wrote()
	return true
}

// thaw ends the freezing of strings that are written.
func (s *SnapshotWriter) thaw() {
	for len(s.frozen) > 0 && s.frozen[0].Closed() {
		s.ks.Thaw(s.frozen[0])
		s.frozen[0] = nil
		s.frozen = s.frozen[1:]
	}
}

// thawAll ends the freezing of all strings.
func (s *SnapshotWriter) thawAll() {
	for _, f := range s.frozen {
		s.ks.Thaw(f)
	}
	s.frozen = nil
}

// addFrozen adds a frozen string behind what the buffer has. There is a buffer afterwards.
func (t *stream) addFrozen(f *object.FrozenString) {
	b := t.buf
	if len(b) < chunkBytes/8 {
		b, t.buf = slices.Clone(b), b[:0] // a buffer is more than a few bytes are worth
	} else {
		t.buf = t.s.q.Buffer()
	}
	t.put(chunk{b, f})
}
