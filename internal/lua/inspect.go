package lua

// This file is what a host needs to count and to give back what runs leave behind.

// bytes returns the size of the thread's stacks.
func (t *Thread) bytes() int { return len(t.stack)*valueBytes + len(t.frames)*frameBytes }

// StackBytes returns the size of what is kept from one run to the next: stacks and parts of tables.
func (s *State) StackBytes() int {
	const spareBytes = threadSlots*valueBytes + startFrames*frameBytes
	return s.Main.bytes() + len(s.spare)*spareBytes + s.parts.bytes()
}

// Trim gives grown stacks and buffers back. Nothing may be running.
func (s *State) Trim() {
	s.text, s.spare = nil, nil
	s.parts.trim()
	if t := s.Main; len(t.stack) > 2*slack || len(t.frames) > startFrames {
		t.stack, t.frames = make([]Value, 2*slack), make([]frame, startFrames)
	}
}

// Refill makes the table a list of strings, like a new table to which they were added one by one.
// The strings share their bytes with list: see Bytes.
func (t *Table) Refill(list [][]byte) {
	clear(t.array)
	if size := nodesFor(len(list)); size <= cap(t.array) {
		t.array = t.array[:size]
	} else {
		t.array = make([]Value, size)
	}
	if t.nodes != nil || t.Metatable != nil || t.absent != 0 {
		t.nodes, t.Metatable, t.free, t.absent = nil, nil, 0, 0
	}
	for i, b := range list {
		t.array[i] = Bytes(b)
	}
}
