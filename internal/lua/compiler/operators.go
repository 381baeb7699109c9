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

// binary has the binary operators by token. Other tokens have the priority 0.
var binary = [tkEOF + 1]operator{
	tkOr: {left: 1, right: 1}, tkAnd: {left: 2, right: 2},
	'<': {3, 3, bytecode.JumpLt}, '>': {3, 3, bytecode.JumpLt},
	tkLe: {3, 3, bytecode.JumpLe}, tkGe: {3, 3, bytecode.JumpLe},
	tkEq: {3, 3, bytecode.JumpEq}, tkNe: {3, 3, bytecode.JumpEq},
	tkConcat: {5, 4, bytecode.Concat},
	'+':      {6, 6, bytecode.Add}, '-': {6, 6, bytecode.Sub},
	'*': {7, 7, bytecode.Mul}, '/': {7, 7, bytecode.Div}, '%': {7, 7, bytecode.Mod},
	'^': {10, 9, bytecode.Pow},
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
		c.jumpIf(false, e)
	case tkOr:
		c.jumpIf(true, e)
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
	switch op := binary[k].op; k {
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
	case '+', '-', '*', '/', '%', '^':
		c.arith(op, a, b)
	default:
		c.compare(k, op, a, b)
	}
}

// concat compiles a .. b. The operator is right-associative: if b is a concatenation, a joins it.
func (c *compiler) concat(a, b *exp) {
	f := c.fn
	c.toValue(b)
	if b.kind == expReloc && f.Code[b.info].Op() == bytecode.Concat {
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
	x, y := a.num, b.num
	divides := op == bytecode.Div || op == bytecode.Mod
	if !a.isNumber() || !b.isNumber() || divides && y == 0 {
		return 0, false
	}
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
		n = x / y
	case bytecode.Mod:
		n = number.Mod(x, y)
	}
	return n, !math.IsNaN(n)
}

// compare compiles a comparison. a > b becomes b < a, and a >= b becomes b <= a.
func (c *compiler) compare(k kind, op bytecode.Op, a, b *exp) {
	ka := c.operand(a, smallConstant)
	kb := c.operand(b, smallConstant)
	if ka && kb {
		c.toAny(a)
		ka = false
	}
	c.fn.releaseExp(b)
	c.fn.releaseExp(a)
	x, y := a.info, b.info
	if k == '>' || k == tkGe || ka && op == bytecode.JumpEq {
		x, y, ka, kb = y, x, kb, ka
	}
	switch {
	case kb:
		op++
	case ka:
		op += 2
	}
	*a = newExp(expJump, int(c.branch(op, truth(k != tkNe), x, y).head))
}

// jumpIf makes an expression jump if it is true, or if it is false.
func (c *compiler) jumpIf(is bool, e *exp) {
	c.evaluate(e)
	l := noJumps
	switch truth, constant := e.truth(); {
	case e.kind == expJump:
		if !is {
			c.fn.invert(e)
		}
		l = list{int32(e.info), int32(e.info)}
	case !constant || truth == is:
		l = c.test(e, is)
	}
	jumps, falls := &e.no, &e.yes
	if is {
		jumps, falls = falls, jumps
	}
	*jumps = c.join(*jumps, l)
	c.toHere(*falls)
	*falls = noJumps
}

// test emits a jump if the expression is true, or if it is false.
func (c *compiler) test(e *exp, is bool) list {
	f := c.fn
	if e.kind == expReloc {
		if i := f.Code[e.info]; i.Op() == bytecode.Not { // it is the last one
			f.Code, f.Lines = f.Code[:e.info], f.Lines[:e.info]
			return c.branch(bytecode.JumpIf, int(i.B()), 0, truth(!is))
		}
	}
	c.loadAny(e)
	f.releaseExp(e)
	return c.branch(bytecode.JumpSet, noRegister, e.info, truth(is))
}

// invert makes a comparison jump in the opposite case.
func (f *function) invert(e *exp) { f.setA(e.info, 1-int(f.Code[e.info].A())) }

func (c *compiler) not(e *exp) {
	c.evaluate(e)
	switch truth, constant := e.truth(); {
	case constant && truth:
		e.kind = expFalse
	case constant:
		e.kind = expTrue
	case e.kind == expJump:
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
