package lua

import "strings"

// Live returns how many bytes the values take that code can still reach: globals, the stacks of the
// threads that run, what the host holds, and all that these refer to, as a Meter counts. It takes
// time in proportion to them, and a bit of memory for every 16 bytes.
//
// It also lets go of what only looks reachable to Go's collector: the dead ends of stacks, objects
// that were keys of tables, and what only weak tables refer to. That is what makes the figure true,
// and it is all that a script can notice of Lua's collector.
func (s *State) Live() int {
	s.parts.forget() // or what they refer to would count, and would be kept
	var m Meter
	m.Visit(TableValue(s.Globals))
	if s.Strings != nil {
		m.Visit(TableValue(s.Strings))
	}
	m.Visit(ThreadValue(s.Main))
	m.Visit(ThreadValue(s.current)) // which refers to those that wait for it
	if s.Roots != nil {
		s.Roots(m.Visit)
	}
	for !m.Step(breathEvery) {
		s.Breathe()
	}
	for _, t := range m.weak {
		m.clear(t)
	}
	return s.Held + m.Bytes
}

// Sizes of what a Meter counts, besides those in upvalue.go.
const (
	nativeBytes = 64
	threadBytes = 160
	// functionBytes is the size of a Proto and a Function without what their slices hold.
	functionBytes    = 208 + 176
	instrBytes       = 8 + 4 // with its line
	constantBytes    = 32 + valueBytes + 4
	subBytes         = 8 + 8
	localBytes       = 32 // with its name, which is a part of the source
	upvalueNameBytes = 24
)

// breathEvery is how many values are looked at between two questions to the host.
const breathEvery = 1 << 13

// Meter adds up the bytes of what can be reached from some values, a few values at a time. Between
// two steps code may run: what changes meanwhile is missed or, in a table, looked at twice.
//
// What only the host can change does not count: tables that are ReadOnly with their keys and
// functions of Go, and code that no script has loaded.
type Meter struct {
	Bytes int // so far

	turns int // of the step that are left
	seen  addressSet
	long  map[uintptr]int // lengths of long strings by the 16 bytes where they begin
	todo  []place         // what was met and not looked at, innermost last
	weak  []*Table
}

// place is an object, and for a table the entry at which to go on.
type place struct {
	Value
	at int
}

// Visit adds a value. What it refers to is added by Step.
func (m *Meter) Visit(v Value) {
	if m.isNew(v) {
		m.todo = append(m.todo, place{Value: v})
	}
}

// isNew counts a string. It reports whether v is an object that was not met before.
func (m *Meter) isNew(v Value) bool {
	if v.n >= minNumber || v.n <= bitsTrue {
		return false
	}
	if v.IsString() {
		m.string(v)
		return false
	}
	return m.seen.add(v.address())
}

// string adds a string. Allocations are multiples of 16 bytes or share 16 bytes. A long string is
// told by its length as well, since a short one may be its beginning.
func (m *Meter) string(v Value) {
	n := v.Len()
	if n < longString {
		if n > 0 && m.seen.add(v.address()) {
			m.Bytes += (n + 15) &^ 15
		}
		return
	}
	if m.long == nil {
		m.long = map[uintptr]int{}
	}
	at := v.address() >> 4
	if known := m.long[at]; n > known {
		m.long[at] = n
		m.Bytes += (n+15)&^15 - (known+15)&^15
	}
}

// Step looks at n values, or at some more. It reports whether there are no others.
func (m *Meter) Step(n int) (done bool) {
	for m.turns = n; m.turns > 0; m.turns-- {
		last := len(m.todo) - 1
		if last < 0 {
			return true
		}
		p := m.todo[last]
		m.todo = m.todo[:last]
		switch p.n {
		case bitsTable:
			m.table(p.table(), p.at)
		case bitsClosure:
			m.closure(p.closure())
		case bitsThread:
			m.thread(p.Thread())
		default:
			m.Bytes += nativeBytes
			if n := p.Native(); n != nil {
				for _, v := range n.Holds {
					m.Visit(v)
				}
			}
		}
	}
	return false
}

// table looks at the entries of a table from one on. When it meets an object, or the step ends, it
// puts the rest aside: so what waits is little, unless tables are nested deeply.
func (m *Meter) table(t *Table, from int) {
	if t.ReadOnly {
		m.sealed(t)
		return
	}
	keys, values := t.isWeak()
	if from == 0 {
		m.Bytes += t.Bytes()
		if t.Metatable != nil {
			m.Visit(TableValue(t.Metatable))
		}
		if keys || values {
			m.weak = append(m.weak, t)
		}
	}
	size := len(t.array) + len(t.nodes)
	for i := from; i < size; i++ {
		k, v := t.live(i)
		newKey, newValue := !keys && m.isNew(k), !values && m.isNew(v)
		if m.turns--; m.turns > 0 && !newKey && !newValue {
			continue
		}
		if i+1 < size {
			m.todo = append(m.todo, place{TableValue(t), i + 1})
		}
		if newKey {
			m.todo = append(m.todo, place{Value: k})
		}
		if newValue {
			m.todo = append(m.todo, place{Value: v})
		}
		return
	}
}

// sealed looks at a table that scripts cannot change. It may hold tables that they can, such as
// KEYS.
func (m *Meter) sealed(t *Table) {
	if t.Metatable != nil {
		m.Visit(TableValue(t.Metatable))
	}
	for i, _, v := t.NextIndex(0); i != 0; i, _, v = t.NextIndex(i) {
		if v.Native() != nil {
			m.seen.add(v.address()) // weak tables keep it
		} else {
			m.Visit(v)
		}
	}
}

// live returns the value at a place of the table, and its key if it is a node. Both are nil if it
// is a node without a value, and then its key is forgotten.
func (t *Table) live(i int) (k, v Value) {
	if i < len(t.array) {
		return Nil, t.array[i]
	}
	n := &t.nodes[i-len(t.array)]
	if n.val.n == bitsNil {
		n.forget()
		return Nil, Nil
	}
	return n.key, n.val
}

var (
	modeKey  = String("__mode")
	modeHash = HashString("__mode")
)

// isWeak reports whether keys and values of the table do not keep objects alive: the letters k and
// v of its metatable's __mode.
func (t *Table) isWeak() (keys, values bool) {
	if t.Metatable == nil {
		return false, false
	}
	mode := t.Metatable.GetStr(modeKey, modeHash)
	if !mode.IsString() {
		return false, false
	}
	return strings.Contains(mode.Str(), "k"), strings.Contains(mode.Str(), "v")
}

// clear removes what is only reachable through weak tables. All else has been met.
func (m *Meter) clear(t *Table) {
	keys, values := t.isWeak()
	if values {
		for i := range t.array {
			if m.gone(t.array[i]) {
				t.array[i] = Nil
			}
		}
	}
	for i := range t.nodes {
		n := &t.nodes[i]
		if n.val.n != bitsNil && (keys && m.gone(n.key) || values && m.gone(n.val)) {
			n.val = Nil
		}
	}
	t.forget()
}

// gone reports whether v is an object that was not met. Strings stay where they are.
func (m *Meter) gone(v Value) bool {
	if v.n >= minNumber || v.n <= bitsTrue {
		return false
	}
	if v.IsString() {
		m.string(v)
		return false
	}
	return !m.seen.has(v.address())
}

func (m *Meter) closure(c *Closure) {
	m.Bytes += closureBytes + 8*len(c.upvalues)
	m.Visit(TableValue(c.env))
	for _, u := range c.upvalues {
		if m.seen.add(addressOf(u)) {
			m.Bytes += upvalueBytes - 8
			m.Visit(*u.at)
			if u.open != nil {
				m.Visit(ThreadValue(u.open))
			}
		}
	}
	m.function(c.fn)
}

// function adds code that a script has loaded.
func (m *Meter) function(f *Function) {
	if !f.named || !m.seen.add(addressOf(f)) {
		return
	}
	m.Bytes += f.bytes()
	m.Visit(String(f.source))
	m.Visit(String(f.chunk))
	for _, v := range f.constants {
		m.Visit(v)
	}
	for _, sub := range f.functions {
		m.function(sub)
	}
}

// CodeBytes returns the estimated size of the function's code, with that of the functions in it.
// Names and constants that are parts of the source are not counted.
func (c *Closure) CodeBytes() int { return c.fn.allBytes() }

func (f *Function) allBytes() int {
	n := f.bytes()
	for _, sub := range f.functions {
		n += sub.allBytes()
	}
	return n
}

// bytes returns the size of the function itself.
func (f *Function) bytes() int {
	p := f.proto
	return functionBytes + instrBytes*cap(p.Code) + constantBytes*cap(p.Constants) +
		subBytes*cap(p.Protos) + upvalueNameBytes*cap(p.Upvalues) + localBytes*cap(p.Locals)
}

// thread adds a thread. Nothing reads what its stacks hold beyond what is in use, so that goes, and
// what registers referred to before they became numbers.
func (m *Meter) thread(t *Thread) {
	m.Bytes += threadBytes + t.bytes()
	if len(t.stack) == 0 {
		return // it has ended
	}
	used := min(t.scratch(), len(t.stack))
	clear(t.stack[used:])
	clear(t.frames[t.depth:])
	for i := range t.frames[:t.depth] {
		f := &t.frames[i]
		if f.closure != nil {
			m.Visit(ClosureValue(f.closure))
		}
		if f.native != nil {
			m.Visit(NativeValue(f.native))
			t.stack[f.base-1] = Nil // where Lua has the function; anything may be there
		}
		m.Visit(f.handler)
	}
	for i := range t.stack[:used] {
		t.stack[i].release()
		m.Visit(t.stack[i])
	}
	m.Visit(t.thrown)
	if t.resumer != nil {
		m.Visit(ThreadValue(t.resumer))
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
