package lua

import "math"

// This file is what functions of Go use to read arguments, to account for what they do, and to use
// values as Lua's operators do.

// String returns argument n as a string. Numbers are converted.
func (t *Thread) String(n int) string {
	if v := t.Arg(n); v.IsString() {
		return v.Str()
	}
	return t.textOf(n)
}

// textOf returns argument n, which should be a number, as a string.
func (t *Thread) textOf(n int) string {
	s, ok := ToText(t.Arg(n))
	if !ok {
		t.TypeError(n, "string")
	}
	return s
}

// OptString returns argument n as a string, or def if it is nil or missing.
func (t *Thread) OptString(n int, def string) string {
	if t.Arg(n).IsNil() {
		return def
	}
	return t.String(n)
}

// Number returns argument n as a number. Strings are converted.
func (t *Thread) Number(n int) float64 {
	if v := t.Arg(n); v.n >= minNumber {
		return bitsNumber(v.n)
	}
	return t.parsed(n)
}

// parsed returns argument n, which should be a string, as a number.
func (t *Thread) parsed(n int) float64 {
	f, ok := t.ToNumber(t.Arg(n))
	if !ok {
		t.TypeError(n, "number")
	}
	return f
}

// Int returns argument n as an integer, as C converts a double to ptrdiff_t on x86-64.
func (t *Thread) Int(n int) int { return Truncate(t.Number(n)) }

// Truncate converts a double to a 64-bit integer as C does on x86-64.
func Truncate(f float64) int {
	if f >= -1<<63 && f < 1<<63 {
		return int(f)
	}
	return math.MinInt64 // NaN as well
}

// OptInt returns argument n as an integer, or def if it is nil or missing.
func (t *Thread) OptInt(n, def int) int {
	if t.Arg(n).IsNil() {
		return def
	}
	return t.Int(n)
}

// Table returns argument n, which must be a table.
func (t *Thread) Table(n int) *Table {
	tab := t.Arg(n).Table()
	if tab == nil {
		t.TypeError(n, "table")
	}
	return tab
}

// Writable returns argument n, which must be a table that may be changed.
func (t *Thread) Writable(n int) *Table {
	tab := t.Table(n)
	if tab.ReadOnly {
		t.Raise(String("Attempt to modify a readonly table"))
	}
	return tab
}

// Function returns argument n, which must be a function.
func (t *Thread) Function(n int) Value {
	v := t.Arg(n)
	if !v.IsFunction() {
		t.TypeError(n, "function")
	}
	return v
}

// Any returns argument n, which must not be missing.
func (t *Thread) Any(n int) Value {
	if n > t.Top() {
		t.ArgError(n, "value expected")
	}
	return t.Arg(n)
}

// ToText converts a string or a number as Lua does.
func ToText(v Value) (string, bool) {
	switch {
	case v.IsString():
		return v.Str(), true
	case v.IsNumber():
		return numberText(v.Num()), true
	}
	return "", false
}

// Grow accounts for bytes of a string that is about to be allocated. It raises an error if they are
// too many.
func (t *Thread) Grow(bytes int) {
	if bytes > MaxString {
		t.Error("resulting string too large")
	}
	must(t.goesOn(t.s.Grow(bytes)))
}

// Spend accounts for work that is worth a number of instructions.
func (t *Thread) Spend(steps int) {
	if t.s.Left -= steps; t.s.Left <= 0 {
		must(t.look())
	}
}

// look asks whether the script may go on.
func (t *Thread) look() bool {
	return t.s.Left > 0 || t.goesOn(t.s.Look())
}

// spent accounts for steps of the machine, and reports whether it may go on.
func (s *State) spent(t *Thread, steps int) bool {
	s.Left -= steps
	return s.Left > 0 || t.look()
}

// must goes on with an error that the machine has raised.
func must(ok bool) {
	if !ok {
		panic(raising{})
	}
}

// Index returns o[key], metamethods included.
func (t *Thread) Index(o, key Value) Value {
	t.Push(Nil)
	must(t.get(o, key, fromGo, t.top-1))
	return t.Pop()
}

// SetIndex does o[key] = v, metamethods included.
func (t *Thread) SetIndex(o, key, v Value) { must(t.put(o, key, v, fromGo)) }

// RawGet returns tab[key] without metamethods.
func (t *Thread) RawGet(tab *Table, key Value) Value {
	if p := tab.findHashed(key, t.mustHash(key)); p != nil {
		return *p
	}
	return Nil
}

// RawSet does tab[key] = v without metamethods.
func (t *Thread) RawSet(tab *Table, key, v Value) {
	p := t.slot(tab, key)
	must(p != nil)
	p.set(v)
}

// RawSetInt does tab[i] = v without metamethods.
func (t *Thread) RawSetInt(tab *Table, i int, v Value) { t.RawSet(tab, Int(i), v) }

// PopElement gives a table the last value of the stack as element i, and removes the value.
func (t *Thread) PopElement(tab *Table, i int) {
	must(t.goesOn(tab.setInt(i, t.stack[t.top-1], &t.s.Budget)))
	t.drop(t.top - 1)
	t.Spend(1)
}

// PopPair gives a table the last two values of the stack, a key and its value, and removes them.
func (t *Thread) PopPair(tab *Table) {
	t.RawSet(tab, t.stack[t.top-2], t.stack[t.top-1])
	t.drop(t.top - 2)
	t.Spend(1)
}

// RawEqual is the function RawEqual, and accounts for the time that long strings take.
func (t *Thread) RawEqual(a, b Value) bool {
	if a.IsString() && b.IsString() {
		t.chargeCompare(a, b)
	}
	return RawEqual(a, b)
}

// Less returns a < b, metamethods included.
func (t *Thread) Less(a, b Value) bool {
	r, ok := t.less(a, b)
	must(ok)
	return r
}

// Equal returns a == b, metamethods included.
func (t *Thread) Equal(a, b Value) bool {
	r, ok := t.equal(a, b)
	must(ok)
	return r
}

// MetaField returns the entry of a value's metatable with the given name, or nil.
func (t *Thread) MetaField(v Value, name string) Value {
	if mt := t.s.MetatableOf(v); mt != nil {
		return mt.GetString(name)
	}
	return Nil
}

// CallFunction calls a function with arguments and returns its first result.
func (t *Thread) CallFunction(f Value, args ...Value) Value {
	t.Push(f)
	t.pushAll(args)
	t.Call(len(args), 1)
	return t.Pop()
}

// NewTable returns an empty table. It is accounted for.
func (t *Thread) NewTable(array, hash int) *Table {
	must(t.goesOn(t.s.Grow(tableBytes(array, hash))))
	return t.s.parts.table(array, nodesFor(hash))
}

// NewArray returns a table whose array is as large as if n elements had been set one by one. The
// elements may be stored in Array.
func (t *Thread) NewArray(n int) *Table { return t.NewTable(nodesFor(n), 0) }
