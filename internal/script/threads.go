package script

import (
	"reflect"

	lua "github.com/yuin/gopher-lua"
)

// This file keeps the machine's threads that scripts run on: the main one, on which every script
// begins, and a pool for protected calls.
//
// A stack grows with what a script does and never shrinks, so grown stacks are not kept. A thread
// whose stack has grown beyond keptSlots is dropped when it comes back. The pool is bounded. Trim,
// which the server calls about once a second, drops what was not used since its last call.

const (
	maxIdle   = 8       // threads in the pool
	keptSlots = 8 << 10 // largest stack that is kept
	slotBytes = 16
	// threadStep is by how many slots the stack of a protected call grows.
	threadStep = 8 << 10
	// frames is the size of an empty call stack.
	frames = maxCalls + 1024
)

// threads are the stacks of one State.
type threads struct {
	main      *lua.LState          // where scripts begin
	idle      []*lua.LState        // for protected calls
	protected map[*lua.LState]bool // all threads of protected calls
	nested    int
	ran       bool // a script has run since the last Trim
}

// newMain makes the thread on which scripts begin.
func (s *State) newMain() {
	opt := s.L.Options
	s.L.Options.CallStackSize = maxCalls
	s.L.Options.RegistrySize, s.L.Options.RegistryMaxSize = 1024, maxRegister
	s.L.Options.RegistryGrowStep = 32 << 10
	s.main = s.newThread()
	s.L.Options = opt
}

func (s *State) newThread() *lua.LState {
	th, cancel := s.L.NewThread()
	cancel()
	th.SetContext(&hook{s: s})
	return th
}

// thread takes a thread from the pool for a protected call, or makes one.
func (s *State) thread(L *lua.LState) *lua.LState {
	if s.nested >= maxNested {
		s.raise(L, "C stack overflow")
	}
	s.nested++
	if n := len(s.idle); n > 0 {
		th := s.idle[n-1]
		s.idle[n-1] = nil
		s.idle = s.idle[:n-1]
		return th
	}
	opt := s.L.Options
	s.L.Options.CallStackSize = maxCalls
	s.L.Options.RegistryMaxSize, s.L.Options.RegistryGrowStep = maxThreadRegister, threadStep
	th := s.newThread()
	s.L.Options = opt
	s.protected[th] = true
	return th
}

// release returns a thread whose call has ended.
func (s *State) release(th *lua.LState) {
	s.nested--
	if len(s.idle) >= maxIdle || slots(th) > keptSlots {
		delete(s.protected, th)
		return
	}
	s.idle = append(s.idle, th)
}

// registryPath is where the machine keeps a thread's stack, as indexes for reflection.
var registryPath = func() [2][]int {
	reg, _ := reflect.TypeFor[lua.LState]().FieldByName("reg")
	array, _ := reg.Type.Elem().FieldByName("array")
	return [2][]int{reg.Index, array.Index}
}()

// slots returns the size of a thread's stack. The machine does not expose it.
func slots(th *lua.LState) int {
	reg := reflect.ValueOf(th).Elem().FieldByIndex(registryPath[0]).Elem()
	return reg.FieldByIndex(registryPath[1]).Cap()
}

// ended frees what a run has left on the stacks.
func (s *State) ended() {
	s.ran, s.nested, s.raised, s.sources = true, 0, nil, nil
	if len(s.protected) != len(s.idle) { // an error took some with it
		clear(s.protected)
		for _, th := range s.idle {
			s.protected[th] = true
		}
	}
	if !s.looked.IsZero() && slots(s.main) > 8*keptSlots { // little is used before the first look
		s.newMain()
	}
}

// Trim drops the stacks and buffers that were not used since the last call. If idle is false, it
// drops them even if they were used. It must not be called while a script runs.
func (s *State) Trim(idle bool) {
	ran := s.ran
	if s.ran = false; ran && idle {
		return
	}
	clear(s.idle)
	s.idle = s.idle[:0]
	clear(s.protected)
	if slots(s.main) > 1024 {
		s.newMain()
	}
	s.argBuf, s.argEnds, s.argv, s.text = nil, nil, nil, nil
}

// StackBytes returns the bytes of the stacks that are kept between runs. It is cheap.
func (s *State) StackBytes() int64 {
	n := frames + slots(s.main)*slotBytes
	for _, th := range s.idle {
		n += frames + slots(th)*slotBytes
	}
	return int64(n)
}
