package script

import lua "github.com/yuin/gopher-lua"

// This file holds pcall, xpcall and what they share.

// guard runs the function on top of th's stack with the given number of arguments. The results are
// on th's stack afterwards.
func (s *State) guard(L, th *lua.LState, args int) (err error) {
	current := L.G.CurrentThread
	err = th.PCall(args, lua.MultRet, nil)
	L.G.CurrentThread = current
	return err
}

func (s *State) basePcall(L *lua.LState) int {
	n := L.GetTop()
	if what := s.uncallable(L); what != "" {
		L.Push(lua.LFalse)
		L.Push(lua.LString("attempt to call a " + what + " value"))
		return 2
	}
	th := s.thread(L)
	th.Push(s.entry)
	for i := 1; i <= n; i++ {
		th.Push(L.Get(i))
	}
	return s.finish(L, th, s.guard(L, th, n), nil)
}

// uncallable returns the type of the first argument if it cannot be called, else "". Redis's pcall
// has put a boolean before its arguments.
func (s *State) uncallable(L *lua.LState) string {
	if L.GetTop() == 0 {
		return "boolean"
	}
	v := L.Get(1)
	if v.Type() != lua.LTFunction && L.GetMetaField(v, "__call").Type() != lua.LTFunction {
		return v.Type().String()
	}
	return ""
}

func (s *State) baseXpcall(L *lua.LState) int {
	handler := s.argAny(L, 2)
	th := s.thread(L)
	th.Push(s.entry)
	th.Push(L.Get(1))
	return s.finish(L, th, s.guard(L, th, 1), handler)
}

// finish moves the results of a protected call to its caller.
func (s *State) finish(L, th *lua.LState, err error, handler lua.LValue) int {
	if err != nil {
		v := errorValue(err)
		if t, ok := v.(*lua.LTable); ok && handler == nil {
			if str, ok := toString(t.RawGetString("err")); ok {
				v = lua.LString(str) // Redis's pcall shows an error of redis.call as its text
			}
		}
		ok := lua.LFalse
		if handler != nil && s.stop == nil {
			th.SetTop(0)
			th.Push(s.entry)
			th.Push(handler)
			th.Push(v)
			if err := s.guard(L, th, 2); err != nil {
				v = lua.LString("error in error handling")
			} else {
				v = th.Get(1)
			}
		}
		th.SetTop(0)
		s.release(th)
		L.Push(ok)
		L.Push(v)
		return 2
	}
	n := th.GetTop()
	L.Push(lua.LTrue)
	for i := 1; i <= n; i++ {
		L.Push(th.Get(i))
	}
	th.SetTop(0)
	s.release(th)
	return n + 1
}
