package lua

// Limits of Lua 5.1 on calls within calls.
const (
	// maxFrames bounds the depth of calls. Lua has one more entry and doubles their number, so the
	// first overflow comes at 16383 calls. The error handler then has twice as many.
	maxFrames   = 20000 - 1
	startFrames = 8 - 1
	// maxNested bounds calls that go through Go: protected calls, metamethods, iterators and
	// functions like table.sort. An error handler has some more.
	maxNested  = 200
	moreNested = 25
)

// valuesPerStep is how many values can be moved in the time of a step.
const valuesPerStep = 8

// enter pushes the frame of a function of Lua. The function is at slot at, and its arguments end at
// the top. It reports whether there was room; else an error is being raised.
func (t *Thread) enter(c *Closure, at int, want int, kind frameKind) bool {
	if t.depth >= len(t.frames) && !t.moreFrames() {
		return false
	}
	p := c.fn
	base, args := at+1, t.top-at-1
	if p.vararg {
		var ok bool
		if base, ok = t.spreadArgs(p, at, args); !ok {
			return false
		}
	}
	if base+slack > len(t.stack) && !t.fits(base) {
		return false
	}
	t.high = max(t.high, base+p.registers)
	if !p.vararg {
		for i := t.top; i < base+p.params; i++ {
			t.stack[i] = Nil
		}
	}
	f := &t.frames[t.depth]
	t.depth++
	f.closure, f.native = c, nil
	f.base, f.result, f.want = int32(base), int32(at), int32(want)
	f.pc, f.varargs, f.tails = 0, int32(max(base-at-1-p.params, 0)), 0
	f.kind, f.nested = kind, int32(t.nested)
	return t.s.spent(t, p.cost)
}

// spreadArgs puts the parameters of a function with variable arguments behind all arguments. It
// returns where its registers begin. If there is no room, an error is being raised.
func (t *Thread) spreadArgs(p *Function, at, args int) (base int, ok bool) {
	base = max(t.top, at+1+p.params)
	rest := max(args-p.params, 0)
	// Memory is accounted for before anything moves: what is above the top is not measured.
	if base+slack > len(t.stack) && !t.fits(base) {
		return base, false
	}
	if p.needsArg && !t.goesOn(t.s.Grow(tableBytes(rest, 1))) {
		return base, false
	}
	t.s.Left -= args / valuesPerStep
	for i := t.top; i < base; i++ {
		t.stack[i] = Nil
	}
	for i := range p.params {
		t.stack[base+i] = t.stack[at+1+i]
		t.stack[at+1+i] = Nil
	}
	t.stack[base+p.params] = Nil // the local arg, if nothing uses it
	if p.needsArg {
		first := at + 1 + p.params
		t.stack[base+p.params] = TableValue(t.argTable(t.stack[first : first+rest]))
	}
	return base, true
}

// argTable returns the table arg of a function with variable arguments.
func (t *Thread) argTable(args []Value) *Table {
	tab := t.s.parts.table(len(args), 1)
	for i, v := range args {
		tab.SetInt(i+1, v)
	}
	tab.SetString("n", Int(len(args)))
	return tab
}

// moreFrames makes room for another frame, and raises an error at Lua's limit.
func (t *Thread) moreFrames() bool {
	n := len(t.frames)
	if n > maxFrames {
		return t.raiseValue(String("error in error handling"))
	}
	size := 2*n + 1
	if !t.goesOn(t.s.Grow((size - n) * frameBytes)) {
		return false
	}
	if t.setFrames(size); size > maxFrames {
		return t.raise("stack overflow")
	}
	return true
}

// limitFrames takes the room away that was for the handler of a stack overflow.
func (t *Thread) limitFrames() {
	if len(t.frames) > maxFrames && t.depth < maxFrames {
		t.setFrames(maxFrames)
	}
}

func (t *Thread) setFrames(n int) {
	frames := make([]frame, n)
	copy(frames, t.frames[:t.depth])
	t.frames = frames
}

// leave ends the running frame. Its n results begin at slot first. Protected calls that end with it
// end as well. It reports whether the frame was called from Go.
func (t *Thread) leave(first, n int) (entry bool) {
	for {
		f := &t.frames[t.depth-1]
		if t.open != nil {
			t.close(int(f.base))
		}
		t.depth--
		t.nested = int(f.nested)
		at := int(f.result)
		t.deliver(at, first, n, int(f.want))
		if f.kind&frameEntry != 0 {
			if t.base = 0; t.depth > 0 {
				t.base = int(t.frames[t.depth-1].base)
			}
			return true
		}
		f = &t.frames[t.depth-1]
		if f.kind&frameProtected == 0 {
			return false
		}
		// the protected call returns true and what its function has returned
		first = int(f.result)
		t.stack[first] = True
		n = t.top - first
	}
}

// leavePlain is leave for a frame that a function of Lua has called and that has captured no
// variables, with at most one result.
func (t *Thread) leavePlain(f *frame, first, n int) {
	t.depth--
	t.nested = int(f.nested)
	switch at := int(f.result); f.want {
	case 0:
		t.top = at
	case 1:
		if t.top = at + 1; n == 1 {
			t.stack[at] = t.stack[first]
		} else {
			t.stack[at] = Nil
		}
	default:
		t.deliver(at, first, n, int(f.want))
	}
}

// deliver moves n values from slot first to slot at, where want of them are wanted.
func (t *Thread) deliver(at, first, n, want int) {
	if want == 1 {
		if n > 0 {
			t.stack[at] = t.stack[first]
		} else {
			t.stack[at] = Nil
		}
		t.top = at + 1
		return
	}
	if want < 0 {
		want = n
	}
	n = min(n, want)
	t.s.Left -= n / valuesPerStep
	copy(t.stack[at:at+n], t.stack[first:first+n])
	for i := at + n; i < at+want; i++ {
		t.stack[i] = Nil
	}
	t.top = at + want
}
