package compiler

import (
	"math"

	"godwit/internal/lua/bytecode"
)

// exp is an expression whose code is not complete: where its value will be is not decided yet.
type exp struct {
	kind expKind
	key  keyKind
	info int     // see the kinds
	aux  int     // of expIndexed: the key
	num  float64 // of expNumber
	// If the value is that of "a and b" or such, jumps lead from it to where it is true or false.
	yes, no       list
	global, field string // of expRef; the field may be empty
}

// expKind is the form of an expression.
type expKind uint8

const (
	expVoid expKind = iota // no expression
	expNil
	expTrue
	expFalse
	expConstant // constant info
	expNumber   // num
	expRef      // a constant of the environment
	expLocal    // register info
	expUpvalue  // upvalue info
	expGlobal   // the name is constant info
	expIndexed  // the table is in register info
	expJump     // the comparison at info, which jumps if it is true
	expReloc    // the instruction at info may put it in any register
	expRegister // register info
	expCall     // the call at info
	expVararg   // the instruction at info
)

// keyKind is the form of a key.
type keyKind uint8

const (
	keyRegister keyKind = iota
	keyString           // a constant
	keyConstant         // another constant
	keyInt              // the number itself
)

func newExp(k expKind, info int) exp { return exp{kind: k, info: info, yes: noJumps, no: noJumps} }

func (e *exp) jumps() bool { return !e.yes.empty() || !e.no.empty() }

// truth returns whether the value is true, if it is constant.
func (e *exp) truth() (truth, constant bool) {
	return e.kind == expTrue || e.kind == expConstant || e.kind == expNumber,
		expNil <= e.kind && e.kind <= expNumber
}

// isNumber reports whether the expression is a number of the source.
func (e *exp) isNumber() bool { return e.kind == expNumber && !e.jumps() }

// isMulti reports whether the expression may have any number of values.
func (e *exp) isMulti() bool { return e.kind == expCall || e.kind == expVararg }

// reserve takes n registers.
func (c *compiler) reserve(n int) {
	c.room(n)
	c.fn.free += n
}

// room makes sure that n more registers can be used.
func (c *compiler) room(n int) {
	f := c.fn
	if n += f.free; n > f.Registers {
		if n >= bytecode.MaxRegisters {
			c.syntaxError("function or expression too complex")
		}
		f.Registers = n
	}
}

// release gives a register back if it is a temporary one. It must be the last.
func (f *function) release(register int) {
	if register >= f.inScope {
		f.free--
	}
}

// releaseExp gives back the register of an expression.
func (f *function) releaseExp(e *exp) {
	if e.kind == expRegister {
		f.release(e.info)
	}
}

// evaluate emits what reads a variable or takes one value of many.
func (c *compiler) evaluate(e *exp) {
	switch e.kind {
	case expRef:
		e.info = c.emit(bytecode.LoadK, 0, 0, 0, c.refConstant(e.global, e.field))
	case expLocal:
		e.kind = expRegister
		return
	case expUpvalue:
		e.info = c.emit(bytecode.GetUpval, 0, e.info, 0, 0)
	case expGlobal:
		e.info = c.emit(bytecode.GetGlobal, 0, 0, 0, e.info)
	case expIndexed:
		e.info = c.emitGet(e)
	case expCall, expVararg:
		c.single(e)
		return
	default:
		return
	}
	e.kind = expReloc
}

// emitGet emits what reads an element of a table.
func (c *compiler) emitGet(e *exp) int {
	f := c.fn
	if e.key == keyRegister {
		f.release(e.aux)
		f.release(e.info)
		return c.emit(bytecode.GetIndex, 0, e.info, e.aux, 0)
	}
	f.release(e.info)
	op := bytecode.GetConst
	switch e.key {
	case keyString:
		op = bytecode.GetField
	case keyInt:
		op = bytecode.GetInt
	}
	return c.emit(op, 0, e.info, 0, e.aux)
}

// single reduces a call or ... to one value.
func (c *compiler) single(e *exp) {
	switch e.kind {
	case expCall:
		e.kind, e.info = expRegister, int(c.fn.Code[e.info].A())
	case expVararg:
		c.fn.setB(e.info, 2)
		e.kind = expReloc
	}
}

// setResults makes a call or ... have n values; -1: all. Values of ... go to the free registers.
func (c *compiler) setResults(e *exp, n int) {
	switch e.kind {
	case expCall:
		c.fn.setC(e.info, n+1)
	case expVararg:
		c.fn.setB(e.info, n+1)
		c.fn.setA(e.info, c.fn.free)
		c.reserve(1)
	}
}

// load puts the value into a register, unless the expression is a comparison that jumps.
func (c *compiler) load(e *exp, register int) {
	c.evaluate(e)
	switch e.kind {
	case expNil:
		c.emitNil(register, 1)
	case expTrue, expFalse:
		c.emit(bytecode.LoadBool, register, truth(e.kind == expTrue), 0, 0)
	case expConstant:
		c.emit(bytecode.LoadK, register, 0, 0, e.info)
	case expNumber:
		c.emit(bytecode.LoadK, register, 0, 0, c.numberConstant(e.num))
	case expReloc:
		c.fn.setA(e.info, register)
	case expRegister:
		if e.info != register {
			c.emit(bytecode.Move, register, e.info, 0, 0)
		}
	default:
		return
	}
	e.kind, e.info = expRegister, register
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// toRegister puts the value into a register. Jumps of the expression lead to its end.
func (c *compiler) toRegister(e *exp, register int) {
	c.load(e, register)
	if e.kind == expJump {
		e.yes = c.join(e.yes, list{int32(e.info), int32(e.info)})
	}
	if e.jumps() {
		no, yes := -1, -1
		if c.needsValue(e.yes) || c.needsValue(e.no) {
			over := noJumps
			if e.kind != expJump {
				over = c.jump()
			}
			c.label()
			no = c.emit(bytecode.LoadBool, register, 0, 1, 0)
			c.label()
			yes = c.emit(bytecode.LoadBool, register, 1, 0, 0)
			c.toHere(over)
		}
		end := c.label()
		c.patch(e.no, end, register, no)
		c.patch(e.yes, end, register, yes)
	}
	*e = newExp(expRegister, register)
}

// toNext puts the value into the next free register.
func (c *compiler) toNext(e *exp) {
	c.evaluate(e)
	c.fn.releaseExp(e)
	c.reserve(1)
	c.toRegister(e, c.fn.free-1)
}

// toAny puts the value into some register and returns it.
func (c *compiler) toAny(e *exp) int {
	c.evaluate(e)
	if e.kind == expRegister {
		if !e.jumps() {
			return e.info
		}
		if e.info >= c.fn.inScope {
			c.toRegister(e, e.info)
			return e.info
		}
	}
	c.toNext(e)
	return e.info
}

// loadAny is toAny for an expression whose jumps stay.
func (c *compiler) loadAny(e *exp) {
	if e.kind != expRegister {
		c.reserve(1)
		c.load(e, c.fn.free-1)
	}
}

// toValue makes sure that no jumps belong to the expression.
func (c *compiler) toValue(e *exp) {
	if e.jumps() {
		c.toAny(e)
	} else {
		c.evaluate(e)
	}
}

// operand makes an expression a constant below the limit or puts it into a register. It reports
// whether it is constant.
func (c *compiler) operand(e *exp, limit int) bool {
	c.toValue(e)
	if e.kind == expConstant && e.info < limit {
		return true
	}
	if len(c.fn.Constants) < limit {
		k := bytecode.Constant{Kind: bytecode.Number, Num: e.num}
		switch e.kind {
		case expNil:
			k = bytecode.Constant{Kind: bytecode.Nil}
		case expTrue:
			k = bytecode.Constant{Kind: bytecode.True}
		case expFalse:
			k = bytecode.Constant{Kind: bytecode.False}
		case expNumber:
		default:
			c.toAny(e)
			return false
		}
		*e = newExp(expConstant, c.constant(k))
		return true
	}
	c.toAny(e)
	return false
}

const (
	anyConstant   = maxConstants + 1
	smallConstant = 256 // places that fit in a byte
)

// index makes t the element of the table in its register under the key k.
func (c *compiler) index(t, k *exp) {
	c.toValue(k)
	if c.isIntKey(k) {
		t.key, t.aux = keyInt, int(k.num)
	} else if c.operand(k, anyConstant) {
		t.key, t.aux = keyConstant, k.info
		if c.fn.Constants[k.info].Kind == bytecode.String {
			t.key = keyString
		}
	} else {
		t.key, t.aux = keyRegister, k.info
	}
	t.kind = expIndexed
}

// isIntKey reports whether a key fits an instruction. -0 does not, which is what 0 means after it:
// the function has one constant for both.
func (c *compiler) isIntKey(k *exp) bool {
	n := k.num
	if k.kind == expNumber && n == 0 {
		return !math.Signbit(c.fn.Constants[c.numberConstant(n)].Num)
	}
	return k.kind == expNumber && n == math.Trunc(n) && math.Abs(n) <= math.MaxInt32
}

// store assigns the value of e to a variable.
func (c *compiler) store(v, e *exp) {
	f := c.fn
	switch v.kind {
	case expLocal:
		f.releaseExp(e)
		c.toRegister(e, v.info)
		return
	case expUpvalue:
		c.emit(bytecode.SetUpval, c.toAny(e), v.info, 0, 0)
	case expGlobal:
		c.emit(bytecode.SetGlobal, c.toAny(e), 0, 0, v.info)
	case expIndexed:
		c.emitSet(v, e)
	}
	f.releaseExp(e)
}

// emitSet emits an assignment to an element of a table.
func (c *compiler) emitSet(v, e *exp) {
	switch v.key {
	case keyRegister:
		if c.operand(e, anyConstant) {
			c.emit(bytecode.SetIndexK, v.info, v.aux, 0, e.info)
		} else {
			c.emit(bytecode.SetIndex, v.info, v.aux, e.info, 0)
		}
	case keyString:
		if c.operand(e, 1<<16) {
			c.emit(bytecode.SetFieldK, v.info, e.info&0xff, e.info>>8, v.aux)
		} else {
			c.emit(bytecode.SetField, v.info, 0, e.info, v.aux)
		}
	case keyInt:
		c.emit(bytecode.SetInt, v.info, 0, c.toAny(e), v.aux)
	default:
		c.emit(bytecode.SetConst, v.info, 0, c.toAny(e), v.aux)
	}
}
