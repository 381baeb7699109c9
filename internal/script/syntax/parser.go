// Package syntax parses Lua 5.1 into the syntax tree of gopher-lua's compiler.
//
// gopher-lua has a parser of its own. This one is here because scripts are untrusted and their error messages are part of the protocol:
// it reports errors in Lua's own words, bounds nesting (the compiler behind it is recursive, and Go cannot recover from a stack that is
// exhausted), and makes up for what the compiler gets wrong:
//
//   - every local variable gets a name of its own, "name\x00number". The compiler finds captured variables by name only and would confuse two
//     of the same name; and it lets the function in `local f = function() … end` see f.
//   - a .. b is a call of a host function: the machine prints numbers in Go's form and joins without a bound.
//   - #a is a call of a host function: the machine knows only what it keeps in a table's array, which the host makes small (limits), and asks
//     tables for __len, which Lua 5.1 does not.
//   - names that the host knows to be constant (its functions: the environment is read-only) become constants.
//   - a global that is assigned to gets a name that nothing else has, so that the environment's __newindex sees it.
//
// Grammar and limits: the Lua 5.1 reference manual, section 8, and the limits that its implementation documents (200 levels, 200 local
// variables, 60 upvalues).
package syntax

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/yuin/gopher-lua/ast"
)

const (
	maxLevels   = 200 // of nested statements and expressions
	maxLocals   = 200 // of one function
	maxUpvalues = 60
	maxChain    = 5000 // operators or suffixes in a row: the compiler recurses into them
	maxOperands = 50   // of one call that concatenates
)

// Options are what the host knows of the environment.
type Options struct {
	// Constant is the string constant that stands for a global name, or for field of a global name, or "": the host puts the value
	// in its place after compiling.
	Constant func(name, field string) string
	// Main, unless it is nil, is Constant for what stands outside of all functions of the chunk, where no other global can be read: their
	// names get a zero byte behind them, with which nothing exists.
	Main func(name, field string) string
	// Concat is the string constant that stands for the concatenating function.
	Concat string
	// Spread is that for the function whose results are the elements 1 to n of a table, and then
	// its other arguments: f(n, t, ...).
	Spread string
	// Append is that for f(t, offset, t2, offset2, t3 …), which puts the elements of the later
	// tables into the first, behind those offsets, and returns it.
	Append string
	// Pool is that for the table of Result.Pool.
	Pool string
	// Length is the string constant that stands for the function behind the operator #.
	Length string
	// Global is put before the name of a global that is assigned to.
	Global string
}

// Result is a parsed chunk.
type Result struct {
	Stmts   []ast.Stmt
	UsesArg bool // a vararg function may refer to its implicit table arg
	// Pool are constants that the code takes from the table behind Options.Pool, at their Place: a
	// NumberExpr or StringExpr each.
	Pool []ast.Expr
	// TooLong is the error for a jump that is too long if a function has more than MaxCode
	// instructions.
	TooLong *Error
}

// MaxCode is how many instructions of a function can be jumped over.
const MaxCode = maxJump

// Parse parses src. chunk is the name in messages, as they show it.
func Parse(src, chunk string, o *Options) (r Result, err error) {
	p := &parser{lexer: lexer{src: src, chunk: chunk, line: 1, lastLine: 1}, o: o}
	defer func() {
		if v := recover(); v != nil {
			e, ok := v.(*Error)
			if !ok {
				panic(v)
			}
			err = e
		}
	}()
	if strings.HasPrefix(src, "\x1b") {
		p.fail("bytecode is not loaded", "")
	}
	p.fn = &function{vararg: true}
	p.next()
	r.Stmts = p.block()
	if p.tok.kind != tkEOF {
		p.expected(tkEOF)
	}
	r.UsesArg, r.Pool, r.TooLong = p.usesArg, p.pool, p.tooLong
	return r, nil
}

// function is what the parser knows of the function that it is in.
type function struct {
	outer    *function
	line     int // where it is defined, 0 for the chunk
	vararg   bool
	hasArg   bool // has the implicit local arg
	locals   []local
	upvalues map[string]bool
	loops    int
	first    bool // the next block begins where a loop jumps to
	usage    usage
}

type local struct{ name, unique string }

type parser struct {
	lexer
	o       *Options
	fn      *function
	level   int
	count   int // of local variables so far
	usesArg bool

	size      int // instructions so far, at most
	functions int
	pool      []ast.Expr
	tooLong   *Error
	constants map[string]string // names of globals, by the string that stands for them
}

func (p *parser) enter() {
	if p.level++; p.level > maxLevels {
		p.fail("chunk has too many syntax levels", "")
	}
}

func (p *parser) leave() { p.level-- }

func (p *parser) expected(k kind) { p.syntaxError(fmt.Sprintf("'%s' expected", k)) }

// test skips the token if it is of the kind.
func (p *parser) test(k kind) bool {
	if p.tok.kind != k {
		return false
	}
	p.next()
	return true
}

func (p *parser) skip(k kind) {
	if !p.test(k) {
		p.expected(k)
	}
}

// closing skips the token that closes what was opened by another at line.
func (p *parser) closing(k, open kind, line int) {
	if p.test(k) {
		return
	}
	if line == p.line {
		p.expected(k)
	}
	p.syntaxError(fmt.Sprintf("'%s' expected (to close '%s' at line %d)", k, open, line))
}

func (p *parser) ident() string {
	if p.tok.kind != tkName {
		p.syntaxError("'<name>' expected")
	}
	s := p.tok.str
	p.next()
	return s
}

func (p *parser) limit(n, most int, what string) {
	if n <= most {
		return
	}
	if p.fn.line == 0 {
		p.fail(fmt.Sprintf("main function has more than %d %s", most, what), "")
	}
	p.fail(fmt.Sprintf("function at line %d has more than %d %s", p.fn.line, most, what), "")
}

// unique is the name of a new local variable for the compiler.
func (p *parser) unique(name string) string {
	p.count++
	return name + "\x00" + strconv.Itoa(p.count)
}

// declare begins the scope of local variables.
func (p *parser) declare(names, uniques []string) {
	for i, n := range names {
		p.limit(len(p.fn.locals)+1, maxLocals, "local variables")
		p.fn.locals = append(p.fn.locals, local{n, uniques[i]})
	}
}

// resolve finds a variable; ok is false for a global.
func (p *parser) resolve(name string) (unique string, ok bool) {
	for f := p.fn; f != nil; f = f.outer {
		for i := len(f.locals) - 1; i >= 0; i-- {
			if f.locals[i].name == name {
				p.capture(f.locals[i].unique, f)
				return f.locals[i].unique, true
			}
		}
		if f.hasArg && name == "arg" {
			p.usesArg = true
			return name, true
		}
	}
	return "", false
}

// capture counts the upvalue in the functions between its use and its owner.
func (p *parser) capture(unique string, owner *function) {
	for f := p.fn; f != owner; f = f.outer {
		if f.upvalues == nil {
			f.upvalues = map[string]bool{}
		}
		f.upvalues[unique] = true
		p.limit(len(f.upvalues), maxUpvalues, "upvalues")
	}
}

func blockEnds(k kind) bool {
	switch k {
	case tkElse, tkElseif, tkEnd, tkUntil, tkEOF:
		return true
	}
	return false
}

// scope parses a block whose local variables end with it.
func (p *parser) scope() []ast.Stmt {
	n := len(p.fn.locals)
	s := p.block()
	p.fn.locals = p.fn.locals[:n]
	return s
}

func (p *parser) block() []ast.Stmt {
	var list []ast.Stmt
	p.enter()
	first := p.fn.first
	p.fn.first = false
	for last := false; !last && !blockEnds(p.tok.kind); {
		var s ast.Stmt
		s, last = p.statement()
		if b, ok := s.(*ast.BreakStmt); ok && first && len(list) == 0 {
			s = p.afterNothing(b)
		}
		if s != nil {
			list = append(list, s)
		}
		p.test(';')
	}
	p.leave()
	return list
}

func at[N ast.PositionHolder](n N, line, last int) N {
	n.SetLine(line)
	n.SetLastLine(last)
	return n
}

// afterNothing is a break that begins a loop: something has to stand before its jump.
func (p *parser) afterNothing(b *ast.BreakStmt) ast.Stmt {
	line := b.Line()
	nothing := at(&ast.LocalAssignStmt{Names: []string{p.unique("")}, Exprs: []ast.Expr{}}, line, line)
	return at(&ast.DoBlockStmt{Stmts: []ast.Stmt{nothing, b}}, line, line)
}

func (p *parser) statement() (s ast.Stmt, last bool) {
	line := p.line
	p.spend(4, 0)
	switch p.tok.kind {
	case tkIf:
		s = p.ifStmt()
	case tkWhile:
		p.next()
		from := p.fn.usage.size
		st := &ast.WhileStmt{Condition: p.condition()}
		p.skip(tkDo)
		st.Stmts = p.loop(tkWhile, line, from)
		s = st
	case tkDo:
		p.next()
		p.fn.first = true
		st := &ast.DoBlockStmt{Stmts: p.scope()}
		p.closing(tkEnd, tkDo, line)
		s = st
	case tkFor:
		s = p.forStmt(line)
	case tkRepeat:
		s = p.repeatStmt(line)
	case tkFunction:
		s = p.functionStmt(line)
	case tkLocal:
		p.next()
		if p.test(tkFunction) {
			s = p.localFunction()
		} else {
			s = p.localStmt()
		}
	case tkReturn:
		p.next()
		st := &ast.ReturnStmt{}
		if !blockEnds(p.tok.kind) && p.tok.kind != ';' {
			st.Exprs = p.spread(p.exprList(), line)
		}
		return at(ast.Stmt(st), p.lastLine, p.lastLine), true
	case tkBreak:
		p.next()
		if p.fn.loops == 0 {
			p.syntaxError("no loop to break")
		}
		return at(ast.Stmt(&ast.BreakStmt{}), line, line), true
	default:
		return p.exprStmt(), false
	}
	return at(s, line, p.lastLine), false
}

// loop parses the body of a while or for, and its end.
func (p *parser) loop(open kind, line, from int) []ast.Stmt {
	p.spend(6, 4)
	p.fn.first = true
	p.fn.loops++
	s := p.scope()
	p.fn.loops--
	p.spans(from)
	p.closing(tkEnd, open, line)
	return s
}

func (p *parser) ifStmt() ast.Stmt {
	line := p.line
	from := p.fn.usage.size
	first := &ast.IfStmt{}
	st := first
	for n := 0; ; n++ {
		if n > maxChain {
			p.syntaxError("control structure too long")
		}
		at := p.line
		p.next() // if or elseif
		st.Condition = p.condition()
		p.spend(2, 3)
		st.SetLine(at)
		p.skip(tkThen)
		st.Then = p.scope()
		if p.tok.kind != tkElseif {
			break
		}
		inner := &ast.IfStmt{}
		st.Else = []ast.Stmt{inner}
		st = inner
	}
	if p.test(tkElse) {
		st.Else = p.scope()
	}
	p.closing(tkEnd, tkIf, line)
	p.spans(from)
	return first
}

func (p *parser) repeatStmt(line int) ast.Stmt {
	p.next()
	n, from := len(p.fn.locals), p.fn.usage.size
	p.spend(8, 4)
	p.fn.first = true
	p.fn.loops++
	st := &ast.RepeatStmt{Stmts: p.block()}
	p.fn.loops--
	p.closing(tkUntil, tkRepeat, line)
	st.Condition = p.condition() // sees the block's variables
	p.spans(from)
	p.fn.locals = p.fn.locals[:n]
	return st
}

func (p *parser) forStmt(line int) ast.Stmt {
	p.next()
	names := []string{p.ident()}
	scope := len(p.fn.locals)
	var st ast.Stmt
	switch p.tok.kind {
	case '=':
		st = p.numericFor(names[0], line)
	case ',', tkIn:
		st = p.genericFor(names, line)
	default:
		p.syntaxError("'=' or 'in' expected")
	}
	p.fn.locals = p.fn.locals[:scope]
	return st
}

// numericFor parses a for over numbers from its equal sign.
func (p *parser) numericFor(name string, line int) ast.Stmt {
	p.next()
	st := &ast.NumberForStmt{Init: p.coerced(p.expr())}
	p.skip(',')
	st.Limit = p.coerced(p.expr())
	if p.test(',') {
		st.Step = p.coerced(p.expr())
	}
	p.skip(tkDo)
	st.Name = p.unique(name)
	p.declare([]string{"(for index)", "(for limit)", "(for step)", name}, []string{"", "", "", st.Name})
	st.Stmts = p.loop(tkFor, line, p.fn.usage.size)
	return st
}

// genericFor parses a for over an iterator from behind its first name.
func (p *parser) genericFor(names []string, line int) ast.Stmt {
	for p.test(',') {
		names = append(names, p.ident())
	}
	p.skip(tkIn)
	st := &ast.GenericForStmt{Exprs: p.exprList()}
	p.skip(tkDo)
	for _, n := range names {
		st.Names = append(st.Names, p.unique(n))
	}
	p.declare([]string{"(for generator)", "(for state)", "(for control)"}, []string{"", "", ""})
	p.declare(names, st.Names)
	st.Stmts = p.loop(tkFor, line, p.fn.usage.size)
	return st
}

// coerced is a bound of a numeric for, which the machine wants as a number: a string literal is converted here, as Lua converts it there.
func (p *parser) coerced(e ast.Expr) ast.Expr {
	if s, ok := e.(*ast.StringExpr); ok {
		if n, ok := ParseNumber(s.Value); ok {
			return at(numberExpr(n), s.Line(), s.LastLine())
		}
	}
	return e
}

func (p *parser) functionStmt(line int) ast.Stmt {
	p.next()
	target := p.variable(p.ident(), true)
	method := false
	for p.tok.kind == '.' || p.tok.kind == ':' {
		method = p.tok.kind == ':'
		if id, ok := target.(*ast.IdentExpr); ok && strings.HasPrefix(id.Value, p.o.Global) {
			target = at(ast.Expr(&ast.IdentExpr{Value: strings.TrimPrefix(id.Value, p.o.Global)}), id.Line(), id.LastLine())
		}
		p.next()
		key := p.stringConstant(p.ident(), p.lastLine)
		target = at(&ast.AttrGetExpr{Object: target, Key: key}, p.lastLine, p.lastLine)
		if method {
			break
		}
	}
	body := p.functionBody(method, line)
	return &ast.AssignStmt{Lhs: []ast.Expr{target}, Rhs: []ast.Expr{body}}
}

func (p *parser) localFunction() ast.Stmt {
	name := p.ident()
	st := &ast.LocalAssignStmt{Names: []string{p.unique(name)}}
	p.declare([]string{name}, st.Names)
	st.Exprs = []ast.Expr{p.functionBody(false, p.line)}
	return st
}

func (p *parser) localStmt() ast.Stmt {
	st := &ast.LocalAssignStmt{}
	var names []string
	for {
		names = append(names, p.ident())
		p.limit(len(p.fn.locals)+len(names), maxLocals, "local variables")
		st.Names = append(st.Names, p.unique(names[len(names)-1]))
		if !p.test(',') {
			break
		}
	}
	if p.test('=') {
		st.Exprs = p.exprList()
	} else {
		st.Exprs = []ast.Expr{}
	}
	p.declare(names, st.Names)
	return st
}

// inRegister makes a constant whose field is assigned to a variable or the result of a call: the compiler wants it in a register.
func (p *parser) inRegister(e ast.Expr) ast.Expr {
	switch t := e.(type) {
	case *ast.StringExpr:
		if name := p.constants[t.Value]; name != "" {
			return at(ast.Expr(&ast.IdentExpr{Value: name}), t.Line(), t.LastLine())
		}
	case *ast.NumberExpr:
	default:
		return e
	}
	return at(ast.Expr(&ast.FuncCallExpr{Func: &ast.StringExpr{Value: p.o.Concat}, Args: []ast.Expr{e}, AdjustRet: true}), e.Line(), e.LastLine())
}

// key is an expression that indexes a table. The compiler takes a constant for the string that it
// is written as: what stands for something else goes through a call.
func (p *parser) key(e ast.Expr) ast.Expr {
	s, ok := e.(*ast.StringExpr)
	if !ok || p.o.Concat == "" || !strings.HasPrefix(s.Value, strings.TrimSuffix(p.o.Concat, "..")) {
		return e
	}
	call := host(p.o.Concat, e.Line(), e)
	call.AdjustRet = true
	return call
}

func (p *parser) exprStmt() ast.Stmt {
	line := p.line
	e := p.suffixed(true)
	if call, ok := e.(*ast.FuncCallExpr); ok && !call.AdjustRet {
		return at(ast.Stmt(&ast.FuncCallStmt{Expr: e}), line, p.lastLine)
	}
	st := &ast.AssignStmt{}
	for n := 0; ; n++ {
		p.limit(n, maxLevels-p.level, "variables in assignment")
		switch t := e.(type) {
		case *ast.IdentExpr:
			st.Lhs = append(st.Lhs, e)
		case *ast.AttrGetExpr:
			t.Object = p.inRegister(t.Object)
			st.Lhs = append(st.Lhs, e)
		case *ast.StringExpr: // a constant that stands for a global
			st.Lhs = append(st.Lhs, at(ast.Expr(&ast.IdentExpr{Value: p.o.Global}), t.Line(), t.LastLine()))
		default:
			p.syntaxError("syntax error")
		}
		if !p.test(',') {
			break
		}
		e = p.suffixed(true)
	}
	p.skip('=')
	st.Rhs = p.exprList()
	if len(st.Lhs) > 1 {
		return p.parallel(st, line)
	}
	return at(ast.Stmt(st), line, p.lastLine)
}
