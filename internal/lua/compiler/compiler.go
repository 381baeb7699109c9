// Package compiler compiles Lua 5.1 to the code of package bytecode.
//
// Lexer, parser and code generator work in one pass, without a syntax tree, as in Lua 5.1.5. What
// can be observed of Lua's compiler is the same here: which register each value has and in what
// order operands are evaluated, the line of each instruction, where local variables are visible,
// all limits, and the words of errors. The grammar is that of the reference manual, section 8.
//
// Compiling takes time and memory in proportion to the source. It recurses no deeper than Lua's
// limit of nested levels.
package compiler

import (
	"cmp"

	"godwit/internal/lua/bytecode"
)

// The limits of Lua 5.1.
const (
	maxLevels    = 200 // of nested functions, blocks and expressions
	maxLocals    = 200 // of one function at a time
	maxNames     = 1<<15 - 1
	maxUpvalues  = 60
	maxConstants = 1<<18 - 1 // of one function, and likewise its functions
	maxJump      = 1<<17 - 1
)

// Options describe the environment of the code. The zero value is a valid one.
type Options struct {
	// Name is the name of the chunk in the messages of the compiler, if it differs from that in
	// messages at run time: Lua shows more of it.
	Name string
	// Level is the number of levels that the chunk is nested in: those of C calls, for Lua.
	Level int
	// Constant reports whether the environment holds a global, or a field of it, constant. Code
	// then refers to the value itself (bytecode.Ref). field is empty for a global. It may have
	// constant fields only if it is constant.
	Constant func(global, field string) bool
	// Library says that the code outside of functions has an environment of its own. It has no
	// constants, and the functions that it makes get the State's environment.
	Library bool
	// Grow is told of memory that is going to be used, at least every few KB of source. Its error
	// ends the compilation.
	Grow func(bytes int) error
	// Lines adds bytecode.Line for the debugger.
	Lines bool
}

// stop wraps an error of Options.Grow in a panic.
type stop struct{ err error }

// compiler is the state of a compilation.
type compiler struct {
	lexer
	o       *Options
	fn      *function
	level   int
	symbols map[string]*symbol
	names   map[string]string // of fields
	walked  int               // jumps, blocks and upvalues that were looked through, for tests
}

// Compile compiles a source. chunk is its name in messages. The error is an *Error, or that of
// Options.Grow.
func Compile(src, chunk string, o *Options) (*bytecode.Proto, error) {
	if o == nil {
		o = &Options{}
	}
	return newCompiler(src, chunk, o).compile()
}

func newCompiler(src, chunk string, o *Options) *compiler {
	name := cmp.Or(o.Name, chunk)
	return &compiler{
		lexer: lexer{src: src, source: chunk, longName: name, line: 1, lastLine: 1, grow: o.Grow},
		o:     o, level: o.Level, symbols: map[string]*symbol{},
		names: map[string]string{},
	}
}

// compile compiles the chunk. It turns what the compiler panics with into errors.
func (c *compiler) compile() (p *bytecode.Proto, err error) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case *Error:
			err = v
		case *stop:
			err = v.err
		default:
			panic(v)
		}
	}()
	c.open(0)
	c.fn.Vararg = true
	c.next()
	c.chunk()
	c.check(tkEOF)
	p = c.close()
	c.ask()
	return p, nil
}

// enter begins a nested level.
func (c *compiler) enter() {
	if c.level++; c.level > maxLevels {
		c.fail("chunk has too many syntax levels", "")
	}
}

func (c *compiler) leave() { c.level-- }

// isConstant reports whether a global or its field is constant here.
func (c *compiler) isConstant(global, field string) bool {
	return c.o.Constant != nil && !c.inLibrary() && c.o.Constant(global, field)
}

// inLibrary reports whether the code is that of a library outside of functions.
func (c *compiler) inLibrary() bool { return c.o.Library && c.fn.outer == nil }
