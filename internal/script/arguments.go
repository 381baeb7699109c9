package script

import lua "github.com/yuin/gopher-lua"

// argumentUses bounds how often a table of arguments is used again: what scripts have left in its
// hidden parts is gone then.
const argumentUses = 32

// arguments is the table KEYS or ARGV of scripts. No value that a script makes outlives its run, so
// nobody keeps the table, and the next script gets the same one, if this one has left it as it was
// but for the elements. (Functions do keep values: their tables are new ones.)
type arguments struct {
	name string
	t    *lua.LTable
	n    int // elements
	uses int
}

// set puts the arguments into the table.
func (a *arguments) set(s *State, args [][]byte) {
	if a.uses++; a.t == nil || a.uses > argumentUses || !a.plain(s) {
		a.t, a.n, a.uses = s.list(args), len(args), 0
		s.env.RawSetString(a.name, a.t)
		return
	}
	for i, arg := range args {
		a.t.RawSetInt(i+1, lua.LString(arg))
	}
	for i := len(args); i < a.n; i++ {
		a.t.RawSetInt(i+1, lua.LNil)
	}
	a.n = len(args)
}

// plain reports whether the table has nothing beyond its elements.
func (a *arguments) plain(s *State) bool {
	if a.n >= len(s.numbers) || a.t.Metatable != lua.LNil {
		return false
	}
	last := lua.LValue(lua.LNil) // Next begins with it
	if a.n > 0 {
		// A script can cut the array short, and from beyond its end Next leaves out a key.
		a.t.RawSetInt(a.n, lua.LNil)
		last = s.numbers[a.n]
	}
	next, _ := a.t.Next(last)
	return next == lua.LNil
}
