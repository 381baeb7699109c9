package redislib

import (
	"testing"

	"godwit/internal/lua"
)

// call calls a function of a library and reports whether it raised no error.
func call(s *lua.State, lib, name string, args ...lua.Value) ([]lua.Value, bool) {
	t := s.Main
	top := t.Top()
	t.Push(s.Globals.GetString(lib).Table().GetString(name))
	for _, v := range args {
		t.Push(v)
	}
	if err, ok := t.Try(len(args), -1); !ok {
		return []lua.Value{err}, false
	}
	out := append([]lua.Value(nil), t.Args(top+1)...)
	t.SetTop(top)
	return out, true
}

func newState() *lua.State {
	s := lua.NewState()
	Open(s)
	return s
}

func text(t testing.TB, v []lua.Value) string {
	t.Helper()
	if len(v) != 1 || !v[0].IsString() {
		t.Fatal("no string")
	}
	return v[0].Str()
}
