package lualib

import (
	"math"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

const (
	structMaxInt   = 32 // bytes of the widest integer
	structMaxAlign = 8  // alignment of '!' without a number
)

func openStruct(L *lua.LState) {
	register(L, "struct", map[string]lua.LGFunction{"pack": structPack, "unpack": structUnpack,
		"size": structSize}, nil)
}

// structFormat reads a format. Sizes and alignments are those of C on amd64: long and size_t take 8
// bytes, integers without a size 4.
type structFormat struct {
	L     *lua.LState
	s     string // the unread rest
	big   bool
	align int
}

func newStructFormat(L *lua.LState) structFormat {
	s := checkString(L, 1)
	if i := strings.IndexByte(s, 0); i >= 0 {
		s = s[:i]
	}
	return structFormat{L: L, s: s, align: 1}
}

// number reads a number at the front of the format. Without one it returns the default.
func (f *structFormat) number(def int) int {
	if f.s == "" || !isDigit(f.s[0]) {
		return def
	}
	n := 0
	for f.s != "" && isDigit(f.s[0]) {
		d := int(f.s[0] - '0')
		if n > math.MaxInt32/10 || n*10 > math.MaxInt32-d {
			raise(f.L, "integral size overflow")
		}
		n = n*10 + d
		f.s = f.s[1:]
	}
	return n
}

// next returns the next option, its size, and the padding that aligns it at a position.
func (f *structFormat) next(pos int) (opt byte, size, padding int) {
	opt = f.s[0]
	f.s = f.s[1:]
	switch opt {
	case 'b', 'B', 'x':
		size = 1
	case 'h', 'H':
		size = 2
	case 'f':
		size = 4
	case 'l', 'L', 'T', 'd':
		size = 8
	case 'c':
		return opt, f.number(1), 0
	case 'i', 'I':
		size = f.number(4)
		if size > structMaxInt {
			raise(f.L, "integral size "+itoa(size)+" is larger than limit of "+itoa(structMaxInt))
		}
	}
	if size != 0 {
		unit := min(size, f.align)
		padding = (unit - pos&(unit-1)) & (unit - 1)
	}
	return opt, size, padding
}

// control executes an option that stands for no value.
func (f *structFormat) control(opt byte) {
	switch opt {
	case ' ':
	case '>':
		f.big = true
	case '<':
		f.big = false
	case '!':
		a := f.number(structMaxAlign)
		if a <= 0 || a&(a-1) != 0 {
			raise(f.L, "alignment "+itoa(a)+" is not a power of 2")
		}
		f.align = a
	default:
		argError(f.L, 1, "invalid format option '"+string([]byte{opt})+"'")
	}
}

func isAlnum(c byte) bool { return isDigit(c) || (c|0x20)-'a' < 26 }

func structSize(L *lua.LState) int {
	f := newStructFormat(L)
	pos := 0
	for f.s != "" {
		opt, size, padding := f.next(pos)
		pos += padding + size
		switch {
		case opt == 's':
			argError(L, 1, "option 's' has no fixed size")
		case opt == 'c' && size == 0:
			argError(L, 1, "option 'c0' has no fixed size")
		case !isAlnum(opt):
			f.control(opt)
		}
	}
	L.Push(lua.LNumber(pos))
	return 1
}

func structPack(L *lua.LState) int {
	f := newStructFormat(L)
	L.Push(lua.LNil) // as the original does: a missing value is nil in errors
	m := newMeter(L)
	var dst []byte
	arg := 2
	for f.s != "" {
		before := len(dst)
		opt, size, padding := f.next(before)
		dst = append(dst, make([]byte, padding)...)
		switch opt {
		case 'b', 'B', 'h', 'H', 'l', 'L', 'T', 'i', 'I':
			dst = f.appendInteger(dst, checkNumber(L, arg), size)
			arg++
		case 'x':
			dst = append(dst, 0)
		case 'f':
			dst = f.appendBits(dst, uint64(math.Float32bits(float32(checkNumber(L, arg)))), 4)
			arg++
		case 'd':
			dst = f.appendBits(dst, math.Float64bits(checkNumber(L, arg)), 8)
			arg++
		case 'c', 's':
			dst = appendStructString(L, dst, arg, opt, size)
			arg++
		default:
			f.control(opt)
		}
		m.add(len(dst) - before)
	}
	L.Push(lua.LString(dst))
	return 1
}

// appendStructString appends the first size bytes of an argument, or all if size is 0.
func appendStructString(L *lua.LState, dst []byte, arg int, opt byte, size int) []byte {
	s := checkString(L, arg)
	if size == 0 {
		size = len(s)
	}
	if len(s) < size {
		// The original names the argument after the faulty one.
		argError(L, arg+1, "string too short")
	}
	dst = append(dst, s[:size]...)
	if opt == 's' {
		dst = append(dst, 0)
	}
	return dst
}

// appendInteger appends the low bytes of a number. Bytes beyond 64 bits are zero.
func (f *structFormat) appendInteger(dst []byte, n float64, size int) []byte {
	v := uint64(truncate(n))
	if !(n < 0) {
		v = truncateUnsigned(n)
	}
	return f.appendBits(dst, v, size)
}

func (f *structFormat) appendBits(dst []byte, v uint64, size int) []byte {
	start := len(dst)
	for range size {
		dst = append(dst, byte(v))
		v >>= 8
	}
	if f.big {
		for i, j := start, len(dst)-1; i < j; i, j = i+1, j-1 {
			dst[i], dst[j] = dst[j], dst[i]
		}
	}
	return dst
}

func structUnpack(L *lua.LState) int {
	f := newStructFormat(L)
	data := checkString(L, 2)
	pos := int(optInt(L, 3, 1))
	if pos == 0 {
		argError(L, 3, "offset must be 1 or greater")
	}
	tooShort := func(size int) {
		if size < 0 || size > len(data) || pos < 0 || pos > len(data)-size {
			argError(L, 2, "data string too short")
		}
	}
	args := L.GetTop()
	var values []lua.LValue
	for pos--; f.s != ""; {
		opt, size, padding := f.next(pos)
		pos += padding
		tooShort(size)
		if args+len(values)+2 > cStack {
			raise(L, "stack overflow (too many results)")
		}
		switch opt {
		case 'c':
			if size == 0 {
				size, values = structCount(L, values)
				tooShort(size)
			}
			values = append(values, lua.LString(data[pos:pos+size]))
		case 's':
			n := strings.IndexByte(data[pos:], 0)
			if n < 0 {
				raise(L, "unfinished string in data")
			}
			values = append(values, lua.LString(data[pos:pos+n]))
			size = n + 1
		case 'b', 'B', 'h', 'H', 'l', 'L', 'T', 'i', 'I', 'f', 'd':
			values = append(values, f.value(opt, data[pos:pos+size]))
		case 'x':
		default:
			f.control(opt)
		}
		pos += size
	}
	for _, v := range values {
		L.Push(v)
	}
	L.Push(lua.LNumber(pos + 1))
	return len(values) + 1
}

// structCount removes the last value, which must be a number, and returns it as the length of the
// string that follows.
func structCount(L *lua.LState, values []lua.LValue) (int, []lua.LValue) {
	if n := len(values); n > 0 {
		if f, ok := toNumber(values[n-1]); ok {
			return int(truncateUnsigned(f)), values[:n-1]
		}
	}
	raise(L, "format 'c0' needs a previous size")
	return 0, nil
}

// value returns the number that bytes stand for.
func (f *structFormat) value(opt byte, b string) lua.LValue {
	switch opt {
	case 'f':
		return lua.LNumber(math.Float32frombits(uint32(f.bits(b))))
	case 'd':
		return lua.LNumber(math.Float64frombits(f.bits(b)))
	}
	v := f.bits(b)
	if opt < 'a' {
		return lua.LNumber(v)
	}
	// Compiled for amd64, a shift counts modulo 64. So integers wider than 8 bytes have their
	// sign where the original has it.
	mask := ^uint64(0) << ((len(b)*8 - 1) & 63)
	if v&mask != 0 {
		v |= mask
	}
	return lua.LNumber(int64(v))
}

// bits returns the integer in the bytes. Of more than 8 bytes it takes the low ones.
func (f *structFormat) bits(b string) (v uint64) {
	if f.big {
		for i := range len(b) {
			v = v<<8 | uint64(b[i])
		}
		return v
	}
	for i := len(b) - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[i])
	}
	return v
}
