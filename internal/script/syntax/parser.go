// Package syntax parses Lua 5.1 into the syntax tree of gopher-lua's compiler.
//
// gopher-lua has a parser of its own. This one exists because scripts are untrusted and their error
// messages are part of the protocol. It reports errors in Lua's own words. It bounds nesting, since
// the compiler behind it is recursive and Go cannot recover from an exhausted stack. And it makes
// up for what the compiler gets wrong:
//
//   - Every local variable gets a unique name, "name\x00number". The compiler finds captured
//     variables by name only and would confuse two of the same name. It also lets the function in
//     `local f = function() … end` see f.
//   - a .. b becomes a call of a host function. The machine prints numbers in Go's form and joins
//     without a bound.
//   - #a becomes a call of a host function. The machine only counts a table's array part, which the
//     host keeps small (limits), and asks tables for __len, which Lua 5.1 does not.
//   - Names that the host knows to be constant become constants. These are its functions: the
//     environment is read-only.
//   - A global that is assigned to gets a name that nothing else has, so that the environment's
//     __newindex sees it.
//
// Grammar and limits follow the Lua 5.1 reference manual, section 8, and the documented limits of
// its implementation: 200 levels, 200 local variables, 60 upvalues.
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

// Options describe the environment for the parser.
type Options struct {
	// Constant returns the string constant that stands for a global, or for a field of a global, or
	// "". The host replaces it by the value after compiling.
	Constant func(name, field string) string
	// Main, unless nil, takes the place of Constant outside of the chunk's functions. No other
	// global can be read there: a zero byte is appended to their names, so that nothing matches.
	Main func(name, field string) string
	// Concat is the string constant that stands for the concatenating function.
	Concat string
	// Spread is the constant for the function f(n, t, ...), which returns the elements 1 to n of a
	// table and then its other arguments.
	Spread string
	// Append is the constant for the function f(t, offset, t2, offset2, t3 …), which copies the
	// elements of the later tables into the first, after those offsets, and returns it.
	Append string
	// Pool is the constant for the table of Result.Pool.
	Pool string
	// Length is the constant for the function behind the operator #.
	Length string
	// Global is the prefix of the name of a global that is assigned to.
	Global string
}

// Result is a parsed chunk.
type Result struct {
	Stmts   []ast.Stmt
	UsesArg bool // a vararg function may refer to its implicit table arg
	// Pool lists the constants that the code takes from the table behind Options.Pool, each at its
	// Place. Each is a NumberExpr or a StringExpr.
	Pool []ast.Expr
	// TooLong is the error to report if a function has more than MaxCode instructions, so that a
	// jump would be too long.
	TooLong *Error
}

// MaxCode is how many instructions of a function a jump can cross.
const MaxCode = maxJump

// Parse parses src. chunk is its name in messages.
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

// function is the parser's state of one function.
type function struct {
	outer    *function
	line     int // where it is defined; 0 for the chunk
	vararg   bool
	hasArg   bool // it has the implicit local arg
	locals   []local
	upvalues map[string]bool
	loops    int
	first    bool // the next block begins where a loop jumps back to
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

	size      int // upper bound on the instructions so far
	functions int
	pool      []ast.Expr
	tooLong   *Error
	constants map[string]string // names of globals, by the string that stands for each
}

func (p *parser) enter() {
	if p.level++; p.level > maxLevels {
		p.fail("chunk has too many syntax levels", "")
	}
}

func (p *parser) leave() { p.level-- }

func (p *parser) expected(k kind) { p.syntaxError(fmt.Sprintf("'%s' expected", k)) }

// test skips the token if it is of kind k, and reports whether it was.
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

// closing skips the token that closes what another one opened at line.
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

// unique returns the name of a new local variable for the compiler.
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

// resolve finds a variable. ok is false for a global.
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

// capture counts the upvalue in each function between its use and its owner.
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

// scope parses a block. Its local variables end with it.
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

// afterNothing handles a break that begins a loop: something must stand before its jump.
func (p *parser) afterNothing(b *ast.BreakStmt) ast.Stmt {
	line := b.Line()
	nothing := at(&ast.LocalAssignStmt{Names: []string{p.unique("")}, Exprs: []ast.Expr{}}, line,
		line)
	return at(&ast.DoBlockStmt{Stmts: []ast.Stmt{nothing, b}}, line, line)
}
