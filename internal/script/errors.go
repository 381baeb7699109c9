package script

import (
	"fmt"
	"reflect"
	"runtime/debug"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// failure is where the error that ended a script was raised.
type failure struct {
	source string
	line   int
}

// raise raises an error with the position of the caller, like luaL_error.
func (s *State) raise(L *lua.LState, msg string) { s.throw(L, lua.LString(where(L, 1)+msg)) }

// throw raises a value as it is.
func (s *State) throw(L *lua.LState, v lua.LValue) {
	s.verbatim = true
	L.Error(v, 0)
}

// where is the position of the function at a level of the stack, "" if it is not Lua.
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

// enter is the first function of every protected call: the machine has just set its own handler of errors, this sets ours.
func (s *State) enter(L *lua.LState) int {
	if L == s.main {
		L.Panic = s.panicMain
	} else {
		L.Panic = s.panicCaught
	}
	defer s.unwinding(L)
	L.Call(L.GetTop()-1, lua.MultRet)
	return L.GetTop()
}

// unwinding makes an error of the panic with which a thread whose stack grows says that it is full,
// and notes a panic that is none of the script's.
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

// panicCaught has the machine's message put into Lua's words and unwinds.
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

// errorValue is the value that a protected call failed with.
func errorValue(err error) lua.LValue {
	e, ok := err.(*lua.ApiError)
	if !ok {
		return lua.LString(err.Error())
	}
	if e.Type == lua.ApiErrorPanic {
		if msg := e.Object.String(); strings.Contains(msg, "overflow") || strings.Contains(msg, "out of range") {
			return lua.LString("stack overflow")
		}
		return lua.LString("internal error: " + e.Object.String())
	}
	return e.Object
}

// translate puts a message of the machine into the words of Lua 5.1, with the name of the variable.
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

// frame is a running Lua function, to be asked for the names of what its registers hold: what Lua calls symbolic execution. The machine does
// not show its frames; reflection reads the two numbers that are needed, after an error only.
type frame struct {
	L    *lua.LState
	dbg  *lua.Debug
	fn   *lua.LFunction
	pc   int // of the running instruction
	inst uint32
}

func (s *State) frame(L *lua.LState, level int) frame {
	dbg, ok := L.GetStack(level)
	if !ok {
		return frame{}
	}
	v, _ := L.GetInfo("f", dbg, nil)
	fn, ok := v.(*lua.LFunction)
	if !ok || fn.IsG {
		return frame{}
	}
	pc := int(reflect.ValueOf(dbg).Elem().FieldByName("frame").Elem().FieldByName("Pc").Int()) - 1
	if pc < 0 || pc >= len(fn.Proto.Code) {
		return frame{}
	}
	return frame{L: L, dbg: dbg, fn: fn, pc: pc, inst: fn.Proto.Code[pc]}
}

func opcode(i uint32) int { return int(i >> 26) }
func argA(i uint32) int   { return int(i>>18) & 0xff }
func argB(i uint32) int   { return int(i & 0x1ff) }
func argC(i uint32) int   { return int(i>>9) & 0x1ff }

const bitK = 1 << 8 // of an operand that is a constant

// value is what an operand holds.
func (f *frame) value(rk int) lua.LValue {
	if rk&bitK != 0 {
		return f.fn.Proto.Constants[rk&^bitK]
	}
	_, v := f.L.GetLocal(f.dbg, rk+1)
	if v == nil {
		return lua.LNil
	}
	return v
}

func (f *frame) typeOf(rk int) string {
	if f.fn == nil {
		return "nil"
	}
	return f.value(rk).Type().String()
}

// indexed is the register whose value was indexed, -1 for none.
func (f *frame) indexed() int {
	if f.fn == nil {
		return -1
	}
	switch opcode(f.inst) {
	case lua.OP_GETTABLE, lua.OP_GETTABLEKS, lua.OP_SELF:
		return argB(f.inst)
	case lua.OP_SETTABLE, lua.OP_SETTABLEKS:
		return argA(f.inst)
	}
	return -1
}

// called is the register whose value was called, and the value's type.
func (f *frame) called() (reg int, typ string) {
	if f.fn == nil {
		return -1, "nil"
	}
	switch opcode(f.inst) {
	case lua.OP_CALL, lua.OP_TAILCALL:
		return argA(f.inst), f.typeOf(argA(f.inst))
	case lua.OP_TFORLOOP:
		return argA(f.inst), f.typeOf(argA(f.inst))
	}
	return -1, "nil"
}

// operand is the register of the operand that cannot be calculated with, and its type.
func (f *frame) operand() (reg int, typ string) {
	if f.fn == nil {
		return -1, "nil"
	}
	b, c := argB(f.inst), argC(f.inst)
	bad := b
	if _, ok := toNumber(f.value(b)); ok {
		bad = c
	}
	return bad, f.typeOf(bad)
}

func (f *frame) typeError(op, typ string, reg int) string {
	kind, name := "", ""
	if f.fn != nil && reg >= 0 && reg&bitK == 0 {
		kind, name = f.nameOf(reg, f.pc)
	}
	if kind == "" {
		return "attempt to " + op + " a " + typ + " value"
	}
	return "attempt to " + op + " " + kind + " '" + name + "' (a " + typ + " value)"
}

func plainName(n string) string { n, _, _ = strings.Cut(n, "\x00"); return n }

// nameOf is what the source calls the value in a register.
func (f *frame) nameOf(reg, pc int) (kind, name string) {
	p := f.fn.Proto
	if n := localName(p, reg, pc); n != "" && n[0] != '(' {
		return "local", n
	}
	for i := pc - 1; i >= 0; i-- {
		in := p.Code[i]
		if !writes(in, reg) {
			continue
		}
		switch opcode(in) {
		case lua.OP_MOVE:
			if b := argB(in); b < reg {
				return f.nameOf(b, i)
			}
		case lua.OP_GETGLOBAL:
			return "global", plainName(constant(p, int(in&0x3ffff)))
		case lua.OP_GETTABLE, lua.OP_GETTABLEKS:
			if c := argC(in); c&bitK != 0 {
				if k, ok := p.Constants[c&^bitK].(lua.LString); ok {
					return "field", string(k)
				}
			}
			return "field", "?"
		case lua.OP_GETUPVAL:
			if b := argB(in); b < len(p.DbgUpvalues) {
				return "upvalue", plainName(p.DbgUpvalues[b])
			}
		case lua.OP_SELF:
			if c := argC(in); c&bitK != 0 && argA(in) == reg {
				return "method", p.Constants[c&^bitK].String()
			}
		}
		return "", ""
	}
	return "", ""
}

// localName is the local variable that a register holds at pc: variables take registers in the order in which they become active.
func localName(p *lua.FunctionProto, reg, pc int) string {
	for _, v := range p.DbgLocals {
		if v.StartPc > pc {
			break
		}
		if pc < v.EndPc {
			if reg == 0 {
				return plainName(v.Name)
			}
			reg--
		}
	}
	return ""
}

func constant(p *lua.FunctionProto, i int) string {
	if i < len(p.Constants) {
		if k, ok := p.Constants[i].(lua.LString); ok {
			return string(k)
		}
	}
	return "?"
}

// writes reports whether an instruction sets the register.
func writes(in uint32, reg int) bool {
	a := argA(in)
	switch opcode(in) {
	case lua.OP_SETGLOBAL, lua.OP_SETUPVAL, lua.OP_SETTABLE, lua.OP_SETTABLEKS, lua.OP_JMP, lua.OP_EQ, lua.OP_LT, lua.OP_LE, lua.OP_TEST,
		lua.OP_RETURN, lua.OP_SETLIST, lua.OP_CLOSE, lua.OP_NOP:
		return false
	case lua.OP_LOADNIL:
		return a <= reg && reg <= argB(in)
	case lua.OP_CALL, lua.OP_TAILCALL, lua.OP_VARARG:
		return reg >= a
	case lua.OP_TFORLOOP:
		return reg >= a+2
	case lua.OP_SELF:
		return reg == a || reg == a+1
	case lua.OP_FORLOOP, lua.OP_FORPREP:
		return reg >= a && reg <= a+3
	}
	return a == reg
}

// callee is the name under which the running library function was called, for messages about its arguments.
func (s *State) callee(L *lua.LState) (name string, method bool) {
	f := s.frame(L, 1)
	if f.fn == nil {
		return "?", false
	}
	op := opcode(f.inst)
	if op != lua.OP_CALL && op != lua.OP_TAILCALL {
		return "?", false
	}
	a := argA(f.inst)
	if kind, n := f.nameOf(a, f.pc); kind != "" {
		return n, kind == "method"
	}
	for i := f.pc - 1; i >= 0; i-- {
		if in := f.fn.Proto.Code[i]; writes(in, a) {
			if opcode(in) == lua.OP_LOADK {
				if fn, ok := f.fn.Proto.Constants[in&0x3ffff].(*lua.LFunction); ok {
					return s.names[fn], false
				}
			}
			break
		}
	}
	return "?", false
}

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
