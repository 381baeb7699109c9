package stdlib

import (
	"math"

	"godwit/internal/lua"
)

// OpenOS adds the library os to the globals: its only function is clock, in whole microseconds.
func OpenOS(s *lua.State, o Options) {
	library(s, "os", []function{{"clock", func(t *lua.Thread) int {
		return t.Return(lua.Number(math.Floor(o.Clock()*1e6) / 1e6))
	}}})
}
