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
	absent Events // of this table as a metatable; see Lacks

	// ReadOnly marks a table that scripts cannot change. The caller of Set and the like checks it.
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
	tableBytes = 64
	nodeBytes  = 40

	// maxBits bounds both parts: neither grows beyond 2^maxBits elements by a rehash.
	maxBits = 26
)

// Errors of keys. Their texts are Lua's.
var (
	ErrNilKey   = errors.New("table index is nil")
	ErrNaNKey   = errors.New("table index is NaN")
	ErrNextKey  = errors.New("invalid key to 'next'")
	ErrOverflow = errors.New("table overflow")
)

// Events is a set of metamethods.
type Events uint16

// NewTable returns an empty table whose array has the given size, and whose hash part has the size
// rounded up to a power of two. The caller has accounted for NewTableBytes.
func NewTable(array, hash int) *Table {
	t := &Table{}
	if array > 0 {
		t.array = make([]Value, array)
	}
	if hash > 0 {
		t.setNodes(nodesFor(hash))
	}
	return t
}

// NewTableBytes returns how many bytes NewTable allocates.
func NewTableBytes(array, hash int) int {
	return tableBytes + array*valueBytes + nodesFor(hash)*nodeBytes
}

// Bytes returns how many bytes the table takes, without what its keys and values refer to.
func (t *Table) Bytes() int {
	return tableBytes + len(t.array)*valueBytes + len(t.nodes)*nodeBytes
}

// Lacks reports whether the table, as a metatable, is known to have none of the metamethods. The
// answer no means that they must be looked for. Lacks may be called for nil.
func (t *Table) Lacks(e Events) bool { return t == nil || t.absent&e == e }

// NoteAbsent makes Lacks true for the metamethods until a key is added to the table. The caller
// has looked for them.
func (t *Table) NoteAbsent(e Events) { t.absent |= e }

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

// CheckKey returns the error of a key that no table can have.
func CheckKey(k Value) error {
	switch {
	case k.n == bitsNil:
		return ErrNilKey
	case k.n >= minNumber && k.Num() != k.Num():
		return ErrNaNKey
	}
	return nil
}

// Set gives key k the value v, without metamethods. It fails with ErrNilKey or ErrNaNKey, and if
// b does not allow for the table's growth. A b of nil allows all. As in Lua, a new key takes a
// place even if its value is nil.
func (t *Table) Set(b *Budget, k, v Value) error {
	p, err := t.Slot(b, k)
	if err == nil {
		p.set(v)
	}
	return err
}

// SetInt is Set for an integer.
func (t *Table) SetInt(b *Budget, i int, v Value) error {
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

// SetStr is Set for a string whose HashString is known.
func (t *Table) SetStr(b *Budget, s Value, hash uint32, v Value) error {
	p := t.findStr(s, hash)
	t.absent = 0
	if p == nil {
		n, err := t.add(b, s, hash)
		if err != nil {
			return err
		}
		p = n
	}
	p.set(v)
	return nil
}

// SetString gives key s the value v. It accounts for nothing: it is for names that the host knows.
func (t *Table) SetString(s string, v Value) {
	// Without a budget only a table of 2^26 elements can fail.
	_ = t.SetStr(nil, String(s), HashString(s), v)
}

// Slot returns where the value of key k is, and adds the key with the value nil if it is missing.
// Errors are those of Set. The pointer is valid until another key is added; the caller may store a
// value there with Value.set. This is how Lua assigns: a table with the metamethod __newindex gets
// the key even if the metamethod then keeps the value elsewhere.
func (t *Table) Slot(b *Budget, k Value) (*Value, error) {
	p := t.find(k)
	t.absent = 0
	if p != nil {
		return p, nil
	}
	if err := CheckKey(k); err != nil {
		return nil, err
	}
	return t.add(b, k, hashOf(k))
}

// SetList gives the keys from first on the values, as a constructor does. It fails if b does not
// allow for the table's growth.
func (t *Table) SetList(b *Budget, first int, values []Value) error {
	if last := first + len(values) - 1; last > len(t.array) {
		if err := t.resize(b, last, len(t.nodes)); err != nil {
			return err
		}
	}
	array := t.array[first-1:]
	for i, v := range values {
		array[i].set(v)
	}
	return nil
}
