package script

import (
	lua "github.com/yuin/gopher-lua"
)

// threadBytes is the least memory that a coroutine takes.
const threadBytes = 16 << 10

// openCoroutine registers the machine's coroutine library with bounds on nesting and memory. Each
// coroutine has a context of its own, because the machine asks only that one at each instruction.
func (s *State) openCoroutine() {
	lua.OpenCoroutine(s.L)
	s.L.SetTop(0)
	theirs, _ := s.env.RawGetString("coroutine").(*lua.LTable)
	of := func(name string) lua.LGFunction {
		return theirs.RawGetString(name).(*lua.LFunction).GFunction
	}
	create, resume, status, yield := of("create"), of("resume"), of("status"), of("yield")
	t := s.L.NewTable()
	s.library(t, map[string]lua.LGFunction{
		"create": func(L *lua.LState) int {
			s.coCreate(L, create)
			return 1
		},
		"wrap": func(L *lua.LState) int {
			th := s.coCreate(L, create)
			L.Push(L.NewFunction(func(L *lua.LState) int { return s.coWrapped(L, th, resume) }))
			return 1
		},
		"resume": func(L *lua.LState) int { return s.coResume(L, resume) },
		"status": func(L *lua.LState) int {
			s.argThread(L, 1)
			return status(L)
		},
		"yield": func(L *lua.LState) int {
			if L.Parent == nil {
				s.throw(L, lua.LString("attempt to yield across metamethod/C-call boundary"))
			}
			return yield(L)
		},
		"running": func(L *lua.LState) int {
			if L == s.main || s.protected[L] {
				L.Push(lua.LNil)
			} else {
				L.Push(L)
			}
			return 1
		},
	})
	s.env.RawSetString("coroutine", t)
}

func (s *State) argThread(L *lua.LState, n int) *lua.LState {
	th, ok := L.Get(n).(*lua.LState)
	if !ok {
		s.badArg(L, n, "coroutine expected")
	}
	return th
}

func (s *State) coCreate(L *lua.LState, create lua.LGFunction) *lua.LState {
	if f, ok := L.Get(1).(*lua.LFunction); !ok || f.IsG {
		s.badArg(L, 1, "Lua function expected")
	}
	s.grow(L, threadBytes)
	opt := L.Options
	L.Options = s.L.Options
	create(L)
	L.Options = opt
	th := L.Get(-1).(*lua.LState)
	th.SetContext(&hook{s: s, th: th})
	return th
}

func (s *State) coResume(L *lua.LState, resume lua.LGFunction) int {
	th := s.argThread(L, 1)
	if th == s.main || s.protected[th] || th.Parent != nil {
		L.Push(lua.LFalse)
		L.Push(lua.LString("cannot resume " +
			map[bool]string{true: "running", false: "non-suspended"}[th == L] + " coroutine"))
		return 2
	}
	if th.Dead {
		L.Push(lua.LFalse)
		L.Push(lua.LString("cannot resume dead coroutine"))
		return 2
	}
	if s.nested >= maxNested {
		s.raise(L, "C stack overflow")
	}
	s.nested++
	s.raised = nil
	n := resume(L)
	s.nested--
	if n > 0 && th.Dead {
		s.lost(L, L.Get(-n), L.Get(-1))
	}
	if s.stop != nil {
		s.raise(L, s.stop.Error())
	}
	return n
}

// lost finds out how a coroutine ended. The machine recovers every panic in a coroutine and turns
// its text into an error, which then differs from the last error that was raised.
func (s *State) lost(L *lua.LState, ok, v lua.LValue) {
	msg, is := v.(lua.LString)
	switch {
	case !is || ok != lua.LFalse || v == s.raised:
	case isOverflow(string(msg)):
		L.Pop(1)
		L.Push(lua.LString("stack overflow"))
	default:
		s.crashed(string(msg), nil, false)
	}
}

// coWrapped resumes a wrapped coroutine and raises its error again.
func (s *State) coWrapped(L *lua.LState, th *lua.LState, resume lua.LGFunction) int {
	L.Insert(th, 1)
	n := s.coResume(L, resume)
	ok := L.Get(-n)
	if ok == lua.LTrue {
		return n - 1
	}
	v := L.Get(-1)
	if str, isStr := v.(lua.LString); isStr {
		v = lua.LString(where(L, 1)) + str
	}
	s.throw(L, v)
	return 0
}
