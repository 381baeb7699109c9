package lua

import (
	"math"
	"strconv"

	"godwit/internal/lua/bytecode"
	"godwit/internal/lua/number"
)

// ToNumber converts as Lua does: it takes numbers, and strings that look like one.
func ToNumber(v Value) (float64, bool) {
	switch {
	case v.n >= minNumber:
		return bitsNumber(v.n), true
	case v.IsString():
		return number.Parse(v.Str())
	}
	return 0, false
}

// ToNumber is the function ToNumber, and accounts for the time that a long text takes.
func (t *Thread) ToNumber(v Value) (float64, bool) {
	if v.isLong() {
		return t.longNumber(v)
	}
	return ToNumber(v)
}

func (t *Thread) longNumber(v Value) (f float64, ok bool) {
	t.s.Left -= v.Len() / digitsPerStep
	t.s.asideIf(v.Len() >= LongWork, func() { f, ok = ToNumber(v) })
	return f, ok
}

// digitsPerStep is how many digits of a number can be read in the time of a step.
const digitsPerStep = 4

// slowArith executes an arithmetic instruction.
func (t *Thread) slowArith(in bytecode.Instr, base int) bool {
	op := in.Op()
	if op == bytecode.Unm {
		v := t.stack[base+int(in.B())]
		return t.arith(eventUnm, v, v, int(in.B()), int(in.B()), base+int(in.A()))
	}
	i := op - bytecode.Add
	x, y, rx, ry := Nil, Nil, int(in.B()), int(in.C())
	switch i % 3 {
	case 0:
		x, y = t.stack[base+rx], t.stack[base+ry]
	case 1:
		x, y, ry = t.stack[base+rx], t.constant(in.D()), -1
	case 2:
		x, y, rx = t.constant(in.D()), t.stack[base+ry], -1
	}
	return t.arith(eventAdd+event(i/3), x, y, rx, ry, base+int(in.A()))
}

// arith puts the result of an operation into a slot. rx and ry are the registers of the operands,
// for messages.
func (t *Thread) arith(e event, x, y Value, rx, ry, slot int) bool {
	a, okx := t.ToNumber(x)
	b, oky := t.ToNumber(y)
	if okx && oky {
		t.stack[slot] = Number(compute(e, a, b))
		return true
	}
	h := t.metamethod(x, e)
	if h.n == bitsNil {
		h = t.metamethod(y, e)
	}
	if h.n == bitsNil {
		if okx {
			x, rx = y, ry
		}
		return t.typeError("perform arithmetic on", x, rx)
	}
	return t.callInto(false, slot, 1, h, x, y)
}

func compute(e event, a, b float64) float64 {
	switch e {
	case eventAdd:
		return a + b
	case eventSub:
		return a - b
	case eventMul:
		return a * b
	case eventDiv:
		return a / b
	case eventMod:
		return number.Mod(a, b)
	case eventPow:
		return number.Pow(a, b)
	}
	return -a
}

// slowCompare executes a comparison that jumps.
func (t *Thread) slowCompare(in bytecode.Instr, base int) bool {
	op := in.Op()
	var x, y Value
	switch op {
	case bytecode.JumpLtKR, bytecode.JumpLeKR:
		x, y = t.constant(int(in.B())), t.stack[base+int(in.C())]
	case bytecode.JumpLtRK, bytecode.JumpLeRK, bytecode.JumpEqK:
		x, y = t.stack[base+int(in.B())], t.constant(int(in.C()))
	default:
		x, y = t.stack[base+int(in.B())], t.stack[base+int(in.C())]
	}
	var r, ok bool
	switch {
	case op <= bytecode.JumpEqK:
		r, ok = t.equal(x, y)
	case op <= bytecode.JumpLtKR:
		r, ok = t.less(x, y)
	default:
		r, ok = t.lessEqual(x, y)
	}
	if ok && r == (in.A() != 0) {
		t.frames[t.depth-1].pc += int32(in.D())
	}
	return ok
}

// sameMeta returns the metamethod that two values share for a comparison, or nil.
func (t *Thread) sameMeta(x, y Value, e event) Value {
	a := t.metamethod(x, e)
	if a.n == bitsNil {
		return Nil
	}
	if b := t.metamethod(y, e); t.RawEqual(a, b) {
		return a
	}
	return Nil
}

// chargeCompare accounts for the comparison of two strings.
func (t *Thread) chargeCompare(x, y Value) { t.s.Left -= min(x.Len(), y.Len()) / HandledPerStep }

func (t *Thread) equal(x, y Value) (r, ok bool) {
	if x.IsString() && y.IsString() && x.n == y.n {
		t.chargeCompare(x, y)
	}
	if RawEqual(x, y) {
		return true, true
	}
	if !x.IsTable() || !y.IsTable() {
		return false, true
	}
	h := t.sameMeta(x, y, eventEq)
	if h.n == bitsNil {
		return false, true
	}
	v, ok := t.callMeta(h, x, y)
	return v.Truthy(), ok
}

func (t *Thread) less(x, y Value) (r, ok bool) {
	switch {
	case x.IsNumber() && y.IsNumber():
		return x.Num() < y.Num(), true
	case x.IsString() && y.IsString():
		t.chargeCompare(x, y)
		return x.Str() < y.Str(), true
	case x.TypeName() != y.TypeName():
		return false, t.compareError(x, y)
	}
	h := t.sameMeta(x, y, eventLt)
	if h.n == bitsNil {
		return false, t.compareError(x, y)
	}
	v, ok := t.callMeta(h, x, y)
	return v.Truthy(), ok
}

func (t *Thread) lessEqual(x, y Value) (r, ok bool) {
	switch {
	case x.IsNumber() && y.IsNumber():
		return x.Num() <= y.Num(), true
	case x.IsString() && y.IsString():
		t.chargeCompare(x, y)
		return x.Str() <= y.Str(), true
	case x.TypeName() != y.TypeName():
		return false, t.compareError(x, y)
	}
	if h := t.sameMeta(x, y, eventLe); h.n != bitsNil {
		v, ok := t.callMeta(h, x, y)
		return v.Truthy(), ok
	}
	h := t.sameMeta(x, y, eventLt)
	if h.n == bitsNil {
		return false, t.compareError(x, y)
	}
	v, ok := t.callMeta(h, y, x)
	return !v.Truthy(), ok
}

// length puts the length of the value in slot b into slot a.
func (t *Thread) length(b, a int) bool {
	v := t.stack[b]
	switch {
	case v.IsTable():
		t.stack[a] = Int(t.Len(v.table()))
		return true
	case v.IsString():
		t.stack[a] = Int(v.Len())
		return true
	}
	return t.typeError("get length of", v, b-int(t.frames[t.depth-1].base))
}

// AppendNumber appends a number as C's %.14g prints it.
func AppendNumber(b []byte, n float64) []byte {
	if i := int64(n); float64(i) == n && -1e14 < n && n < 1e14 && (i != 0 || !math.Signbit(n)) {
		return strconv.AppendInt(b, i, 10)
	}
	if i := math.Abs(n)*1e4 + 0.5; i >= 1 && i < 1e14 {
		// If this is the double nearest to i/10^4, 14 digits print it as that fraction.
		if i := int64(i); float64(i)/1e4 == math.Abs(n) {
			return appendFraction(b, n < 0, i)
		}
	}
	return AppendG(b, n, 14)
}

// appendFraction appends i/10^4, which is not whole.
func appendFraction(b []byte, neg bool, i int64) []byte {
	if neg {
		b = append(b, '-')
	}
	b = append(strconv.AppendInt(b, i/1e4, 10), '.')
	i %= 1e4
	b = append(b, byte('0'+i/1000), byte('0'+i/100%10), byte('0'+i/10%10), byte('0'+i%10))
	for b[len(b)-1] == '0' {
		b = b[:len(b)-1]
	}
	return b
}

// numberText returns a number as AppendNumber appends it.
func numberText(n float64) string {
	var b [numberSize]byte
	return string(AppendNumber(b[:0], n))
}

// AppendG appends a number in the form of C's %g.
func AppendG(b []byte, n float64, precision int) []byte {
	switch {
	case math.IsInf(n, 1):
		return append(b, "inf"...)
	case math.IsInf(n, -1):
		return append(b, "-inf"...)
	case math.IsNaN(n):
		if math.Signbit(n) {
			return append(b, "-nan"...)
		}
		return append(b, "nan"...)
	}
	return strconv.AppendFloat(b, n, 'g', precision, 64)
}
