package lua

import (
	"godwit/internal/lua/bytecode"
	"godwit/internal/lua/number"
)

// execute runs the function of Lua on top of the frames, and those that it calls, until the frame
// that Go has called ends.
//
// It is one function, so that the state of the machine is in local variables. It holds the common
// case of each instruction. All others leave the switch and are done by slow, which may call
// functions and so move the stack.
//
//lint:loop the machine's loop
func (t *Thread) execute() outcome {
	s := t.s
enter:
	f := &t.frames[t.depth-1]
	fn := f.closure.fn
	code, k := fn.code, fn.constants
	base, pc := int(f.base), int(f.pc)
	regs := (*[slack]Value)(t.stack[base:])
	for {
		in := code[pc]
		pc++
		switch in.Op() {
		case bytecode.Move:
			regs[in.A()] = regs[in.B()]
			continue
		case bytecode.LoadK:
			regs[in.A()] = k[in.D()]
			continue
		case bytecode.LoadNil:
			for i := int(in.A()); i <= int(in.B()); i++ {
				regs[uint8(i)] = Nil
			}
			continue
		case bytecode.LoadBool:
			regs[in.A()].n = bitsFalse + uint64(in.B())
			pc += int(in.C())
			continue
		case bytecode.GetUpval:
			if v := f.closure.upvalues[in.B()].at; v.n >= minNumber {
				regs[in.A()].n = v.n
			} else {
				regs[in.A()] = *v
			}
			continue
		case bytecode.SetUpval:
			if v, w := f.closure.upvalues[in.B()].at, regs[in.A()].n; w >= minNumber && v.p == nil {
				v.n = w
			} else {
				v.set(regs[in.A()])
			}
			continue
		case bytecode.GetGlobal:
			if v := f.closure.env.GetStr(k[in.D()], fn.hashes[in.D()]); v.n != bitsNil {
				regs[in.A()] = v
				continue
			}
		case bytecode.GetField:
			if o := &regs[in.B()]; o.n == bitsTable {
				tab, key, hash := o.table(), &k[in.D()], fn.hashes[in.D()]
				if nodes := tab.nodes; len(nodes) > 0 {
					n := &nodes[int(hash)&(len(nodes)-1)]
					if n.key.p == key.p && n.key.n == key.n && n.val.n != bitsNil {
						regs[in.A()] = n.val
						continue
					}
				}
				v, ok := tab.GetStr(*key, hash), true
				if v.n == bitsNil && tab.Metatable != nil {
					v, ok = s.inherited(tab.Metatable, *key, hash)
				}
				if ok {
					regs[in.A()] = v
					continue
				}
			}
		case bytecode.GetIndex:
			if o := &regs[in.B()]; o.n == bitsTable {
				tab, key := o.table(), &regs[in.C()]
				x := bitsNumber(key.n)
				if i := int(x); uint(i-1) < uint(len(tab.array)) && float64(i) == x {
					if v := &tab.array[i-1]; v.n != bitsNil {
						regs[in.A()] = *v
						continue
					}
				}
				if !key.isLong() {
					v := tab.Get(*key)
					if v.n != bitsNil || tab.Metatable == nil {
						regs[in.A()] = v
						continue
					}
				}
			}
		case bytecode.GetInt:
			if o := &regs[in.B()]; o.n == bitsTable {
				v := o.table().GetInt(in.D())
				if v.n != bitsNil || o.table().Metatable == nil {
					regs[in.A()] = v
					continue
				}
			}
		case bytecode.Self:
			o := regs[in.B()]
			if v := s.method(o, k[in.D()], fn.hashes[in.D()]); v.n != bitsNil {
				regs[in.A()+1], regs[in.A()] = o, v
				continue
			}
		case bytecode.SetField:
			if o := &regs[in.A()]; o.n == bitsTable {
				if v := o.table().settable(k[in.D()], fn.hashes[in.D()]); v != nil {
					v.set(regs[in.C()])
					continue
				}
			}
		case bytecode.SetIndex:
			if o := &regs[in.A()]; o.n == bitsTable {
				tab, key, w := o.table(), &regs[in.B()], &regs[in.C()]
				x := bitsNumber(key.n)
				if i := int(x); uint(i-1) < uint(len(tab.array)) && float64(i) == x {
					v := &tab.array[i-1]
					if !tab.ReadOnly && (v.n != bitsNil || tab.Metatable == nil) {
						if w.n > bitsTrue && w.n < minNumber || v.p != nil {
							v.set(*w)
						} else {
							v.n = w.n
						}
						continue
					}
				} else if v := tab.settableKey(*key); v != nil {
					v.set(*w)
					continue
				}
			}
		case bytecode.Add:
			if x, y := regs[in.B()].n, regs[in.C()].n; x >= minNumber && y >= minNumber {
				regs[in.A()].n = numberBits(bitsNumber(x) + bitsNumber(y))
				continue
			}
		case bytecode.AddRK:
			if x, y := regs[in.B()].n, k[in.D()].n; x >= minNumber && y >= minNumber {
				regs[in.A()].n = numberBits(bitsNumber(x) + bitsNumber(y))
				continue
			}
		case bytecode.Sub:
			if x, y := regs[in.B()].n, regs[in.C()].n; x >= minNumber && y >= minNumber {
				regs[in.A()].n = numberBits(bitsNumber(x) - bitsNumber(y))
				continue
			}
		case bytecode.SubRK:
			if x, y := regs[in.B()].n, k[in.D()].n; x >= minNumber && y >= minNumber {
				regs[in.A()].n = numberBits(bitsNumber(x) - bitsNumber(y))
				continue
			}
		case bytecode.Mul:
			if x, y := regs[in.B()].n, regs[in.C()].n; x >= minNumber && y >= minNumber {
				regs[in.A()].n = numberBits(bitsNumber(x) * bitsNumber(y))
				continue
			}
		case bytecode.MulRK:
			if x, y := regs[in.B()].n, k[in.D()].n; x >= minNumber && y >= minNumber {
				regs[in.A()].n = numberBits(bitsNumber(x) * bitsNumber(y))
				continue
			}
		case bytecode.Div:
			if x, y := regs[in.B()].n, regs[in.C()].n; x >= minNumber && y >= minNumber {
				regs[in.A()].n = numberBits(bitsNumber(x) / bitsNumber(y))
				continue
			}
		case bytecode.DivRK:
			if x, y := regs[in.B()].n, k[in.D()].n; x >= minNumber && y >= minNumber {
				regs[in.A()].n = numberBits(bitsNumber(x) / bitsNumber(y))
				continue
			}
		case bytecode.ModRK:
			if x, y := regs[in.B()].n, k[in.D()].n; x >= minNumber && y >= minNumber {
				regs[in.A()].n = numberBits(number.Mod(bitsNumber(x), bitsNumber(y)))
				continue
			}
		case bytecode.Unm:
			if x := regs[in.B()].n; x >= minNumber {
				regs[in.A()].n = numberBits(-bitsNumber(x))
				continue
			}
		case bytecode.Not:
			regs[in.A()].n = Bool(regs[in.B()].n <= bitsFalse).n
			continue
		case bytecode.Len:
			if o := &regs[in.B()]; o.n == bitsTable {
				regs[in.A()].n = numberBits(float64(t.Len(o.table())))
				continue
			} else if o.n>>48 == bitsString>>48 {
				regs[in.A()].n = numberBits(float64(o.Len()))
				continue
			}
		case bytecode.Jump:
			d := in.D()
			if pc += d; d >= 0 {
				continue
			}
			if s.Left += d; s.Left > 0 {
				continue
			}
		case bytecode.JumpIf:
			if (regs[in.A()].n > bitsFalse) == (in.C() != 0) {
				pc += in.D()
			}
			continue
		case bytecode.JumpSet:
			if v := &regs[in.B()]; (v.n > bitsFalse) == (in.C() != 0) {
				regs[in.A()] = *v
				pc += in.D()
			}
			continue
		case bytecode.JumpEq:
			x, y := &regs[in.B()], &regs[in.C()]
			if x.n != y.n || x.p == y.p || x.n < bitsString+longString || x.n >= minNumber {
				if RawEqual(*x, *y) == (in.A() != 0) {
					pc += in.D()
				}
				continue
			}
		case bytecode.JumpEqK:
			if x, y := &regs[in.B()], &k[in.C()]; x.n != y.n || x.n < bitsString+longString ||
				x.n >= minNumber {
				if RawEqual(*x, *y) == (in.A() != 0) {
					pc += in.D()
				}
				continue
			}
		case bytecode.JumpLt:
			if x, y := regs[in.B()].n, regs[in.C()].n; x >= minNumber && y >= minNumber {
				if (bitsNumber(x) < bitsNumber(y)) == (in.A() != 0) {
					pc += in.D()
				}
				continue
			}
		case bytecode.JumpLtRK:
			if x, y := regs[in.B()].n, k[in.C()].n; x >= minNumber && y >= minNumber {
				if (bitsNumber(x) < bitsNumber(y)) == (in.A() != 0) {
					pc += in.D()
				}
				continue
			}
		case bytecode.JumpLtKR:
			if x, y := k[in.B()].n, regs[in.C()].n; x >= minNumber && y >= minNumber {
				if (bitsNumber(x) < bitsNumber(y)) == (in.A() != 0) {
					pc += in.D()
				}
				continue
			}
		case bytecode.JumpLe:
			if x, y := regs[in.B()].n, regs[in.C()].n; x >= minNumber && y >= minNumber {
				if (bitsNumber(x) <= bitsNumber(y)) == (in.A() != 0) {
					pc += in.D()
				}
				continue
			}
		case bytecode.JumpLeRK:
			if x, y := regs[in.B()].n, k[in.C()].n; x >= minNumber && y >= minNumber {
				if (bitsNumber(x) <= bitsNumber(y)) == (in.A() != 0) {
					pc += in.D()
				}
				continue
			}
		case bytecode.JumpLeKR:
			if x, y := k[in.B()].n, regs[in.C()].n; x >= minNumber && y >= minNumber {
				if (bitsNumber(x) <= bitsNumber(y)) == (in.A() != 0) {
					pc += in.D()
				}
				continue
			}
		case bytecode.ForLoop:
			r := (*[4]Value)(regs[in.A() : int(in.A())+4])
			step := bitsNumber(r[2].n)
			i, limit := bitsNumber(r[0].n)+step, bitsNumber(r[1].n)
			if step > 0 && i <= limit || step <= 0 && limit <= i {
				r[0].n = numberBits(i)
				r[3].n = r[0].n
				d := in.D()
				pc += d
				if s.Left += d; s.Left <= 0 {
					break
				}
			}
			continue
		case bytecode.ForCall:
			r := (*[5]Value)(regs[in.A() : int(in.A())+5])
			if r[0].n>>48 == bitsNative>>48 && t.iterate(r, int(in.C())) {
				continue
			}
		case bytecode.ForTest:
			r := (*[4]Value)(regs[in.A() : int(in.A())+4])
			if r[3].n != bitsNil {
				r[2] = r[3]
				d := in.D()
				pc += d
				if s.Left += d; s.Left <= 0 {
					break
				}
			}
			continue
		case bytecode.Call, bytecode.CallK:
			at := base + int(in.A())
			if b := int(in.B()); b != 0 {
				t.top = at + b
			}
			f.pc = int32(pc)
			v := &t.stack[at]
			if in.Op() == bytecode.CallK {
				v = &k[in.D()]
			}
			if v.n == bitsClosure {
				if !t.enter(v.closure(), at, int(in.C())-1, framePlain) {
					return failed
				}
				goto enter
			} else if v.n == bitsNative && v.native().special < specialPcall {
				if o := t.callPlain(v.native(), at, int(in.C())-1); o != running {
					return o
				}
				f = &t.frames[t.depth-1]
				regs = (*[slack]Value)(t.stack[base:])
				continue
			}
			t.stack[at] = *v
			if o := t.invoke(at, int(in.C())-1, framePlain, t.nested); o != running {
				return o
			}
			goto enter
		case bytecode.Return:
			first, n := base+int(in.A()), int(in.B())-1
			if n <= 1 && n >= 0 && f.kind == framePlain && !t.captured(base) &&
				t.frames[t.depth-2].closure != nil {
				t.leavePlain(f, first, n)
				goto enter
			}
			if n < 0 {
				n = t.top - first
			}
			if t.leave(first, n) {
				return finished
			}
			goto enter
		}
		f.pc = int32(pc)
		if o := t.slow(in, base); o != running {
			return o
		}
		f = &t.frames[t.depth-1]
		if int(f.base) != base || f.closure.fn != fn || int(f.pc) != pc {
			goto enter
		}
		regs = (*[slack]Value)(t.stack[base:])
	}
}
