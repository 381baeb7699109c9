package script

import (
	"errors"
	"runtime"
	"runtime/metrics"
	"time"

	lua "github.com/yuin/gopher-lua"
)

const (
	// slice is how many instructions run between two looks at the clock: about 20 µs of simple
	// ones.
	slice = 1000
	// memorySlice is how many bytes a script may make, by our reckoning, between two looks at the
	// heap.
	memorySlice = 32 << 20
	// instructionBytes is what one instruction is assumed to allocate.
	instructionBytes = 64
	// maxScriptMemory is by how much the heap may grow while a script runs. What was garbage before
	// does not count.
	maxScriptMemory = 512 << 20
	// baseEvery is the number of scripts between two readings of the heap's size: a reading takes
	// longer than a small script.
	baseEvery = 256
	// maxString is the longest string that a script can make: as long as a value can be.
	maxString = 512 << 20
)

var errMemory = errors.New("not enough memory")

// limits bounds what a script takes. It checks time by reading the clock now and then, and memory
// by reading the size of the heap.
type limits struct {
	left     int // instructions until the next look
	looked   time.Time
	stop     error  // why the script must end; nil: it may run
	memory   int    // bytes until the next look at the heap
	baseHeap uint64 // heap size before the script, as far as known
	bound    uint64 // on the heap's growth
	stale    int    // scripts until baseHeap is read again
	atLeast  uint64 // heap size below which a look needs no collection
	sample   [1]metrics.Sample
	closed   chan struct{}
}

func (m *limits) init() {
	m.bound = maxScriptMemory
	m.sample[0].Name = "/memory/classes/heap/objects:bytes"
	m.closed = make(chan struct{})
	close(m.closed)
}

// BoundMemory sets by how many bytes the heap may grow while a script runs.
func (m *limits) BoundMemory(bytes uint64) { m.bound = bytes }

// begin resets the account for a new script.
func (m *limits) begin() {
	m.left, m.memory, m.stop = slice, memorySlice, nil
	m.looked = time.Time{}
	m.atLeast = 0
	if m.stale--; m.stale < 0 {
		m.stale = baseEvery
		m.baseHeap = m.heap()
	}
}

// hook is the context that the machine asks before each instruction whether to go on.
type hook struct {
	s  *State
	th *lua.LState // a coroutine that has not begun, or nil
}

// Done implements context.Context.
func (h *hook) Done() <-chan struct{} {
	if h.th != nil {
		h.th.Panic = h.s.panicCaught // resuming has set another handler
		h.th = nil
	}
	s := h.s
	if s.left--; s.left > 0 {
		return nil
	}
	return s.look(slice)
}

// Err implements context.Context.
func (h *hook) Err() error { return h.s.stop }

// Deadline implements context.Context.
func (h *hook) Deadline() (time.Time, bool) { return time.Time{}, false }

// Value implements context.Context.
func (h *hook) Value(any) any { return nil }

// look checks time and memory. Once the script must end, every instruction fails, so that a pcall
// cannot delay the end.
func (s *State) look(spent int) <-chan struct{} {
	if s.stop != nil {
		s.left = 0
		return s.closed
	}
	s.left = slice
	s.memory -= spent * instructionBytes
	now := time.Now()
	if s.looked.IsZero() {
		s.looked = now
	}
	late := now.Sub(s.looked) >= time.Millisecond // a few slow instructions may have made much
	if (late || s.memory < 0) && !s.fits() {
		s.stop = errMemory
		s.left = 0
		return s.closed
	}
	if late {
		if err := s.caller.Interrupt(); err != nil {
			s.stop = err
			s.left = 0
			return s.closed
		}
		s.looked = time.Now()
	}
	return nil
}

// fits reports whether the heap has grown within bounds. It collects garbage before it says no.
func (s *State) fits() bool {
	s.memory = memorySlice
	heap := s.heap()
	if heap < s.baseHeap+s.bound || heap < s.atLeast {
		return true
	}
	runtime.GC()
	s.stale = baseEvery // what is garbage after this script must not count for another
	live := s.heap()
	s.atLeast = live + s.bound/2
	return live < s.baseHeap+s.bound
}

func (m *limits) heap() uint64 {
	metrics.Read(m.sample[:])
	return m.sample[0].Value.Uint64()
}

// spend accounts for work done in Go that is worth n instructions.
func (s *State) spend(L *lua.LState, n int) {
	if s.left -= n; s.left <= 0 && s.look(0) != nil {
		s.raise(L, s.stop.Error())
	}
}

// grow accounts for n bytes that are about to be allocated.
func (s *State) grow(L *lua.LState, n int) {
	if n > maxString {
		s.raise(L, "resulting string too large")
	}
	s.left -= n >> 10
	if s.memory -= n; s.memory < 0 || s.left <= 0 {
		if s.left > 0 {
			s.left = 0
		}
		if s.look(0) != nil {
			s.raise(L, s.stop.Error())
		}
	}
}

// Spend accounts for bytes that a library's call is about to make (lualib.Host).
func (h *hook) Spend(L *lua.LState, bytes int) { h.s.grow(L, bytes) }

// Callee returns the name by which a library's function was called (lualib.Host).
func (h *hook) Callee(L *lua.LState) string {
	name, _ := h.s.callee(L)
	return name
}
