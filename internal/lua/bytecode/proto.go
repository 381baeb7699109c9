// Package bytecode defines the code of the Lua machine: what the compiler makes and the machine
// runs.
//
// The machine has registers, as that of Lua 5.1 does, and the compiler gives each value the
// register that Lua 5.1 would: limits, the order of evaluation and the names of variables in
// messages depend on it. Instructions differ: they are 64 bits wide, constants of any number have
// their place in one, and a comparison is a jump.
package bytecode

// MaxRegisters is the number of registers that a function may use.
const MaxRegisters = 250

// Proto is a compiled function.
type Proto struct {
	Source    string // the chunk's name in messages
	Code      []Instr
	Lines     []int32 // by pc
	Constants []Constant
	Protos    []*Proto
	Upvalues  []Upvalue
	Locals    []Local // in the order in which they begin
	Line      int     // where it is defined; 0 for a chunk
	LastLine  int
	Params    int
	Registers int // that it uses
	Vararg    bool
	NeedsArg  bool // it has the local table arg after its parameters (Lua 5.0's form)
}

// Constant is a constant of a function.
type Constant struct {
	Kind ConstantKind
	Num  float64
	Str  string
}

// ConstantKind is the type of a constant.
type ConstantKind uint8

// The kinds of constants.
const (
	Nil ConstantKind = iota
	False
	True
	Number
	String
	Ref // what the environment holds for ever as global Str, or as "global.field"
)

// Upvalue says where a function finds a captured variable when it is made.
type Upvalue struct {
	Name    string
	InStack bool // in register Index of the function that makes it, else in its upvalue Index
	Index   uint8
}

// Local is a local variable. It is visible where Start <= pc < End.
type Local struct {
	Name       string
	Start, End int32
	Register   uint8
}

// LineOf returns the line of an instruction. Before the first it is that of the first.
func (p *Proto) LineOf(pc int) int {
	return int(p.Lines[max(pc, 0)])
}

// LocalAt returns the name of the local variable that is in a register at pc, or "".
func (p *Proto) LocalAt(register, pc int) string {
	for i := range p.Locals {
		l := &p.Locals[i]
		if int(l.Start) > pc {
			break
		}
		if pc < int(l.End) && int(l.Register) == register {
			return l.Name
		}
	}
	return ""
}
