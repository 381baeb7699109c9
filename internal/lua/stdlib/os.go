package stdlib

import "godwit/internal/lua"

// OpenOS adds the library os to the globals: its only function is clock.
func OpenOS(s *lua.State, o Options) {
	library(s, "os", []function{{"clock", func(t *lua.Thread) int {
		return t.Return(lua.Number(o.Clock()))
	}}})
}
