package lua

import "godwit/internal/lua/bytecode"

// slow executes the instructions, and those cases of them, that execute does not. base is where the
// registers of the running function begin. The frame's pc is that of the next instruction.
func (t *Thread) slow(in bytecode.Instr, base int) outcome {
	ok := true
	a := base + int(in.A())
	switch op := in.Op(); op {
	case bytecode.GetIndex, bytecode.GetConst, bytecode.GetField, bytecode.GetInt,
		bytecode.GetGlobal, bytecode.Self:
		ok = t.slowGet(in, base)
	case bytecode.SetIndex, bytecode.SetIndexK, bytecode.SetConst, bytecode.SetField,
		bytecode.SetFieldK, bytecode.SetInt, bytecode.SetGlobal:
		ok = t.slowSet(in, base)
	case bytecode.Concat:
		ok = t.concat(base+int(in.B()), base+int(in.C()), a)
	case bytecode.Len:
		ok = t.length(base+int(in.B()), a)
	case bytecode.NewTable:
		ok = t.newTable(a, in)
	case bytecode.SetList:
		ok = t.setList(a, int(in.B()), in.D())
	case bytecode.Closure:
		var v Value
		if v, ok = t.closure(t.frames[t.depth-1].closure, base, in.D(), in.B() != 0); ok {
			t.stack[a] = v
		}
	case bytecode.Close:
		t.close(a)
	case bytecode.Vararg:
		ok = t.varargs(a, int(in.B())-1)
	case bytecode.ForLoop, bytecode.ForTest:
		ok = t.look() // the message has the line of what begins the loop
	case bytecode.Jump:
		if ok = t.look(); !ok {
			t.frames[t.depth-1].pc++ // the message has the line that comes next
		}
	case bytecode.ForPrep:
		ok = t.forPrep(a, in.D())
	case bytecode.ForCall:
		return t.forCall(a, int(in.C()))
	case bytecode.TailCall:
		return t.tailCall(in, base)
	case bytecode.Line:
		if t.s.Line != nil {
			t.s.Line(t, in.D())
		}
		ok = t.look()
	case bytecode.Nop:
	default:
		if op >= bytecode.JumpEq && op <= bytecode.JumpLeKR {
			ok = t.slowCompare(in, base)
		} else {
			ok = t.slowArith(in, base)
		}
	}
	if !ok {
		return failed
	}
	return running
}

// constant returns constant i of the running function.
func (t *Thread) constant(i int) Value { return t.frames[t.depth-1].closure.fn.constants[i] }

func (t *Thread) slowGet(in bytecode.Instr, base int) bool {
	a, o := base+int(in.A()), base+int(in.B())
	var key Value
	switch in.Op() {
	case bytecode.GetIndex:
		key = t.stack[base+int(in.C())]
	case bytecode.GetInt:
		key = Int(in.D())
	case bytecode.GetGlobal:
		env := TableValue(t.frames[t.depth-1].closure.env)
		return t.get(env, t.constant(in.D()), -1, a)
	case bytecode.Self:
		v := t.stack[o]
		t.stack[a+1] = v
		key = t.constant(in.D())
		return t.get(v, key, int(in.B()), a)
	default:
		key = t.constant(in.D())
	}
	return t.get(t.stack[o], key, int(in.B()), a)
}

func (t *Thread) slowSet(in bytecode.Instr, base int) bool {
	o := t.stack[base+int(in.A())]
	var key Value
	switch in.Op() {
	case bytecode.SetIndex:
		return t.put(o, t.stack[base+int(in.B())], t.stack[base+int(in.C())], int(in.A()))
	case bytecode.SetIndexK:
		return t.put(o, t.stack[base+int(in.B())], t.constant(in.D()), int(in.A()))
	case bytecode.SetFieldK:
		v := t.constant(int(in.B()) | int(in.C())<<8)
		return t.put(o, t.constant(in.D()), v, int(in.A()))
	case bytecode.SetInt:
		key = Int(in.D())
	case bytecode.SetGlobal:
		env := TableValue(t.frames[t.depth-1].closure.env)
		return t.put(env, t.constant(in.D()), o, -1)
	default:
		key = t.constant(in.D())
	}
	return t.put(o, key, t.stack[base+int(in.C())], int(in.A()))
}

// newTable makes a table with the sizes that the instruction has.
func (t *Thread) newTable(a int, in bytecode.Instr) bool {
	array, hash := floatingByte(in.B()), floatingByte(in.C())
	if !t.goesOn(t.s.Grow(tableBytes(array, hash))) {
		return false
	}
	t.stack[a] = TableValue(t.s.parts.table(array, nodesFor(hash)))
	return true
}

// floatingByte decodes a size: three bits of mantissa below five of exponent, as in Lua 5.1's
// instruction NEWTABLE.
func floatingByte(b uint8) int {
	if b < 8 {
		return int(b)
	}
	return (int(b&7) + 8) << (b>>3 - 1)
}

// setList stores n elements, which are above the table on the stack, behind its first.
func (t *Thread) setList(a, n, first int) bool {
	if n == 0 {
		n = t.top - a - 1
	}
	tab := t.stack[a].table()
	if !t.goesOn(tab.reserveArray(first+n, &t.s.Budget)) {
		return false
	}
	list, from := tab.array[first:first+n], t.stack[a+1:a+1+n]
	for i := range list {
		list[i].set(from[i])
	}
	t.s.Left -= n / valuesPerStep
	return true
}

// varargs puts the additional arguments of the running function to slot a: want of them, or all.
func (t *Thread) varargs(a, want int) bool {
	f := &t.frames[t.depth-1]
	n := int(f.varargs)
	from := int(f.base) - n
	if want < 0 {
		want = n
		if !t.fits(a + n) {
			return false
		}
		t.top = a + n
		t.high = max(t.high, t.top)
	}
	m := min(n, want)
	copy(t.stack[a:a+m], t.stack[from:from+m])
	t.s.Left -= m / valuesPerStep
	for i := a + m; i < a+want; i++ {
		t.stack[i] = Nil
	}
	return true
}

// forPrep begins a numeric loop, whose first number is in slot a.
func (t *Thread) forPrep(a, d int) bool {
	for i, what := range [...]string{"initial value", "limit", "step"} {
		v := &t.stack[a+i]
		n, ok := t.ToNumber(*v)
		if !ok {
			return t.raise("'for' " + what + " must be a number")
		}
		*v = Number(n)
	}
	t.stack[a] = Number(t.stack[a].Num() - t.stack[a+2].Num())
	t.frames[t.depth-1].pc += int32(d)
	return true
}

// forCall calls the iterator in slot a for n variables.
func (t *Thread) forCall(a, n int) outcome {
	copy(t.stack[a+3:a+6], t.stack[a:a+3])
	t.top = a + 6
	nested := t.nested
	if !t.deeper() {
		return failed
	}
	if v := &t.stack[a+3]; v.n>>48 == bitsNative>>48 {
		v.n = bitsNative // see iterate
	}
	if f := t.stack[a+3].Native(); f != nil && f.special < specialPcall {
		return t.callNative(f, a+3, n, framePlain, nested)
	}
	return t.invoke(a+3, n, framePlain, nested)
}

// tailCall replaces the running function by one that it calls.
func (t *Thread) tailCall(in bytecode.Instr, base int) outcome {
	at := base + int(in.A())
	if b := int(in.B()); b != 0 {
		t.top = at + b
	}
	c := t.stack[at].Closure()
	if c == nil {
		if n := t.stack[at].Native(); n == nil && !t.callable(at) {
			return failed
		}
		if c = t.stack[at].Closure(); c == nil {
			return t.tailNative(at)
		}
	}
	f := &t.frames[t.depth-1]
	if t.open != nil {
		t.close(base)
	}
	to := base - 1 // where the function was, which for a metamethod is not where its result goes
	if fn := f.closure.fn; fn.vararg {
		to -= fn.params + int(f.varargs)
	}
	n := copy(t.stack[to:], t.stack[at:t.top])
	t.top = to + n
	t.s.Left -= n / valuesPerStep
	result, want, kind, nested, tails := f.result, f.want, f.kind, f.nested, f.tails
	t.depth--
	if !t.enter(c, to, int(want), kind) {
		return failed
	}
	f = &t.frames[t.depth-1]
	f.result, f.nested, f.tails = result, nested, tails+1
	return running
}

// tailNative calls a function of Go. As in Lua 5.1, the frame of the caller stays meanwhile; the
// Return behind the instruction returns the results.
func (t *Thread) tailNative(at int) outcome {
	return t.invoke(at, -1, framePlain, t.nested)
}
