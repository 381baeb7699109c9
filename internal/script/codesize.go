package script

import "godwit/internal/lua/bytecode"

const (
	// scriptOverhead is what a cached script takes beside its text and its code, in bytes: its
	// digest, the record and its places in two maps.
	scriptOverhead = 400
	// protoBytes is the size of a function without what its slices hold, compiled and linked, in
	// bytes.
	protoBytes = 208 + 144
	// constantBytes is the size of a constant, compiled and linked.
	constantBytes = 40 + 16 + 4
)

// codeBytes returns the estimated memory of compiled code in bytes. Names and constants that are
// parts of the source are not counted.
func codeBytes(p *bytecode.Proto) int64 {
	n := protoBytes + 8*cap(p.Code) + 4*cap(p.Lines) + constantBytes*cap(p.Constants) +
		(8+8)*cap(p.Protos) + 24*cap(p.Upvalues) + 32*cap(p.Locals)
	total := int64(n)
	for _, f := range p.Protos {
		total += codeBytes(f)
	}
	return total
}
