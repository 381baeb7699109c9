package script

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

func (s *State) openTable() {
	t := s.L.NewTable()
	s.library(t, map[string]lua.LGFunction{
		"concat": s.tabConcat, "insert": s.tabInsert, "remove": s.tabRemove, "sort": s.tabSort,
		"getn": s.tabGetn, "setn": s.tabSetn,
		"maxn": s.tabMaxn, "foreach": s.tabForeach, "foreachi": s.tabForeachi,
	})
	s.env.RawSetString("table", t)
}

// length implements the operator # of tables. It returns an index n such that t[n] is not nil and
// t[n+1] is. Beyond the array it bisects.
func length(t *lua.LTable) int {
	n := t.Len()
	if n < maxArray-1 || t.RawGet(lua.LNumber(n+1)) == lua.LNil {
		return n
	}
	lo, hi := n+1, 2*n
	for t.RawGet(lua.LNumber(hi)) != lua.LNil {
		lo, hi = hi, 2*hi
	}
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		if t.RawGet(lua.LNumber(mid)) == lua.LNil {
			hi = mid
		} else {
			lo = mid
		}
	}
	return lo
}

// lengthOf implements the operator # for scripts.
func (s *State) lengthOf(L *lua.LState) int {
	switch t := L.Get(1).(type) {
	case *lua.LTable:
		L.Push(s.number(int64(length(s.raw(t)))))
	case lua.LString:
		L.Push(s.number(int64(len(t))))
	default:
		if m := L.GetMetaField(t, "__len"); m != lua.LNil && t.Type() == lua.LTUserData {
			L.Push(m)
			L.Push(t)
			L.Call(1, 1)
			return 1
		}
		f := s.frame(L, 1)
		reg := -1
		if f.fn != nil {
			reg = argA(f.inst) + 1
		}
		s.raise(L, f.typeError("get length of", t.Type().String(), reg))
	}
	return 1
}

func (s *State) tabGetn(L *lua.LState) int {
	L.Push(s.number(int64(length(s.raw(s.argTable(L, 1))))))
	return 1
}

func (s *State) tabSetn(L *lua.LState) int {
	s.argTable(L, 1)
	s.raise(L, "'setn' is obsolete")
	return 0
}

func (s *State) tabMaxn(L *lua.LState) int {
	most := 0.0
	s.raw(s.argTable(L, 1)).ForEach(func(k, _ lua.LValue) {
		if n, ok := k.(lua.LNumber); ok {
			most = max(most, float64(n))
		}
	})
	L.Push(lua.LNumber(most))
	return 1
}

func (s *State) tabConcat(L *lua.LState) int {
	t := s.raw(s.argTable(L, 1))
	sep := s.optString(L, 2, "")
	from := s.optInt(L, 3, 1)
	to := length(t)
	if L.Get(4) != lua.LNil {
		to = s.argInt(L, 4)
	}
	size := 0
	for i := from; i <= to; i++ {
		v := rawIndex(t, i)
		str, ok := v.(lua.LString)
		n := len(str)
		if num, isNum := v.(lua.LNumber); isNum {
			n, ok = len(formatNumber(float64(num))), true
		}
		if !ok {
			s.raise(L, "invalid value ("+v.Type().String()+") at index "+formatNumber(float64(i))+
				" in table for 'concat'")
		}
		if size += n + len(sep); size > maxString {
			break
		}
	}
	s.grow(L, size)
	s.spend(L, (to-from)/4)
	var b strings.Builder
	b.Grow(size)
	for i := from; i <= to; i++ {
		str, _ := toString(rawIndex(t, i))
		b.WriteString(str)
		if i < to {
			b.WriteString(sep)
		}
	}
	L.Push(lua.LString(b.String()))
	return 1
}

func (s *State) tabInsert(L *lua.LState) int {
	t := s.raw(s.argTable(L, 1))
	n := length(t)
	if top := L.GetTop(); top == 2 || top == 3 {
		s.argWritable(L, 1)
	}
	switch L.GetTop() {
	case 2:
		s.set(t, n+1, L.Get(2))
	case 3:
		pos := s.argInt(L, 2)
		v := L.Get(3)
		if pos >= 1 && pos <= n && n < lua.MaxArrayIndex-1 {
			s.spend(L, (n-pos)/16)
			s.grow(L, 16)
			t.Insert(pos, v)
			break
		}
		for i := n + 1; i > pos; i-- {
			s.spend(L, 1)
			s.set(t, i, rawIndex(t, i-1))
		}
		s.set(t, pos, v)
	default:
		s.raise(L, "wrong number of arguments to 'insert'")
	}
	return 0
}

// set does t[i] = v.
func (s *State) set(t *lua.LTable, i int, v lua.LValue) {
	if i > 0 && i < lua.MaxArrayIndex {
		t.RawSetInt(i, v)
		return
	}
	t.RawSet(lua.LNumber(i), v)
}

func (s *State) tabRemove(L *lua.LState) int {
	t := s.raw(s.argTable(L, 1))
	n := length(t)
	pos := s.optInt(L, 2, n)
	if pos < 1 || pos > n {
		return 0
	}
	s.argWritable(L, 1)
	s.spend(L, (n-pos)/16)
	if n < maxArray {
		L.Push(t.Remove(pos))
		return 1
	}
	L.Push(rawIndex(t, pos))
	for ; pos < n; pos++ {
		s.spend(L, 1)
		s.set(t, pos, rawIndex(t, pos+1))
	}
	s.set(t, n, lua.LNil)
	return 1
}

func (s *State) tabForeach(L *lua.LState) int {
	t := s.raw(s.argTable(L, 1))
	f := s.argFunction(L, 2)
	k, v := t.Next(lua.LNil)
	for ; k != lua.LNil; k, v = t.Next(k) {
		if s.visit(L, f, k, v) {
			return 1
		}
	}
	return 0
}

func (s *State) tabForeachi(L *lua.LState) int {
	t := s.raw(s.argTable(L, 1))
	f := s.argFunction(L, 2)
	n := length(t)
	for i := 1; i <= n; i++ {
		if s.visit(L, f, s.number(int64(i)), rawIndex(t, i)) {
			return 1
		}
	}
	return 0
}

// visit calls f, and reports and keeps its result if there is one.
func (s *State) visit(L *lua.LState, f *lua.LFunction, k, v lua.LValue) bool {
	L.Push(f)
	L.Push(k)
	L.Push(v)
	L.Call(2, 1)
	if L.Get(-1) != lua.LNil {
		return true
	}
	L.Pop(1)
	return false
}

// sorter is a quicksort that makes the same choices as Lua 5.1, because scripts can see them: the
// order of equal elements and the comparisons depend on them. The pivot is the median of first,
// middle and last. The smaller part is sorted by recursion.
type sorter struct {
	s  *State
	L  *lua.LState
	t  *lua.LTable
	fn *lua.LFunction
}

func (s *State) tabSort(L *lua.LState) int {
	t := s.raw(s.argTable(L, 1))
	o := sorter{s: s, L: L, t: t}
	if L.Get(2) != lua.LNil {
		o.fn = s.argFunction(L, 2)
	}
	if length(t) > 1 {
		s.argWritable(L, 1)
	}
	o.sort(1, length(t))
	return 0
}

func (o *sorter) less(a, b lua.LValue) bool {
	if o.fn != nil {
		o.L.Push(o.fn)
		o.L.Push(a)
		o.L.Push(b)
		o.L.Call(2, 1)
		r := lua.LVAsBool(o.L.Get(-1))
		o.L.Pop(1)
		return r
	}
	o.s.spend(o.L, 1)
	if x, ok := a.(lua.LString); ok {
		if y, ok := b.(lua.LString); ok {
			return x < y
		}
	}
	if x, ok := a.(lua.LNumber); ok {
		if y, ok := b.(lua.LNumber); ok {
			return x < y
		}
	}
	if a.Type() != b.Type() {
		o.s.throw(o.L,
			lua.LString("attempt to compare "+a.Type().String()+" with "+b.Type().String()))
	}
	if o.L.GetMetaField(a, "__lt") == lua.LNil {
		o.s.throw(o.L, lua.LString("attempt to compare two "+a.Type().String()+" values"))
	}
	return o.L.LessThan(a, b)
}

func (o *sorter) get(i int) lua.LValue { return rawIndex(o.t, i) }

func (o *sorter) swap(i, j int, a, b lua.LValue) {
	o.s.set(o.t, i, b)
	o.s.set(o.t, j, a)
}

// order puts elements i and j into order.
func (o *sorter) order(i, j int) (swapped bool) {
	a, b := o.get(i), o.get(j)
	if !o.less(b, a) {
		return false
	}
	o.swap(i, j, a, b)
	return true
}

func (o *sorter) sort(lo, hi int) {
	for lo < hi {
		o.order(lo, hi)
		if hi-lo == 1 {
			return
		}
		mid := (lo + hi) / 2
		if !o.order(lo, mid) {
			o.order(mid, hi)
		}
		if hi-lo == 2 {
			return
		}
		pivot := o.get(mid)
		o.swap(mid, hi-1, pivot, o.get(hi-1))
		i := o.partition(lo, hi, pivot)
		o.swap(hi-1, i, o.get(hi-1), o.get(i))
		if i-lo < hi-i {
			o.sort(lo, i-1)
			lo = i + 1
		} else {
			o.sort(i+1, hi)
			hi = i - 1
		}
	}
}

// partition divides lo+1 … hi-2 by the pivot, which is at hi-1, and returns the pivot's place.
func (o *sorter) partition(lo, hi int, pivot lua.LValue) int {
	i, j := lo, hi-1
	for {
		i++
		a := o.get(i)
		for o.less(a, pivot) {
			if i > hi {
				o.s.raise(o.L, "invalid order function for sorting")
			}
			i++
			a = o.get(i)
		}
		j--
		b := o.get(j)
		for o.less(pivot, b) {
			if j < lo {
				o.s.raise(o.L, "invalid order function for sorting")
			}
			j--
			b = o.get(j)
		}
		if j < i {
			return i
		}
		o.swap(i, j, a, b)
	}
}
