package lua

import (
	"math"
	"math/bits"
)

// HashString returns the hash of a string key. It looks at all bytes, as Redis's Lua does. Stock
// Lua 5.1 looks at no more than 32, which makes no difference for shorter strings.
func HashString(s string) uint32 { return hashBytes(uint32(len(s)), s) }

// hashBytes continues a hash, which begins with the length, with the bytes from the last to the
// first.
func hashBytes(h uint32, s string) uint32 {
	for i := len(s) - 1; i >= 0; i-- {
		h ^= h<<5 + h>>2 + uint32(s[i])
	}
	return h
}

const (
	// longString is the length from which the time counts that comparing and hashing take.
	longString = 4 << 10
	// hashedPart is how many bytes are hashed without asking whether to go on.
	hashedPart = 64 << 10
	// hashedPerStep is how many bytes are hashed in the time of a step.
	hashedPerStep = 8
)

// isLong reports whether v is a string of at least longString bytes.
func (v Value) isLong() bool { return v.n-(bitsString|longString) < 1<<48-longString }

// hash returns the hash of a key. For a long string it accounts for the time. If ok is false, the
// run has ended.
func (t *Thread) hash(k Value) (h uint32, ok bool) {
	if !k.isLong() {
		return hashOf(k), true
	}
	s := k.Str()
	h = uint32(len(s))
	for s != "" {
		from := max(0, len(s)-hashedPart)
		h = hashBytes(h, s[from:])
		if !t.s.spent(t, (len(s)-from)/hashedPerStep) {
			return 0, false
		}
		s = s[:from]
	}
	return h, true
}

// mustHash is hash for functions of Go.
func (t *Thread) mustHash(k Value) uint32 {
	h, ok := t.hash(k)
	must(ok)
	return h
}

// hashNumber returns the hash of a number that is a key. 0 and -0 are the same key.
func hashNumber(f float64) uint32 {
	if f == 0 {
		return 0
	}
	n := math.Float64bits(f)
	return uint32(n) + uint32(n>>32)
}

// hashIdentity returns the hash of a key that is a boolean or an object.
func hashIdentity(k Value) uint32 {
	if k.n <= bitsTrue {
		return uint32(k.n - bitsFalse)
	}
	return uint32(k.address()) // objects do not move
}

func hashOf(k Value) uint32 {
	switch {
	case k.n >= minNumber:
		return hashNumber(k.Num())
	case k.IsString():
		return HashString(k.Str())
	}
	return hashIdentity(k)
}

// position returns the main position of a key. Hashes of numbers and addresses have many factors of
// two: they are taken modulo an odd number.
func (t *Table) position(k Value, hash uint32) uint32 {
	mask := uint32(len(t.nodes) - 1)
	if k.n < bitsTable {
		return hash & mask
	}
	return hash % (mask | 1)
}

// findStr is find for a string whose HashString is known.
func (t *Table) findStr(s Value, hash uint32) *Value {
	nodes := t.nodes
	if len(nodes) == 0 {
		return nil
	}
	n := &nodes[int(hash)&(len(nodes)-1)]
	for {
		if n.key.n == s.n && (n.key.p == s.p || n.hash == hash && n.key.Str() == s.Str()) {
			return &n.val
		}
		next := uint(n.next) - 1
		if next >= uint(len(nodes)) {
			return nil
		}
		n = &nodes[next]
	}
}

// findNumber is find for a number that is not in the array.
func (t *Table) findNumber(f float64) *Value {
	nodes := t.nodes
	if len(nodes) == 0 {
		return nil
	}
	n := &nodes[hashNumber(f)%(uint32(len(nodes)-1)|1)]
	for {
		if n.key.n >= minNumber && n.key.Num() == f {
			return &n.val
		}
		next := uint(n.next) - 1
		if next >= uint(len(nodes)) {
			return nil
		}
		n = &nodes[next]
	}
}

// findIdentity is find for a boolean or an object.
func (t *Table) findIdentity(k Value) *Value {
	nodes := t.nodes
	if len(nodes) == 0 {
		return nil
	}
	n := &nodes[t.position(k, hashIdentity(k))]
	for {
		if n.key.n == k.n && (n.key.p == k.p || k.n <= bitsTrue) {
			return &n.val
		}
		next := uint(n.next) - 1
		if next >= uint(len(nodes)) {
			return nil
		}
		n = &nodes[next]
	}
}

// add adds a key that the table does not have and returns where its value belongs, which is nil.
func (t *Table) add(b *Budget, k Value, hash uint32) (*Value, error) {
	if n := t.place(k, hash); n != nil {
		return &n.val, nil
	}
	if err := t.rehash(b, k); err != nil {
		return nil, err
	}
	if p := t.inArray(k); p != nil {
		return p, nil
	}
	return &t.place(k, hash).val, nil
}

// place puts a key that the table does not have into a node and returns the node, whose value is
// nil. It returns nil if it needs an unused node and there is none.
func (t *Table) place(k Value, hash uint32) *node {
	if len(t.nodes) == 0 {
		return nil
	}
	main := t.position(k, hash)
	n := &t.nodes[main]
	if n.val.n != bitsNil {
		unused := t.takeNode()
		if unused < 0 {
			return nil
		}
		u := &t.nodes[unused]
		if other := t.position(n.key, n.hash); other == main {
			u.next, n.next = n.next, unused+1
			n = u
		} else {
			before := &t.nodes[other]
			for before.next != int32(main)+1 {
				before = &t.nodes[before.next-1]
			}
			before.next = unused + 1
			*u = *n
			n.next, n.val = 0, Nil
		}
	}
	n.key.set(k)
	n.hash = hash
	return n
}

// takeNode returns the index of a node that was never used, or -1.
func (t *Table) takeNode() int32 {
	for t.free > 0 {
		t.free--
		if t.nodes[t.free].key.n == bitsNil {
			return t.free
		}
	}
	return -1
}

// keyCounts says how many integer keys there are: counts[i] in the range (2^(i-1), 2^i].
type keyCounts struct {
	ints   int
	counts [maxBits + 1]int
}

func (c *keyCounts) add(k Value) {
	if i := intKey(k); 0 < i && i <= 1<<maxBits {
		c.counts[bits.Len(uint(i-1))]++
		c.ints++
	}
}

// addArray counts the keys of the array.
func (c *keyCounts) addArray(array []Value) {
	for i, power := 0, 0; i < len(array) && power <= maxBits; power++ {
		end := min(1<<power, len(array))
		n := 0
		for ; i < end; i++ {
			if array[i].n != bitsNil {
				n++
			}
		}
		c.counts[power] += n
		c.ints += n
	}
}

// arraySize returns the largest power of two such that more than half of the keys from 1 to it are
// in use, or 0, and how many keys these are.
func (c *keyCounts) arraySize() (size, inside int) {
	below := 0
	for power, n := range c.counts {
		if 1<<power/2 >= c.ints {
			break
		}
		if below += n; n > 0 && below > 1<<power/2 {
			size, inside = 1<<power, below
		}
	}
	return size, inside
}

// rehash makes room for a new key k.
func (t *Table) rehash(b *Budget, k Value) error {
	var c keyCounts
	c.addArray(t.array)
	total := c.ints + 1
	for i := range t.nodes {
		if n := &t.nodes[i]; n.val.n != bitsNil {
			c.add(n.key)
			total++
		}
		if i%breathEvery == breathEvery-1 {
			b.Breathe()
		}
	}
	c.add(k)
	size, inside := c.arraySize()
	return t.resize(b, size, total-inside)
}

// resize gives both parts a new size, in which all keys must find room. The nodes are laid out
// anew, without the keys whose value is nil. It fails if b does not allow for the memory; then
// nothing has changed.
func (t *Table) resize(b *Budget, array, hash int) error {
	count := nodesFor(hash)
	if max(array, count) > 1<<maxBits {
		return errOverflow
	}
	bytes := count * nodeBytes
	if array != len(t.array) {
		bytes += array * valueBytes
	}
	if err := b.rehash(bytes, len(t.array)+len(t.nodes)); err != nil {
		return err
	}
	var parts *recycler
	if b != nil {
		parts = &b.parts
	}
	nodes, old := t.nodes, t.array
	t.setArray(parts, array)
	t.setNodes(parts, count)
	beyond := old[min(array, len(old)):]
	for i := range beyond {
		if v := beyond[i]; v.n != bitsNil {
			f := float64(array + i + 1)
			t.place(Number(f), hashNumber(f)).val = v
		}
	}
	for i := len(nodes) - 1; i >= 0; i-- {
		n := &nodes[i]
		if n.val.n == bitsNil {
			continue
		}
		if p := t.inArray(n.key); p != nil {
			*p = n.val
		} else {
			t.place(n.key, n.hash).val = n.val
		}
		if i%breathEvery == breathEvery-1 {
			b.Breathe()
		}
	}
	if array == len(old) {
		old = nil
	}
	parts.giveBack(old, nodes)
	t.assertValid()
	return nil
}

// setArray gives the array another size. Values beyond it are lost.
func (t *Table) setArray(parts *recycler, size int) {
	old := t.array
	if size == len(old) {
		return
	}
	t.array = nil
	if size > 0 {
		t.array = parts.array(size)
		copy(t.array, old)
	}
}

func (t *Table) setNodes(parts *recycler, count int) {
	t.nodes = nil
	if count > 0 {
		t.nodes = parts.hash(count)
	}
	t.free = int32(count)
}

// nodesFor returns how many nodes hold n keys.
func nodesFor(n int) int {
	if n == 0 {
		return 0
	}
	return 1 << bits.Len(uint(n-1))
}
