package lua

import (
	"errors"

	"godwit/internal/lua/bytecode"
)

// Function is code that was linked to an environment. All closures made of it share it.
type Function struct {
	proto     *bytecode.Proto
	code      []bytecode.Instr
	constants []Value
	hashes    []uint32 // of the constants that are strings
	functions []*Function
	source    string // of code that a script has loaded: constants and names are parts of it
	chunk     string // the name that the script has given to it, if it is named
	named     bool
	params    int
	registers int
	cost      int // steps that a call is charged
	vararg    bool
	needsArg  bool
}

// Closure is a function of Lua with its captured variables.
type Closure struct {
	fn       *Function
	upvalues []*Upvalue
	env      *Table
}

// SetChunk notes the source of a chunk that a script has loaded, and the name that the script has
// given to it, for Thread.Chunk.
func (c *Closure) SetChunk(source, name string) { c.fn.setChunk(source, name) }

func (f *Function) setChunk(source, name string) {
	f.source, f.chunk, f.named = source, name, true
	for _, sub := range f.functions {
		sub.setChunk(source, name)
	}
}

// errRef says that code refers to a constant which the environment does not have.
var errRef = errors.New("the code is of another environment")

// Load makes a function of a compiled chunk, with the globals env. ref returns the constants of the
// environment that the code refers to.
func Load(p *bytecode.Proto, env *Table, ref func(name string) Value) (*Closure, error) {
	fn, err := link(p, ref)
	if err != nil {
		return nil, err
	}
	return &Closure{fn: fn, env: env}, nil
}

// link prepares code to run.
func link(p *bytecode.Proto, ref func(name string) Value) (*Function, error) {
	f := &Function{proto: p, code: p.Code, params: p.Params, registers: p.Registers,
		vararg: p.Vararg, needsArg: p.NeedsArg, cost: 4 + len(p.Code)/8}
	if n := len(p.Constants); n > 0 {
		f.constants, f.hashes = make([]Value, n), make([]uint32, n)
	}
	for i := range p.Constants {
		switch c := &p.Constants[i]; c.Kind {
		case bytecode.False, bytecode.True:
			f.constants[i] = Bool(c.Kind == bytecode.True)
		case bytecode.Number:
			f.constants[i] = Number(c.Num)
		case bytecode.String:
			f.constants[i], f.hashes[i] = String(ownCopy(c.Str)), HashString(c.Str)
		case bytecode.Ref:
			v := ref(c.Str)
			if v.IsNil() {
				return nil, errRef
			}
			f.constants[i] = v
		}
	}
	for _, p := range p.Protos {
		sub, err := link(p, ref)
		if err != nil {
			return nil, err
		}
		f.functions = append(f.functions, sub)
	}
	return f, nil
}
