package compiler

import (
	"slices"

	"godwit/internal/lua/bytecode"
)

// insertLines puts a Line before each instruction that begins a line or that a jump leads to.
func insertLines(f *function) {
	targets := make([]bool, len(f.code)+1)
	for pc, i := range f.code {
		if isJump(i.Op()) {
			targets[pc+1+i.D()] = true
		}
	}
	moved := make([]int, len(f.code)+1) // where an instruction, or its Line, will be
	n := 0
	for pc := range f.code {
		moved[pc] = n
		if n++; f.beginsLine(pc, targets) {
			n++
		}
	}
	moved[len(f.code)] = n
	code, lines := make([]bytecode.Instr, 0, n), make([]int32, 0, n)
	for pc, i := range f.code {
		if moved[pc+1]-moved[pc] == 2 {
			code = append(code, bytecode.Make(bytecode.Line, 0, 0, 0, int(f.lines[pc])))
			lines = append(lines, f.lines[pc])
		}
		if isJump(i.Op()) {
			d := moved[pc+1+i.D()] - len(code) - 1
			i = bytecode.Make(i.Op(), int(i.A()), int(i.B()), int(i.C()), d)
		}
		code, lines = append(code, i), append(lines, f.lines[pc])
	}
	f.code, f.lines = code, lines
	for i := range f.locals {
		l := &f.locals[i]
		l.Start, l.End = int32(moved[l.Start]), int32(moved[l.End])
	}
}

// beginsLine reports whether a Line belongs before the instruction at pc. Some instructions must
// follow the one before directly.
func (f *function) beginsLine(pc int, targets []bool) bool {
	if pc == 0 {
		return true
	}
	last := f.code[pc-1]
	if last.Op() == bytecode.ForCall || last.Op() == bytecode.LoadBool && last.C() != 0 {
		return false
	}
	return targets[pc] || f.lines[pc] != f.lines[pc-1]
}

// isJump reports whether field d of an operation is a distance.
func isJump(op bytecode.Op) bool { return slices.Contains(jumps[:], op) }

var jumps = [...]bytecode.Op{bytecode.Jump, bytecode.JumpIf, bytecode.JumpSet, bytecode.JumpEq,
	bytecode.JumpEqK, bytecode.JumpLt, bytecode.JumpLtRK, bytecode.JumpLtKR, bytecode.JumpLe,
	bytecode.JumpLeRK, bytecode.JumpLeKR, bytecode.ForPrep, bytecode.ForLoop, bytecode.ForTest}
