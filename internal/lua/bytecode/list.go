package bytecode

import (
	"fmt"
	"strings"
)

var opNames = strings.Fields("Nop Move LoadK LoadNil LoadBool GetUpval SetUpval GetGlobal " +
	"SetGlobal GetIndex GetConst GetField GetInt SetIndex SetIndexK SetConst SetField SetFieldK " +
	"SetInt Self NewTable SetList Add AddRK AddKR Sub SubRK SubKR Mul MulRK MulKR Div DivRK " +
	"DivKR Mod ModRK ModKR Pow PowRK PowKR Unm Not Len Concat Jump JumpIf JumpSet JumpEq " +
	"JumpEqK JumpLt JumpLtRK JumpLtKR JumpLe JumpLeRK JumpLeKR Call TailCall Return Closure " +
	"Vararg Close ForPrep ForLoop ForCall ForTest CallK Line")

// String returns the name of the operation.
func (op Op) String() string {
	if int(op) < len(opNames) {
		return opNames[op]
	}
	return fmt.Sprintf("Op(%d)", uint8(op))
}

// String formats an instruction for listings.
func (i Instr) String() string {
	return fmt.Sprintf("%-9s a=%d b=%d c=%d d=%d", i.Op(), i.A(), i.B(), i.C(), i.D())
}

// String formats a constant for listings.
func (k Constant) String() string {
	switch k.Kind {
	case Nil:
		return "nil"
	case False:
		return "false"
	case True:
		return "true"
	case Number:
		return fmt.Sprint(k.Num)
	case Ref:
		return "<" + k.Str + ">"
	}
	return fmt.Sprintf("%q", k.Str)
}

// List returns the code of a function and of those in it, for people.
func (p *Proto) List() string {
	var b strings.Builder
	fmt.Fprintf(&b, "function %s:%d-%d params=%d registers=%d vararg=%v arg=%v\n", p.Source, p.Line,
		p.LastLine, p.Params, p.Registers, p.Vararg, p.NeedsArg)
	for pc, i := range p.Code {
		fmt.Fprintf(&b, "%5d [%d] %v\n", pc, p.Lines[pc], i)
	}
	fmt.Fprintf(&b, "constants %v\n", p.Constants)
	for _, l := range p.Locals {
		fmt.Fprintf(&b, "local %s R(%d) %d-%d\n", l.Name, l.Register, l.Start, l.End)
	}
	for _, u := range p.Upvalues {
		fmt.Fprintf(&b, "upvalue %s stack=%v %d\n", u.Name, u.InStack, u.Index)
	}
	for _, f := range p.Protos {
		b.WriteString(f.List())
	}
	return b.String()
}
