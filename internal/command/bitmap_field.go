package command

import (
	"encoding/binary"
	"math"

	"godwit/internal/engine"
	"godwit/internal/object"
)

// fieldVerb is the kind of an operation of BITFIELD.
type fieldVerb uint8

const (
	fieldGet fieldVerb = iota
	fieldSet
	fieldIncr
)

// fieldOverflow says what becomes of a result that the field cannot hold.
type fieldOverflow uint8

const (
	overflowWrap fieldOverflow = iota
	overflowSat
	overflowFail
)

// fieldOp is one operation on the field that begins at bit offset and is width bits wide.
type fieldOp struct {
	verb     fieldVerb
	overflow fieldOverflow
	signed   bool
	width    uint8
	offset   int64
	arg      int64
}

// parseFields reads all operations. The array stays on the caller's stack while they fit in it.
func parseFields(c *engine.Ctx, ops []fieldOp) ([]fieldOp, bool) {
	overflow := overflowWrap
	args := c.Args[2:]
	for len(args) > 0 {
		var op fieldOp
		n := 3
		switch verb := args[0]; {
		case is(verb, "get") && len(args) >= 3:
		case is(verb, "set") && len(args) >= 4:
			op.verb, n = fieldSet, 4
		case is(verb, "incrby") && len(args) >= 4:
			op.verb, n = fieldIncr, 4
		case is(verb, "overflow") && len(args) >= 2:
			var ok bool
			if overflow, ok = parseOverflow(c, args[1]); !ok {
				return nil, false
			}
			args = args[2:]
			continue
		default:
			c.Err(engine.ErrSyntax)
			return nil, false
		}
		op.overflow = overflow
		if !op.parse(c, args) {
			return nil, false
		}
		ops = append(ops, op)
		args = args[n:]
	}
	return ops, true
}

func parseOverflow(c *engine.Ctx, arg []byte) (fieldOverflow, bool) {
	switch {
	case is(arg, "wrap"):
		return overflowWrap, true
	case is(arg, "sat"):
		return overflowSat, true
	case is(arg, "fail"):
		return overflowFail, true
	}
	c.Err("ERR Invalid OVERFLOW type specified")
	return 0, false
}

// parse reads type, offset and value from the arguments after the verb. A GET has no value.
func (op *fieldOp) parse(c *engine.Ctx, args [][]byte) bool {
	kind := args[1]
	width := int64(0)
	if len(kind) > 0 && (kind[0] == 'i' || kind[0] == 'u') {
		op.signed = kind[0] == 'i'
		width, _ = object.ParseInt(kind[1:])
	}
	if width < 1 || width > 64 || width == 64 && !op.signed {
		c.Err("ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not " +
			"supported but i64 is.")
		return false
	}
	op.width = uint8(width)
	var ok bool
	if op.offset, ok = bitOffset(c, args[2], int(width)); !ok {
		return false
	}
	if op.verb != fieldGet {
		op.arg, ok = intArg(c, args[3])
	}
	return ok
}

func bitfield(c *engine.Ctx, readOnly bool) {
	var array [8]fieldOp
	ops, ok := parseFields(c, array[:0])
	if !ok {
		return
	}
	last, writes := int64(0), false
	for i := range ops {
		if ops[i].verb != fieldGet {
			writes = true
			last = max(last, ops[i].offset+int64(ops[i].width)-1)
		}
	}
	if !writes {
		bitfieldRead(c, ops)
		return
	}
	if readOnly {
		c.Err("ERR BITFIELD_RO only supports the GET subcommand")
		return
	}
	key := c.Args[1]
	if !anyWrites(c, ops) {
		bitfieldRead(c, ops)
		return
	}
	x, grown, ok := growBits(c, key, last, len(ops))
	if !ok {
		return
	}
	c.Array(len(ops))
	changes := 0
	for i := range ops {
		if changed, wrote := runField(c, x, &ops[i]); changed || wrote && grown {
			changes++
		}
	}
	if changes > 0 {
		c.Dirty(changes)
		changed(c, "setbit", key)
	}
}

// anyWrites reports whether any operation will write. One under OVERFLOW FAIL may not. All
// operations up to the first that writes see the string as it is now. It reports true if the key
// holds another type.
func anyWrites(c *engine.Ctx, ops []fieldOp) bool {
	var scratch [24]byte
	var b []byte
	looked := false
	for i := range ops {
		op := &ops[i]
		if op.verb == fieldGet {
			continue
		}
		if op.overflow != overflowFail {
			return true
		}
		if !looked {
			e := c.DB.Lookup(c.Args[1])
			if e.Exists() && e.Type() != object.String {
				return true
			}
			if e.Exists() {
				b = c.DB.StringBytes(e, &scratch)
			}
			looked = true
		}
		if _, fits := op.sum(op.get(b)); fits {
			return true
		}
	}
	return false
}

// bitfieldRead runs operations that do not write.
func bitfieldRead(c *engine.Ctx, ops []fieldOp) {
	e := c.DB.LookupRead(c.Args[1])
	if !isString(c, e) {
		return
	}
	var scratch [24]byte
	var b []byte
	if e.Exists() {
		b = c.DB.StringBytes(e, &scratch)
	}
	c.Array(len(ops))
	for i := range ops {
		if ops[i].verb == fieldGet {
			c.Int(ops[i].get(b))
		} else {
			c.Null()
		}
	}
}

// runField runs one operation and replies to it. It reports whether it changed a field, and whether
// it wrote one.
func runField(c *engine.Ctx, x object.StringEdit, op *fieldOp) (changed, wrote bool) {
	old := op.get(x.Bytes())
	if op.verb == fieldGet {
		c.Int(old)
		return false, false
	}
	n, fits := op.sum(old)
	if !fits && op.overflow == overflowFail {
		c.Null()
		return false, false
	}
	if op.verb == fieldIncr {
		c.Int(n)
	} else {
		c.Int(old)
	}
	from, here := int(op.offset>>3), *op
	here.offset &= 7
	here.set(x.Change(from, min(from+fieldSpan, len(x.Bytes()))), n)
	return n != old, true
}

// sum returns what the operation stores in a field that holds old. It reports whether the result is
// within the field's range.
func (op *fieldOp) sum(old int64) (int64, bool) {
	if op.verb == fieldIncr {
		return op.fit(old, op.arg)
	}
	return op.fit(op.arg, 0)
}

// fit returns base + incr, adjusted to the field as OVERFLOW asks. It reports whether that is the
// true sum. With SET, base itself may be out of range. In an unsigned field such a base counts as
// too large, even if it is negative, because it is read as an unsigned number.
func (op *fieldOp) fit(base, incr int64) (int64, bool) {
	lowest, highest := int64(0), int64(math.MaxInt64)>>(63-op.width)
	if op.signed {
		highest = math.MaxInt64 >> (64 - op.width)
		lowest = -highest - 1
	}
	sum, ok := addInt(base, incr)
	over := !ok && incr > 0 || ok && sum > highest || !op.signed && base < 0
	if op.signed && op.width < 64 && op.verb == fieldSet && base < highest-math.MaxInt64 {
		// Redis's own check overflows here. Far below the field's range, SAT stores the field's
		// highest number.
		over = true
	}
	under := !over && (!ok || sum < lowest)
	switch {
	case !over && !under:
		return sum, true
	case op.overflow == overflowSat && over:
		return highest, false
	case op.overflow == overflowSat:
		return lowest, false
	}
	return op.extend(uint64(base + incr)), false
}

// extend returns the number that the low bits of u stand for in a field of this type.
func (op *fieldOp) extend(u uint64) int64 {
	unused := 64 - op.width
	if op.signed {
		return int64(u<<unused) >> unused
	}
	return int64(u << unused >> unused)
}

// window returns the bytes of the string that hold the field, as two big-endian words. Bytes after
// the end of the string are zero. shift is the distance from the field's last bit to the end of lo.
func (op *fieldOp) window(b []byte) (hi, lo uint64, shift uint) {
	var buf [16]byte
	if from := op.offset >> 3; from < int64(len(b)) {
		copy(buf[:], b[from:])
	}
	return binary.BigEndian.Uint64(buf[:]), binary.BigEndian.Uint64(buf[8:]),
		128 - uint(op.offset&7) - uint(op.width)
}

// get reads the field. Bits after the end of the string are zero.
func (op *fieldOp) get(b []byte) int64 {
	hi, lo, shift := op.window(b)
	if shift >= 64 {
		return op.extend(hi >> (shift - 64))
	}
	return op.extend(hi<<(64-shift) | lo>>shift)
}

// set writes n to the field, which must lie inside b. It writes at most fieldSpan bytes.
func (op *fieldOp) set(b []byte, n int64) {
	hi, lo, shift := op.window(b)
	mask := ^uint64(0) >> (64 - op.width)
	u := uint64(n) & mask
	if shift >= 64 {
		hi = hi&^(mask<<(shift-64)) | u<<(shift-64)
	} else {
		hi = hi&^(mask>>(64-shift)) | u>>(64-shift)
		lo = lo&^(mask<<shift) | u<<shift
	}
	var buf [16]byte
	binary.BigEndian.PutUint64(buf[:], hi)
	binary.BigEndian.PutUint64(buf[8:], lo)
	from := op.offset >> 3
	copy(b[from:], buf[:fieldSpan])
}

// fieldSpan is the number of bytes that the widest field can touch.
const fieldSpan = 9
