package lua

// special marks functions that the machine implements.
type special uint8

const (
	specialNone special = iota
	specialNext         // loops do what Fn does
	specialIpairs
	specialPcall // and from here on, there is no Fn
	specialXpcall
)

// Pcall returns the function pcall.
func Pcall() *Native { return &Native{Name: "pcall", special: specialPcall} }

// Xpcall returns the function xpcall.
func Xpcall() *Native { return &Native{Name: "xpcall", special: specialXpcall} }

// protect begins a protected call: a frame at which errors end, and above it that of the function.
func (t *Thread) protect(n *Native, at, want int, kind frameKind, nested int) outcome {
	if !t.pushNative(n, at, want, kind, nested) {
		return failed
	}
	args := t.top - at - 1
	var handler Value
	if n.special == specialXpcall {
		if args < 2 {
			t.ArgError(2, "value expected")
		}
		handler = t.stack[at+2]
		t.top = at + 2
	} else if args == 0 {
		t.Push(True) // that is what Redis's pcall calls then
	}
	f := &t.frames[t.depth-1]
	f.kind |= frameProtected
	if n.special == specialXpcall {
		f.kind |= frameHandled
	}
	f.handler = handler
	inner := t.nested
	if !t.deeper() {
		return failed
	}
	return t.invoke(at+1, -1, framePlain, inner)
}

// unwind ends the innermost protected call above a depth with the error that is being raised. It
// reports whether there was one.
func (t *Thread) unwind(level int) bool {
	t.high = max(t.high, t.top) // a function of Go may have pushed values
	i := t.depth - 1
	if t.s.Ended() == nil {
		for i >= level && t.frames[i].kind&frameProtected == 0 {
			i--
		}
	} else {
		i = level - 1
	}
	if i < level {
		t.uncaught()
		return false
	}
	v, handled := t.thrown, t.frames[i].kind&frameHandled != 0
	if handled {
		v = t.handle(t.frames[i].handler, v)
		if t.s.Ended() != nil { // meanwhile
			return t.unwind(level)
		}
	}
	f := &t.frames[i]
	at := int(f.result)
	t.close(at)
	f.handler, f.kind = Nil, f.kind&^(frameProtected|frameHandled)
	t.depth, t.nested, t.top = i+1, int(f.nested), at+3
	t.stack[at], t.stack[at+1], t.stack[at+2] = False, v, Nil
	n := 2
	if !handled && t.s.ErrorField != "" && v.IsTable() {
		if !t.get(v, String(t.s.ErrorField), fromGo, at+2) {
			return t.unwind(level)
		}
		if more := t.stack[at+2]; more.IsString() || more.IsNumber() {
			t.stack[at+1] = more
		} else {
			n++
		}
	}
	t.leave(at, n)
	t.limitFrames()
	return true
}

// uncaught tells the host of an error that ends its script, once, while the frames are there.
func (t *Thread) uncaught() {
	for i := t.depth - 1; i >= 0 && t.s.Ended() == nil; i-- {
		if t.frames[i].kind&frameProtected != 0 {
			return
		}
	}
	if t.resumer == nil && t.s.Uncaught != nil {
		t.s.Uncaught(t, t.thrown)
	}
}

// handle calls the handler of an error at the place where it was raised.
func (t *Thread) handle(h, v Value) Value {
	if !h.IsFunction() {
		return String("error in error handling")
	}
	f := &t.frames[t.depth-1]
	if f.closure != nil {
		t.top = int(f.base) + f.closure.fn.registers
	}
	for {
		at := t.top
		if !t.fits(at) {
			return t.thrown // nobody sees it: the run has ended
		}
		t.stack[at], t.stack[at+1] = h, v
		t.top = at + 2
		t.high = max(t.high, t.top)
		if t.call(at, 1) {
			return t.Pop()
		}
		// An error in the handler goes to the handler, until there is no room for it.
		if t.outer+t.nested >= maxNested+moreNested || t.s.Ended() != nil {
			return String("error in error handling")
		}
		v = t.thrown
	}
}
