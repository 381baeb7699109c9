package lua

import (
	"slices"
	"strings"
)

// event is a metamethod.
type event uint8

const (
	eventIndex event = iota
	eventNewIndex
	eventCall
	eventEq
	eventLt
	eventLe
	eventConcat
	eventLen
	eventAdd
	eventSub
	eventMul
	eventDiv
	eventMod
	eventPow
	eventUnm
	eventToString
	eventMetatable
	numEvents
)

// eventNames are the keys of metamethods.
type eventNames struct {
	name [numEvents]Value
	hash [numEvents]uint32
}

var eventKeys = [numEvents]string{"__index", "__newindex", "__call", "__eq", "__lt", "__le",
	"__concat", "__len", "__add", "__sub", "__mul", "__div", "__mod", "__pow", "__unm",
	"__tostring", "__metatable"}

// ownCopy returns a constant of a script. Keys of metamethods are those of eventKeys, because
// findStr compares addresses first.
func ownCopy(s string) string {
	if strings.HasPrefix(s, "__") {
		if i := slices.Index(eventKeys[:], s); i >= 0 {
			return eventKeys[i]
		}
	}
	return s
}

func newEventNames() (n eventNames) {
	for i, s := range eventKeys {
		n.name[i], n.hash[i] = String(s), HashString(s)
	}
	return n
}

// maxLoop is how many tables an access goes through.
const maxLoop = 100

// MetatableOf returns the metatable of a value, or nil.
func (s *State) MetatableOf(v Value) *Table {
	switch {
	case v.n == bitsTable:
		return v.table().Metatable
	case v.IsString():
		return s.Strings
	}
	return nil
}

// metamethod returns the metamethod of a value for an event, or nil.
func (t *Thread) metamethod(v Value, e event) Value {
	return t.s.event(t.s.MetatableOf(v), e)
}

// event returns a metatable's entry for an event. That there is none is remembered.
func (s *State) event(mt *Table, e event) Value {
	if mt == nil || mt.absent&(1<<e) != 0 {
		return Nil
	}
	v := mt.GetStr(s.texts.name[e], s.texts.hash[e])
	if v.n == bitsNil {
		mt.absent |= 1 << e
	}
	return v
}

// inherited returns what the field of an object with a metatable is that does not have it itself.
// ok is false if a function must be asked.
func (s *State) inherited(mt *Table, key Value, hash uint32) (v Value, ok bool) {
	for range maxLoop - 1 { // besides the object
		h := s.event(mt, eventIndex)
		tab := h.Table()
		if tab == nil {
			return Nil, h.n == bitsNil
		}
		if v = tab.GetStr(key, hash); v.n != bitsNil || tab.Metatable == nil {
			return v, true
		}
		mt = tab.Metatable
	}
	return Nil, false
}

// method returns a field of a table or a string, or nil if there is none or it takes more to find.
func (s *State) method(o, key Value, hash uint32) Value {
	mt := s.Strings
	if tab := o.Table(); tab != nil {
		if v := tab.GetStr(key, hash); v.n != bitsNil {
			return v
		}
		mt = tab.Metatable
	} else if !o.IsString() {
		return Nil
	}
	v, _ := s.inherited(mt, key, hash)
	return v
}

// fromGo stands for a register: it is a function of Go that gets or puts.
const fromGo = -2

// get puts o[key] into a slot. reg is the register that holds o, for messages.
func (t *Thread) get(o, key Value, reg, slot int) bool {
	now := reg == fromGo
	hash, ok := t.hash(key)
	if !ok {
		return false
	}
	for range maxLoop {
		var h Value
		if tab := o.Table(); tab != nil {
			if p := tab.findHashed(key, hash); p != nil && p.n != bitsNil {
				t.stack[slot] = *p
				return true
			}
			if h = t.s.event(tab.Metatable, eventIndex); h.n == bitsNil {
				t.stack[slot] = Nil
				return true
			}
		} else if h = t.metamethod(o, eventIndex); h.n == bitsNil {
			return t.typeError("index", o, reg)
		}
		if h.IsFunction() {
			return t.callInto(now, slot, 1, h, o, key)
		}
		o, reg = h, -1
	}
	return t.raise("loop in gettable")
}

// put does o[key] = v. reg is the register that holds o, for messages.
func (t *Thread) put(o, key, v Value, reg int) bool {
	now := reg == fromGo
	for range maxLoop {
		var h Value
		if tab := o.Table(); tab != nil {
			p := t.slot(tab, key)
			if p == nil {
				return false
			}
			if p.n == bitsNil {
				h = t.s.event(tab.Metatable, eventNewIndex)
			}
			if h.n == bitsNil {
				p.set(v)
				return true
			}
		} else if h = t.metamethod(o, eventNewIndex); h.n == bitsNil {
			return t.typeError("index", o, reg)
		}
		if h.IsFunction() {
			return t.callInto(now, t.scratch(), 0, h, o, key, v)
		}
		o, reg = h, -1
	}
	return t.raise("loop in settable")
}

// slot returns where a table that may be changed has the value of a key. It returns nil if an error
// is being raised. As in Lua, a key that is missing is added, even if __newindex is called for it.
func (t *Thread) slot(tab *Table, key Value) *Value {
	if tab.ReadOnly {
		t.raise("Attempt to modify a readonly table")
		return nil
	}
	if msg := badKey(key); msg != "" {
		t.raise(msg)
		return nil
	}
	hash, ok := t.hash(key)
	if !ok {
		return nil
	}
	p, err := tab.slot(key, hash, &t.s.Budget)
	t.goesOn(err)
	return p
}

// scratch returns a slot above all that the running function uses.
func (t *Thread) scratch() int {
	if t.depth == 0 {
		return t.top
	}
	f := &t.frames[t.depth-1]
	if f.closure == nil {
		return t.top
	}
	return max(int(f.base)+f.closure.fn.registers, t.top)
}

// pushMeta puts a metamethod and its arguments above all that is in use.
func (t *Thread) pushMeta(list ...Value) (at int, ok bool) {
	at = t.scratch()
	if !t.fits(at) {
		return 0, false
	}
	copy(t.stack[at:], list)
	t.top = at + len(list)
	t.high = max(t.high, t.top)
	return at, true
}

// callMeta calls a metamethod with two arguments and returns its result.
func (t *Thread) callMeta(h, a, b Value) (Value, bool) {
	top := t.top
	at, ok := t.pushMeta(h, a, b)
	if !ok || !t.call(at, 1) {
		return Nil, false
	}
	t.top = top
	return t.stack[at], true
}

// callInto calls a metamethod, the first of a list, with the others as arguments. Its result, if
// one is wanted, goes to a slot. If now is false, it is the running function of Lua that calls: a
// metamethod of Lua is then only begun, and the machine goes on with it.
func (t *Thread) callInto(now bool, slot, want int, list ...Value) bool {
	top := t.top
	at, ok := t.pushMeta(list...)
	if !ok {
		return false
	}
	if c := list[0].Closure(); c != nil && !now {
		nested := t.nested
		if !t.deeper() || !t.enter(c, at, want, framePlain) {
			return false
		}
		f := &t.frames[t.depth-1]
		f.nested, f.result = int32(nested), int32(slot)
		return true
	}
	if !t.call(at, want) {
		return false
	}
	if t.top = top; want == 1 {
		t.stack[slot] = t.stack[at]
	}
	return true
}
