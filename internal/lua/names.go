package lua

import (
	"strings"

	"godwit/internal/lua/bytecode"
)

// This file finds the names that messages give to values. As in Lua 5.1, the name of a register is
// that of its local variable, or else it comes from the instruction that set it. Jumps ahead are
// followed, so a value that comes from one of two places has the name that Lua gives it.

// nameOf returns the kind of variable and the name of what is in a register at pc, or "".
func (p *Function) nameOf(reg, pc int) (kind, name string) {
	if name := p.proto.LocalAt(reg, pc); name != "" {
		return "local", name
	}
	at := p.setter(reg, pc)
	if at < 0 {
		return "", ""
	}
	in := p.code[at]
	switch in.Op() {
	case bytecode.GetGlobal:
		return "global", p.constantName(in.D())
	case bytecode.Move:
		if in.B() < in.A() {
			return p.nameOf(int(in.B()), at)
		}
	case bytecode.GetField, bytecode.GetConst:
		return "field", p.keyName(in.D())
	case bytecode.GetIndex, bytecode.GetInt:
		return "field", "?"
	case bytecode.GetUpval:
		return "upvalue", CString(p.proto.Upvalues[in.B()].Name)
	case bytecode.Self:
		return "method", p.keyName(in.D())
	case bytecode.LoadK:
		return p.refName(in.D())
	}
	return "", ""
}

// keyName returns a constant that is a key as a name. In Lua, only one of the first 256 constants
// can be part of the instruction, and others have no name.
func (p *Function) keyName(i int) string {
	if i > 0xff {
		return "?"
	}
	return p.constantName(i)
}

// constantName returns a constant string as a name.
func (p *Function) constantName(i int) string {
	if v := p.constants[i]; v.IsString() {
		return CString(v.Str())
	}
	return "?"
}

// refName returns the name of a constant of the environment.
func (p *Function) refName(i int) (kind, name string) {
	c := &p.proto.Constants[i]
	if c.Kind != bytecode.Ref {
		return "", ""
	}
	if _, field, ok := strings.Cut(c.Str, "."); ok {
		return "field", field
	}
	return "global", c.Str
}

// setter returns the instruction before pc that has set a register, or -1.
func (p *Function) setter(reg, pc int) int {
	last := -1
	for i := 0; i < pc; i++ {
		in := p.code[i]
		if sets(in, reg) {
			last = i
		}
		if d := jumpOf(in); d > 0 && i+1+d <= pc {
			i += d
		}
	}
	return last
}

// jumpOf returns by how much an instruction may jump, or 0.
func jumpOf(in bytecode.Instr) int {
	switch op := in.Op(); {
	case op == bytecode.ForPrep, op >= bytecode.Jump && op <= bytecode.JumpLeKR:
		return in.D()
	case op == bytecode.LoadBool && in.C() != 0:
		return 1
	}
	return 0
}

// sets reports whether an instruction changes a register, as far as Lua's search sees it.
func sets(in bytecode.Instr, reg int) bool {
	a := int(in.A())
	switch op := in.Op(); op {
	case bytecode.LoadNil:
		return a <= reg && reg <= int(in.B())
	case bytecode.Self:
		return reg == a || reg == a+1
	case bytecode.Call, bytecode.CallK, bytecode.TailCall:
		return reg >= a
	case bytecode.ForCall:
		return reg >= a+2
	case bytecode.SetUpval, bytecode.SetGlobal, bytecode.SetIndex, bytecode.SetIndexK,
		bytecode.SetConst, bytecode.SetField, bytecode.SetFieldK, bytecode.SetInt,
		bytecode.SetList, bytecode.Jump, bytecode.Return, bytecode.Close, bytecode.ForTest,
		bytecode.Line, bytecode.Nop:
		return false
	default:
		if op >= bytecode.JumpEq && op <= bytecode.JumpLeKR {
			return false
		}
	}
	return a == reg
}

// calledName returns how the function of a frame was called.
func (t *Thread) calledName(depth int) (kind, name string) {
	if depth < 1 {
		return "", ""
	}
	if f := &t.frames[depth]; f.tails > 0 || f.kind != framePlain {
		return "", ""
	}
	f := &t.frames[depth-1]
	if f.closure == nil {
		return "", ""
	}
	fn, pc := f.closure.fn, int(f.pc)-1
	switch in := fn.code[pc]; in.Op() {
	case bytecode.Call, bytecode.TailCall, bytecode.ForCall:
		return fn.nameOf(int(in.A()), pc)
	case bytecode.CallK:
		return fn.refName(in.D())
	}
	return "", ""
}
