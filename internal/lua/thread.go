package lua

// Thread is a coroutine, or the main thread of a State: a stack of values and one of frames.
//
// Functions of Go see of it what belongs to their call: arguments are the values 1 to Top, and what
// they push last are their results.
type Thread struct {
	s      *State
	stack  []Value // at least slack values beyond what frames use
	frames []frame
	depth  int // frames in use
	base   int // of the running function of Go: its first argument
	top    int // one past its last value
	high   int // one past the last slot used since the stack was cleared
	open   *Upvalue

	nested  int // calls through Go within this thread, as Lua counts C calls
	outer   int // such calls around it
	status  status
	thrown  Value // the error that is being raised
	resumer *Thread
}

// slack is how many values a stack has beyond each frame's base: a frame's registers are an array
// of fixed size for the compiler.
const slack = 256

// frame is one call.
type frame struct {
	closure *Closure // nil for a function of Go
	native  *Native
	base    int32 // first register or argument
	result  int32 // where the function was and its results go
	want    int32 // results that the caller wants; -1: all
	pc      int32 // of the next instruction, saved when another function is called
	varargs int32 // number of additional arguments, which are below base
	tails   int32 // calls that have been replaced by this one
	kind    frameKind
	nested  int32 // Thread.nested of the caller
	handler Value // of a protected call
}

// frameKind says what happens when a frame ends.
type frameKind uint8

const (
	framePlain     frameKind = 0
	frameEntry     frameKind = 1 << iota // called from Go: the machine's loop ends with it
	frameProtected                       // a protected call: errors end here
	frameHandled                         // with frameProtected: it has a handler of errors
)

// State returns the environment of the thread.
func (t *Thread) State() *State { return t.s }

// Nested returns how many calls go through Go at the moment, as Lua counts C calls.
func (t *Thread) Nested() int { return t.outer + t.nested }

// Top returns the number of values of the running function of Go: at first, its arguments.
func (t *Thread) Top() int { return t.top - t.base }

// Arg returns value i of the running function, from 1, or nil beyond the last.
func (t *Thread) Arg(i int) Value {
	if i += t.base - 1; i < t.top {
		return t.stack[i]
	}
	return Nil
}

// Args returns the values from i on. The slice is valid until the stack changes.
func (t *Thread) Args(i int) []Value { return t.stack[min(t.base+i-1, t.top):t.top] }

// SetArg replaces value i, which must exist.
func (t *Thread) SetArg(i int, v Value) { t.stack[t.base+i-1] = v }

// Push adds a value.
func (t *Thread) Push(v Value) {
	if t.top+slack > len(t.stack) {
		t.reserve(1)
	}
	t.stack[t.top] = v
	t.top++
}

// Return pushes the only result of a function, which has pushed nothing so far. It returns what the
// function returns. There is room for one value.
func (t *Thread) Return(v Value) int {
	t.stack[t.top] = v
	t.top++
	return 1
}

// Pop removes the last value and returns it.
func (t *Thread) Pop() Value {
	t.drop(t.top - 1)
	return t.stack[t.top]
}

// drop removes the values from a slot on. They stay in the stack until it is cleared.
func (t *Thread) drop(slot int) {
	t.high = max(t.high, t.top)
	t.top = slot
}

// SetTop makes the number of values n: it drops the last ones or adds nils.
func (t *Thread) SetTop(n int) {
	for t.Top() < n {
		t.Push(Nil)
	}
	t.drop(t.base + n)
}

// pushAll adds values.
func (t *Thread) pushAll(list []Value) {
	t.reserve(len(list))
	t.top += copy(t.stack[t.top:], list)
}

// reserve makes room for n more values above the top.
func (t *Thread) reserve(n int) { must(t.fits(t.top + n)) }

// fits makes room for a frame that begins at base, and raises an error if there is none.
func (t *Thread) fits(base int) bool {
	need := base + slack
	if need <= len(t.stack) {
		return true
	}
	size := max(2*len(t.stack), need)
	if !t.goesOn(t.s.Grow((size - len(t.stack)) * valueBytes)) {
		return false
	}
	t.resize(size)
	return true
}

// resize gives the stack another size. Captured variables follow.
func (t *Thread) resize(size int) {
	stack := make([]Value, size)
	copy(stack, t.stack)
	for u := t.open; u != nil; u = u.next {
		u.at = &stack[u.index]
	}
	t.stack = stack
}
