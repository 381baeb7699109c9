package stream

// held is what trimming with RefsHold knows from the last time, so that it need not walk again what
// groups still need: every entry up to the ID to is pending in a group, but those in [from, until]
// may not be any more. Where a group has a million entries pending for a consumer that is gone, the
// next trimming passes what was acknowledged and what was added since.
type held struct{ to, from, until ID }

// heldGoBytes is what a held takes in Go's heap.
const heldGoBytes = 48

// holding returns what is known. The stream has groups.
func (s *Stream) holding() *held {
	if s.held == nil {
		s.held = &held{from: MaxID}
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

// released notes that a group has an entry pending no more.
func (h *held) released(id ID) {
	if h == nil || h.to.Less(id) {
		return
	}
	if id.Less(h.from) {
		h.from = id
	}
	if h.until.Less(id) {
		h.until = id
	}
}

// start returns where a walk begins.
func (h *held) start() ID {
	if h.until.Less(h.from) {
		return h.to
	}
	return h.from
}

// skips reports whether the entry is known to be needed.
func (h *held) skips(id ID) bool {
	return !h.to.Less(id) && (id.Less(h.from) || h.until.Less(id))
}

// skipped notes that a walk, which began at start, has skipped the entry. The last one that was
// released may not be in the stream any more.
func (h *held) skipped(id ID) {
	if h.until.Less(id) {
		h.from, h.until = MaxID, ID{}
	}
}

// passed notes that a walk has gone past the entry: it is gone, or a group needs it.
func (h *held) passed(id ID) {
	if h.to.Less(id) {
		*h = held{to: id, from: MaxID}
		return
	}
	if next, ok := id.Next(); ok && !h.until.Less(next) {
		h.from = next
	} else {
		h.from, h.until = MaxID, ID{}
	}
}
