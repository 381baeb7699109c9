package lua

import "strings"

// Live returns how many bytes the values take that code can still reach: globals, the stacks of the
// threads that run, what the host holds, and all that these refer to. It takes time in proportion
// to them, and a bit of memory for every 16 bytes.
//
// It also lets go of what only looks reachable to Go's collector: the dead ends of stacks, objects
// that were keys of tables, and what only weak tables refer to. That is what makes the figure true,
// and it is all that a script can notice of Lua's collector.
func (s *State) Live() int {
	s.parts.forget() // or what they refer to would count, and would be kept
	m := meter{bytes: s.Held, budget: &s.Budget}
	m.visit(TableValue(s.Globals))
	if s.Strings != nil {
		m.visit(TableValue(s.Strings))
	}
	m.visit(ThreadValue(s.Main))
	m.visit(ThreadValue(s.current)) // which refers to those that wait for it
	if s.Roots != nil {
		s.Roots(m.visit)
	}
	for len(m.todo) > 0 {
		v := m.todo[len(m.todo)-1]
		m.todo = m.todo[:len(m.todo)-1]
		m.object(v)
	}
	for _, w := range m.weak {
		m.clear(w)
	}
	return m.bytes
}

// Sizes of what State.Live counts, besides those in upvalue.go.
const (
	nativeBytes   = 64
	threadBytes   = 160
	functionBytes = 384
	constantBytes = 64 // in Proto and in Function
	instrBytes    = 12 // with its line

	localBytes       = 32 // with its name, which is a part of the source
	upvalueNameBytes = 24
)

// breathEvery is how many values are looked at between two questions to the host.
const breathEvery = 1 << 13

// maxMeterDepth is how deep the meter follows values before it puts one aside.
const maxMeterDepth = 64

// meter adds up what is reachable.
type meter struct {
	bytes  int
	turns  int // until the host is asked
	budget *Budget
	seen   addressSet
	depth  int
	todo   []Value // seen, but not what they refer to
	weak   []weakTable
}

// weakTable is a table whose keys, values or both do not keep objects alive: the letters k and v of
// its metatable's __mode.
type weakTable struct {
	*Table
	keys, values bool
}

var (
	modeKey  = String("__mode")
	modeHash = HashString("__mode")
)

// visit adds a value and what it refers to.
func (m *meter) visit(v Value) {
	if m.turns--; m.turns < 0 {
		m.turns = breathEvery
		m.budget.breathe()
	}
	switch {
	case v.n >= minNumber || v.n <= bitsTrue:
	case v.IsString():
		m.string(v)
	case !m.seen.add(v.address()):
	case m.depth == maxMeterDepth:
		m.todo = append(m.todo, v)
	default:
		m.depth++
		m.object(v)
		m.depth--
	}
}

// object adds an object that was not seen before.
func (m *meter) object(v Value) {
	switch v.n {
	case bitsTable:
		m.table(v.table())
	case bitsClosure:
		m.closure(v.closure())
	case bitsThread:
		m.thread(v.Thread())
	case bitsNative:
		m.bytes += nativeBytes
		for _, v := range v.native().Holds {
			m.visit(v)
		}
	default:
		m.bytes += nativeBytes
	}
}

// string adds a string. Allocations are multiples of 16 bytes or share 16 bytes.
func (m *meter) string(v Value) {
	if v.Len() > 0 && m.seen.add(v.address()) {
		m.bytes += (v.Len() + 15) &^ 15
	}
}

func (m *meter) table(t *Table) {
	m.bytes += t.Bytes()
	t.forget()
	w := weakTable{Table: t}
	if t.Metatable != nil {
		m.visit(TableValue(t.Metatable))
		if mode := t.Metatable.GetStr(modeKey, modeHash); mode.IsString() {
			w.keys = strings.Contains(mode.Str(), "k")
			w.values = strings.Contains(mode.Str(), "v")
		}
	}
	if w.keys || w.values {
		m.weak = append(m.weak, w)
	}
	if !w.values {
		for _, v := range t.array {
			m.visit(v)
		}
	}
	for i := range t.nodes {
		n := &t.nodes[i]
		if n.val.n == bitsNil {
			continue
		}
		if !w.keys {
			m.visit(n.key)
		}
		if !w.values {
			m.visit(n.val)
		}
	}
}

// clear removes what is only reachable through weak tables. All else has been visited.
func (m *meter) clear(w weakTable) {
	if w.values {
		for i := range w.array {
			if m.gone(w.array[i]) {
				w.array[i] = Nil
			}
		}
	}
	for i := range w.nodes {
		n := &w.nodes[i]
		if n.val.n != bitsNil && (w.keys && m.gone(n.key) || w.values && m.gone(n.val)) {
			n.val = Nil
		}
	}
	w.forget()
}

// gone reports whether v is an object that was not visited. Strings stay where they are.
func (m *meter) gone(v Value) bool {
	if v.n >= minNumber || v.n <= bitsTrue {
		return false
	}
	if v.IsString() {
		m.string(v)
		return false
	}
	return !m.seen.has(v.address())
}

func (m *meter) closure(c *Closure) {
	m.bytes += closureBytes + 8*len(c.upvalues)
	m.visit(TableValue(c.env))
	for _, u := range c.upvalues {
		if m.seen.add(addressOf(u)) {
			m.bytes += upvalueBytes - 8
			m.visit(*u.at)
			if u.open != nil {
				m.visit(ThreadValue(u.open))
			}
		}
	}
	m.function(c.fn)
}

// function adds code, which may have been compiled by the script.
func (m *meter) function(f *Function) {
	if !m.seen.add(addressOf(f)) {
		return
	}
	p := f.proto
	m.bytes += functionBytes + len(f.code)*instrBytes + len(f.constants)*constantBytes +
		len(p.Locals)*localBytes + len(p.Upvalues)*upvalueNameBytes
	m.visit(String(f.source))
	m.visit(String(f.chunk))
	for _, v := range f.constants {
		m.visit(v)
	}
	for _, sub := range f.functions {
		m.function(sub)
	}
}

// thread adds a thread. Nothing reads what its stacks hold beyond what is in use, so that goes.
func (m *meter) thread(t *Thread) {
	m.bytes += threadBytes + len(t.stack)*valueBytes + len(t.frames)*frameBytes
	if len(t.stack) == 0 {
		return // it has ended
	}
	used := min(t.scratch(), len(t.stack))
	clear(t.stack[used:])
	clear(t.frames[t.depth:])
	for _, v := range t.stack[:used] {
		m.visit(v)
	}
	for i := range t.frames[:t.depth] {
		f := &t.frames[i]
		if f.closure != nil {
			m.visit(ClosureValue(f.closure))
		}
		if f.native != nil {
			m.visit(NativeValue(f.native))
		}
		m.visit(f.handler)
	}
	m.visit(t.thrown)
	if t.resumer != nil {
		m.visit(ThreadValue(t.resumer))
	}
}

// addressSet is a set of addresses, to 16 bytes: a bit for each in pages that are made as needed.
// No two objects of the machine begin in the same 16 bytes; two short strings may.
type addressSet struct {
	pages map[uintptr]*addressPage
	key   uintptr // of page
	page  *addressPage
}

// addressPage covers 4 MiB of addresses.
type addressPage [1 << 12]uint64

// add reports whether the address was not in the set.
func (s *addressSet) add(a uintptr) bool {
	word, bit := s.at(a)
	if *word&bit != 0 {
		return false
	}
	*word |= bit
	return true
}

func (s *addressSet) has(a uintptr) bool {
	word, bit := s.at(a)
	return *word&bit != 0
}

func (s *addressSet) at(a uintptr) (word *uint64, bit uint64) {
	if key := a >> 22; s.page == nil || key != s.key {
		s.turn(key)
	}
	return &s.page[a>>10&(1<<12-1)], 1 << (a >> 4 & 63)
}

func (s *addressSet) turn(key uintptr) {
	if s.pages == nil {
		s.pages = map[uintptr]*addressPage{}
	}
	page := s.pages[key]
	if page == nil {
		page = new(addressPage)
		s.pages[key] = page
	}
	s.key, s.page = key, page
}
