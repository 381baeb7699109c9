package script

import (
	"reflect"

	lua "github.com/yuin/gopher-lua"
)

// frame is a running Lua function. It knows the names of what its registers hold, by what Lua calls
// symbolic execution. The machine does not expose its frames, so the two numbers needed are read by
// reflection, after an error only.
type frame struct {
	L    *lua.LState
	dbg  *lua.Debug
	fn   *lua.LFunction
	pc   int // index of the running instruction
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

func argA(i uint32) int { return int(i>>18) & 0xff }

func argB(i uint32) int { return int(i & 0x1ff) }

func argC(i uint32) int { return int(i>>9) & 0x1ff }

const bitK = 1 << 8 // set in an operand that is a constant

// value returns the value of an operand.
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

// indexed returns the register whose value was indexed, or -1.
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

// called returns the register whose value was called, and the value's type.
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

// operand returns the register of the operand that has the wrong type, and that type.
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

// nameOf returns what the source calls the value in a register.
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

// localName returns the local variable that a register holds at pc. Variables take registers in the
// order in which they become active.
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
	case lua.OP_SETGLOBAL, lua.OP_SETUPVAL, lua.OP_SETTABLE, lua.OP_SETTABLEKS, lua.OP_JMP,
		lua.OP_EQ, lua.OP_LT, lua.OP_LE, lua.OP_TEST,
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

// callee returns the name by which the running library function was called, for messages about its
// arguments.
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
