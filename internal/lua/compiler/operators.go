package compiler

import (
	"math"

	"godwit/internal/lua/bytecode"
	"godwit/internal/lua/number"
)

// operator describes a binary operator. op is what computes it, for arithmetic and comparisons.
type operator struct {
	left, right int // priorities
	op          bytecode.Op
}

// The priority of unary operators.
const unary = 8

// binary returns the binary operator that a token is. Its left priority is 0 if it is none.
func binary(k kind) operator {
	switch k {
	case tkOr:
		return operator{left: 1, right: 1}
	case tkAnd:
		return operator{left: 2, right: 2}
	case '<', '>':
		return operator{3, 3, bytecode.JumpLt}
	case tkLe, tkGe:
		return operator{3, 3, bytecode.JumpLe}
	case tkEq, tkNe:
		return operator{3, 3, bytecode.JumpEq}
	case tkConcat:
		return operator{5, 4, bytecode.Concat}
	case '+':
		return operator{6, 6, bytecode.Add}
	case '-':
		return operator{6, 6, bytecode.Sub}
	case '*':
		return operator{7, 7, bytecode.Mul}
	case '/':
		return operator{7, 7, bytecode.Div}
	case '%':
		return operator{7, 7, bytecode.Mod}
	case '^':
		return operator{10, 9, bytecode.Pow}
	}
	return operator{}
}

// prefix applies a unary operator.
func (c *compiler) prefix(k kind, e *exp) {
	switch k {
	case tkNot:
		c.not(e)
		return
	case '-':
		if e.isNumber() {
			e.num = -e.num
			return
		}
		c.unary(bytecode.Unm, e)
	case '#':
		c.unary(bytecode.Len, e)
	}
}

func (c *compiler) unary(op bytecode.Op, e *exp) {
	r := c.toAny(e)
	c.fn.releaseExp(e)
	*e = newExp(expReloc, c.emit(op, 0, r, 0, 0))
}

// infix prepares the left operand, before the right one is compiled.
func (c *compiler) infix(k kind, e *exp) {
	switch k {
	case tkAnd:
		c.jumpUnless(e)
	case tkOr:
		c.jumpWhen(e)
	case tkConcat:
		c.toNext(e) // operands are side by side
	case '+', '-', '*', '/', '%', '^':
		if !e.isNumber() {
			c.operand(e, anyConstant)
		}
	default:
		c.operand(e, smallConstant)
	}
}

// postfix applies a binary operator to its operands. The result is in a.
func (c *compiler) postfix(k kind, a, b *exp) {
	switch op := binary(k).op; k {
	case tkAnd:
		c.evaluate(b)
		b.no = c.join(b.no, a.no)
		*a = *b
	case tkOr:
		c.evaluate(b)
		b.yes = c.join(b.yes, a.yes)
		*a = *b
	case tkConcat:
		c.concat(a, b)
	case '<', tkLe, tkEq:
		c.compare(op, true, a, b)
	case tkNe:
		c.compare(op, false, a, b)
	case '>', tkGe:
		c.compareSwapped(op, a, b)
	default:
		c.arith(op, a, b)
	}
}

// concat compiles a .. b. The operator is right-associative: if b is a concatenation, a joins it.
func (c *compiler) concat(a, b *exp) {
	f := c.fn
	c.toValue(b)
	if b.kind == expReloc && f.code[b.info].Op() == bytecode.Concat {
		f.releaseExp(a)
		f.setB(b.info, a.info)
		*a = *b
		return
	}
	c.toNext(b)
	f.releaseExp(b)
	f.releaseExp(a)
	*a = newExp(expReloc, c.emit(bytecode.Concat, 0, a.info, b.info, 0))
}

// arith compiles an arithmetic operator.
func (c *compiler) arith(op bytecode.Op, a, b *exp) {
	if n, ok := fold(op, a, b); ok {
		a.num = n
		return
	}
	kb := c.operand(b, anyConstant)
	ka := c.operand(a, anyConstant)
	if ka && kb {
		c.toAny(a)
		ka = false
	}
	x, y := a.info, b.info
	c.releaseBoth(a, b)
	pc := 0
	switch {
	case ka:
		pc = c.emit(op+2, 0, 0, y, x)
	case kb:
		pc = c.emit(op+1, 0, x, 0, y)
	default:
		pc = c.emit(op, 0, x, y, 0)
	}
	*a = newExp(expReloc, pc)
}

// releaseBoth gives back the registers of two operands, the higher one first.
func (c *compiler) releaseBoth(a, b *exp) {
	if a.kind == expRegister && b.kind == expRegister && b.info > a.info {
		a, b = b, a
	}
	c.fn.releaseExp(a)
	c.fn.releaseExp(b)
}

// fold computes an operator of two numbers while compiling. It leaves divisions by zero, and what
// is not a number, to the machine.
func fold(op bytecode.Op, a, b *exp) (n float64, ok bool) {
	if !a.isNumber() || !b.isNumber() {
		return 0, false
	}
	x, y := a.num, b.num
	switch op {
	case bytecode.Add:
		n = x + y
	case bytecode.Sub:
		n = x - y
	case bytecode.Mul:
		n = x * y
	case bytecode.Pow:
		n = number.Pow(x, y)
	case bytecode.Div:
		if n = x / y; y == 0 {
			return 0, false
		}
	case bytecode.Mod:
		if n = number.Mod(x, y); y == 0 {
			return 0, false
		}
	}
	return n, !math.IsNaN(n)
}

// compareSwapped compiles a > b as b < a, and a >= b as b <= a.
func (c *compiler) compareSwapped(op bytecode.Op, a, b *exp) {
	ka, kb := c.comparable(a, b)
	c.fn.releaseExp(b)
	c.fn.releaseExp(a)
	c.emitCompare(op, true, b.info, a.info, kb, ka, a)
}

// compare compiles a comparison whose result is that of op, or its opposite.
func (c *compiler) compare(op bytecode.Op, is bool, a, b *exp) {
	ka, kb := c.comparable(a, b)
	c.fn.releaseExp(b)
	c.fn.releaseExp(a)
	if ka && op == bytecode.JumpEq {
		ka, kb = false, true
		a.info, b.info = b.info, a.info
	}
	c.emitCompare(op, is, a.info, b.info, ka, kb, a)
}

// comparable puts the operands into registers, or leaves one of them constant.
func (c *compiler) comparable(a, b *exp) (ka, kb bool) {
	ka = c.operand(a, smallConstant)
	kb = c.operand(b, smallConstant)
	if ka && kb {
		c.toAny(a)
		ka = false
	}
	return ka, kb
}

// emitCompare emits a comparison. The result is in e.
func (c *compiler) emitCompare(op bytecode.Op, is bool, x, y int, kx, ky bool, e *exp) {
	switch {
	case ky:
		op++
	case kx:
		op += 2
	}
	*e = newExp(expJump, int(c.branch(op, truth(is), x, y).head))
}

// jumpUnless makes an expression jump if it is false.
func (c *compiler) jumpUnless(e *exp) {
	c.evaluate(e)
	l := noJumps
	switch e.kind {
	case expConstant, expNumber, expTrue:
	case expJump:
		c.fn.invert(e)
		l = list{int32(e.info), int32(e.info)}
	default:
		l = c.test(e, false)
	}
	e.no = c.join(e.no, l)
	c.toHere(e.yes)
	e.yes = noJumps
}

// jumpWhen makes an expression jump if it is true.
func (c *compiler) jumpWhen(e *exp) {
	c.evaluate(e)
	l := noJumps
	switch e.kind {
	case expNil, expFalse:
	case expJump:
		l = list{int32(e.info), int32(e.info)}
	default:
		l = c.test(e, true)
	}
	e.yes = c.join(e.yes, l)
	c.toHere(e.no)
	e.no = noJumps
}

// test emits a jump if the expression is true, or if it is false.
func (c *compiler) test(e *exp, is bool) list {
	f := c.fn
	if e.kind == expReloc {
		if i := f.code[e.info]; i.Op() == bytecode.Not { // it is the last one
			f.code, f.lines = f.code[:e.info], f.lines[:e.info]
			return c.branch(bytecode.JumpIf, int(i.B()), 0, truth(!is))
		}
	}
	c.loadAny(e)
	f.releaseExp(e)
	return c.branch(bytecode.JumpSet, noRegister, e.info, truth(is))
}

// invert makes a comparison jump in the opposite case.
func (f *function) invert(e *exp) { f.setA(e.info, 1-int(f.code[e.info].A())) }

// not compiles the operator not.
func (c *compiler) not(e *exp) {
	c.evaluate(e)
	switch e.kind {
	case expNil, expFalse:
		e.kind = expTrue
	case expConstant, expNumber, expTrue:
		e.kind = expFalse
	case expJump:
		c.fn.invert(e)
	default:
		c.loadAny(e)
		c.fn.releaseExp(e)
		e.info = c.emit(bytecode.Not, 0, e.info, 0, 0)
		e.kind = expReloc
	}
	e.yes, e.no = e.no, e.yes
	c.dropValues(e.yes)
	c.dropValues(e.no)
}
