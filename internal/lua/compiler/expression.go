package compiler

import (
	"fmt"

	"godwit/internal/lua/bytecode"
)

// expected fails because the current token is not of kind k.
func (c *compiler) expected(k kind) { c.syntaxError(fmt.Sprintf("'%s' expected", k)) }

// check fails unless the current token is of kind k.
func (c *compiler) check(k kind) {
	if c.tok.kind != k {
		c.expected(k)
	}
}

// testNext skips the token if it is of kind k, and reports whether it was.
func (c *compiler) testNext(k kind) bool {
	if c.tok.kind != k {
		return false
	}
	c.next()
	return true
}

// skip skips a token of kind k, which must be there.
func (c *compiler) skip(k kind) {
	c.check(k)
	c.next()
}

// closing skips the token that closes what another one opened at line.
func (c *compiler) closing(k, open kind, line int) {
	if c.testNext(k) {
		return
	}
	if line == c.line {
		c.expected(k)
	}
	c.syntaxError(fmt.Sprintf("'%s' expected (to close '%s' at line %d)", k, open, line))
}

// ident skips a name and returns it.
func (c *compiler) ident() string {
	c.check(tkName)
	s := c.tok.str
	c.next()
	return s
}

// nameExp skips a name and returns it as a constant.
func (c *compiler) nameExp() exp { return newExp(expConstant, c.nameConstant(c.ident())) }

func (c *compiler) expr(e *exp) { c.subexpr(e, 0) }

// exprs compiles a list of expressions, of which the last one stays open, and returns their number.
func (c *compiler) exprs(e *exp) int {
	n := 1
	c.expr(e)
	for c.testNext(',') {
		c.toNext(e)
		c.expr(e)
		n++
	}
	return n
}

// subexpr compiles an expression whose binary operators all bind stronger than limit.
func (c *compiler) subexpr(e *exp, limit int) {
	c.enter()
	switch k := c.tok.kind; k {
	case tkNot, '-', '#':
		c.next()
		c.subexpr(e, unary)
		c.prefix(k, e)
	default:
		c.simple(e)
	}
	for {
		k := c.tok.kind
		op := binary[k]
		if op.left <= limit {
			break
		}
		c.next()
		c.infix(k, e)
		var right exp
		c.subexpr(&right, op.right)
		c.postfix(k, e, &right)
	}
	c.leave()
}

// simple compiles an expression without operators.
func (c *compiler) simple(e *exp) {
	switch c.tok.kind {
	case tkNumber:
		*e = newExp(expNumber, 0)
		e.num = c.tok.num
	case tkString:
		*e = newExp(expConstant, c.stringConstant(c.tok.str))
	case tkNil:
		*e = newExp(expNil, 0)
	case tkTrue:
		*e = newExp(expTrue, 0)
	case tkFalse:
		*e = newExp(expFalse, 0)
	case tkDots:
		if !c.fn.Vararg {
			c.syntaxError("cannot use '...' outside a vararg function")
		}
		c.fn.NeedsArg = false
		*e = newExp(expVararg, c.emit(bytecode.Vararg, 0, 1, 0, 0))
	case '{':
		c.table(e)
		return
	case tkFunction:
		c.next()
		c.body(e, false, c.line)
		return
	default:
		c.suffixed(e)
		return
	}
	c.next()
}

// variable compiles a name.
func (c *compiler) variable(e *exp) {
	name := c.ident()
	if sym := c.symbols[name]; sym != nil && len(sym.bindings) > 0 {
		b := sym.bindings[len(sym.bindings)-1]
		if b.fn == c.fn {
			*e = newExp(expLocal, b.register)
		} else {
			*e = newExp(expUpvalue, c.upvalue(c.fn, b, name))
		}
		return
	}
	if c.isConstant(name, "") {
		*e = newExp(expRef, 0)
		e.global = name
		return
	}
	*e = newExp(expGlobal, c.stringConstant(name))
}

// assignable makes an expression a variable that can be assigned to. It reports false if it is
// none.
func (c *compiler) assignable(e *exp) bool {
	switch e.kind {
	case expLocal, expUpvalue, expGlobal, expIndexed:
		return true
	case expRef:
		field := e.field
		*e = newExp(expGlobal, c.stringConstant(e.global))
		if field != "" {
			c.toAny(e)
			key := newExp(expConstant, c.nameConstant(field))
			c.index(e, &key)
		}
		return true
	}
	return false
}

// primary compiles a name or an expression in parentheses.
func (c *compiler) primary(e *exp) {
	switch c.tok.kind {
	case '(':
		line := c.line
		c.next()
		c.expr(e)
		c.closing(')', '(', line)
		c.evaluate(e)
	case tkName:
		c.variable(e)
	default:
		c.syntaxError("unexpected symbol")
	}
}

// suffixed compiles a primary expression with its indexes and calls.
func (c *compiler) suffixed(e *exp) {
	c.primary(e)
	for {
		switch c.tok.kind {
		case '.':
			c.field(e)
		case '[':
			c.toAny(e)
			key := c.key()
			c.index(e, &key)
		case ':':
			c.next()
			c.method(e, c.ident())
			c.call(e, -1)
		case '(', tkString, '{':
			ref := -1
			if e.kind == expRef {
				ref = c.refConstant(e.global, e.field)
				c.reserve(1)
				*e = newExp(expRegister, c.fn.free-1)
			} else {
				c.toNext(e)
			}
			c.call(e, ref)
		default:
			return
		}
	}
}

// field compiles a dot and a name behind an expression.
func (c *compiler) field(e *exp) {
	line := c.lastLine
	ref := e.kind == expRef && e.field == ""
	if !ref {
		c.toAny(e)
	}
	c.next()
	name := c.ident()
	if ref && c.isConstant(e.global, name) {
		e.field = name
		return
	}
	if ref {
		c.toAny(e)
		c.fixLine(line)
	}
	key := newExp(expConstant, c.nameConstant(name))
	c.index(e, &key)
}

// key compiles a key in brackets.
func (c *compiler) key() exp {
	var e exp
	c.next()
	c.expr(&e)
	c.toValue(&e)
	c.skip(']')
	return e
}

// method looks a method up and puts it and its object into the next registers.
func (c *compiler) method(e *exp, name string) {
	f := c.fn
	key := c.nameConstant(name)
	object := c.toAny(e)
	f.releaseExp(e)
	register := f.free
	c.reserve(2)
	c.emit(bytecode.Self, register, object, 0, key)
	*e = newExp(expRegister, register)
}

// call compiles the arguments and the call of a function, which is in the last register, or is the
// constant ref.
func (c *compiler) call(e *exp, ref int) {
	f := c.fn
	line := c.line
	var args exp
	switch c.tok.kind {
	case '(':
		if line != c.lastLine {
			c.syntaxError("ambiguous syntax (function call x new statement)")
		}
		c.next()
		if c.tok.kind != ')' {
			c.exprs(&args)
			c.setResults(&args, -1)
		}
		c.closing(')', '(', line)
	case '{':
		c.table(&args)
	case tkString:
		args = newExp(expConstant, c.stringConstant(c.tok.str))
		c.next()
	default:
		c.syntaxError("function arguments expected")
	}
	base, n := e.info, -1
	if !args.isMulti() {
		if args.kind != expVoid {
			c.toNext(&args)
		}
		n = f.free - (base + 1)
	}
	op := bytecode.Call
	if ref >= 0 {
		op = bytecode.CallK
	}
	*e = newExp(expCall, c.emit(op, base, n+1, 2, max(ref, 0)))
	c.fixLine(line)
	f.free = base + 1
}
