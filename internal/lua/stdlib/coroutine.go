package stdlib

import "godwit/internal/lua"

// OpenCoroutine adds the library coroutine to the globals.
func OpenCoroutine(s *lua.State) {
	library(s, "coroutine", []function{{"create", coCreate}, {"resume", coResume},
		{"running", coRunning}, {"status", coStatus}, {"wrap", coWrap}, {"yield", coYield}})
}

// newThread returns a coroutine that calls the first argument.
func newThread(t *lua.Thread) *lua.Thread {
	f := t.Arg(1)
	if f.Closure() == nil {
		t.ArgError(1, "Lua function expected")
	}
	return t.NewThread(f)
}

// argThread returns the first argument, which must be a coroutine.
func argThread(t *lua.Thread) *lua.Thread {
	co := t.Arg(1).Thread()
	if co == nil {
		t.ArgError(1, "coroutine expected")
	}
	return co
}

func coCreate(t *lua.Thread) int {
	return t.Return(lua.ThreadValue(newThread(t)))
}

func coResume(t *lua.Thread) int {
	ok := t.Resume(argThread(t), 2)
	t.SetArg(1, lua.Bool(ok))
	return t.Top()
}

func coRunning(t *lua.Thread) int {
	if t.IsMain() {
		return t.Return(lua.Nil)
	}
	return t.Return(lua.ThreadValue(t))
}

func coStatus(t *lua.Thread) int {
	return t.Return(lua.String(argThread(t).Status()))
}

func coYield(t *lua.Thread) int { return t.Yield() }

// wrapBytes is what a function that wraps a coroutine takes.
const wrapBytes = 96

func coWrap(t *lua.Thread) int {
	co := newThread(t)
	t.Grow(wrapBytes)
	return t.Return(lua.NativeValue(&lua.Native{
		Name: "wrap", Holds: []lua.Value{lua.ThreadValue(co)},
		Fn: func(t *lua.Thread) int {
			if t.Resume(co, 1) {
				return t.Top()
			}
			return t.Throw(located(t, t.Arg(1), 1))
		},
	}))
}
