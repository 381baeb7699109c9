package lua

import "errors"

// Table is a Lua table. It is laid out as a table of Lua 5.1.5 is, so that # finds the same border
// and next the same order:
//
//	array  ┌─1─┬─2─┬─3─┬─4─┐            values of the keys 1 to len(array)
//	       └───┴───┴───┴───┘
//	nodes  ┌─────┬─────┬─────┬─────┐    other keys; a power of two of them, or none
//	       │ "x" │ 9.5 │  –  │ "y" │
//	       └──┬──┴─────┴─────┴──▲──┘
//	          └──── chain ──────┘ free: no unused node from here on
//
// A key lives in its main position, which follows from its hash, unless another key had that
// position and was at home there. Then it lives in an unused node, linked to the chain of its main
// position. A key that finds its main position taken by one that is not at home there moves that
// one away. (Brent's variation of a chained scatter table.) Unused nodes are handed out from the
// end. When there are none left, rehash counts the keys: the array gets the largest size n, a power
// of two, such that more than half of 1 to n is in use, and the nodes hold the rest.
//
// A key whose value is nil stays in its node until the node is needed, so that a traversal may
// remove what it sees.
//
// The zero Table is empty. Tables must not be copied.
type Table struct {
	array []Value
	nodes []node

	// Metatable is the table of metamethods, or nil. Writers of keys need not care about it.
	Metatable *Table

	free   int32  // nodes at this index and beyond are in use
	absent uint16 // events that this table, as a metatable, is known not to have; see State.event

	// ReadOnly marks a table that scripts cannot change. Those who set keys must check it.
	ReadOnly bool
}

// node is an element of the hash part. A node whose key is nil was never used. If the value is nil,
// the key is only there to be found by Next.
type node struct {
	key, val Value
	hash     uint32
	next     int32 // 1 + index of the next node of the chain; 0 at its end
}

const (
	headBytes = 64
	nodeBytes = 40

	// maxBits bounds both parts: neither grows beyond 2^maxBits elements by a rehash.
	maxBits = 26
)

var (
	errOverflow = errors.New("table overflow")
)

// NewTable returns an empty table whose array has the given size, and whose hash part has the size
// rounded up to a power of two. Thread.NewTable also accounts for it.
func NewTable(array, hash int) *Table {
	return (*recycler)(nil).table(array, nodesFor(hash))
}

// tableBytes returns how many bytes NewTable allocates.
func tableBytes(array, hash int) int {
	return headBytes + array*valueBytes + nodesFor(hash)*nodeBytes
}

// Bytes returns how many bytes the table takes, without what its keys and values refer to.
func (t *Table) Bytes() int {
	return headBytes + len(t.array)*valueBytes + len(t.nodes)*nodeBytes
}

// Array returns the array part of the table: the values of the keys from 1 on.
func (t *Table) Array() []Value { return t.array }

// Get returns the value of key k, or nil.
func (t *Table) Get(k Value) Value {
	if p := t.find(k); p != nil {
		return *p
	}
	return Nil
}

// GetInt returns the value of key i.
func (t *Table) GetInt(i int) Value {
	if uint(i-1) < uint(len(t.array)) {
		return t.array[i-1]
	}
	return t.getNumber(i)
}

// GetStr returns the value of a string whose HashString is known.
func (t *Table) GetStr(s Value, hash uint32) Value {
	if p := t.findStr(s, hash); p != nil {
		return *p
	}
	return Nil
}

// GetString returns the value of key s.
func (t *Table) GetString(s string) Value { return t.GetStr(String(s), HashString(s)) }

func (t *Table) getNumber(i int) Value {
	if p := t.findNumber(float64(i)); p != nil {
		return *p
	}
	return Nil
}

// find returns where the value of key k is, or nil if the key is in neither part. The pointer is
// valid until a key is added to the table. A value that is not nil may be replaced there with
// Value.set; in place of nil, only Set and its like may put a value.
func (t *Table) find(k Value) *Value {
	switch {
	case k.n >= minNumber:
		if p := t.inArray(k); p != nil {
			return p
		}
		return t.findNumber(k.Num())
	case k.IsString():
		return t.findStr(k, HashString(k.Str()))
	case k.n == bitsNil:
		return nil
	}
	return t.findIdentity(k)
}

// findHashed is find for a key whose hash is known.
func (t *Table) findHashed(k Value, hash uint32) *Value {
	if k.IsString() {
		return t.findStr(k, hash)
	}
	return t.find(k)
}

// findInt is find for an integer.
func (t *Table) findInt(i int) *Value {
	if uint(i-1) < uint(len(t.array)) {
		return &t.array[i-1]
	}
	return t.findNumber(float64(i))
}

// inArray returns where the value of a key is in the array, or nil if it does not belong there.
func (t *Table) inArray(k Value) *Value {
	if i := intKey(k); uint(i-1) < uint(len(t.array)) {
		return &t.array[i-1]
	}
	return nil
}

// intKey returns the integer that k is, or 0.
func intKey(k Value) int {
	if k.n >= minNumber {
		if f := k.Num(); f == float64(int(f)) {
			return int(f)
		}
	}
	return 0
}

// settable returns where an assignment may store the value of a string whose HashString is known:
// if the key has a value, or if there is no metatable and room for the key. Otherwise it returns
// nil, and so if the table is ReadOnly.
func (t *Table) settable(s Value, hash uint32) *Value {
	return t.assignable(t.findStr(s, hash), s, hash)
}

// settableNumber is settable for a number.
func (t *Table) settableNumber(f float64) *Value {
	if i := int(f); uint(i-1) < uint(len(t.array)) && float64(i) == f {
		if p := &t.array[i-1]; !t.ReadOnly && (p.n != bitsNil || t.Metatable == nil) {
			return p
		}
		return nil
	}
	if f != f {
		return nil
	}
	return t.assignable(t.findNumber(f), Value{n: numberBits(f)}, hashNumber(f))
}

// settableKey is settable for any key that is not an integer of the array. It returns nil for most
// keys but numbers and short strings.
func (t *Table) settableKey(k Value) *Value {
	switch {
	case k.n >= minNumber:
		return t.settableNumber(k.Num())
	case k.IsString() && !k.isLong():
		return t.settable(k, HashString(k.Str()))
	}
	return nil
}

// assignable is the second half of settable. p is where the value of key k is, or nil.
func (t *Table) assignable(p *Value, k Value, hash uint32) *Value {
	if t.ReadOnly {
		return nil
	}
	if p != nil && p.n != bitsNil {
		return p
	}
	if t.Metatable != nil {
		return nil
	}
	if p == nil {
		n := t.place(k, hash)
		if n == nil {
			return nil
		}
		p = &n.val
	}
	t.absent = 0
	return p
}

// badKey returns Lua's error for a key that no table can have, or "".
func badKey(k Value) string {
	switch {
	case k.n == bitsNil:
		return "table index is nil"
	case k.n >= minNumber && k.Num() != k.Num():
		return "table index is NaN"
	}
	return ""
}

// set gives key k, which must not be bad, the value v. It fails if b does not allow for the table's
// growth. If b is nil it accounts for nothing. As in Lua, a new key takes a place even if its value
// is nil.
func (t *Table) set(k, v Value, b *Budget) error {
	p, err := t.slot(k, hashOf(k), b)
	if err == nil {
		p.set(v)
	}
	return err
}

// slot returns where the value of key k is, which has the hash, and adds the key if it is missing.
// k and errors are those of set. The pointer is valid until another key is added; the caller may
// store a value there with Value.set.
//
// Lua assigns in this way: a table with the metamethod __newindex gets a place for the key even if
// the metamethod then keeps the value elsewhere.
func (t *Table) slot(k Value, hash uint32, b *Budget) (*Value, error) {
	p := t.findHashed(k, hash)
	t.absent = 0
	if p != nil {
		return p, nil
	}
	return t.add(b, k, hash)
}

// setInt is set for an integer.
func (t *Table) setInt(i int, v Value, b *Budget) error {
	p := t.findInt(i)
	if p == nil {
		f := float64(i)
		n, err := t.add(b, Number(f), hashNumber(f))
		if err != nil {
			return err
		}
		p = n
	}
	p.set(v)
	return nil
}

// SetInt gives key i the value v. It accounts for nothing: the host should have made the table such
// that there is room.
func (t *Table) SetInt(i int, v Value) {
	// Without a budget, only a table of 2^26 elements can fail.
	_ = t.setInt(i, v, nil)
}

// SetString gives key s the value v. It accounts for nothing: it is for names that the host knows.
func (t *Table) SetString(s string, v Value) { _ = t.set(String(s), v, nil) }

// reserveArray makes the array hold at least the keys 1 to n, as a constructor does.
func (t *Table) reserveArray(n int, b *Budget) error {
	if n <= len(t.array) {
		return nil
	}
	return t.resize(b, n, len(t.nodes))
}
