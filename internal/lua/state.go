package lua

// State is one environment: its globals, the metatable of strings and its main thread. It belongs
// to one goroutine at a time.
type State struct {
	Globals *Table // of the chunks that are loaded
	Strings *Table // metatable of strings
	Main    *Thread

	Budget
	Hooks
	current *Thread
	texts   eventNames
}

// Hooks are what the host adds. All may be nil.
type Hooks struct {
	// Caught returns what pcall returns for an error.
	Caught func(Value) Value
	// Uncaught is called for an error that no protected call of the thread will see, with the
	// frames of the place still there.
	Uncaught func(t *Thread, v Value)
	// Line is called by code that was compiled for the debugger when a line begins.
	Line func(t *Thread, line int)
}

// valueBytes is the size of a Value.
const valueBytes = 16

// NewState returns an environment without globals.
func NewState() *State {
	s := &State{Globals: NewTable(0, 0)}
	s.texts = newEventNames()
	s.Budget.init()
	s.Main = s.newThread(2 * slack)
	s.current = s.Main
	return s
}

func (s *State) newThread(slots int) *Thread {
	return &Thread{s: s, stack: make([]Value, slots), frames: make([]frame, 8)}
}

// Function is code that was linked to an environment. It is shared by all closures made of it.
type Function struct {
	proto     *bytecode.Proto
	code      []bytecode.Instr
	constants []Value
	hashes    []uint32 // of the constants that are strings
	functions []*Function
	cost      int // steps that a call is charged
}

// Closure is a function of Lua with its captured variables.
type Closure struct {
	fn       *Function
	upvalues []*Upvalue
	env      *Table
}

// Native is a function of Go. It finds its arguments in the Thread and pushes its results. It
// returns how many of the last values are results, or what Throw returns.
type Native struct {
	Name string
	Fn   func(t *Thread) int

	special special
}
