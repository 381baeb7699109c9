package compiler

import "godwit/internal/lua/bytecode"

// This file compiles what defines variables and assigns to them.

// body compiles the parameters and the body of a function.
func (c *compiler) body(e *exp, self bool, line int) {
	c.open(line)
	f := c.fn
	c.skip('(')
	if self {
		c.declare("self")
		c.addLocals(1)
	}
	c.parameters()
	c.skip(')')
	c.chunk()
	f.LastLine = c.line
	c.closing(tkEnd, tkFunction, line)
	p := c.close()
	if f = c.fn; len(f.Protos) >= maxConstants {
		panic(&Error{"constant table overflow"})
	}
	f.Protos = append(f.Protos, p)
	own := truth(c.inLibrary())
	*e = newExp(expReloc, c.emit(bytecode.Closure, 0, own, 0, len(f.Protos)-1))
}

// parameters compiles the names between the parentheses of a function.
func (c *compiler) parameters() {
	f := c.fn
	n := 0
	for more := c.tok.kind != ')'; more; more = c.testNext(',') {
		if c.testNext(tkDots) {
			c.declare("arg")
			n++
			f.Vararg, f.hasArg, f.NeedsArg = true, true, true
			break
		}
		if c.tok.kind != tkName {
			c.syntaxError("<name> or '...' expected")
		}
		c.declare(c.ident())
		n++
	}
	c.addLocals(n)
	f.Params = f.inScope - truth(f.hasArg)
	c.reserve(f.inScope)
}

// function compiles a function statement.
func (c *compiler) function(line int) {
	c.next()
	var v, e exp
	c.variable(&v)
	self := false
	for !self && (c.tok.kind == '.' || c.tok.kind == ':') {
		self = c.tok.kind == ':'
		c.toAny(&v)
		c.next()
		key := c.nameExp()
		c.index(&v, &key)
	}
	c.assignable(&v)
	c.body(&e, self, line)
	c.store(&v, &e)
	c.fixLine(line)
}

func (c *compiler) localFunction() {
	f := c.fn
	c.declare(c.ident())
	v := newExp(expLocal, f.free)
	c.reserve(1)
	c.addLocals(1)
	var e exp
	c.body(&e, false, c.line)
	c.store(&v, &e)
	f.Locals[f.active[f.inScope-1].local].Start = int32(len(f.Code))
}

func (c *compiler) local() {
	n := 0
	for more := true; more; more = c.testNext(',') {
		c.declare(c.ident())
		n++
	}
	var e exp
	values := 0
	if c.testNext('=') {
		values = c.exprs(&e)
	}
	c.adjust(n, values, &e)
	c.addLocals(n)
}

// adjust makes n values of a list of values, of which e is the last one.
func (c *compiler) adjust(n, values int, e *exp) {
	extra := n - values
	if e.isMulti() {
		extra = max(extra+1, 0)
		c.setResults(e, extra)
		if extra > 1 {
			c.reserve(extra - 1)
		}
		return
	}
	if e.kind != expVoid {
		c.toNext(e)
	}
	if extra > 0 {
		from := c.fn.free
		c.reserve(extra)
		c.emitNil(from, extra)
	}
}

// exprStatement compiles a call or an assignment.
func (c *compiler) exprStatement() {
	var e exp
	c.suffixed(&e)
	if e.kind == expCall {
		c.fn.setC(e.info, 1)
		return
	}
	c.assignment(e)
}

// assignment compiles an assignment whose first variable has been compiled.
func (c *compiler) assignment(first exp) {
	f := c.fn
	vars := []exp{first}
	for {
		if !c.assignable(&vars[len(vars)-1]) {
			c.syntaxError("syntax error")
		}
		if !c.testNext(',') {
			break
		}
		var v exp
		c.suffixed(&v)
		if v.kind == expLocal {
			c.saveLocal(vars, v.info)
		}
		c.limit(f, len(vars), maxLevels-c.level, "variables in assignment")
		vars = append(vars, v)
	}
	c.skip('=')
	var e exp
	n := c.exprs(&e)
	if n == len(vars) {
		c.single(&e)
		n--
		c.store(&vars[n], &e)
		vars = vars[:n]
	} else {
		c.adjust(len(vars), n, &e)
		f.free -= max(n-len(vars), 0)
	}
	for i := len(vars) - 1; i >= 0; i-- {
		e = newExp(expRegister, f.free-1)
		c.store(&vars[i], &e)
	}
}

// saveLocal copies a local variable that an assignment changes, if an earlier variable of that
// assignment is an element of it or under it. That one then takes the copy.
func (c *compiler) saveLocal(vars []exp, register int) {
	f := c.fn
	conflict := false
	for i := range vars {
		v := &vars[i]
		if v.kind != expIndexed {
			continue
		}
		if v.info == register {
			conflict, v.info = true, f.free
		}
		if v.key == keyRegister && v.aux == register {
			conflict, v.aux = true, f.free
		}
	}
	if conflict {
		c.emit(bytecode.Move, f.free, register, 0, 0)
		c.reserve(1)
	}
}
