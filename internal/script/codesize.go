package script

import (
	"math/bits"

	lua "github.com/yuin/gopher-lua"
)

const (
	// scriptOverhead is what a cached script takes beside its text and its code, in bytes: its
	// digest, the record and its places in two maps.
	scriptOverhead = 400
	// protoBytes is the size of a function without what its slices hold, in bytes.
	protoBytes = 288
	// stringRoom is for how many constants the compiler makes room in its list of their strings.
	stringRoom = 32
)

// codeBytes returns the estimated memory of compiled code in bytes. Names are parts of the source
// and are not counted. String constants are counted, but not tables of constants.
func codeBytes(p *lua.FunctionProto) int64 {
	n := protoBytes + 4*cap(p.Code) + 8*cap(p.DbgSourcePositions) + 8*cap(p.FunctionPrototypes) +
		16*cap(p.Constants) + 16*max(stringRoom, 1<<bits.Len(uint(len(p.Constants)))) +
		24*cap(p.DbgCalls) + (8+32)*cap(p.DbgLocals) + 16*cap(p.DbgUpvalues)
	for _, c := range p.Constants {
		switch c := c.(type) {
		case lua.LString:
			n += 16 + len(c)
		case lua.LNumber:
			n += 8
		}
	}
	total := int64(n)
	for _, f := range p.FunctionPrototypes {
		total += codeBytes(f)
	}
	return total
}
