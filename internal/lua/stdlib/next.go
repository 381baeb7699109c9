package stdlib

import "godwit/internal/lua"

func baseNext(t *lua.Thread) int {
	k, v, err := t.Table(1).Next(t.Arg(2))
	if err != nil {
		return t.Throw(lua.String(err.Error()))
	}
	t.Push(k)
	if k.IsNil() {
		return 1
	}
	t.Push(v)
	return 2
}

// basePairs returns the function pairs, which returns the original next.
func basePairs(next lua.Value) func(t *lua.Thread) int {
	return func(t *lua.Thread) int {
		t.Table(1)
		v := t.Arg(1)
		t.Push(next)
		t.Push(v)
		t.Push(lua.Nil)
		return 3
	}
}

// baseIpairs returns the function ipairs.
func baseIpairs() func(t *lua.Thread) int {
	next := lua.NativeValue(&lua.Native{Name: "ipairs_aux", Fn: nextElement})
	return func(t *lua.Thread) int {
		t.Table(1)
		v := t.Arg(1)
		t.Push(next)
		t.Push(v)
		t.Push(lua.Int(0))
		return 3
	}
}

// nextElement is the iterator of ipairs.
func nextElement(t *lua.Thread) int {
	i := cInt(t, 2) + 1
	v := t.Table(1).GetInt(i)
	if v.IsNil() {
		return 0
	}
	t.Push(lua.Int(i))
	t.Push(v)
	return 2
}
