// Package cms is the count-min sketch: how often each item of a stream was seen, in memory that does not depend on the stream.
//
// # Layout
//
// depth rows of width counters, each 32 bits, little endian, one row behind the other:
//
//	         0      1      2            width−1
//	row 0  ┌──────┬──────┬──────┬─ ─ ─┬──────┐
//	row 1  ├──────┼──────┼──────┼─ ─ ─┼──────┤      counter of an item in row i:
//	  …    ├──────┼──────┼──────┼─ ─ ─┼──────┤      MurmurHash2(item, seed i) mod width
//	row d  └──────┴──────┴──────┴─ ─ ─┴──────┘
//
// Adding n to an item adds n to its counter in each row; its count is the least of them. For example with width 2 and depth 2, three times "a" and
// once "b" where the two share the counter of row 0 but not that of row 1: rows 4 0 and 3 1; the count of "a" is min(4, 3) = 3.
//
// # Invariants
//
//   - A count is never less than the truth, except for counters that are full: they stay at 4294967295 (Max), and Incr says so.
//   - With width w and a total of N, a row's counter exceeds the truth by more than 2N/w with probability at most 1/2 (Markov), so the count does
//     with probability at most 2^−depth. Dim inverts that.
//   - The bytes are exactly RedisBloom's array, so values can be exchanged with it.
//
// # Cost
//
// Incr and Query: depth hashes of the item and depth cache misses. Merge: width × depth × sources.
//
// # Limits
//
// 2^32 − 1 for a counter, 2^63 − 1 for the total. There is no removing: Merge with a weight of −1 takes a whole sketch from another.
//
// Source: Cormode and Muthukrishnan, "An improved data stream summary: the count-min sketch and its applications" (2005); sizing and hash as in RedisBloom.
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
	// Max is where a counter stops counting.
	Max = math.MaxUint32
)

// ErrOverflow is a merge after which a counter or the total would be negative or too large. Nothing was changed.
var ErrOverflow = errors.New("cms: overflow")

// Memory holds the counters as its block 0.
type Memory interface {
	// Block is a block, to be read.
	Block(i int) []byte
	// Change is n bytes of a block from off on, to be changed.
	Change(i, off, n int) []byte
}

// Sketch is a view of a sketch; whoever owns the memory keeps the numbers too.
type Sketch struct {
	Width, Depth uint64 // at least 1 each
	Count        uint64 // the total of what was added, at most 2^63 − 1
	Mem          Memory // Bytes(Width, Depth) bytes
}

// Dim is the size of a sketch whose counts exceed the truth by more than overEstimate × total with at most that probability. Both are in (0, 1). It
// reports false for what has no size: a width beyond 63 bits or a probability so near to 1 that no row is left.
func Dim(overEstimate, probability float64) (width, depth uint64, ok bool) {
	w := math.Ceil(2 / overEstimate)
	// In single precision, as the sizes of others' sketches were computed: at 2^−n the next depth begins.
	d := math.Ceil(float64(float32(math.Log10(float64(float32(probability)))) / float32(math.Log10(0.5))))
	if !(w >= 1 && w < math.MaxInt64) || !(d >= 1 && d < math.MaxInt32) {
		return 0, 0, false
	}
	return uint64(w), uint64(d), true
}

// Bytes is how many bytes the counters of such a sketch take; it reports false if that is 2^63 or more.
func Bytes(width, depth uint64) (n int64, ok bool) {
	hi, cells := bits.Mul64(width, depth)
	if hi != 0 || cells > math.MaxInt64/CellSize {
		return 0, false
	}
	return int64(cells * CellSize), true
}

// cell is where the item's counter of a row is.
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

// Query is the count of an item.
func (s *Sketch) Query(item []byte) uint32 {
	cells, least := s.Mem.Block(0), uint32(Max)
	for row := range s.Depth {
		least = min(least, binary.LittleEndian.Uint32(cells[s.cell(item, row):]))
	}
	return least
}

// Merge makes s the sum of the sources, each times its weight. All have the size of s, and s may be one of them. What s held otherwise is gone.
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
	const page = 4096 // bytes that are changed at once
	for off := 0; off < size; off += page {
		b := s.Mem.Change(0, off, min(page, size-off))
		for i := 0; i < len(b); i += CellSize {
			// A source may be s itself: of that, what is read here is not written yet.
			v, _ := sum(cells, weights, off+i)
			binary.LittleEndian.PutUint32(b[i:], v)
		}
	}
	s.Count = uint64(total)
	return nil
}

type cellSum func(cells [][]byte, weights []int64, off int) (v uint32, ok bool)

// sumFunc chooses how to add counters: weights as people use them cannot overflow 63 bits.
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
		if sum, ok = mulAdd(sum, uint64(binary.LittleEndian.Uint32(cells[i][off:])), weights[i]); !ok {
			return 0, false
		}
	}
	return uint32(sum), uint64(sum) <= Max
}

// mulAdd is sum + n × weight; it reports false on overflow. n is at most 2^63 − 1.
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
