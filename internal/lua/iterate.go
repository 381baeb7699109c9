package lua

import "errors"

// This file has the iterators of pairs and ipairs. Loops call them without a frame.

// Next returns the function next.
func Next() *Native { return &Native{Name: "next", Fn: next, special: specialNext} }

// IpairsNext returns the iterator of ipairs.
func IpairsNext() *Native {
	return &Native{Name: "ipairs_aux", Fn: ipairsNext, special: specialIpairs}
}

var errNextKey = errors.New("invalid key to 'next'") // Lua's text

func next(t *Thread) int {
	_, k, v, ok := t.advance(t.Table(1), 0, t.Arg(2))
	if !ok {
		return t.Throw(String(errNextKey.Error()))
	}
	t.Push(k)
	if k.IsNil() {
		return 1
	}
	t.Push(v)
	return 2
}

// advance returns the key that follows k in a table, and its value. It accounts for the places that
// it looks at. hint is the number that it returned with k, or 0. ok is false for a key that the
// table does not have.
func (t *Thread) advance(tab *Table, hint int, k Value) (at int, key, v Value, ok bool) {
	if !tab.at(hint, k) {
		if hint, ok = tab.Cursor(k); !ok {
			return 0, Nil, Nil, false
		}
	}
	at, key, v = tab.NextIndex(hint)
	end := at
	if at == 0 {
		end = len(tab.array) + len(tab.nodes)
	}
	t.s.Left -= (end - hint) / keysPerStep
	return at, key, v, true
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
		at, key, val, ok := t.advance(tab, int(r[0].n&maskLen), r[2])
		if !ok {
			return false
		}
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
