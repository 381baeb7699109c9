package compiler

import "godwit/internal/lua/bytecode"

// chunk compiles statements up to the end of their block.
func (c *compiler) chunk() {
	c.enter()
	for last := false; !last && !c.tok.kind.ends(); {
		last = c.statement()
		c.testNext(';')
		c.fn.free = c.fn.inScope
	}
	c.leave()
}

// scope compiles a block.
func (c *compiler) scope() {
	var bl block
	c.enterBlock(&bl, false)
	c.chunk()
	c.leaveBlock()
}

// statement compiles a statement. It reports whether it must be the last one of its block.
func (c *compiler) statement() (last bool) {
	line := c.line
	switch c.tok.kind {
	case tkIf:
		c.ifs(line)
	case tkWhile:
		c.while(line)
	case tkDo:
		c.next()
		c.scope()
		c.closing(tkEnd, tkDo, line)
	case tkFor:
		c.fors(line)
	case tkRepeat:
		c.repeat(line)
	case tkFunction:
		c.function(line)
	case tkLocal:
		c.next()
		if c.testNext(tkFunction) {
			c.localFunction()
		} else {
			c.local()
		}
	case tkReturn:
		c.returns()
		return true
	case tkBreak:
		c.next()
		c.breaks()
		return true
	default:
		c.exprStatement()
	}
	return false
}

// condition compiles an expression and returns the jumps that it makes if it is false.
func (c *compiler) condition() list {
	var e exp
	c.expr(&e)
	if e.kind == expNil {
		e.kind = expFalse
	}
	c.jumpIf(false, &e)
	return e.no
}

// thenBlock compiles a condition and what depends on it, from "if" or "elseif" on.
func (c *compiler) thenBlock() list {
	c.next()
	no := c.condition()
	c.skip(tkThen)
	c.scope()
	return no
}

func (c *compiler) ifs(line int) {
	out := noJumps
	no := c.thenBlock()
	for c.tok.kind == tkElseif {
		out = c.join(out, c.jump())
		c.toHere(no)
		no = c.thenBlock()
	}
	if c.tok.kind == tkElse {
		out = c.join(out, c.jump())
		c.toHere(no)
		c.next()
		c.scope()
	} else {
		out = c.join(out, no)
	}
	c.toHere(out)
	c.closing(tkEnd, tkIf, line)
}

func (c *compiler) while(line int) {
	c.next()
	start := c.label()
	no := c.condition()
	var bl block
	c.enterBlock(&bl, true)
	c.skip(tkDo)
	c.scope()
	c.jumpBack(start)
	c.closing(tkEnd, tkWhile, line)
	c.leaveBlock()
	c.toHere(no)
}

func (c *compiler) repeat(line int) {
	start := c.label()
	var loop, scope block
	c.enterBlock(&loop, true)
	c.enterBlock(&scope, false)
	c.next()
	c.chunk()
	c.closing(tkUntil, tkRepeat, line)
	no := c.condition() // it sees the block's variables
	if scope.upvalue {
		c.breaks()
		c.toHere(no)
		c.leaveBlock()
		c.jumpBack(start)
	} else {
		c.leaveBlock()
		c.toLoop(no, start)
	}
	c.leaveBlock()
}

func (c *compiler) breaks() {
	captured := false
	bl := c.fn.block
	for ; bl != nil && !bl.loop; bl = bl.outer {
		captured = captured || bl.upvalue
		c.walked++
	}
	if bl == nil {
		c.syntaxError("no loop to break")
	}
	if captured {
		c.emit(bytecode.Close, bl.inScope, 0, 0, 0)
	}
	bl.breaks = c.join(bl.breaks, c.jump())
}

func (c *compiler) fors(line int) {
	var bl block
	c.enterBlock(&bl, true) // for the loop and its control variables
	c.next()
	name := c.ident()
	switch c.tok.kind {
	case '=':
		c.numericFor(name, line)
	case ',', tkIn:
		c.genericFor(name)
	default:
		c.syntaxError("'=' or 'in' expected")
	}
	c.closing(tkEnd, tkFor, line)
	c.leaveBlock()
}

func (c *compiler) numericFor(name string, line int) {
	base := c.fn.free
	c.declare("(for index)")
	c.declare("(for limit)")
	c.declare("(for step)")
	c.declare(name)
	bound := func() {
		var e exp
		c.expr(&e)
		c.toNext(&e)
	}
	c.skip('=')
	bound()
	c.skip(',')
	bound()
	if c.testNext(',') {
		bound()
	} else {
		c.emit(bytecode.LoadK, c.fn.free, 0, 0, c.numberConstant(1))
		c.reserve(1)
	}
	c.loopBody(base, line, 1, true)
}

func (c *compiler) genericFor(name string) {
	base, n := c.fn.free, 1
	c.declare("(for generator)")
	c.declare("(for state)")
	c.declare("(for control)")
	c.declare(name)
	for ; c.testNext(','); n++ {
		c.declare(c.ident())
	}
	c.skip(tkIn)
	line := c.line
	var e exp
	c.adjust(3, c.exprs(&e), &e)
	c.room(3) // to call the iterator
	c.loopBody(base, line, n, false)
}

// loopBody compiles a loop over n visible variables from its "do" on.
func (c *compiler) loopBody(base, line, n int, numeric bool) {
	c.addLocals(3)
	c.skip(tkDo)
	var start list
	if numeric {
		start = c.branch(bytecode.ForPrep, base, 0, 0)
	} else {
		start = c.jump()
	}
	var bl block
	c.enterBlock(&bl, false)
	c.addLocals(n)
	c.reserve(n)
	c.scope()
	c.leaveBlock()
	c.toHere(start)
	if numeric {
		c.setJump(c.emit(bytecode.ForLoop, base, 0, 0, 0), int(start.head)+1)
		c.fixLine(line)
		return
	}
	c.emit(bytecode.ForCall, base, 0, n, 0)
	c.fixLine(line)
	c.setJump(c.emit(bytecode.ForTest, base, 0, 0, 0), int(start.head)+1)
}

func (c *compiler) returns() {
	f := c.fn
	c.next()
	if c.tok.kind.ends() || c.tok.kind == ';' {
		c.emitReturn(0, 0)
		return
	}
	var e exp
	n := c.exprs(&e)
	switch {
	case e.isMulti():
		c.setResults(&e, -1)
		if i := f.Code[e.info]; n == 1 && i.Op() == bytecode.Call {
			f.set(e.info, bytecode.TailCall, int(i.A()), int(i.B()), int(i.C()), 0)
		}
		c.emitReturn(f.inScope, -1)
	case n == 1:
		c.emitReturn(c.toAny(&e), 1)
	default:
		c.toNext(&e)
		c.emitReturn(f.inScope, n)
	}
}
