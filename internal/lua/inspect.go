package lua

// This file is what a host needs to count and to use again what scripts leave behind.

// Refs counts what a value takes, in bytes, and calls visit with each value that it refers to. The
// entries of tables are left to the caller: Table.Bytes and Table.NextIndex tell of them.
func Refs(v Value, visit func(Value)) (bytes int) {
	switch {
	case v.IsString():
		return v.Len()
	case v.n == bitsClosure:
		c := v.closure()
		for _, u := range c.upvalues {
			visit(*u.at)
		}
		return closureBytes + len(c.upvalues)*upvalueBytes
	case v.n == bitsThread:
		t := v.Thread()
		for _, v := range t.stack[:min(t.high, len(t.stack))] {
			visit(v)
		}
		return t.bytes()
	}
	return 0
}

// bytes returns the size of the thread's stacks.
func (t *Thread) bytes() int { return len(t.stack)*valueBytes + len(t.frames)*frameBytes }

// StackBytes returns the size of the main thread's stacks.
func (s *State) StackBytes() int { return s.Main.bytes() + s.parts.bytes() }

// Trim gives grown stacks and buffers back. Nothing may be running.
func (s *State) Trim() {
	s.text = nil
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
