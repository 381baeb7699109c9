package lua

import (
	"math"
	"unsafe"
)

// This is the only file of the machine that uses unsafe.

// Value is a Lua value. The zero Value is nil. Values are compared with RawEqual, never with ==.
//
// n holds the kind, and p what it refers to. A number is n alone: the complement of its float64's
// bits. As complements, the bits of all numbers are at least minNumber, because the only NaNs that
// become values are canonical. So one comparison tells a number, and storing one need not touch
// the pointer, which keeps what it was. Below minNumber, the upper 16 bits of n are the kind, and
// the lower 48 the length of a string.
type Value struct {
	p unsafe.Pointer
	n uint64
}

// Kind distinguishes values more finely than Lua's types.
type Kind uint8

// The kinds of values.
const (
	KindNil Kind = iota
	KindBool
	KindNumber
	KindString
	KindTable
	KindClosure // function of Lua
	KindNative  // function of Go
	KindThread
	KindUserdata
)

const (
	bitsNil   = 0
	bitsFalse = 1
	bitsTrue  = 2

	bitsString   = 1 << 48
	bitsTable    = 2 << 48
	bitsClosure  = 3 << 48
	bitsNative   = 4 << 48
	bitsThread   = 5 << 48
	bitsUserdata = 6 << 48

	// bitsForgotten and an address are a key that a table no longer has: see Table.forget. A string
	// has bitsLength and its length in place of the address.
	bitsForgotten = 7 << 48
	bitsLength    = 1 << 47

	// minNumber is the complement of 0xfff8000000000000, the NaN that x86 makes.
	minNumber = 0x0007ffffffffffff

	maskLen = 1<<48 - 1
)

// Nil, True and False are the values of those names.
var (
	Nil   Value
	False = Value{n: bitsFalse}
	True  = Value{n: bitsTrue}
)

// Bool returns a boolean.
func Bool(b bool) Value {
	if b {
		return True
	}
	return False
}

// Number returns a number.
func Number(f float64) Value {
	if f != f {
		return canonicalNaN(f)
	}
	return Value{n: numberBits(f)}
}

// Int returns an integer as a number.
func Int(i int) Value { return Value{n: numberBits(float64(i))} }

// canonicalNaN keeps the sign, which shows when it is printed.
func canonicalNaN(f float64) Value {
	if math.Signbit(f) {
		return Value{n: minNumber}
	}
	return Value{n: minNumber | 1<<63}
}

func numberBits(f float64) uint64 { return ^math.Float64bits(f) }
func bitsNumber(n uint64) float64 { return math.Float64frombits(^n) }

var emptyString byte

// String returns a string. Its bytes are not copied.
func String(s string) Value {
	if s == "" {
		return Value{unsafe.Pointer(&emptyString), bitsString}
	}
	return Value{unsafe.Pointer(unsafe.StringData(s)), bitsString | uint64(len(s))}
}

// Bytes returns a string that shares its bytes with b, which nobody may change while the value
// lives.
func Bytes(b []byte) Value {
	if len(b) == 0 {
		return Value{unsafe.Pointer(&emptyString), bitsString}
	}
	return Value{unsafe.Pointer(unsafe.SliceData(b)), bitsString | uint64(len(b))}
}

// TableValue returns a table as a value. t must not be nil, as for the other kinds.
func TableValue(t *Table) Value { return Value{unsafe.Pointer(t), bitsTable} }

// ClosureValue returns a function of Lua as a value.
func ClosureValue(c *Closure) Value { return Value{unsafe.Pointer(c), bitsClosure} }

// NativeValue returns a function of Go as a value.
func NativeValue(f *Native) Value { return Value{unsafe.Pointer(f), bitsNative} }

// ThreadValue returns a coroutine as a value.
func ThreadValue(t *Thread) Value { return Value{unsafe.Pointer(t), bitsThread} }

// UserdataValue returns a userdata as a value.
func UserdataValue(u *Userdata) Value { return Value{unsafe.Pointer(u), bitsUserdata} }

// Userdata is an opaque value. Two are equal if they are the same.
type Userdata struct{ Name string }

// Kind returns the kind of v.
func (v Value) Kind() Kind {
	switch {
	case v.n >= minNumber:
		return KindNumber
	case v.n == bitsNil:
		return KindNil
	case v.n <= bitsTrue:
		return KindBool
	}
	return Kind(v.n>>48) + KindNumber
}

// TypeName returns Lua's name of the type of v.
func (v Value) TypeName() string { return v.Kind().String() }

// String returns Lua's name of the type.
func (k Kind) String() string {
	return [...]string{"nil", "boolean", "number", "string", "table", "function", "function",
		"thread", "userdata"}[k]
}

// IsNil reports whether v is nil.
func (v Value) IsNil() bool { return v.n == bitsNil }

// Truthy reports whether v counts as true: all but nil and false do.
func (v Value) Truthy() bool { return v.n > bitsFalse }

// IsNumber reports whether v is a number.
func (v Value) IsNumber() bool { return v.n >= minNumber }

// IsString reports whether v is a string.
func (v Value) IsString() bool { return v.n>>48 == bitsString>>48 }

// IsTable reports whether v is a table.
func (v Value) IsTable() bool { return v.n == bitsTable }

// IsFunction reports whether v is a function of Lua or Go.
func (v Value) IsFunction() bool { return v.n == bitsClosure || v.n == bitsNative }

// Num returns the number that v is.
func (v Value) Num() float64 { return bitsNumber(v.n) }

// Str returns the string that v is. It shares the bytes of v: whoever keeps it longer than v's
// script runs must copy it.
func (v Value) Str() string { return unsafe.String((*byte)(v.p), v.n&maskLen) }

// Borrow returns the bytes of the string that v is. Nobody may change them, or keep them longer
// than v's script runs.
func (v Value) Borrow() []byte { return unsafe.Slice((*byte)(v.p), v.n&maskLen) }

// Len returns the length of the string that v is.
func (v Value) Len() int { return int(v.n & maskLen) }

// Table returns the table that v is, or nil if it is none.
func (v Value) Table() *Table {
	if v.n != bitsTable {
		return nil
	}
	return (*Table)(v.p)
}

// Closure returns the function of Lua that v is, or nil if it is none.
func (v Value) Closure() *Closure {
	if v.n != bitsClosure {
		return nil
	}
	return (*Closure)(v.p)
}

// Native returns the function of Go that v is, or nil if it is none.
func (v Value) Native() *Native {
	if v.n != bitsNative {
		return nil
	}
	return (*Native)(v.p)
}

// Thread returns the coroutine that v is, or nil if it is none.
func (v Value) Thread() *Thread {
	if v.n != bitsThread {
		return nil
	}
	return (*Thread)(v.p)
}

// Userdata returns the userdata that v is, or nil if it is none.
func (v Value) Userdata() *Userdata {
	if v.n != bitsUserdata {
		return nil
	}
	return (*Userdata)(v.p)
}

// RawEqual reports whether a and b are equal without metamethods.
func RawEqual(a, b Value) bool {
	if a.n != b.n {
		return a.n >= minNumber && b.n >= minNumber && bitsNumber(a.n) == bitsNumber(b.n)
	}
	switch {
	case a.n >= minNumber:
		return bitsNumber(a.n) == bitsNumber(a.n) // NaN differs from itself
	case a.n <= bitsTrue:
		return true
	}
	return a.p == b.p || a.n>>48 == bitsString>>48 && a.Str() == b.Str()
}

// set stores w for long: what has no reference does not keep what its pointer refers to.
func (v *Value) set(w Value) {
	if w.n >= minNumber || w.n <= bitsTrue {
		if v.n = w.n; v.p != nil {
			v.p = nil
		}
		return
	}
	*v = w
}

// release lets go of what the pointer of a value without a reference refers to.
func (v *Value) release() {
	if v.n >= minNumber || v.n <= bitsTrue {
		v.p = nil
	}
}

// address identifies what v refers to, for the hash of a table and for tostring.
func (v Value) address() uintptr { return uintptr(v.p) }

// table, closure and native return what v is known to be.
func (v *Value) table() *Table     { return (*Table)(v.p) }
func (v *Value) closure() *Closure { return (*Closure)(v.p) }
func (v *Value) native() *Native   { return (*Native)(v.p) }

// addressOf identifies an object that is not a value.
func addressOf[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }
