// Package cms implements the count-min sketch: how often each item of a stream was seen, in memory
// that does not depend on the stream.
//
// # Layout
//
// A sketch has depth rows of width counters, each 32 bits, little endian, one row after the other:
//
//	         0      1      2            width−1
//	row 0  ┌──────┬──────┬──────┬─ ─ ─┬──────┐
//	row 1  ├──────┼──────┼──────┼─ ─ ─┼──────┤      counter of an item in row i:
//	  …    ├──────┼──────┼──────┼─ ─ ─┼──────┤      MurmurHash2(item, seed i) mod width
//	row d  └──────┴──────┴──────┴─ ─ ─┴──────┘
//
// Adding n to an item adds n to its counter in each row. The item's count is the least of these
// counters. Take width 2 and depth 2, with three times "a" and once "b", which share the counter of
// row 0 but not that of row 1. The rows are 4 0 and 3 1, and the count of "a" is min(4, 3) = 3.
//
// # Invariants
//
//   - A count is never less than the truth, unless counters are full: they stay at 4294967295
//     (Max), and Incr reports it.
//   - With width w and a total of N, a row's counter exceeds the truth by more than 2N/w with
//     probability at most 1/2 (Markov). So the count does with probability at most 2^−depth. Dim
//     inverts that.
//   - The bytes are exactly RedisBloom's array, so values can be exchanged with it.
//
// # Cost
//
// Incr and Query take depth hashes of the item and depth cache misses. Merge takes width × depth ×
// sources.
//
// # Limits
//
// A counter is at most 2^32 − 1, the total at most 2^63 − 1. Nothing can be removed, but Merge with
// a weight of −1 subtracts a whole sketch from another.
//
// Source: Cormode and Muthukrishnan, "An improved data stream summary: the count-min sketch and its
// applications" (2005). Sizing and hash are RedisBloom's.
package cms

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"

	"godwit/internal/murmur"
)

const (
	// CellSize is the size of a counter in bytes.
	CellSize = 4
	// Max is the value at which a counter stops.
	Max = math.MaxUint32
)

// ErrOverflow reports a merge after which a counter or the total would be negative or too large. It
// changes nothing.
var ErrOverflow = errors.New("cms: overflow")

// Memory holds the counters as its block 0.
type Memory interface {
	// Block returns a block, for reading.
	Block(i int) []byte
	// Change returns n bytes of a block from off on, for writing.
	Change(i, off, n int) []byte
}

// Sketch is a view of a sketch. Whoever owns the memory stores the numbers too.
type Sketch struct {
	Width, Depth uint64 // at least 1 each
	Count        uint64 // the sum of all additions, at most 2^63 − 1
	Mem          Memory // Bytes(Width, Depth) bytes
}

// Dim returns the size of a sketch whose counts exceed the truth by more than overEstimate × total
// with at most the given probability. Both are in (0, 1). It reports false if there is no such
// size: the width exceeds 63 bits, or the probability is so close to 1 that no row is left.
func Dim(overEstimate, probability float64) (width, depth uint64, ok bool) {
	w := math.Ceil(2 / overEstimate)
	// Single precision, as others compute the sizes of their sketches: the next depth begins at
	// 2^−n.
	d := math.Ceil(
		float64(float32(math.Log10(float64(float32(probability)))) / float32(math.Log10(0.5))))
	if !(w >= 1 && w < math.MaxInt64) || !(d >= 1 && d < math.MaxInt32) {
		return 0, 0, false
	}
	return uint64(w), uint64(d), true
}

// Bytes returns the bytes that the counters of a sketch of this size take. It reports false if that
// is 2^63 or more.
func Bytes(width, depth uint64) (n int64, ok bool) {
	hi, cells := bits.Mul64(width, depth)
	if hi != 0 || cells > math.MaxInt64/CellSize {
		return 0, false
	}
	return int64(cells * CellSize), true
}

// cell returns where the item's counter of a row is.
func (s *Sketch) cell(item []byte, row uint64) int {
	return int((row*s.Width + uint64(murmur.Sum32(item, uint32(row)))%s.Width) * CellSize)
}

// Incr adds n to an item and returns its count, which is Max if its counters are full.
func (s *Sketch) Incr(item []byte, n uint64) uint32 {
	cells, least := s.Mem.Block(0), uint32(Max)
	for row := range s.Depth {
		off := s.cell(item, row)
		old := binary.LittleEndian.Uint32(cells[off:])
		v := uint32(Max)
		if n <= uint64(Max-old) {
			v = old + uint32(n)
		}
		if v != old {
			binary.LittleEndian.PutUint32(s.Mem.Change(0, off, CellSize), v)
		}
		least = min(least, v)
	}
	s.Count += min(n, math.MaxInt64-s.Count)
	return least
}

// Query returns the count of an item.
func (s *Sketch) Query(item []byte) uint32 {
	cells, least := s.Mem.Block(0), uint32(Max)
	for row := range s.Depth {
		least = min(least, binary.LittleEndian.Uint32(cells[s.cell(item, row):]))
	}
	return least
}

// Merge makes s the sum of the sources, each times its weight. All must have the size of s, and s
// may be one of them. What s held otherwise is lost.
func (s *Sketch) Merge(sources []Sketch, weights []int64) error {
	sum := sumFunc(weights)
	var total int64
	for i := range sources {
		var ok bool
		if total, ok = mulAdd(total, sources[i].Count, weights[i]); !ok {
			return ErrOverflow
		}
	}
	if total < 0 {
		return ErrOverflow
	}
	cells := make([][]byte, len(sources))
	for i := range sources {
		cells[i] = sources[i].Mem.Block(0)
	}
	size := len(s.Mem.Block(0))
	for off := 0; off < size; off += CellSize {
		if _, ok := sum(cells, weights, off); !ok {
			return ErrOverflow
		}
	}
	const page = 4096 // bytes changed at once
	for off := 0; off < size; off += page {
		b := s.Mem.Change(0, off, min(page, size-off))
		for i := 0; i < len(b); i += CellSize {
			// A source may be s itself: what is read of it here is not written yet.
			v, _ := sum(cells, weights, off+i)
			binary.LittleEndian.PutUint32(b[i:], v)
		}
	}
	s.Count = uint64(total)
	return nil
}

type cellSum func(cells [][]byte, weights []int64, off int) (v uint32, ok bool)

// sumFunc chooses how to add counters. With ordinary weights the sum cannot overflow 63 bits.
func sumFunc(weights []int64) cellSum {
	var all uint64
	for _, w := range weights {
		if w > math.MaxInt32 || w < -math.MaxInt32 {
			return sumSafe
		}
		all += uint64(max(w, -w))
	}
	if all > math.MaxInt32 {
		return sumSafe
	}
	return sumFast
}

func sumFast(cells [][]byte, weights []int64, off int) (uint32, bool) {
	var sum int64
	for i := range cells {
		sum += int64(binary.LittleEndian.Uint32(cells[i][off:])) * weights[i]
	}
	return uint32(sum), uint64(sum) <= Max
}

func sumSafe(cells [][]byte, weights []int64, off int) (uint32, bool) {
	var sum int64
	for i := range cells {
		var ok bool
		if sum, ok = mulAdd(sum, uint64(binary.LittleEndian.Uint32(cells[i][off:])),
			weights[i]); !ok {
			return 0, false
		}
	}
	return uint32(sum), uint64(sum) <= Max
}

// mulAdd returns sum + n × weight. It reports false on overflow. n is at most 2^63 − 1.
func mulAdd(sum int64, n uint64, weight int64) (int64, bool) {
	if n == 0 {
		return sum, true
	}
	p := int64(n) * weight
	if p/int64(n) != weight {
		return 0, false
	}
	r := sum + p
	return r, (r > sum) == (p > 0)
}
