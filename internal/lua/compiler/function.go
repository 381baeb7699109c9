package compiler

import (
	"fmt"
	"slices"

	"godwit/internal/lua/bytecode"
)

// function is the state of a function that is being compiled.
type function struct {
	*bytecode.Proto
	outer *function
	block *block

	captured   []binding // what the upvalues are
	active     []active  // local variables in scope, and those that have been declared
	inScope    int       // how many of these are in scope; each has the register of its place
	free       int       // first free register
	lastTarget int       // the last place that a jump may lead to
	pending    list      // jumps that lead to the next instruction
	hasArg     bool      // it has the local table arg; NeedsArg: nothing else has what it holds

	strings map[string]int            // the places of strings among the constants
	places  map[bytecode.Constant]int // of others
}

// active is a local variable in scope.
type active struct {
	local int // its place in locals
	sym   *symbol
}

// symbol is a name, with the local variables of that name that are in scope, innermost last.
type symbol struct{ bindings []binding }

// binding is a local variable of a function.
type binding struct {
	fn       *function
	register int
}

// block is a block of statements.
type block struct {
	outer   *block
	breaks  list
	inScope int  // local variables in scope before it
	upvalue bool // a function captures one of its variables
	loop    bool
}

// open begins a function.
func (c *compiler) open(line int) {
	const few = 32
	p := &bytecode.Proto{Source: c.source, Line: line, Registers: 2,
		Code: make([]bytecode.Instr, 0, few), Lines: make([]int32, 0, few)}
	c.fn = &function{Proto: p, outer: c.fn, lastTarget: -1, pending: noJumps,
		strings: map[string]int{}, places: map[bytecode.Constant]int{}}
	c.owe(256)
}

// close ends the function and returns it.
func (c *compiler) close() *bytecode.Proto {
	f := c.fn
	c.removeLocals(0)
	c.emitReturn(0, 0)
	if c.o.Lines {
		insertLines(f)
	}
	c.fn = f.outer
	p := f.Proto
	p.Code, p.Lines = slices.Clone(p.Code), slices.Clone(p.Lines) // without room for more
	p.Constants, p.Locals = slices.Clone(p.Constants), slices.Clone(p.Locals)
	return p
}

// limit fails if a function has too many of something.
func (c *compiler) limit(f *function, n, most int, what string) {
	if n <= most {
		return
	}
	if f.Line == 0 {
		c.fail(fmt.Sprintf("main function has more than %d %s", most, what), "")
	}
	c.fail(fmt.Sprintf("function at line %d has more than %d %s", f.Line, most, what), "")
}

// declare adds a local variable, which is not in scope yet.
func (c *compiler) declare(name string) {
	f := c.fn
	c.limit(f, len(f.active)+1, maxLocals, "local variables")
	if len(f.Locals) >= maxNames {
		panic(&Error{"too many local variables"})
	}
	sym := c.symbols[name]
	if sym == nil {
		sym = &symbol{}
		c.symbols[name] = sym
		c.owe(96)
	}
	f.active = append(f.active, active{len(f.Locals), sym})
	f.Locals = append(f.Locals, bytecode.Local{Name: name})
	c.owe(32)
}

// addLocals begins the scope of n declared variables.
func (c *compiler) addLocals(n int) {
	f := c.fn
	for _, a := range f.active[f.inScope : f.inScope+n] {
		l := &f.Locals[a.local]
		l.Start, l.Register = int32(len(f.Code)), uint8(f.inScope)
		a.sym.bindings = append(a.sym.bindings, binding{f, f.inScope})
		f.inScope++
	}
}

// removeLocals ends the scope of all variables but the first n.
func (c *compiler) removeLocals(n int) {
	f := c.fn
	for f.inScope > n {
		f.inScope--
		a := f.active[f.inScope]
		f.Locals[a.local].End = int32(len(f.Code))
		a.sym.bindings = a.sym.bindings[:len(a.sym.bindings)-1]
	}
	f.active = f.active[:n]
}

// upvalue returns the place of a captured variable among the upvalues of f.
func (c *compiler) upvalue(f *function, b binding, name string) int {
	c.walked += len(f.captured)
	if i := slices.Index(f.captured, b); i >= 0 {
		return i
	}
	u := bytecode.Upvalue{Name: name, InStack: f.outer == b.fn, Index: uint8(b.register)}
	if u.InStack {
		bl := f.outer.block
		for bl != nil && bl.inScope > b.register {
			bl = bl.outer
			c.walked++
		}
		if bl != nil {
			bl.upvalue = true
		}
	} else {
		u.Index = uint8(c.upvalue(f.outer, b, name))
	}
	c.limit(f, len(f.Upvalues)+1, maxUpvalues, "upvalues")
	f.Upvalues, f.captured = append(f.Upvalues, u), append(f.captured, b)
	c.owe(56)
	return len(f.Upvalues) - 1
}

// enterBlock begins a block.
func (c *compiler) enterBlock(bl *block, loop bool) {
	f := c.fn
	*bl = block{outer: f.block, breaks: noJumps, inScope: f.inScope, loop: loop}
	f.block = bl
}

// leaveBlock ends the innermost block. Breaks lead here.
func (c *compiler) leaveBlock() {
	f := c.fn
	bl := f.block
	f.block = bl.outer
	c.removeLocals(bl.inScope)
	if bl.upvalue {
		c.emit(bytecode.Close, bl.inScope, 0, 0, 0)
	}
	f.free = f.inScope
	c.toHere(bl.breaks)
}
