package lua

// status is the state of a thread as coroutine.status tells it.
type status uint8

const (
	statusSuspended status = iota
	statusRunning
	statusNormal // it has resumed another one
	statusDead
)

const (
	// threadSlots is the size of a coroutine's stack at first. Scripts may make many.
	threadSlots = slack + 16
	// maxSpare is how many stacks of dead coroutines are kept for new ones.
	maxSpare = 16
)

// stacks are what a coroutine runs on.
type stacks struct {
	values []Value
	frames []frame
}

// bury frees the stacks of a coroutine that has ended.
func (s *State) bury(co *Thread) {
	co.status = statusDead
	co.close(0)
	if len(co.stack) == threadSlots && len(co.frames) == startFrames && len(s.spare) < maxSpare {
		clear(co.stack)
		clear(co.frames)
		s.spare = append(s.spare, stacks{co.stack, co.frames})
	}
	co.stack, co.frames = nil, nil
	co.depth, co.base, co.top, co.thrown = 0, 0, 0, Nil
}

// NewThread returns a coroutine that will call f.
func (t *Thread) NewThread(f Value) *Thread {
	t.Grow(threadSlots*valueBytes + startFrames*frameBytes + 160)
	var co *Thread
	if n := len(t.s.spare); n > 0 {
		spare := t.s.spare[n-1]
		t.s.spare = t.s.spare[:n-1]
		co = &Thread{s: t.s, stack: spare.values, frames: spare.frames}
	} else {
		co = t.s.newThread(threadSlots)
	}
	co.stack[0] = f
	co.top, co.high = 1, 1
	return co
}

// Status returns what coroutine.status tells of a thread.
func (t *Thread) Status() string {
	return [...]string{"suspended", "running", "normal", "dead"}[t.status]
}

// IsMain reports whether t is the main thread of its State.
func (t *Thread) IsMain() bool { return t == t.s.Main }

// Resume lets a coroutine run until it yields or ends. The values of t from the n-th on are its
// arguments, and are replaced by what it yields or returns. If ok is false, they are replaced by an
// error.
func (t *Thread) Resume(co *Thread, n int) (ok bool) {
	args := t.Args(n)
	if co.status != statusSuspended {
		return t.cannotResume(n, "cannot resume "+co.Status()+" coroutine")
	}
	if t.outer+t.nested >= maxNested {
		return t.cannotResume(n, "C stack overflow")
	}
	// What may fail comes before anything changes.
	if !co.fits(co.top + len(args)) {
		t.Raise(co.thrown)
	}
	co.pushAll(args)
	t.status, co.status = statusNormal, statusRunning
	co.resumer, co.s.current = t, co
	co.outer = t.outer + t.nested + 1
	o := co.resume(len(args))
	co.s.current, co.resumer = t, nil
	t.status = statusRunning
	t.SetTop(n - 1)
	if err := t.s.Ended(); err != nil { // then nothing can catch the error
		t.s.bury(co)
		must(t.goesOn(err))
	}
	if co.status = statusDead; o == yielded {
		co.status = statusSuspended
	}
	if o == failed {
		t.Push(co.thrown)
	} else {
		t.pushAll(co.stack[co.base:co.top])
		co.drop(co.base)
	}
	if o != yielded {
		t.s.bury(co)
	}
	return o != failed
}

func (t *Thread) cannotResume(n int, msg string) bool {
	t.SetTop(n - 1)
	t.Push(String(msg))
	return false
}

// resume runs a coroutine whose last n values are what it was resumed with. Afterwards its values
// from base on are what it yields or returns.
func (t *Thread) resume(n int) outcome {
	o := failed
	switch at := t.top - n; {
	case t.depth == 0:
		o = t.guarded(0, -1, 0, true)
	case t.leave(at, n): // the call of yield that it waited in
		o = finished
	default:
		o = t.guarded(0, 0, 0, false)
	}
	for o == failed && t.unwind(0) {
		if o = finished; t.depth > 0 {
			o = t.guarded(0, 0, 0, false)
		}
	}
	if o == finished {
		t.base = 0
	}
	return o
}

// Yield suspends the running coroutine: the values of t are what resume returns. A function of Go
// returns what it returns.
func (t *Thread) Yield() int {
	if t.nested > 0 || t.IsMain() {
		return t.Throw(String("attempt to yield across metamethod/C-call boundary"))
	}
	return resultYield
}
