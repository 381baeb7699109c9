package script

import (
	"fmt"
	"runtime/debug"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// failure says where the error that ended a script was raised.
type failure struct {
	source string
	line   int
}

// raise raises an error with the caller's position, like luaL_error.
func (s *State) raise(L *lua.LState, msg string) { s.throw(L, lua.LString(where(L, 1)+msg)) }

// throw raises a value unchanged.
func (s *State) throw(L *lua.LState, v lua.LValue) {
	s.verbatim = true
	L.Error(v, 0)
}

// where returns the position of the function at a level of the stack, or "" if it is not Lua.
func where(L *lua.LState, level int) string {
	src, line, ok := position(L, level)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s:%d: ", src, line)
}

func position(L *lua.LState, level int) (source string, line int, ok bool) {
	dbg, found := L.GetStack(level)
	if !found {
		return "", 0, false
	}
	v, err := L.GetInfo("fSl", dbg, nil)
	if fn, isFn := v.(*lua.LFunction); err != nil || !isFn || fn.IsG {
		return "", 0, false
	}
	return dbg.Source, dbg.CurrentLine, dbg.CurrentLine > 0
}

// enter sets our error handler. It is the first function of every protected call: the machine has
// just set its own handler.
func (s *State) enter(L *lua.LState) int {
	if L == s.main {
		L.Panic = s.onPanic
	} else {
		L.Panic = s.onPanicCaught
	}
	defer s.unwinding(L)
	L.Call(L.GetTop()-1, lua.MultRet)
	return L.GetTop()
}

// unwinding turns the panic of a thread whose growing stack is full into an error. It notes a panic
// that the script did not cause.
func (s *State) unwinding(L *lua.LState) {
	v := recover()
	switch {
	case v == nil:
		return
	case isOverflow(v):
		s.throw(L, lua.LString(where(L, 0)+"stack overflow"))
	case !isLuaError(v):
		s.crashed(v, debug.Stack(), false)
	}
	panic(v)
}

// panicMain handles an error that nothing in the script catches: it notes where it was raised.
func (s *State) panicMain(L *lua.LState) {
	s.failure = failure{}
	for level := range 2 {
		if src, line, ok := position(L, level); ok {
			if name, ok := s.sources[src]; ok {
				src = name
			} else {
				src = "@" + src
			}
			s.failure = failure{src, line}
			break
		}
	}
	s.panicCaught(L)
}

// panicCaught translates the machine's message into Lua's words and unwinds.
func (s *State) panicCaught(L *lua.LState) {
	v := L.Get(-1)
	if s.stop != nil && s.stop != errMemory {
		v = s.errorTable(s.stop.Error())
	} else if msg, ok := v.(lua.LString); ok && !s.verbatim {
		v = lua.LString(s.translate(L, string(msg)))
	}
	s.verbatim, s.raised = false, v
	panic(&lua.ApiError{Type: lua.ApiErrorRun, Object: v, StackTrace: "-"})
}

// errorValue returns the value that a protected call failed with.
func errorValue(err error) lua.LValue {
	e, ok := err.(*lua.ApiError)
	if !ok {
		return lua.LString(err.Error())
	}
	if e.Type == lua.ApiErrorPanic {
		if msg := e.Object.String(); strings.Contains(msg, "overflow") ||
			strings.Contains(msg, "out of range") {
			return lua.LString("stack overflow")
		}
		return lua.LString("internal error: " + e.Object.String())
	}
	return e.Object
}

// translate puts a message of the machine into the words of Lua 5.1, with the variable's name.
func (s *State) translate(L *lua.LState, msg string) string {
	at := ""
	if src, line, ok := position(L, 0); ok {
		prefix := fmt.Sprintf("%s:%d: ", src, line)
		if strings.HasPrefix(msg, prefix) {
			at, msg = prefix, msg[len(prefix):]
		}
	} else {
		msg = strings.TrimPrefix(msg, " ")
		for level := 1; level < 4; level++ {
			if p := where(L, level); p != "" && strings.HasPrefix(msg, p) {
				at, msg = p, msg[len(p):]
				break
			}
		}
	}
	return at + s.words(L, msg)
}

func (s *State) words(L *lua.LState, msg string) string {
	f := s.frame(L, 0)
	switch {
	case strings.HasPrefix(msg, "attempt to index a non-table object("):
		t, _, _ := strings.Cut(msg[len("attempt to index a non-table object("):], ")")
		return f.typeError("index", t, f.indexed())
	case msg == "attempt to call a non-function object":
		reg, t := f.called()
		return f.typeError("call", t, reg)
	case strings.HasPrefix(msg, "cannot perform "):
		reg, t := f.operand()
		return f.typeError("perform arithmetic on", t, reg)
	case msg == "__unm undefined", msg == "__len undefined":
		reg := int(f.inst & 0x1ff)
		op := "perform arithmetic on"
		if msg == "__len undefined" {
			op = "get length of"
		}
		return f.typeError(op, f.typeOf(reg), reg)
	case strings.HasPrefix(msg, "attempt to compare "):
		a, b, _ := strings.Cut(msg[len("attempt to compare "):], " with ")
		if a == b {
			return "attempt to compare two " + a + " values"
		}
		return msg
	case strings.HasPrefix(msg, "for statement "):
		what := strings.TrimSuffix(msg[len("for statement "):], " must be a number")
		if what == "init" {
			what = "initial value"
		}
		return "'for' " + what + " must be a number"
	case msg == "registry overflow":
		return "stack overflow"
	case msg == "too many recursions in gettable":
		return "loop in gettable"
	case msg == "too many recursions in settable":
		return "loop in settable"
	}
	return msg
}

func plainName(n string) string { n, _, _ = strings.Cut(n, "\x00"); return n }

// badArg raises the error for a wrong argument.
func (s *State) badArg(L *lua.LState, n int, what string) {
	name, method := s.callee(L)
	if method {
		if n--; n == 0 {
			s.raise(L, "calling '"+name+"' on bad self ("+what+")")
		}
	}
	s.raise(L, fmt.Sprintf("bad argument #%d to '%s' (%s)", n, name, what))
}

func (s *State) badType(L *lua.LState, n int, want string) {
	got := "no value"
	if n <= L.GetTop() {
		got = L.Get(n).Type().String()
	}
	s.badArg(L, n, want+" expected, got "+got)
}
