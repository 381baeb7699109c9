package compiler

import (
	"fmt"
	"slices"

	"godwit/internal/lua/bytecode"
)

// function is the state of a function that is being compiled.
type function struct {
	outer *function
	block *block

	code       []bytecode.Instr
	lines      []int32
	protos     []*bytecode.Proto
	upvalues   []bytecode.Upvalue
	captured   []binding // what the upvalues are
	locals     []bytecode.Local
	active     []active // local variables in scope, and those that have been declared
	inScope    int      // how many of these are in scope; each has the register of its place
	free       int      // first free register
	registers  int
	lastTarget int  // the last place that a jump may lead to
	pending    list // jumps that lead to the next instruction

	constants []bytecode.Constant
	strings   map[string]int            // the places of strings among the constants
	places    map[bytecode.Constant]int // of others

	line     int
	lastLine int
	params   int
	vararg   bool
	hasArg   bool // it has the local table arg
	needsArg bool // nothing but arg has the additional arguments
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
	var f *function
	if n := len(c.spare); n > 0 {
		f, c.spare = c.spare[n-1], c.spare[:n-1]
	} else {
		const few = 32
		f = &function{code: make([]bytecode.Instr, 0, few), lines: make([]int32, 0, few)}
	}
	f.outer, f.line, f.registers, f.lastTarget, f.pending = c.fn, line, 2, -1, noJumps
	c.fn = f
	c.owe(256)
}

// close ends the function and returns it.
func (c *compiler) close() *bytecode.Proto {
	f := c.fn
	c.removeLocals(0)
	c.emitReturn(0, 0)
	if f.hasArg && !f.needsArg {
		c.clearArg()
	}
	if c.o.Lines {
		insertLines(f)
	}
	p := &bytecode.Proto{
		Source: c.source, Code: take(&f.code), Lines: take(&f.lines),
		Constants: take(&f.constants), Protos: take(&f.protos),
		Upvalues: take(&f.upvalues), Locals: take(&f.locals),
		Line: f.line, LastLine: f.lastLine, Params: f.params, Registers: f.registers,
		Vararg: f.vararg, NeedsArg: f.needsArg,
	}
	c.fn = f.outer
	c.recycle(f)
	return p
}

// clearArg makes the local arg nil when the function begins. Only its end shows that the table is
// not needed.
func (c *compiler) clearArg() {
	f := c.fn
	f.code = slices.Insert(f.code, 0, bytecode.Make(bytecode.LoadNil, f.params, f.params, 0, 0))
	f.lines = slices.Insert(f.lines, 0, int32(f.line))
	for i := range f.locals {
		if l := &f.locals[i]; i > f.params {
			l.Start++
			l.End++
		} else {
			l.End++
		}
	}
}

// take returns a list of a function for good. It copies the list, so that the next function can use
// its memory, but for a very long one.
func take[T any](list *[]T) []T {
	s := *list
	if len(s) < 1<<16 {
		return slices.Clone(s)
	}
	*list = nil
	return s
}

// recycle keeps the memory of a function that is done for the next one.
func (c *compiler) recycle(f *function) {
	if len(f.strings)+len(f.places) > 1<<10 { // clearing them may take longer than new ones
		f.strings, f.places = nil, nil
	}
	clear(f.strings)
	clear(f.places)
	*f = function{
		code: f.code[:0], lines: f.lines[:0], protos: f.protos[:0], upvalues: f.upvalues[:0],
		captured: f.captured[:0], locals: f.locals[:0], active: f.active[:0],
		constants: f.constants[:0], strings: f.strings, places: f.places,
	}
	c.spare = append(c.spare, f)
}

// limit fails if a function has too many of something.
func (c *compiler) limit(f *function, n, most int, what string) {
	if n <= most {
		return
	}
	if f.line == 0 {
		c.fail(fmt.Sprintf("main function has more than %d %s", most, what), "")
	}
	c.fail(fmt.Sprintf("function at line %d has more than %d %s", f.line, most, what), "")
}

// declare adds a local variable, which is not in scope yet.
func (c *compiler) declare(name string) {
	f := c.fn
	c.limit(f, len(f.active)+1, maxLocals, "local variables")
	if len(f.locals) >= maxNames {
		panic(&Error{"too many local variables"})
	}
	sym := c.symbols[name]
	if sym == nil {
		sym = &symbol{}
		c.symbols[name] = sym
		c.owe(96)
	}
	f.active = append(f.active, active{len(f.locals), sym})
	f.locals = append(f.locals, bytecode.Local{Name: name})
	c.owe(32)
}

// addLocals begins the scope of n declared variables.
func (c *compiler) addLocals(n int) {
	f := c.fn
	for _, a := range f.active[f.inScope : f.inScope+n] {
		l := &f.locals[a.local]
		l.Start, l.Register = int32(len(f.code)), uint8(f.inScope)
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
		f.locals[a.local].End = int32(len(f.code))
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
	c.limit(f, len(f.upvalues)+1, maxUpvalues, "upvalues")
	f.upvalues, f.captured = append(f.upvalues, u), append(f.captured, b)
	c.owe(56)
	return len(f.upvalues) - 1
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
