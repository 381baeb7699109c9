package compiler

import "godwit/internal/lua/bytecode"

// noRegister is the field a of a JumpSet whose value nobody has asked for yet.
const noRegister = 255

// list is a list of jumps that lead to one place. Each refers to the next one where its distance
// will be. The tail makes joining two lists cheap. noJumps is the empty list.
type list struct{ head, tail int32 }

const endOfList = -1 // as a distance: no instruction jumps to itself

var noJumps = list{-1, -1}

func (l list) empty() bool { return l.head < 0 }

// instrCost is the memory of an instruction and its line. Lists that grow take twice their size.
const instrCost = 2 * 12

// owe counts memory for Options.Grow.
func (c *compiler) owe(bytes int) { c.owed += bytes }

// emit appends an instruction and returns its place. Its line is that of the last token that was
// passed.
func (c *compiler) emit(op bytecode.Op, a, b, cc, d int) int {
	f := c.fn
	if !f.pending.empty() {
		l := f.pending
		f.pending = noJumps
		c.patch(l, len(f.Code), noRegister, len(f.Code))
	}
	f.Code = append(f.Code, bytecode.Make(op, a, b, cc, d))
	f.Lines = append(f.Lines, int32(c.lastLine))
	if c.owed += instrCost; c.owed >= askEvery {
		c.ask()
	}
	return len(f.Code) - 1
}

// emitReturn emits the return of n values; -1: up to the top.
func (c *compiler) emitReturn(first, n int) { c.emit(bytecode.Return, first, n+1, 0, 0) }

// fixLine gives the last instruction another line.
func (c *compiler) fixLine(line int) { c.fn.Lines[len(c.fn.Lines)-1] = int32(line) }

// set replaces the instruction at pc.
func (f *function) set(pc int, op bytecode.Op, a, b, cc, d int) {
	f.Code[pc] = bytecode.Make(op, a, b, cc, d)
}

// setA, setB and setC change a field of the instruction at pc.
func (f *function) setA(pc, a int)  { f.setByte(pc, 1, a) }
func (f *function) setB(pc, b int)  { f.setByte(pc, 2, b) }
func (f *function) setC(pc, cc int) { f.setByte(pc, 3, cc) }

func (f *function) setByte(pc, i, v int) {
	f.Code[pc] = f.Code[pc]&^(0xff<<(8*i)) | bytecode.Instr(uint8(v))<<(8*i)
}

// emitNil makes n registers nil.
func (c *compiler) emitNil(from, n int) {
	f := c.fn
	if pc := len(f.Code) - 1; pc+1 > f.lastTarget && pc >= 0 {
		last := f.Code[pc]
		a, b := int(last.A()), int(last.B())
		if last.Op() == bytecode.LoadNil && a <= from && from <= b+1 {
			f.setB(pc, max(b, from+n-1))
			return
		}
	}
	c.emit(bytecode.LoadNil, from, from+n-1, 0, 0)
}

// label returns the place of the next instruction, to which a jump may lead.
func (c *compiler) label() int {
	c.fn.lastTarget = len(c.fn.Code)
	return c.fn.lastTarget
}

// jump emits a jump. Jumps that lead to it will lead to where it does.
func (c *compiler) jump() list {
	pending := c.fn.pending
	c.fn.pending = noJumps
	return c.join(c.branch(bytecode.Jump, 0, 0, 0), pending)
}

// branch emits an instruction that jumps.
func (c *compiler) branch(op bytecode.Op, a, b, cc int) list {
	pc := int32(c.emit(op, a, b, cc, endOfList))
	return list{pc, pc}
}

// jumpBack emits a jump to target.
func (c *compiler) jumpBack(target int) { c.setJump(c.emit(bytecode.Jump, 0, 0, 0, 0), target) }

// setJump sets where the jump at pc leads.
func (c *compiler) setJump(pc, target int) {
	d := target - (pc + 1)
	if d > maxJump || d < -maxJump {
		c.syntaxError("control structure too long")
	}
	i := c.fn.Code[pc]
	c.fn.set(pc, i.Op(), int(i.A()), int(i.B()), int(i.C()), d)
}

// join returns the list of the jumps of a and b.
func (c *compiler) join(a, b list) list {
	switch {
	case b.empty():
		return a
	case a.empty():
		return b
	}
	c.setJump(int(a.tail), int(b.head))
	return list{a.head, b.tail}
}

// following returns the jump after pc in its list, or -1.
func (c *compiler) following(pc int) int {
	c.walked++
	d := c.fn.Code[pc].D()
	if d == endOfList {
		return -1
	}
	return pc + 1 + d
}

// toHere makes jumps lead to the next instruction.
func (c *compiler) toHere(l list) {
	c.label()
	c.fn.pending = c.join(c.fn.pending, l)
}

// toLoop makes jumps lead back to the beginning of a loop. Only Jump goes back.
func (c *compiler) toLoop(l list, start int) {
	if l.empty() {
		return
	}
	exit := c.jump()
	c.toHere(l)
	c.jumpBack(start)
	c.toHere(exit)
}

// patch makes the jumps of a list lead to values if they set the register, else to target.
func (c *compiler) patch(l list, values, register, target int) {
	for pc := int(l.head); pc >= 0; {
		next := c.following(pc)
		if c.fn.setTest(pc, register) {
			c.setJump(pc, values)
		} else {
			c.setJump(pc, target)
		}
		pc = next
	}
}

// setTest says where the jump at pc leaves the value that it tests. It reports false if it tests
// none, but compares or just jumps.
func (f *function) setTest(pc, register int) bool {
	i := f.Code[pc]
	if i.Op() != bytecode.JumpSet {
		return false
	}
	b := int(i.B())
	if register != noRegister && register != b {
		f.setA(pc, register)
	} else {
		f.set(pc, bytecode.JumpIf, b, 0, int(i.C()), i.D())
	}
	return true
}

// dropValues makes jumps test only.
func (c *compiler) dropValues(l list) {
	for pc := int(l.head); pc >= 0; pc = c.following(pc) {
		c.fn.setTest(pc, noRegister)
	}
}

// needsValue reports whether some jump of a list leads to an expression's end without its value.
func (c *compiler) needsValue(l list) bool {
	for pc := int(l.head); pc >= 0; pc = c.following(pc) {
		if c.fn.Code[pc].Op() != bytecode.JumpSet {
			return true
		}
	}
	return false
}
