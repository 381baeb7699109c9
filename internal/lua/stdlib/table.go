package stdlib

import (
	"strconv"

	"godwit/internal/lua"
)

// OpenTable adds the library table to the globals.
func OpenTable(s *lua.State) {
	library(s, "table", []function{{"concat", tabConcat}, {"foreach", tabForeach},
		{"foreachi", tabForeachi}, {"getn", tabGetn}, {"maxn", tabMaxn}, {"insert", tabInsert},
		{"remove", tabRemove}, {"setn", tabSetn}, {"sort", tabSort}})
}

const (
	moveCost    = 16      // how many elements can be moved in one step
	movedAtOnce = 1 << 16 // how many are moved without asking whether to go on
)

func tabGetn(t *lua.Thread) int {
	return t.Return(lua.Int(t.Len(t.Table(1))))
}

func tabSetn(t *lua.Thread) int {
	t.Table(1)
	t.Error("'setn' is obsolete")
	return 0
}

func tabMaxn(t *lua.Thread) int {
	most, tab := 0.0, t.Table(1)
	for i, k, _ := t.NextIndex(tab, 0); i != 0; i, k, _ = t.NextIndex(tab, i) {
		t.Spend(1)
		if k.IsNumber() {
			most = max(most, k.Num())
		}
	}
	return t.Return(lua.Number(most))
}

func tabInsert(t *lua.Thread) int {
	tab := t.Table(1)
	end := t.Len(tab) + 1
	switch t.Top() {
	case 2:
		t.RawSetInt(tab, end, t.Arg(2))
	case 3:
		pos := cInt(t, 2)
		end = max(end, pos)
		moveUp(t, tab, pos, end)
		t.RawSetInt(tab, pos, t.Arg(3))
	default:
		t.Error("wrong number of arguments to 'insert'")
	}
	return 0
}

// moveUp moves the elements from pos to before end up by one.
func moveUp(t *lua.Thread, tab *lua.Table, pos, end int) {
	if pos == end {
		return
	}
	t.RawSetInt(tab, end, tab.GetInt(end-1))
	if list := tab.Elements(pos, end-1); list != nil {
		for last := len(list) - 1; last > 0; {
			n := min(last, movedAtOnce)
			copy(list[last-n+1:], list[last-n:last])
			last -= n
			t.Spend(n / moveCost)
		}
		return
	}
	for i := end - 1; i > pos; i-- {
		t.Spend(1)
		t.RawSetInt(tab, i, tab.GetInt(i-1))
	}
}

func tabRemove(t *lua.Thread) int {
	tab := t.Table(1)
	end := t.Len(tab)
	pos := optCInt(t, 2, end)
	if pos < 1 || pos > end {
		return 0
	}
	t.Writable(1)
	t.Push(tab.GetInt(pos))
	if list := tab.Elements(pos, end); list != nil {
		for len(list) > 1 {
			n := copy(list, list[1:min(len(list), movedAtOnce)])
			list = list[n:]
			t.Spend(n / moveCost)
		}
	} else {
		for ; pos < end; pos++ {
			t.Spend(1)
			t.RawSetInt(tab, pos, tab.GetInt(pos+1))
		}
	}
	t.RawSetInt(tab, end, lua.Nil)
	return 1
}

func tabForeach(t *lua.Thread) int {
	tab, f := t.Table(1), t.Function(2)
	for i, k, v := t.NextFrom(tab, 0, lua.Nil); i != 0; i, k, v = t.NextFrom(tab, i, k) {
		if visit(t, f, k, v) {
			return 1
		}
	}
	return 0
}

func tabForeachi(t *lua.Thread) int {
	tab := t.Table(1)
	n, f := t.Len(tab), t.Function(2)
	for i := 1; i <= n; i++ {
		if visit(t, f, lua.Int(i), tab.GetInt(i)) {
			return 1
		}
	}
	return 0
}

// visit calls f, and reports and keeps its result if there is one.
func visit(t *lua.Thread, f, k, v lua.Value) bool {
	t.Spend(1)
	t.Push(f)
	t.Push(k)
	t.Push(v)
	t.Call(2, 1)
	if !t.Arg(t.Top()).IsNil() {
		return true
	}
	t.Pop()
	return false
}

func tabConcat(t *lua.Thread) int {
	sep := t.OptString(2, "")
	tab := t.Table(1)
	from, to := optCInt(t, 3, 1), optCInt(t, 4, t.Len(tab))
	b := t.Buffer()
	b.Reserve(concatSize(t, tab, sep, from, to))
	if cap(b.B) < lua.LongWork {
		b.B = appendElements(b.B, tab, sep, from, to)
	} else {
		appendAside(&b, tab, sep, from, to)
	}
	return t.Return(b.End())
}

// appendElements appends strings and numbers with a separator.
func appendElements(b []byte, tab *lua.Table, sep string, from, to int) []byte {
	for i := from; i <= to; i++ {
		if v := tab.GetInt(i); v.IsString() {
			b = append(b, v.Str()...)
		} else {
			b = lua.AppendNumber(b, v.Num())
		}
		if i < to {
			b = append(b, sep...)
		}
	}
	return b
}

func appendAside(b *lua.Buffer, tab *lua.Table, sep string, from, to int) {
	b.T.Aside(cap(b.B), func() { b.B = appendElements(b.B, tab, sep, from, to) })
}

// maxNumber is enough for a number as text.
const maxNumber = 24

// concatSize returns how long the elements and what separates them are at most.
func concatSize(t *lua.Thread, tab *lua.Table, sep string, from, to int) int {
	size := 0
	for i := from; i <= to && size <= lua.MaxString; i++ {
		if i&1023 == 0 {
			t.Spend(256)
		}
		if v := tab.GetInt(i); v.IsString() {
			size += v.Len()
		} else if v.IsNumber() {
			size += maxNumber
		} else {
			t.Error("invalid value (" + v.TypeName() + ") at index " + strconv.Itoa(i) +
				" in table for 'concat'")
		}
		if i < to {
			size += len(sep)
		}
	}
	return size
}
