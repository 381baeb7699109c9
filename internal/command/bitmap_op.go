package command

import (
	"encoding/binary"

	"godwit/internal/engine"
	"godwit/internal/object"
	"godwit/internal/sds"
)

// bitOperation is an operation of BITOP.
type bitOperation uint8

const (
	bitNone bitOperation = iota
	bitAnd
	bitOr
	bitXor
	bitNot
	bitDiff  // In the first, in no other.
	bitDiff1 // In another, not in the first.
	bitAndOr // In the first and in another.
	bitOne   // In exactly one.
)

var bitOperationNames = [...]string{bitAnd: "and", bitOr: "or", bitXor: "xor", bitNot: "not",
	bitDiff: "diff", bitDiff1: "diff1", bitAndOr: "andor", bitOne: "one"}

// parseBitOperation reads the operation and checks the number of its sources.
func parseBitOperation(c *engine.Ctx) (bitOperation, bool) {
	sources := len(c.Args) - 3
	for op := bitAnd; op <= bitOne; op++ {
		if !is(c.Args[1], bitOperationNames[op]) {
			continue
		}
		switch {
		case op == bitNot && sources != 1:
			c.Err("ERR BITOP NOT must be called with a single source key.")
			return 0, false
		case (op == bitDiff || op == bitDiff1 || op == bitAndOr) && sources < 2:
			c.Err("ERR BITOP " +
				map[bitOperation]string{bitDiff: "DIFF", bitDiff1: "DIFF1", bitAndOr: "ANDOR"}[op] +
				" must be called with at least two source keys.")
			return 0, false
		}
		return op, true
	}
	c.Err(engine.ErrSyntax)
	return 0, false
}

func bitopCmd(c *engine.Ctx) {
	op, ok := parseBitOperation(c)
	if !ok {
		return
	}
	// Expired sources are deleted first. A later lookup that deletes one would invalidate the
	// bytes already looked up.
	n, keys := 0, c.Args[3:]
	ahead := c.DB.Lookahead(keys, 1)
	for i, key := range keys {
		ahead.Reach(i)
		e := c.DB.LookupRead(key)
		if !isString(c, e) {
			return
		}
		if e.Exists() {
			n = max(n, e.StringLen())
		}
	}
	dst := c.Args[2]
	if n == 0 {
		storedNothing(c, dst)
		if op >= bitDiff { // Redis 7.0 does not know these.
			c.PropagateAs(wordDel, dst)
		}
		return
	}
	var small [1024]byte
	var value object.Value
	if n <= len(small) {
		combine(op, small[:n], bitSources(c))
		value = object.RawValue(small[:n])
	} else {
		// The result goes straight into the block that the key will own.
		var s sds.Str
		s.Reserve(c.E.KS.A, n)
		s.Len = uint32(n)
		combine(op, s.Bytes(c.E.KS.A), bitSources(c))
		value = object.SDSValue(s)
	}
	c.DB.Overwrite(dst, value, 0)
	c.Dirty(1)
	changed(c, "set", dst)
	c.Int(int64(n))
	if op >= bitDiff && c.Propagating() {
		var scratch [24]byte
		c.PropagateEach(wordSet, dst, c.DB.StringBytes(c.DB.Peek(dst), &scratch))
	}
}

// bitSources returns the strings of BITOP's sources, nil for each missing one.
func bitSources(c *engine.Ctx) [][]byte {
	sources := make([][]byte, len(c.Args)-3)
	scratch := make([][24]byte, len(sources))
	for i, key := range c.Args[3:] {
		if e := c.DB.Peek(key); e.Exists() {
			sources[i] = c.DB.StringBytes(e, &scratch[i])
		}
	}
	return sources
}

// bitChunk is the number of bytes combined before the next source's turn. So dst stays in the
// cache, and the inner loops run over two plain slices.
const bitChunk = 8 << 10

// combine writes the result to dst, which must be as long as the longest source. Shorter sources
// are padded with zeros. The old content of dst is ignored, and dst must not overlap a source.
func combine(op bitOperation, dst []byte, sources [][]byte) {
	var twice []byte // For ONE: the bits that are set in more than one source.
	if op == bitOne {
		twice = make([]byte, min(bitChunk, len(dst)))
	}
	// DIFF, DIFF1 and ANDOR first unite the other sources, then combine the first with them.
	others := op == bitDiff || op == bitDiff1 || op == bitAndOr
	for at := 0; at < len(dst); at += bitChunk {
		d := dst[at:min(at+bitChunk, len(dst))]
		rest := sources
		if others {
			rest = sources[1:]
		}
		clear(d[copy(d, tail(rest[0], at, len(d))):])
		t := twice[:min(len(d), len(twice))]
		clear(t)
		for _, s := range rest[1:] {
			s = tail(s, at, len(d))
			switch {
			case op == bitOne:
				once(d, t, s)
			case others:
				apply(bitOr, d, s)
			default:
				apply(op, d, s)
			}
		}
		switch {
		case others:
			apply(op, d, tail(sources[0], at, len(d)))
		case op == bitNot:
			invert(d)
		case op == bitOne:
			apply(bitDiff1, d, t)
		}
	}
}

// tail returns at most n bytes of s from position at.
func tail(s []byte, at, n int) []byte {
	if at >= len(s) {
		return nil
	}
	return s[at:min(at+n, len(s))]
}

// block is the number of bytes that the inner loops take at a time. Pointers to arrays of this size
// avoid bounds checks.
const block = 32

func word(b *[block]byte, i int) uint64   { return binary.LittleEndian.Uint64(b[i*8 : i*8+8]) }
func put(b *[block]byte, i int, v uint64) { binary.LittleEndian.PutUint64(b[i*8:i*8+8], v) }

// apply combines d with s, which may be shorter. AND, OR and XOR do what their names say. For DIFF,
// DIFF1 and ANDOR, d must be the union of all sources but the first, and s the first.
func apply(op bitOperation, d, s []byte) {
	switch op {
	case bitAnd, bitAndOr, bitDiff:
		clear(d[len(s):])
	}
	d = d[:len(s)]
	n := len(s) &^ (block - 1)
	for i := 0; i < n; i += block {
		x, y := (*[block]byte)(d[i:]), (*[block]byte)(s[i:])
		switch op {
		case bitAnd, bitAndOr:
			put(x, 0, word(x, 0)&word(y, 0))
			put(x, 1, word(x, 1)&word(y, 1))
			put(x, 2, word(x, 2)&word(y, 2))
			put(x, 3, word(x, 3)&word(y, 3))
		case bitOr:
			put(x, 0, word(x, 0)|word(y, 0))
			put(x, 1, word(x, 1)|word(y, 1))
			put(x, 2, word(x, 2)|word(y, 2))
			put(x, 3, word(x, 3)|word(y, 3))
		case bitXor:
			put(x, 0, word(x, 0)^word(y, 0))
			put(x, 1, word(x, 1)^word(y, 1))
			put(x, 2, word(x, 2)^word(y, 2))
			put(x, 3, word(x, 3)^word(y, 3))
		default:
			for k := range 4 {
				put(x, k, applyWord(op, word(x, k), word(y, k)))
			}
		}
	}
	for i := n; i < len(s); i++ {
		d[i] = byte(applyWord(op, uint64(d[i]), uint64(s[i])))
	}
}

func applyWord(op bitOperation, d, s uint64) uint64 {
	switch op {
	case bitOr:
		return d | s
	case bitXor:
		return d ^ s
	case bitDiff:
		return s &^ d
	case bitDiff1:
		return d &^ s
	}
	return d & s
}

// once adds s to the bits seen so far, d, and to those seen more than once, t.
func once(d, t, s []byte) {
	d, t = d[:len(s)], t[:len(s)]
	n := len(s) &^ (block - 1)
	for i := 0; i < n; i += block {
		x, y, z := (*[block]byte)(d[i:]), (*[block]byte)(s[i:]), (*[block]byte)(t[i:])
		for k := range 4 {
			a, b := word(x, k), word(y, k)
			put(z, k, word(z, k)|a&b)
			put(x, k, a|b)
		}
	}
	for i := n; i < len(s); i++ {
		t[i] |= d[i] & s[i]
		d[i] |= s[i]
	}
}

func invert(d []byte) {
	for ; len(d) >= block; d = d[block:] {
		x := (*[block]byte)(d)
		put(x, 0, ^word(x, 0))
		put(x, 1, ^word(x, 1))
		put(x, 2, ^word(x, 2))
		put(x, 3, ^word(x, 3))
	}
	for i := range d {
		d[i] = ^d[i]
	}
}
