package lua

// Upvalue is a variable that functions have captured. While the variable lives in a register, at
// points there; afterwards it points to own.
type Upvalue struct {
	at    *Value
	own   Value
	index int     // of the slot, while it is open
	open  *Thread // that has the slot: its stack counts while at refers to it; nil: none
	next  *Upvalue
}

// capture returns the upvalue of a slot. The open ones are in a list, highest slot first.
func (t *Thread) capture(slot int) *Upvalue {
	p := &t.open
	for *p != nil && (*p).index > slot {
		p = &(*p).next
	}
	if u := *p; u != nil && u.index == slot {
		return u
	}
	u := &Upvalue{at: &t.stack[slot], index: slot, open: t, next: *p}
	*p = u
	return u
}

// captured reports whether functions have captured variables in slots from base on.
func (t *Thread) captured(base int) bool { return t.open != nil && t.open.index >= base }

// close lets the variables from a slot on live outside of the stack.
func (t *Thread) close(slot int) {
	for u := t.open; u != nil && u.index >= slot; u = t.open {
		t.open = u.next
		u.own.set(*u.at)
		u.at, u.open, u.next = &u.own, nil, nil
	}
}

// closure makes a function of the running one's prototype number i. own says that it gets the
// environment of the State, not that of the running one.
func (t *Thread) closure(parent *Closure, base, i int, own bool) (Value, bool) {
	fn := parent.fn.functions[i]
	n := len(fn.proto.Upvalues)
	if !t.goesOn(t.s.Grow(closureBytes + n*upvalueBytes)) {
		return Nil, false
	}
	env := parent.env
	if own {
		env = t.s.Globals
	}
	c := newClosure(fn, env, n)
	if n > 0 {
		for i, u := range fn.proto.Upvalues {
			if u.InStack {
				c.upvalues[i] = t.capture(base + int(u.Index))
			} else {
				c.upvalues[i] = parent.upvalues[u.Index]
			}
		}
	}
	return ClosureValue(c), true
}

// newClosure returns a function with room for its captured variables. Few of them are allocated
// with it.
func newClosure(fn *Function, env *Table, n int) *Closure {
	if n == 0 || n > 2 {
		return &Closure{fn: fn, env: env, upvalues: make([]*Upvalue, n)}
	}
	c := &struct {
		Closure
		room [2]*Upvalue
	}{Closure: Closure{fn: fn, env: env}}
	c.upvalues = c.room[:n]
	return &c.Closure
}

// Sizes for the account of memory, in bytes.
const (
	valueBytes   = 16
	frameBytes   = 64
	closureBytes = 48
	upvalueBytes = 56 // with the pointer to it
)
