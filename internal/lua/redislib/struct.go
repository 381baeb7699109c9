package redislib

import (
	"math"
	"strconv"
	"strings"

	"godwit/internal/lua"
	"godwit/internal/lua/number"
)

const (
	structMaxInt   = 32 // bytes of the widest integer
	structMaxAlign = 8  // alignment of '!' without a number
)

func openStruct() *lua.Table {
	return library(3, function{"pack", structPack}, function{"unpack", structUnpack},
		function{"size", structSize})
}

// structFormat reads a format. Sizes and alignments are those of C on amd64: long and size_t take 8
// bytes, integers without a size 4.
type structFormat struct {
	t     *lua.Thread
	s     string // the unread rest
	big   bool
	align int
}

func newStructFormat(t *lua.Thread) structFormat {
	return structFormat{t: t, s: t.CString(1), align: 1}
}

// number reads a number at the front of the format. Without one it returns the default.
func (f *structFormat) number(def int) int {
	if f.s == "" || !number.IsDigit(f.s[0]) {
		return def
	}
	n := 0
	for ; f.s != "" && number.IsDigit(f.s[0]); f.s = f.s[1:] {
		f.t.Spend(1)
		if n = 10*n + int(f.s[0]-'0'); n > math.MaxInt32 {
			f.t.Error("integral size overflow")
		}
	}
	return n
}

// structSizes has the sizes of the options whose size is always the same.
var structSizes = [256]uint8{'b': 1, 'B': 1, 'x': 1, 'h': 2, 'H': 2, 'f': 4, 'l': 8, 'L': 8,
	'T': 8, 'd': 8}

// next returns the next option, its size, and the padding that aligns it at a position.
func (f *structFormat) next(pos int) (opt byte, size, padding int) {
	opt = f.s[0]
	f.s = f.s[1:]
	size = int(structSizes[opt])
	switch opt {
	case 'c':
		return opt, f.number(1), 0
	case 'i', 'I':
		size = f.number(4)
		if size > structMaxInt {
			f.t.Error("integral size " + strconv.Itoa(size) + " is larger than limit of " +
				strconv.Itoa(structMaxInt))
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
			f.t.Error("alignment " + strconv.Itoa(a) + " is not a power of 2")
		}
		f.align = a
	default:
		f.t.ArgError(1, "invalid format option '"+string([]byte{opt})+"'")
	}
}

func isAlnum(c byte) bool { return number.IsDigit(c) || (c|0x20)-'a' < 26 }

func structSize(t *lua.Thread) int {
	f := newStructFormat(t)
	pos := 0
	for f.s != "" {
		t.Spend(1)
		opt, size, padding := f.next(pos)
		pos += padding + size
		switch {
		case opt == 's':
			t.ArgError(1, "option 's' has no fixed size")
		case opt == 'c' && size == 0:
			t.ArgError(1, "option 'c0' has no fixed size")
		case !isAlnum(opt):
			f.control(opt)
		}
	}
	t.Push(lua.Int(pos))
	return 1
}

func structPack(t *lua.Thread) int {
	f := newStructFormat(t)
	t.Push(lua.Nil) // as the original does: a missing value is nil in errors
	w := t.Buffer()
	arg := 1
	number := func() float64 {
		arg++
		return t.Number(arg)
	}
	for f.s != "" {
		t.Spend(1)
		opt, size, padding := f.next(len(w.B))
		for range padding {
			w.AddByte(0)
		}
		switch opt {
		case 'b', 'B', 'h', 'H', 'l', 'L', 'T', 'i', 'I':
			f.write(&w, truncateUnsigned(number()), size)
		case 'f':
			f.write(&w, uint64(math.Float32bits(float32(number()))), size)
		case 'd':
			f.write(&w, math.Float64bits(number()), size)
		case 'c', 's':
			arg++
			writeStructString(t, &w, arg, opt, size)
		case 'x':
			w.AddByte(0)
		default:
			f.control(opt)
		}
	}
	t.Push(w.End())
	return 1
}

// writeStructString writes the first size bytes of an argument, or all if size is 0.
func writeStructString(t *lua.Thread, w *lua.Buffer, arg int, opt byte, size int) {
	s := t.String(arg)
	if size == 0 {
		size = len(s)
	}
	if len(s) < size {
		// The original names the argument after the faulty one.
		t.ArgError(arg+1, "string too short")
	}
	w.Add(s[:size])
	if opt == 's' {
		w.AddByte(0)
	}
}

// write writes the low bytes of v. Bytes beyond 64 bits are zero.
func (f *structFormat) write(w *lua.Buffer, v uint64, size int) {
	for i := range size {
		if f.big {
			i = size - 1 - i
		}
		w.AddByte(byte(v >> (8 * i)))
	}
}

func structUnpack(t *lua.Thread) int {
	f := newStructFormat(t)
	data := t.String(2)
	pos := t.OptInt(3, 1)
	if pos == 0 {
		t.ArgError(3, "offset must be 1 or greater")
	}
	args := t.Top()
	tooShort := func(size int) {
		if size < 0 || size > len(data) || pos < 0 || pos > len(data)-size {
			t.ArgError(2, "data string too short")
		}
	}
	for pos--; f.s != ""; {
		t.Spend(1)
		opt, size, padding := f.next(pos)
		pos += padding
		tooShort(size)
		if t.Top()+2 > cStack {
			t.Error("stack overflow (too many results)")
		}
		switch opt {
		case 'c':
			if size == 0 {
				size = structCount(t, args)
				tooShort(size)
			}
			t.Push(t.Copy(data[pos : pos+size]))
		case 's':
			n := strings.IndexByte(data[pos:], 0)
			if n < 0 {
				t.Spend((len(data) - pos) / lua.HandledPerStep)
				t.Error("unfinished string in data")
			}
			t.Push(t.Copy(data[pos : pos+n]))
			size = n + 1
		case 'b', 'B', 'h', 'H', 'l', 'L', 'T', 'i', 'I', 'f', 'd':
			t.Push(f.value(opt, data[pos:pos+size]))
		case 'x':
		default:
			f.control(opt)
		}
		pos += size
	}
	t.Push(lua.Int(pos + 1))
	return t.Top() - args
}

// structCount removes the last result, which must be a number, and returns it as the length of the
// string that follows.
func structCount(t *lua.Thread, args int) int {
	if t.Top() > args {
		if f, ok := t.ToNumber(t.Arg(t.Top())); ok {
			t.Pop()
			return int(truncateUnsigned(f))
		}
	}
	t.Error("format 'c0' needs a previous size")
	return 0
}

// value returns the number that bytes stand for.
func (f *structFormat) value(opt byte, b string) lua.Value {
	switch opt {
	case 'f':
		return lua.Number(float64(math.Float32frombits(uint32(f.bits(b)))))
	case 'd':
		return lua.Number(math.Float64frombits(f.bits(b)))
	}
	v := f.bits(b)
	if opt < 'a' {
		return lua.Number(float64(v))
	}
	// Compiled for amd64, a shift counts modulo 64. So integers wider than 8 bytes have their
	// sign where the original has it.
	mask := ^uint64(0) << ((len(b)*8 - 1) & 63)
	if v&mask != 0 {
		v |= mask
	}
	return lua.Number(float64(int64(v)))
}

// bits returns the integer in the bytes. Of more than 8 bytes it takes the low ones.
func (f *structFormat) bits(b string) (v uint64) {
	for i := range len(b) {
		if !f.big {
			i = len(b) - 1 - i
		}
		v = v<<8 | uint64(b[i])
	}
	return v
}
