package lua

// This file has the iterators of pairs and ipairs. Loops call them without a frame.

// Next returns the function next.
func Next() *Native { return &Native{Name: "next", Fn: next, special: specialNext} }

// IpairsNext returns the iterator of ipairs.
func IpairsNext() *Native {
	return &Native{Name: "ipairs_aux", Fn: ipairsNext, special: specialIpairs}
}

func next(t *Thread) int {
	_, k, v := t.NextFrom(t.Table(1), -1, t.Arg(2))
	t.Push(k)
	if k.IsNil() {
		return 1
	}
	t.Push(v)
	return 2
}

// NextFrom returns the key that follows k in a table, its value, and a hint for the next call. Any
// hint will do; the right one makes it faster. After the last key it returns 0. For a key that the
// table does not have it raises an error.
func (t *Thread) NextFrom(tab *Table, hint int, k Value) (next int, key, v Value) {
	if !tab.at(hint, k) {
		var ok bool
		if hint, ok = tab.cursor(k, t.mustHash(k)); !ok {
			t.Raise(String("invalid key to 'next'"))
		}
	}
	return t.NextIndex(tab, hint)
}

// NextIndex is Table.NextIndex. It accounts for the places that it looks at.
func (t *Thread) NextIndex(tab *Table, from int) (at int, key, v Value) {
	at, key, v = tab.NextIndex(from)
	end := at
	if at == 0 {
		end = len(tab.array) + len(tab.nodes)
	}
	t.s.Left -= (end - from) / keysPerStep
	return at, key, v
}

func ipairsNext(t *Thread) int {
	i := int(int32(t.Int(2))) + 1
	v := t.Table(1).GetInt(i)
	if v.IsNil() {
		return 0
	}
	t.Push(Int(i))
	t.Push(v)
	return 2
}

// iterate does a ForCall for up to two variables if the iterator is one of this file. It reports
// whether it is. r are the registers of the loop: the iterator, its state, the control variable and
// the variables. Nobody but the loop sees the first, so the place in the table is kept in it.
func (t *Thread) iterate(r *[5]Value, variables int) bool {
	tab := r[1].Table()
	if tab == nil || variables > 2 || t.outer+t.nested >= maxNested-1 {
		return false
	}
	var k, v Value
	switch r[0].native().special {
	case specialNext:
		at := int(r[0].n & maskLen)
		if !tab.at(at, r[2]) {
			if r[2].isLong() {
				return false
			}
			var ok bool
			if at, ok = tab.cursor(r[2], hashOf(r[2])); !ok {
				return false
			}
		}
		at, key, val := t.NextIndex(tab, at)
		r[0].n = bitsNative | uint64(at)
		k, v = key, val
	case specialIpairs:
		if !r[2].IsNumber() {
			return false
		}
		i := int(int32(r[2].Num())) + 1
		if v = tab.GetInt(i); v.n != bitsNil {
			k = Int(i)
		}
	default:
		return false
	}
	if r[3] = k; variables == 2 {
		r[4] = v
	}
	return true
}
