package lua

// outcome says how a part of a run ended.
type outcome uint8

const (
	running  outcome = iota // there are frames to go on with
	finished                // the frame that Go has called has returned
	failed                  // an error is being raised: Thread.thrown
	yielded                 // the coroutine waits
)

// What functions of Go return besides a number of results: outcomes below zero.
const (
	resultThrown = -int(failed)
	resultYield  = -int(yielded)
)

// Call calls a function: it and its arguments are the last values. They are replaced by its
// results: want of them, or all if want is negative. Errors go on to the caller's caller.
func (t *Thread) Call(args, want int) {
	must(t.call(t.top-args-1, want))
}

// Try does what Call does, but reports an error: at least, that the run has ended. The values are
// gone then.
func (t *Thread) Try(args, want int) (err Value, ok bool) {
	at, depth, nested, base := t.top-args-1, t.depth, t.nested, t.base
	if t.call(at, want) && t.goesOn(t.s.Ended()) {
		return Nil, true
	}
	t.close(at)
	t.depth, t.nested, t.base = depth, nested, base
	t.drop(at)
	return t.thrown, false
}

// call calls the function at a slot, with arguments up to the top. It reports whether the function
// has returned; else an error is being raised.
func (t *Thread) call(at, want int) bool {
	nested := t.nested
	if !t.deeper() {
		return false
	}
	level := t.depth
	for start := true; ; start = false {
		switch t.guarded(at, want, nested, start) {
		case finished:
			return true
		case failed:
			if !t.unwind(level) {
				return false
			}
			if t.depth == level {
				return true
			}
		}
	}
}

// deeper counts a call that goes through Go. It raises an error at Lua's limit. Beyond, the handler
// of that error may make a few more.
func (t *Thread) deeper() bool {
	t.nested++
	switch n := t.outer + t.nested; {
	case n < maxNested:
	case n == maxNested:
		return t.raise("C stack overflow")
	case n >= maxNested+moreNested:
		return t.raiseValue(String("error in error handling"))
	}
	return true
}

// guarded runs the machine until an entry frame ends. start calls the function at a slot first.
// Errors that functions of Go raise end here.
func (t *Thread) guarded(at, want, nested int, start bool) (o outcome) {
	defer t.recover(&o)
	if start {
		o = t.invoke(at, want, frameEntry, nested)
	}
	if o == running {
		o = t.execute()
	}
	return o
}

// recover turns a panic of a function of Go into an error of the script.
func (t *Thread) recover(o *outcome) {
	switch v := recover().(type) {
	case nil:
	case raising:
		*o = failed
	default:
		t.s.crashed(t, v)
		*o = failed
	}
}

// invoke begins to call the value at a slot. Arguments end at the top. nested is what
// Thread.nested is to be afterwards.
func (t *Thread) invoke(at, want int, kind frameKind, nested int) outcome {
	v := &t.stack[at]
	if n := v.Native(); n != nil {
		return t.callNative(n, at, want, kind, nested)
	}
	c := v.Closure()
	if c == nil {
		if !t.callable(at) {
			return failed
		}
		return t.invoke(at, want, kind, nested)
	}
	if !t.enter(c, at, want, kind) {
		return failed
	}
	t.frames[t.depth-1].nested = int32(nested)
	return running
}

// callable puts the metamethod __call of the value at a slot before it.
func (t *Thread) callable(at int) bool {
	m := t.metamethod(t.stack[at], eventCall)
	if !m.IsFunction() {
		return t.typeError("call", t.stack[at], at-int(t.frames[max(t.depth-1, 0)].base))
	}
	t.Push(Nil)
	copy(t.stack[at+1:t.top], t.stack[at:t.top-1])
	t.stack[at] = m
	return true
}

// pushNative pushes the frame of a function of Go.
func (t *Thread) pushNative(n *Native, at, want int, kind frameKind, nested int) bool {
	if t.depth >= len(t.frames) && !t.moreFrames() {
		return false
	}
	f := &t.frames[t.depth]
	t.depth++
	f.closure, f.native = nil, n
	f.base, f.result, f.want = int32(at+1), int32(at), int32(want)
	f.pc, f.varargs, f.tails = 0, 0, 0
	f.kind, f.nested = kind, int32(nested)
	t.base = at + 1
	return true
}

// callPlain calls a function of Go, which has an Fn, from a function of Lua.
func (t *Thread) callPlain(n *Native, at, want int) outcome {
	if !t.pushNative(n, at, want, framePlain, t.nested) {
		return failed
	}
	r := t.run(n)
	if r < 0 {
		return outcome(-r)
	}
	t.depth--
	t.deliver(at, t.top-r, r, want)
	return running
}

// callNative calls a function of Go.
func (t *Thread) callNative(n *Native, at, want int, kind frameKind, nested int) outcome {
	if n.special >= specialPcall {
		return t.protect(n, at, want, kind, nested)
	}
	if !t.pushNative(n, at, want, kind, nested) {
		return failed
	}
	r := t.run(n)
	switch {
	case r < 0:
		return outcome(-r)
	case t.leave(t.top-r, r):
		return finished
	}
	return running
}

// run runs a function of Go, whose frame is there, and returns what it returns.
func (t *Thread) run(n *Native) (results int) {
	if results = n.Fn(t); t.top > t.high {
		t.high = t.top
	}
	return results
}
