package compiler

import "godwit/internal/lua/bytecode"

// insertLines puts a Line before each instruction that begins a line or that a jump leads to.
func insertLines(f *function) {
	targets := make([]bool, len(f.Code)+1)
	for pc, i := range f.Code {
		if isJump(i.Op()) {
			targets[pc+1+i.D()] = true
		}
	}
	moved := make([]int, len(f.Code)+1) // where an instruction, or its Line, will be
	n := 0
	for pc := range f.Code {
		moved[pc] = n
		if n++; f.beginsLine(pc, targets) {
			n++
		}
	}
	moved[len(f.Code)] = n
	code, lines := make([]bytecode.Instr, 0, n), make([]int32, 0, n)
	for pc, i := range f.Code {
		if moved[pc+1]-moved[pc] == 2 {
			code = append(code, bytecode.Make(bytecode.Line, 0, 0, 0, int(f.Lines[pc])))
			lines = append(lines, f.Lines[pc])
		}
		if isJump(i.Op()) {
			d := moved[pc+1+i.D()] - len(code) - 1
			i = bytecode.Make(i.Op(), int(i.A()), int(i.B()), int(i.C()), d)
		}
		code, lines = append(code, i), append(lines, f.Lines[pc])
	}
	f.Code, f.Lines = code, lines
	for i := range f.Locals {
		l := &f.Locals[i]
		l.Start, l.End = int32(moved[l.Start]), int32(moved[l.End])
	}
}

// beginsLine reports whether a Line belongs before the instruction at pc. Some instructions must
// follow the one before directly.
func (f *function) beginsLine(pc int, targets []bool) bool {
	switch {
	case pc == 0:
		return !f.beginsNil(targets)
	case pc == 1 && f.beginsNil(targets):
		return true
	}
	last := f.Code[pc-1]
	if last.Op() == bytecode.ForCall || last.Op() == bytecode.LoadBool && last.C() != 0 {
		return false
	}
	return targets[pc] || f.Lines[pc] != f.Lines[pc-1]
}

// beginsNil reports whether the function begins with variables without values. Lua's compiler makes
// no code for them: its registers are nil then.
func (f *function) beginsNil(targets []bool) bool {
	first := f.Code[0]
	return first.Op() == bytecode.LoadNil && int(first.A()) >= f.Params && !targets[0]
}

// isJump reports whether field d of an operation is a distance.
func isJump(op bytecode.Op) bool {
	return bytecode.Jump <= op && op <= bytecode.JumpLeKR || op == bytecode.ForPrep ||
		op == bytecode.ForLoop || op == bytecode.ForTest
}
