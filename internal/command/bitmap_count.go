package command

import (
	"encoding/binary"
	"math/bits"

	"godwit/internal/bitcount"
	"godwit/internal/engine"
)

// countBitRange returns the number of bits set from bit first to bit last, both included.
func countBitRange(b []byte, first, last int64) int64 {
	i, j := first>>3, last>>3
	n := int64(bitcount.Count(b[i : j+1]))
	n -= int64(bits.OnesCount8(b[i] &^ (0xff >> uint(first&7))))
	return n - int64(bits.OnesCount8(b[j]&(0x7f>>uint(last&7))))
}

// firstBit returns the position of the first bit of b that equals bit, or -1 if there is none.
func firstBit(b []byte, bit byte) int64 {
	var skip uint64 // A word without such a bit.
	if bit == 0 {
		skip = ^uint64(0)
	}
	i := 0
	for ; i+32 <= len(b); i += 32 { // quickly over what has none
		x := (*[32]byte)(b[i:])
		if (binary.BigEndian.Uint64(x[0:])^skip)|(binary.BigEndian.Uint64(x[8:])^skip)|
			(binary.BigEndian.Uint64(x[16:])^skip)|(binary.BigEndian.Uint64(x[24:])^skip) != 0 {
			break
		}
	}
	for ; i+8 <= len(b); i += 8 {
		if w := binary.BigEndian.Uint64(b[i:]); w != skip {
			return int64(i*8 + bits.LeadingZeros64(w^skip))
		}
	}
	for ; i < len(b); i++ {
		if x := b[i] ^ byte(skip); x != 0 {
			return int64(i*8 + bits.LeadingZeros8(x))
		}
	}
	return -1
}

// firstBitRange returns the position of the first bit from first to last that equals bit, or -1.
func firstBitRange(b []byte, bit byte, first, last int64) int64 {
	// The first byte is searched alone, because the bits before the range do not count.
	i := first >> 3
	head := b[i] ^ (bit^1)*0xff // Turns the wanted bits into ones.
	if head &= 0xff >> uint(first&7); head != 0 {
		if pos := i*8 + int64(bits.LeadingZeros8(head)); pos <= last {
			return pos
		}
		return -1
	}
	pos := firstBit(b[i+1:last>>3+1], bit)
	if pos < 0 || pos+(i+1)*8 > last {
		return -1
	}
	return pos + (i+1)*8
}

// bitUnit reads BYTE or BIT.
func bitUnit(c *engine.Ctx, arg []byte) (isBit, ok bool) {
	switch {
	case is(arg, "bit"):
		return true, true
	case is(arg, "byte"):
		return false, true
	}
	c.Err(engine.ErrSyntax)
	return false, false
}

func bitcountCmd(c *engine.Ctx) {
	start, end, isBit := int64(0), int64(-1), false
	args, ok := c.Args[2:], true
	switch len(args) {
	case 0:
	case 2, 3:
		if start, ok = intArg(c, args[0]); !ok {
			return
		}
		if end, ok = intArg(c, args[1]); !ok {
			return
		}
		if len(args) == 3 {
			if isBit, ok = bitUnit(c, args[2]); !ok {
				return
			}
		}
	default:
		c.Err(engine.ErrSyntax)
		return
	}
	e := c.DB.LookupRead(c.Args[1])
	if !e.Exists() {
		c.Int(0)
		return
	}
	if !isString(c, e) {
		return
	}
	var scratch [24]byte
	b := c.DB.StringBytes(e, &scratch)
	if start < 0 && end < 0 && start > end {
		c.Int(0)
		return
	}
	c.Int(countSpan(b, start, end, isBit))
}

// countSpan counts the bits set in a range of bits or bytes. Negative indexes count from the end.
func countSpan(b []byte, start, end int64, isBit bool) int64 {
	n := int64(len(b))
	if isBit {
		n *= 8
	}
	first, last, ok := span(start, end, n)
	switch {
	case !ok:
		return 0
	case isBit:
		return countBitRange(b, first, last)
	}
	return int64(bitcount.Count(b[first : last+1]))
}

func bitposCmd(c *engine.Ctx) {
	bit, ok := intArg(c, c.Args[2])
	if !ok {
		return
	}
	if bit != 0 && bit != 1 {
		c.Err("ERR The bit argument must be 1 or 0.")
		return
	}
	var r bitRange
	if !r.parse(c, c.Args[3:]) {
		return
	}
	e := c.DB.LookupRead(c.Args[1])
	if !e.Exists() {
		c.Int(-bit) // A missing string is an endless run of zeros.
		return
	}
	if !isString(c, e) {
		return
	}
	var scratch [24]byte
	b := c.DB.StringBytes(e, &scratch)
	first, last := r.bits(int64(len(b)))
	if first > last {
		c.Int(-1)
		return
	}
	pos := firstBitRange(b, byte(bit), first, last)
	if pos < 0 && bit == 0 && len(c.Args) < 5 {
		pos = last + 1 // Without an end argument, zeros follow the string.
	}
	c.Int(pos)
}

// bitRange is the range of BITPOS, in bits or bytes. Negative indexes count from the end.
type bitRange struct {
	start, end int64
	isBit      bool
}

// parse reads the optional arguments.
func (r *bitRange) parse(c *engine.Ctx, args [][]byte) (ok bool) {
	r.end = -1
	switch {
	case len(args) == 0:
		return true
	case len(args) > 3:
		c.Err(engine.ErrSyntax)
		return false
	}
	if r.start, ok = intArg(c, args[0]); !ok {
		return false
	}
	if len(args) == 3 {
		if r.isBit, ok = bitUnit(c, args[2]); !ok {
			return false
		}
	}
	if len(args) > 1 {
		r.end, ok = intArg(c, args[1])
	}
	return ok
}

// bits returns the first and the last bit of the range in a string of n bytes.
func (r *bitRange) bits(n int64) (first, last int64) {
	start, end := r.start, r.end
	if r.isBit {
		n *= 8
	}
	if start < 0 {
		start = max(start+n, 0)
	}
	if end < 0 {
		end = max(end+n, 0)
	}
	end = min(end, n-1)
	if r.isBit || start > end {
		return start, end
	}
	return start * 8, end*8 + 7
}
