package compiler

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/lua/bytecode"
)

// This file lists the code of functions, for people and for comparisons.

var opNames = strings.Fields("Nop Move LoadK LoadNil LoadBool GetUpval SetUpval GetGlobal " +
	"SetGlobal GetIndex GetConst GetField GetInt SetIndex SetIndexK SetConst SetField SetFieldK " +
	"SetInt Self NewTable SetList Add AddRK AddKR Sub SubRK SubKR Mul MulRK MulKR Div DivRK " +
	"DivKR Mod ModRK ModKR Pow PowRK PowKR Unm Not Len Concat Jump JumpIf JumpSet JumpEq " +
	"JumpEqK JumpLt JumpLtRK JumpLtKR JumpLe JumpLeRK JumpLeKR Call TailCall Return Closure " +
	"Vararg Close ForPrep ForLoop ForCall ForTest CallK Line")

// opName returns the name of an operation.
func opName(op bytecode.Op) string { return opNames[op] }

// instrText formats an instruction.
func instrText(i bytecode.Instr) string {
	return fmt.Sprintf("%-9s a=%d b=%d c=%d d=%d", opName(i.Op()), i.A(), i.B(), i.C(), i.D())
}

// protoText returns the code of a function and of those in it.
func protoText(p *bytecode.Proto) string {
	var b strings.Builder
	fmt.Fprintf(&b, "function %s:%d-%d params=%d registers=%d vararg=%v arg=%v\n", p.Source, p.Line,
		p.LastLine, p.Params, p.Registers, p.Vararg, p.NeedsArg)
	for pc, i := range p.Code {
		fmt.Fprintf(&b, "%5d [%d] %s\n", pc, p.Lines[pc], instrText(i))
	}
	for i, k := range p.Constants {
		fmt.Fprintf(&b, "constant %d %s\n", i, constantText(k))
	}
	for _, l := range p.Locals {
		fmt.Fprintf(&b, "local %s R(%d) %d-%d\n", l.Name, l.Register, l.Start, l.End)
	}
	for _, u := range p.Upvalues {
		fmt.Fprintf(&b, "upvalue %s stack=%v %d\n", u.Name, u.InStack, u.Index)
	}
	for _, f := range p.Protos {
		b.WriteString(protoText(f))
	}
	return b.String()
}

func TestNames(t *testing.T) {
	require.Len(t, opNames, int(bytecode.Line)+1)
	require.Equal(t, "Line", opName(bytecode.Line))
	require.Equal(t, "JumpLeKR", opName(bytecode.JumpLeKR))
	i := bytecode.Make(bytecode.SetFieldK, 249, 255, 1, -70000)
	require.Equal(t, "SetFieldK a=249 b=255 c=1 d=-70000", instrText(i))
}
