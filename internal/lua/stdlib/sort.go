package stdlib

import "godwit/internal/lua"

// sorter is a quicksort that makes the same choices as Lua 5.1, because scripts can see them: the
// order of equal elements and the comparisons depend on them. The pivot is the median of first,
// middle and last. The smaller part is sorted by recursion.
type sorter struct {
	t   *lua.Thread
	tab *lua.Table
	fn  lua.Value // nil: the operator <
}

func tabSort(t *lua.Thread) int {
	o := sorter{t: t, tab: t.Table(1)}
	n := t.Len(o.tab)
	if !t.Arg(2).IsNil() {
		o.fn = t.Function(2)
	}
	o.sort(1, n)
	return 0
}

func (o *sorter) less(a, b lua.Value) bool {
	t := o.t
	t.Spend(1)
	if o.fn.IsNil() {
		return t.Less(a, b)
	}
	t.Push(o.fn)
	t.Push(a)
	t.Push(b)
	t.Call(2, 1)
	return t.Pop().Truthy()
}

func (o *sorter) get(i int) lua.Value { return o.tab.GetInt(i) }

// swap puts a, which was element i, to j and b, which was element j, to i.
func (o *sorter) swap(i, j int, a, b lua.Value) {
	o.t.RawSetInt(o.tab, i, b)
	o.t.RawSetInt(o.tab, j, a)
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
func (o *sorter) partition(lo, hi int, pivot lua.Value) int {
	i, j := lo, hi-1
	for {
		i++
		a := o.get(i)
		for o.less(a, pivot) {
			if i > hi {
				o.t.Error("invalid order function for sorting")
			}
			i++
			a = o.get(i)
		}
		j--
		b := o.get(j)
		for o.less(pivot, b) {
			if j < lo {
				o.t.Error("invalid order function for sorting")
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
