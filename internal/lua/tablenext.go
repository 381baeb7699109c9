package lua

import "math"

// maxLen is where Lua's search for a border gives up.
const maxLen = math.MaxInt32 - 2

// Len is Table.Len, and accounts for the time that it takes for a table that misleads it.
func (t *Thread) Len(tab *Table) int {
	n, steps := tab.border()
	t.s.Left -= steps
	return n
}

// Len returns a border: an n such that key n has a value, or n is 0, and key n+1 has none. Of
// several borders it is the one that Lua 5.1 finds.
func (t *Table) Len() int {
	n, _ := t.border()
	return n
}

// border returns Len, and how many steps it took if these were many.
func (t *Table) border() (n, steps int) {
	low, high := 0, len(t.array)
	if high == 0 || t.array[high-1].n != bitsNil {
		if len(t.nodes) == 0 {
			return high, 0
		}
		return t.borderBeyond(high)
	}
	for high-low > 1 {
		if mid := int(uint(low+high) / 2); t.array[mid-1].n != bitsNil {
			low = mid
		} else {
			high = mid
		}
	}
	return low, 0
}

// borderBeyond returns a border at or above low, where low is 0 or the last key of the array, and
// how many steps it took if these were many.
func (t *Table) borderBeyond(low int) (n, steps int) {
	high := low + 1
	for t.GetInt(high).n != bitsNil {
		low = high
		if high *= 2; high > maxLen {
			// The table was built to mislead the search.
			for i := 1; ; i++ {
				if t.GetInt(i).n == bitsNil {
					return i - 1, i
				}
			}
		}
	}
	for high-low > 1 {
		if mid := int(uint(low+high) / 2); t.GetInt(mid).n != bitsNil {
			low = mid
		} else {
			high = mid
		}
	}
	return low, 0
}

// NextIndex returns a key of the table and its value: the first one for 0, and the one that follows
// for the number that it returned. After the last it returns 0. A value of the table may be removed
// meanwhile, but adding a key makes the numbers void.
func (t *Table) NextIndex(i int) (next int, k, v Value) {
	for ; i < len(t.array); i++ {
		if t.array[i].n != bitsNil {
			return i + 1, Int(i + 1), t.array[i]
		}
	}
	for j := i - len(t.array); j < len(t.nodes); j++ {
		if n := &t.nodes[j]; n.val.n != bitsNil {
			return len(t.array) + j + 1, n.key, n.val
		}
	}
	return 0, Nil, Nil
}

// cursor returns the number at which NextIndex continues after key k, which has the hash. It
// reports whether the table has, or had, the key.
func (t *Table) cursor(k Value, hash uint32) (i int, ok bool) {
	if k.n == bitsNil {
		return 0, true
	}
	if i := intKey(k); uint(i-1) < uint(len(t.array)) {
		return i, true
	}
	if len(t.nodes) == 0 || badKey(k) != "" {
		return 0, false
	}
	j := t.position(k, hash)
	for {
		n := &t.nodes[j]
		if RawEqual(n.key, k) || n.hash == hash && n.key.n == forgotten(k) {
			return len(t.array) + int(j) + 1, true
		}
		if n.next == 0 {
			return 0, false
		}
		j = uint32(n.next - 1)
	}
}

// at reports whether NextIndex returns the number i for key k.
func (t *Table) at(i int, k Value) bool {
	j := i - 1 - len(t.array)
	if j < 0 {
		return i > 0 && k.n == Int(i).n
	}
	if j >= len(t.nodes) || k.n == bitsNil {
		return false
	}
	key := &t.nodes[j].key
	return key.n == k.n && (key.p == k.p || k.n >= minNumber)
}

// forgotten returns the bits of a key that stands for k without keeping it alive: the table had k,
// but not any more. With its hash they tell an object, and almost always a string.
func forgotten(k Value) uint64 {
	switch {
	case k.n >= minNumber:
		return bitsForgotten
	case k.IsString():
		return bitsForgotten | bitsLength | uint64(k.Len())
	}
	return bitsForgotten | uint64(k.address())
}

// forget lets go of the objects that were keys and have no value. Next still finds them.
func (t *Table) forget() {
	for i := range t.nodes {
		if n := &t.nodes[i]; n.val.n == bitsNil {
			n.forget()
		}
	}
}

func (n *node) forget() {
	if n.key.p != nil {
		n.key = Value{n: forgotten(n.key)}
	}
}
