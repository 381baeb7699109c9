package stdlib

import "godwit/internal/lua"

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
	next := lua.NativeValue(lua.IpairsNext())
	return func(t *lua.Thread) int {
		t.Table(1)
		v := t.Arg(1)
		t.Push(next)
		t.Push(v)
		t.Push(lua.Int(0))
		return 3
	}
}
