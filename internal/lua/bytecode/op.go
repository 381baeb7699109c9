package bytecode

// Op is the operation of an instruction.
type Op uint8

// The operations. R(x) is register x, K(x) constant x, U(x) upvalue x. a, b, c are the byte fields
// of an instruction, d is its signed 32-bit field. pc is that of the next instruction.
const (
	Nop Op = iota // nothing

	Move     // R(a) = R(b)
	LoadK    // R(a) = K(d)
	LoadNil  // R(a) … R(b) = nil
	LoadBool // R(a) = b != 0; if c != 0 then pc++
	GetUpval // R(a) = U(b)
	SetUpval // U(b) = R(a)

	GetGlobal // R(a) = G[K(d)]
	SetGlobal // G[K(d)] = R(a)

	GetIndex  // R(a) = R(b)[R(c)]
	GetConst  // R(a) = R(b)[K(d)]
	GetField  // R(a) = R(b)[K(d)], K(d) is a string
	GetInt    // R(a) = R(b)[d]
	SetIndex  // R(a)[R(b)] = R(c)
	SetIndexK // R(a)[R(b)] = K(d)
	SetConst  // R(a)[K(d)] = R(c)
	SetField  // R(a)[K(d)] = R(c), K(d) is a string
	SetFieldK // R(a)[K(d)] = K(b + c<<8), K(d) is a string
	SetInt    // R(a)[d] = R(c)
	Self      // R(a+1) = R(b); R(a) = R(b)[K(d)], K(d) is a string

	NewTable // R(a) = {}; b and c are sizes as Lua 5.1 encodes them ("floating point byte")
	SetList  // R(a)[d+i] = R(a+i) for i = 1 … b; b = 0: up to the top

	// Arithmetic. The first of three has registers, the second a constant on the right, the third
	// a constant on the left. The order is that of Lua's metamethods.
	Add   // R(a) = R(b) + R(c)
	AddRK // R(a) = R(b) + K(d)
	AddKR // R(a) = K(d) + R(c)
	Sub
	SubRK
	SubKR
	Mul
	MulRK
	MulKR
	Div
	DivRK
	DivKR
	Mod
	ModRK
	ModKR
	Pow
	PowRK
	PowKR
	Unm    // R(a) = -R(b)
	Not    // R(a) = not R(b)
	Len    // R(a) = #R(b)
	Concat // R(a) = R(b) .. … .. R(c)

	// Only Jump, ForLoop and ForTest have a negative d: with it, a loop begins its next turn.
	Jump    // pc += d
	JumpIf  // if truth(R(a)) == (c != 0) then pc += d
	JumpSet // if truth(R(b)) == (c != 0) then { R(a) = R(b); pc += d }

	// Comparisons jump by d if the result equals a != 0. Operands are b and c; an operand that is a
	// constant is K(b) or K(c), one of the first 256.
	JumpEq   // R(b) == R(c)
	JumpEqK  // R(b) == K(c)
	JumpLt   // R(b) < R(c)
	JumpLtRK // R(b) < K(c)
	JumpLtKR // K(b) < R(c)
	JumpLe   // R(b) <= R(c)
	JumpLeRK // R(b) <= K(c)
	JumpLeKR // K(b) <= R(c)

	// Calls. b-1 is the number of arguments, c-1 that of results; 0 means up to the top.
	Call     // R(a), … = R(a)(R(a+1), …)
	TailCall // return R(a)(R(a+1), …)
	Return   // return R(a), …, b-1 values; b = 0: up to the top
	Closure  // R(a) = function of Protos[d]; its Upvalues say what it captures. It has the
	// environment of the running function, or if b != 0 that of the State.
	Vararg // R(a), … = ..., b-1 values; b = 0: all of them, which sets the top
	Close  // close all upvalues that refer to R(a) or above

	// Loops. R(a) is the index, R(a+1) the limit, R(a+2) the step, R(a+3) the visible variable.
	ForPrep // make the three numbers; R(a) -= R(a+2); pc += d
	ForLoop // R(a) += R(a+2); if it is within the limit { R(a+3) = R(a); pc += d }
	// R(a) is the iterator, R(a+1) its state, R(a+2) the control variable, R(a+3) … the visible
	// variables, of which there are c. ForTest follows.
	ForCall // R(a+3), … = R(a)(R(a+1), R(a+2)), c values
	ForTest // if R(a+3) ~= nil { R(a+2) = R(a+3); pc += d }

	// CallK is a call of a value that the environment holds constant: Call with K(d), a Ref, in
	// place of R(a), which need not be loaded. In place of a TailCall, c is 0 and a Return follows:
	// Lua replaces the frame only for functions of Lua.
	CallK

	// Line is a hook of the debugger, before the first instruction of each line and before those
	// that jumps lead to. d is the line of the next instruction. Lua's line hook is called if the
	// line is not that of the last Line, or if a jump led back to it. Only code compiled for it has
	// any.
	Line
)

// Instr is one instruction: op | a<<8 | b<<16 | c<<24 | d<<32.
type Instr uint64

// Make returns an instruction. a, b and c must be bytes.
func Make(op Op, a, b, c int, d int) Instr {
	return Instr(op) | Instr(uint8(a))<<8 | Instr(uint8(b))<<16 | Instr(uint8(c))<<24 |
		Instr(uint32(int32(d)))<<32
}

// Op returns the operation.
func (i Instr) Op() Op { return Op(i) }

// A returns field a.
func (i Instr) A() uint8 { return uint8(i >> 8) }

// B returns field b.
func (i Instr) B() uint8 { return uint8(i >> 16) }

// C returns field c.
func (i Instr) C() uint8 { return uint8(i >> 24) }

// D returns the signed field d.
func (i Instr) D() int { return int(int32(i >> 32)) }
