// Package hll implements Redis's HyperLogLog: an estimate of how many different elements a set has
// had, in at most 12 KiB. It is stored in a string value whose bytes are Redis's, because such
// values travel through files, replication, GET and RESTORE.
//
// # How it counts
//
// An element's 64-bit hash is cut in two. 14 bits choose one of 16384 registers. The other 50 are
// read like coin tosses: the number of zeros before the first one, plus one, is the element's rank.
// A register keeps the highest rank it has met. Many different elements make high ranks likely. The
// distribution of the registers gives the estimate (estimate.go), with a standard error of
// 1.04/√16384 = 0.81 %. An element that comes again changes nothing, and the union of two sets is
// the maximum of each register.
//
// # The value
//
//	 0      4     5            8                16
//	+------+-----+------------+----------------+-----------
//	| HYLL | enc | unused (3) | cardinality (8)| registers
//	+------+-----+------------+----------------+-----------
//
// enc is 0 for dense and 1 for sparse. The cardinality (little endian) is the last estimate. Its
// highest bit says that registers have changed since, so the next query estimates again.
//
// A dense value has 16384 registers of six bits in 12288 bytes, four in three bytes, each beginning
// in the lowest free bit:
//
//	|11000000|22221111|33333322|
//
// A sparse value is a sequence of opcodes for runs of equal registers:
//
//	00nnnnnn           ZERO   n+1 registers (1..64) are 0
//	01nnnnnn nnnnnnnn  XZERO  n+1 registers (1..16384) are 0
//	1vvvvvnn           VAL    n+1 registers (1..4) are v+1 (1..32)
//
// An empty set is XZERO 16384. A register above 32, or more bytes than hll-sparse-max-bytes, make
// the value dense for good.
//
// # Trust
//
// Anybody can SET such bytes, so everything is checked when it is read. A wrong header is
// ErrFormat. Opcodes that do not end with the 16384th register are ErrCorrupt. No opcode is used
// before it is known to stay within the bytes and the registers.
//
// # Sources
//
// P. Flajolet et al., "HyperLogLog" (2007). S. Heule et al., "HyperLogLog in Practice" (2013), for
// the 64-bit hash and the sparse form. O. Ertl, "New cardinality estimation algorithms for
// HyperLogLog sketches" (arXiv:1702.01284), for the estimator. The layout is Redis's documented
// one.
package hll

import (
	"encoding/binary"
	"errors"
	"math/bits"

	"godwit/internal/murmur"
)

const (
	// Registers is the number of registers of a value.
	Registers = 1 << indexBits
	// HeaderSize is the size of the header in bytes.
	HeaderSize = 16
	// DenseSize is the size of a dense value in bytes.
	DenseSize = HeaderSize + Registers*registerBits/8
	// EmptySize is the size of an empty sparse value in bytes.
	EmptySize = HeaderSize + 2
	// MaxSparse is the size of the longest sparse value in bytes: an opcode of two bytes for each
	// register.
	MaxSparse = HeaderSize + 2*Registers
	// Room is by how many bytes SetSparse may lengthen a value.
	Room = 3

	indexBits    = 14
	registerBits = 6
	rankBits     = 64 - indexBits
	hashSeed     = 0xadc83b19

	magic    = "HYLL"
	offEnc   = 4
	offCard  = 8
	encDense = 0
	encSpars = 1

	staleBit = 1 << 63 // of the cardinality: registers have changed
)

var (
	// ErrFormat reports bytes that are not a HyperLogLog.
	ErrFormat = errors.New("hll: not a HyperLogLog")
	// ErrCorrupt reports registers that do not add up.
	ErrCorrupt = errors.New("hll: corrupt registers")
	// ErrDense reports that a register has no place in a sparse value of the allowed size.
	ErrDense = errors.New("hll: must become dense")
)

// Hash returns the register that an element falls into, and its rank there, 1 to 51.
func Hash(elem []byte) (index int, rank byte) {
	h := murmur.Sum64A(elem, hashSeed)
	rest := h>>indexBits | 1<<rankBits // a one after the last toss ends the search
	return int(h & (Registers - 1)), byte(bits.TrailingZeros64(rest) + 1)
}

// AppendEmpty appends a sparse value without elements.
func AppendEmpty(dst []byte) []byte {
	dst = append(dst, magic...)
	dst = append(dst, encSpars)
	dst = append(dst, make([]byte, HeaderSize-len(magic)-1)...)
	n := Registers - 1
	return append(dst, opXZero|byte(n>>8), byte(n))
}

// Check returns ErrFormat unless b has the header, and if dense the size, of a HyperLogLog. The
// other functions require that it has passed.
func Check(b []byte) error {
	if len(b) < HeaderSize || string(b[:len(magic)]) != magic || b[offEnc] > encSpars ||
		b[offEnc] == encDense && len(b) != DenseSize {
		return ErrFormat
	}
	return nil
}

// Dense reports whether the value is dense.
func Dense(b []byte) bool { return b[offEnc] == encDense }

// Cached returns the estimate in the header. ok says that it is still valid.
func Cached(b []byte) (n uint64, ok bool) {
	n = binary.LittleEndian.Uint64(b[offCard:])
	return n, n&staleBit == 0
}

// SetCached stores the estimate in the header.
func SetCached(b []byte, n uint64) { binary.LittleEndian.PutUint64(b[offCard:], n) }

// Invalidate marks the estimate in the header as out of date.
func Invalidate(b []byte) { b[offCard+7] |= 1 << 7 }

// Count estimates from the registers.
func Count(b []byte) (uint64, error) {
	var h histogram
	if Dense(b) {
		countDense(&h, (*[DenseSize]byte)(b))
	} else if err := h.sparse(b); err != nil {
		return 0, err
	}
	return h.estimate(), nil
}

// ToDense writes the dense form of the sparse value b to dst, which must be DenseSize bytes long
// and not overlap b. After an error the content of dst is undefined.
func ToDense(dst, b []byte) error {
	copy(dst, b[:HeaderSize])
	dst[offEnc] = encDense
	regs := dst[HeaderSize:]
	clear(regs)
	return walk(b, func(first, n int, value byte) {
		if value != 0 {
			for i := first; i < first+n; i++ {
				setRegister(regs, i, value)
			}
		}
	})
}

// Register returns register i of a dense value.
func Register(b []byte, i int) byte { return register(b[HeaderSize:], i) }
