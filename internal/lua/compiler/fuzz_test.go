package compiler

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/lua/bytecode"
	"godwit/internal/lua/luagen"
)

// FuzzCompile checks that every source compiles to valid code or is refused with a position.
func FuzzCompile(f *testing.F) {
	for _, s := range snippets() {
		f.Add(s, false)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 15 {
		f.Add(luagen.Script(r), true)
	}
	f.Fuzz(func(t *testing.T, src string, lines bool) {
		p, err := Compile(src, "chunk", &Options{Lines: lines, Constant: environment})
		if err != nil {
			require.True(t, strings.HasPrefix(err.Error(), "chunk:"), err.Error())
			return
		}
		verify(t, p, nil)
	})
}

// verify checks what the machine relies on.
func verify(t *testing.T, p, outer *bytecode.Proto) {
	require.Len(t, p.Lines, len(p.Code))
	require.LessOrEqual(t, p.Registers, bytecode.MaxRegisters)
	require.LessOrEqual(t, p.Params+truth(p.NeedsArg), p.Registers)
	require.Equal(t, bytecode.Return, p.Code[len(p.Code)-1].Op())
	for pc, i := range p.Code {
		verifyInstr(t, p, pc, i)
	}
	for _, l := range p.Locals {
		require.LessOrEqual(t, l.Start, l.End)
		require.LessOrEqual(t, int(l.End), len(p.Code))
		require.Less(t, int(l.Register), p.Registers)
	}
	for _, u := range p.Upvalues {
		if u.InStack {
			require.Less(t, int(u.Index), outer.Registers)
		} else {
			require.Less(t, int(u.Index), len(outer.Upvalues))
		}
	}
	for _, f := range p.Protos {
		verify(t, f, p)
	}
}

// verifyInstr checks the fields of an instruction.
func verifyInstr(t *testing.T, p *bytecode.Proto, pc int, i bytecode.Instr) {
	a, b, c, d := int(i.A()), int(i.B()), int(i.C()), i.D()
	in := func(n, limit int) {
		require.True(t, 0 <= n && n < limit, "%d: %s\n%s", pc, instrText(i), protoText(p))
	}
	op := i.Op()
	switch { // registers
	case op == bytecode.JumpSet || op >= bytecode.Add && op <= bytecode.Len:
		in(a, p.Registers)
		in(b, p.Registers)
	case op == bytecode.Call || op == bytecode.CallK || op == bytecode.TailCall:
		in(a+max(b-1, c-2, 0), p.Registers)
	case op == bytecode.ForCall:
		in(a+2+c, p.Registers)
		require.Equal(t, bytecode.ForTest, p.Code[pc+1].Op())
	case op == bytecode.Self:
		in(a+1, p.Registers)
	case op == bytecode.Closure:
		in(d, len(p.Protos))
	case op == bytecode.GetUpval || op == bytecode.SetUpval:
		in(b, len(p.Upvalues))
	}
	if isJump(op) {
		in(pc+1+d, len(p.Code))
		if d < 0 {
			back := []bytecode.Op{bytecode.Jump, bytecode.ForLoop, bytecode.ForTest}
			require.Contains(t, back, op)
		}
		return
	}
	for _, operand := range strings.Fields(forms[op]) {
		switch operand {
		case "K":
			in(d, len(p.Constants))
		case "f":
			in(b|c<<8, len(p.Constants))
		}
	}
	switch op {
	case bytecode.GetField, bytecode.SetField, bytecode.SetFieldK, bytecode.Self:
		require.Equal(t, bytecode.String, p.Constants[d].Kind)
	case bytecode.CallK:
		require.Equal(t, bytecode.Ref, p.Constants[d].Kind)
	}
}
