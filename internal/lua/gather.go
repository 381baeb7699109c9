package lua

// This file makes tables of values that are on the stack, for functions of Go that read a table
// from a text. The tables are laid out as if the values had been set one by one in a new table, but
// their memory is allocated once.

// Array returns the array part of the table: the values of the keys from 1 on.
func (t *Table) Array() []Value { return t.array }

// Nodes returns the number of nodes in the hash part.
func (t *Table) Nodes() int { return len(t.nodes) }

// Node returns the key and the value of a node. There is no such pair in the table if the value is
// nil. Next returns the pairs in the order of the array, then of the nodes.
func (t *Table) Node(i int) (k, v Value) {
	n := &t.nodes[i]
	return n.key, n.val
}

// NewArray returns a table whose array is as large as if n elements had been set one by one. The
// elements may be stored in Array.
func (t *Thread) NewArray(n int) *Table { return t.NewTable(nodesFor(n), 0) }

// PopArray gives the keys from first on the last n values of the stack, which it removes. The table
// must have the keys below first and no others.
func (t *Thread) PopArray(tab *Table, first, n int) {
	if last := first + n - 1; last > len(tab.array) {
		if err := tab.resize(&t.s.Budget, nodesFor(last), 0); err != nil {
			t.stop(err)
			panic(raising{})
		}
	}
	copy(tab.array[first-1:], t.stack[t.top-n:t.top])
	t.top -= n
	t.Spend(n)
}

// PopPair gives a table the last two values of the stack, a key and its value, which it removes.
func (t *Thread) PopPair(tab *Table) {
	k, v := t.stack[t.top-2], t.stack[t.top-1]
	if k.IsString() {
		t.setString(tab, k, v)
	} else {
		t.RawSet(tab, k, v)
	}
	t.top -= 2
	t.Spend(1)
}

func (t *Thread) setString(tab *Table, k, v Value) {
	hash := t.mustHash(k)
	p := tab.findStr(k, hash)
	if p == nil {
		var err error
		if p, err = tab.add(&t.s.Budget, k, hash); err != nil {
			t.stop(err)
			panic(raising{})
		}
	}
	p.set(v)
}

// MaxPairs is how many pairs PopPairs takes.
const MaxPairs = 32

// PopPairs returns a table of the last 2n values of the stack, which it removes: keys, each with
// its value behind it. The keys must be strings, and the values not nil.
//
// Texts have many tables with the same keys. The layout of such a table is remembered as a shape,
// and copied. Keys are compared by identity: Intern makes equal ones identical.
func (t *Thread) PopPairs(n int) *Table {
	pairs := t.stack[t.top-2*n : t.top]
	mix := uint64(n)
	for i := 0; i < len(pairs); i += 2 {
		mix = (mix ^ uint64(pairs[i].address())) * 0x9e3779b97f4a7c15
	}
	if t.s.shapes == nil {
		t.s.shapes = new(shapes)
	}
	var tab *Table
	if s := t.s.shapes.find(mix); s.is(pairs) {
		t.Grow(headBytes + len(s.nodes)*nodeBytes)
		tab = s.fill(&t.s.parts, pairs)
	} else {
		tab = t.pairs(pairs)
		s.learn(pairs, tab)
	}
	t.top -= 2 * n
	t.Spend(n)
	return tab
}

// pairs returns a table of pairs.
func (t *Thread) pairs(pairs []Value) *Table {
	tab := t.NewTable(0, 0)
	for i := 0; i < len(pairs); i += 2 {
		t.setString(tab, pairs[i], pairs[i+1])
	}
	return tab
}

// shapes are those that were seen lately. Two may share a place; the one that was used last is
// first.
type shapes [1 << logShapes][2]shape

const logShapes = 6

// shape is the layout of tables with certain keys that were set in a certain order.
type shape struct {
	mix   uint64 // of the keys
	seen  bool
	keys  []Value // all, once the layout is known
	at    []uint8 // for each key its node
	nodes []node  // without values
	free  int32
}

// find returns the shape of keys, which may be a new one.
func (list *shapes) find(mix uint64) *shape {
	place := &list[mix>>(64-logShapes)]
	switch {
	case place[0].mix == mix:
	case place[1].mix == mix:
		place[0], place[1] = place[1], place[0]
	default:
		place[1], place[0] = place[0], shape{mix: mix}
	}
	return &place[0]
}

// is reports whether the shape is known and is that of the pairs.
func (s *shape) is(pairs []Value) bool {
	if 2*len(s.keys) != len(pairs) {
		return false
	}
	for i, k := range s.keys {
		if p := &pairs[2*i]; p.p != k.p || p.n != k.n {
			return false
		}
	}
	return true
}

// fill returns a table of the shape.
func (s *shape) fill(parts *recycler, pairs []Value) *Table {
	t := parts.table(0, len(s.nodes))
	copy(t.nodes, s.nodes)
	for i, at := range s.at {
		t.nodes[at].val = pairs[2*i+1]
	}
	t.free = s.free
	return t
}

// learn notes the layout of a table when pairs with the same keys come for the second time. Keys
// that Intern does not remember would never be found again.
func (s *shape) learn(pairs []Value, tab *Table) {
	if !s.seen {
		s.seen = true
		return
	}
	s.at = s.at[:0]
	for i := 0; i < len(pairs); i += 2 {
		for j := range tab.nodes {
			if k := &tab.nodes[j].key; k.p == pairs[i].p && k.n == pairs[i].n &&
				k.Len() <= maxInterned {
				s.at = append(s.at, uint8(j))
			}
		}
	}
	if 2*len(s.at) != len(pairs) {
		return
	}
	s.free, s.nodes = tab.free, append([]node(nil), tab.nodes...)
	for i := range s.nodes {
		s.nodes[i].val = Nil
	}
	for i := 0; i < len(pairs); i += 2 {
		s.keys = append(s.keys, pairs[i])
	}
}
