package object

import (
	"fmt"
	"testing"
)

// BenchmarkSmallHash makes, reads and changes hashes of five fields.
func BenchmarkSmallHash(b *testing.B) {
	h := newTestHeap(b, &Limits{HashMaxListpackEntries: 128, HashMaxListpackValue: 64})
	var fields, values [5][]byte
	for i := range fields {
		fields[i], values[i] = fmt.Appendf(nil, "field:%d", i+1), fmt.Append(nil, 1000*i+i)
	}
	fill := func(x *Edit) {
		for i := range fields {
			AsHash(x).Set(fields[i], values[i])
		}
	}
	x, free := newHashEdit(b, h)
	fill(x)
	b.Run("fill", func(b *testing.B) {
		for range b.N {
			x, free := newHashEdit(b, h)
			fill(x)
			free()
		}
	})
	b.Run("get", func(b *testing.B) {
		for i := range b.N {
			AsHash(x).Get(fields[i%5])
		}
	})
	b.Run("set", func(b *testing.B) {
		for i := range b.N {
			AsHash(x).Set(fields[i%5], values[i%7%5])
		}
	})
	free()
}
