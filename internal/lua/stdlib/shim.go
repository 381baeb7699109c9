package stdlib

import (
	"strings"

	"godwit/internal/lua"
)

// function is a function of a library.
type function struct {
	name string
	fn   func(t *lua.Thread) int
}

// register adds functions to a table. The order is that of Lua, because pairs shows it.
func register(tab *lua.Table, list []function) {
	for _, f := range list {
		tab.SetString(f.name, lua.NativeValue(&lua.Native{Name: f.name, Fn: f.fn}))
	}
}

// library makes a global table with functions.
func library(s *lua.State, name string, list []function) *lua.Table {
	tab := lua.NewTable(0, len(list))
	register(tab, list)
	s.Globals.SetString(name, lua.TableValue(tab))
	return tab
}

// cInt returns argument n as a C int: the lower 32 bits of the integer count.
func cInt(t *lua.Thread, n int) int { return int(int32(t.Int(n))) }

// optCInt returns argument n as a C int, or def if it is nil or missing.
func optCInt(t *lua.Thread, n, def int) int {
	if t.Arg(n).IsNil() {
		return def
	}
	return cInt(t, n)
}

// cut returns a string as C sees it: up to the first zero byte.
func cut(s string) string {
	s, _, _ = strings.Cut(s, "\x00")
	return s
}
