package command

import (
	"encoding/binary"

	"godwit/internal/engine"
	"godwit/internal/keyspace"
	"godwit/internal/object"
	"godwit/internal/sds"
)

// bitOperation is one of BITOP's.
type bitOperation uint8

const (
	bitNone bitOperation = iota
	bitAnd
	bitOr
	bitXor
	bitNot
	bitDiff  // in the first, in no other
	bitDiff1 // in another, not in the first
	bitAndOr // in the first and in another
	bitOne   // in exactly one
)

var bitOperationNames = [...]string{bitAnd: "and", bitOr: "or", bitXor: "xor", bitNot: "not",
	bitDiff: "diff", bitDiff1: "diff1", bitAndOr: "andor", bitOne: "one"}

func bitopCommand() *engine.Command {
	var operations []engine.Arg
	for op := bitAnd; op <= bitOne; op++ {
		a := engine.Tok(bitOperationNames[op])
		if op >= bitDiff {
			a = a.From("8.2.0")
		}
		operations = append(operations, a)
	}
	return bitmapCommand(engine.Command{
		Name: "bitop", Arity: -4, Flags: engine.Write | engine.DenyOOM, Since: "2.6.0",
		Summary: "Combines strings bit by bit and stores the result.", Complexity: "O(N)",
		History: []engine.History{{Since: "8.2.0", Change: "Takes `DIFF`, `DIFF1`, `ANDOR` and `ONE`."}},
		Keys:    []engine.KeySpec{keyAt(2, engine.OW|engine.Update), keysFrom(3, engine.RO|engine.AccessFlag)},
		Run:     bitopCmd,
	}, 0, engine.OneOf("operation", operations...), engine.Key("destkey", 0), engine.Key("key", 1).Many())
}

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
			c.Err("ERR BITOP " + map[bitOperation]string{bitDiff: "DIFF", bitDiff1: "DIFF1", bitAndOr: "ANDOR"}[op] +
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
	// Sources that are due are deleted first: a lookup that deletes would end the life of the bytes looked up before.
	n := 0
	for _, key := range c.Args[3:] {
		e := c.DB.Lookup(key)
		if !isString(c, e) {
			return
		}
		if e.Exists() {
			n = max(n, e.StringLen())
		}
	}
	dst := c.Args[2]
	if n == 0 {
		if c.DB.Delete(dst) {
			c.Changed(dst)
			c.Notify(keyspace.EvGeneric, "del", dst)
			c.Dirty(1)
		}
		c.Int(0)
		return
	}
	var small [1024]byte
	var value object.Value
	if n <= len(small) {
		combine(op, small[:n], bitSources(c))
		value = object.RawValue(small[:n])
	} else {
		// Straight into the block that the key will own.
		var s sds.Str
		s.Reserve(c.E.KS.A, n)
		s.Len = uint32(n)
		combine(op, s.Bytes(c.E.KS.A), bitSources(c))
		value = object.SDSValue(s)
	}
	c.DB.Set(dst, value, 0)
	c.Dirty(1)
	changed(c, "set", dst)
	c.Int(int64(n))
}

// bitSources are the strings of BITOP's sources, nil for a missing one.
func bitSources(c *engine.Ctx) [][]byte {
	sources := make([][]byte, len(c.Args)-3)
	scratch := make([][24]byte, len(sources))
	for i, key := range c.Args[3:] {
		if e := c.DB.LookupRead(key); e.Exists() {
			sources[i] = c.DB.StringBytes(e, &scratch[i])
		}
	}
	return sources
}

// bitChunk is how many bytes are combined before the next source's turn: dst stays in the cache, and the inner loops
// run over two plain slices.
const bitChunk = 8 << 10

// combine writes the result to dst, which is as long as the longest source; shorter sources go on with zeros. Its content before
// does not count, and it must not overlap a source.
func combine(op bitOperation, dst []byte, sources [][]byte) {
	twice := make([]byte, min(bitChunk, len(dst))) // for ONE: bits that came more than once
	for at := 0; at < len(dst); at += bitChunk {
		d := dst[at:min(at+bitChunk, len(dst))]
		first := tail(sources[0], at, len(d))
		// DIFF, DIFF1 and ANDOR combine the others first, then the first with them.
		others := sources[1:]
		switch op {
		case bitDiff, bitDiff1, bitAndOr:
			clear(d)
			for _, s := range others {
				apply(bitOr, d, tail(s, at, len(d)))
			}
			finish(op, d, first)
			continue
		}
		clear(d[copy(d, first):])
		t := twice[:len(d)]
		clear(t)
		for _, s := range others {
			s = tail(s, at, len(d))
			if op == bitOne {
				once(d, t, s)
			} else {
				apply(op, d, s)
			}
		}
		switch op {
		case bitNot:
			invert(d)
		case bitOne:
			finish(bitDiff1, d, t)
		}
	}
}

// tail is the part of s from at on, at most n bytes.
func tail(s []byte, at, n int) []byte {
	if at >= len(s) {
		return nil
	}
	return s[at:min(at+n, len(s))]
}

// apply combines s, which may be shorter, into d by AND, OR or XOR.
func apply(op bitOperation, d, s []byte) {
	if op == bitAnd {
		clear(d[len(s):])
	}
	d = d[:len(s)]
	i := 0
	for ; i+8 <= len(s); i += 8 {
		x, y := binary.LittleEndian.Uint64(d[i:]), binary.LittleEndian.Uint64(s[i:])
		switch op {
		case bitAnd:
			x &= y
		case bitOr:
			x |= y
		default:
			x ^= y
		}
		binary.LittleEndian.PutUint64(d[i:], x)
	}
	for ; i < len(s); i++ {
		switch op {
		case bitAnd:
			d[i] &= s[i]
		case bitOr:
			d[i] |= s[i]
		default:
			d[i] ^= s[i]
		}
	}
}

// once adds s to the bits seen in d and to those seen more than once in t.
func once(d, t, s []byte) {
	d, t = d[:len(s)], t[:len(s)]
	i := 0
	for ; i+8 <= len(s); i += 8 {
		x, y := binary.LittleEndian.Uint64(d[i:]), binary.LittleEndian.Uint64(s[i:])
		binary.LittleEndian.PutUint64(t[i:], binary.LittleEndian.Uint64(t[i:])|x&y)
		binary.LittleEndian.PutUint64(d[i:], x|y)
	}
	for ; i < len(s); i++ {
		t[i] |= d[i] & s[i]
		d[i] |= s[i]
	}
}

// finish combines d, the union of the others, with the first source x, which may be shorter.
func finish(op bitOperation, d, x []byte) {
	if op != bitDiff1 {
		clear(d[len(x):])
	}
	d = d[:len(x)]
	i := 0
	for ; i+8 <= len(x); i += 8 {
		u, v := binary.LittleEndian.Uint64(d[i:]), binary.LittleEndian.Uint64(x[i:])
		binary.LittleEndian.PutUint64(d[i:], finishWord(op, u, v))
	}
	for ; i < len(x); i++ {
		d[i] = byte(finishWord(op, uint64(d[i]), uint64(x[i])))
	}
}

func finishWord(op bitOperation, others, first uint64) uint64 {
	switch op {
	case bitDiff:
		return first &^ others
	case bitDiff1:
		return others &^ first
	}
	return first & others
}

func invert(d []byte) {
	i := 0
	for ; i+8 <= len(d); i += 8 {
		binary.LittleEndian.PutUint64(d[i:], ^binary.LittleEndian.Uint64(d[i:]))
	}
	for ; i < len(d); i++ {
		d[i] = ^d[i]
	}
}
