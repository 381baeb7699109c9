package lua

// State is one environment: its globals, the metatable of strings and its main thread. It belongs
// to one goroutine at a time.
type State struct {
	Globals *Table // of the chunks that are loaded
	Strings *Table // metatable of strings
	Main    *Thread

	Budget
	Hooks
	current *Thread // that runs
	texts   eventNames
	text    []byte // buffer for strings being made
	arena   arena
	spare   []stacks
}

// Hooks are what the host adds. All may be nil.
type Hooks struct {
	// ErrorField makes pcall return, for an error that is a table, this field in its place. If the
	// field is neither a string nor a number, pcall returns both. Empty: pcall is that of Lua.
	ErrorField string
	// Uncaught is called for an error that no protected call of the thread will see, with the
	// frames of the place still there.
	Uncaught func(t *Thread, v Value)
	// Crashed is called for a panic, other than the raising of an error, that came through the
	// machine. It returns the error that ends the script.
	Crashed func(v any) error
	// Line is called by code that was compiled for the debugger when a line begins.
	Line func(t *Thread, line int)
}

// NewState returns an environment without globals.
func NewState() *State {
	s := &State{Globals: NewTable(0, 0)}
	s.texts = newEventNames()
	s.Budget.init(s.Live)
	s.Main = s.newThread(2 * slack)
	s.current = s.Main
	return s
}

func (s *State) newThread(slots int) *Thread {
	return &Thread{s: s, stack: make([]Value, slots), frames: make([]frame, startFrames)}
}

// Current returns the thread that runs.
func (s *State) Current() *Thread { return s.current }

// Reset makes the main thread ready for another run, and forgets what the last one has left on it.
// A stack that has grown is given back.
func (s *State) Reset() {
	t := s.Main
	t.open, t.depth, t.base, t.nested, t.outer = nil, 0, 0, 0, 0
	t.thrown, t.status = Nil, statusRunning
	if len(t.stack) > keptSlots {
		t.stack = make([]Value, 2*slack)
	} else {
		clear(t.stack[:min(t.high, len(t.stack))])
	}
	if len(t.frames) > keptFrames {
		t.frames = make([]frame, startFrames)
	} else {
		clear(t.frames)
	}
	t.top, t.high = 0, 0
	s.current = t
	s.arena.reset()
	s.parts.end()
	s.finish()
}

// What is kept of a stack from one run to the next.
const (
	keptSlots  = 8 << 10
	keptFrames = 256
)

// crashed notes a panic that is a fault of the server. It ends the script.
func (s *State) crashed(t *Thread, v any) {
	if s.Crashed == nil {
		panic(v)
	}
	s.End(s.Crashed(v))
	t.thrown = String(s.Ended().Error())
}

// Native is a function of Go. It finds its arguments in the Thread and pushes its results. It
// returns how many of the last values are results, or what Throw returns.
type Native struct {
	Name string
	Fn   func(t *Thread) int
	// Holds are the values that Fn refers to, so that they are measured.
	Holds []Value

	special special
}
