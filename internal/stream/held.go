package stream

import "slices"

// held is what trimming with RefsHold knows from the last time, so that it need not walk again what
// groups still need: every entry up to the ID to is pending in a group, but those in a span may not
// be any more. Where a group has a million entries pending for a consumer that is gone, the next
// trimming passes what was acknowledged and what was added since.
type held struct {
	to    ID
	n     int
	spans [heldSpans]idSpan // n of them, ascending, apart from each other
}

// idSpan is a range of IDs, both included.
type idSpan struct{ from, until ID }

// heldSpans is how many places are known where something was acknowledged. Beyond that the two
// nearest become one.
const heldSpans = 8

// heldGoBytes is what a held takes in Go's heap.
const heldGoBytes = 288

// holding returns what is known. The stream has groups.
func (s *Stream) holding() *held {
	if s.held == nil {
		s.held = &held{}
		s.countGo(heldGoBytes)
	}
	return s.held
}

// forgetHeld is called before entries may become free that released is not told of.
func (s *Stream) forgetHeld() {
	if s.held != nil {
		s.held = nil
		s.countGo(-heldGoBytes)
	}
}

// releasedAll notes that a group has the rows' entries pending no more.
func (s *Stream) releasedAll(x *rows) {
	if s.held == nil {
		return
	}
	if x.n > heldSpans {
		s.forgetHeld()
		return
	}
	for it := x.walk(ID{}, MaxID); it.next(); {
		s.held.released(it.last)
	}
}

// released notes that a group has an entry pending no more.
func (h *held) released(id ID) {
	if h == nil || h.to.Less(id) {
		return
	}
	i := 0
	for i < h.n && h.spans[i].until.Less(id) {
		i++
	}
	if i < h.n && !id.Less(h.spans[i].from) {
		return
	}
	var room [heldSpans + 1]idSpan
	spans := slices.Insert(append(room[:0], h.spans[:h.n]...), i, idSpan{id, id})
	if len(spans) > heldSpans {
		near := 0
		for i := range heldSpans {
			if gap(spans, i) < gap(spans, near) {
				near = i
			}
		}
		spans[near].until = spans[near+1].until
		spans = slices.Delete(spans, near+1, near+2)
	}
	h.n = copy(h.spans[:], spans)
}

// gap returns about how far a span is from the next: in ms, if that is all the same.
func gap(spans []idSpan, i int) uint64 { return spans[i+1].from.Ms - spans[i].until.Ms }

// start returns where a walk begins.
func (h *held) start() ID {
	if h.n == 0 {
		return h.to
	}
	return h.spans[0].from
}

// needs reports whether the entry is known to be needed.
func (h *held) needs(id ID) bool {
	return !h.to.Less(id) && !slices.ContainsFunc(h.spans[:h.n], func(s idSpan) bool {
		return !id.Less(s.from) && !s.until.Less(id)
	})
}

// skips reports whether a walk, which began at start, need not look at the entry. Spans before it
// have been passed, even if what was released is not in the stream any more.
func (h *held) skips(id ID) bool {
	for h.n > 0 && h.spans[0].until.Less(id) {
		h.drop()
	}
	return !h.to.Less(id) && (h.n == 0 || id.Less(h.spans[0].from))
}

// passed notes that a walk has gone past an entry that it did not skip: it is gone, or a group
// needs it.
func (h *held) passed(id ID) {
	if h.to.Less(id) {
		h.to = id
		return
	}
	next, ok := id.Next()
	if h.spans[0].from = next; !ok || h.spans[0].until.Less(next) {
		h.drop()
	}
}

// drop drops the first span.
func (h *held) drop() {
	copy(h.spans[:], h.spans[1:h.n])
	h.n--
}
