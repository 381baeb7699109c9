// Package hll is the HyperLogLog of Redis: an estimate of how many different elements a set has had, in 12 KiB at most, inside a string value whose
// bytes are Redis's, because such values travel through files, replication, GET and RESTORE.
//
// # How it counts
//
// An element's 64-bit hash is cut in two: 14 bits choose one of 16384 registers, and the other 50 are looked at like coin tosses: how many zeros
// come before the first one, plus one, is the element's rank. A register keeps the highest rank it has met. Many different elements make high ranks
// likely; how the registers are distributed gives the estimate (estimate.go), with a standard error of 1.04/√16384 = 0.81 %. An element
// that comes again changes nothing, and the union of two sets is the maximum of each register.
//
// # The value
//
//	 0      4     5            8                16
//	+------+-----+------------+----------------+-----------
//	| HYLL | enc | unused (3) | cardinality (8)| registers
//	+------+-----+------------+----------------+-----------
//
// enc is 0 for dense and 1 for sparse. The cardinality (little endian) is the last estimate; its highest bit says that registers have changed
// since, so the estimate is made again when it is asked for.
//
// Dense: 16384 registers of six bits in 12288 bytes, four in three bytes, each beginning in the lowest free bit:
//
//	|11000000|22221111|33333322|
//
// Sparse: runs of equal registers, by opcodes:
//
//	00nnnnnn           ZERO   n+1 registers (1..64) are 0
//	01nnnnnn nnnnnnnn  XZERO  n+1 registers (1..16384) are 0
//	1vvvvvnn           VAL    n+1 registers (1..4) are v+1 (1..32)
//
// An empty set is XZERO 16384. A register above 32, or more bytes than hll-sparse-max-bytes, make the value dense for good.
//
// # Trust
//
// Anybody can SET such bytes, so everything is checked as it is read: a value whose header is wrong is ErrFormat, one whose opcodes do not end with the
// 16384th register is ErrCorrupt. No opcode is believed before it is known to stay within the bytes and the registers.
//
// # Sources
//
// P. Flajolet et al., "HyperLogLog" (2007); S. Heule et al., "HyperLogLog in Practice" (2013), for the 64-bit hash and the sparse form; O. Ertl, "New
// cardinality estimation algorithms for HyperLogLog sketches" (arXiv:1702.01284), for the estimator. The layout is Redis's documented one.
package hll

import (
	"encoding/binary"
	"errors"
	"math/bits"

	"godwit/internal/murmur"
)

const (
	// Registers is how many registers a value has.
	Registers = 1 << indexBits
	// HeaderSize is the size of the header in bytes.
	HeaderSize = 16
	// DenseSize is the size of a dense value in bytes.
	DenseSize = HeaderSize + Registers*registerBits/8
	// EmptySize is the size of an empty sparse value in bytes.
	EmptySize = HeaderSize + 2
	// MaxSparse is the size of the longest sparse value in bytes: each register in an opcode of its own, of two bytes.
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

	staleBit = 1 << 63 // of the cardinality
)

var (
	// ErrFormat says that bytes are no HyperLogLog.
	ErrFormat = errors.New("hll: not a HyperLogLog")
	// ErrCorrupt says that the registers do not add up.
	ErrCorrupt = errors.New("hll: corrupt registers")
	// ErrDense is what SetSparse answers when the register has no place in a sparse value of the allowed size.
	ErrDense = errors.New("hll: must become dense")
)

// Hash is the register that an element falls into, and its rank there, 1 to 51.
func Hash(elem []byte) (index int, rank byte) {
	h := murmur.Sum64A(elem, hashSeed)
	rest := h>>indexBits | 1<<rankBits // a one behind the last toss ends the search
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

// Check reports ErrFormat unless b has the header, and if dense the size, of a HyperLogLog. The other functions want it to have passed.
func Check(b []byte) error {
	if len(b) < HeaderSize || string(b[:len(magic)]) != magic || b[offEnc] > encSpars || b[offEnc] == encDense && len(b) != DenseSize {
		return ErrFormat
	}
	return nil
}

// Dense reports whether the value is dense.
func Dense(b []byte) bool { return b[offEnc] == encDense }

// Cached is the estimate in the header; ok says that it is still good.
func Cached(b []byte) (n uint64, ok bool) {
	n = binary.LittleEndian.Uint64(b[offCard:])
	return n, n&staleBit == 0
}

// SetCached stores the estimate in the header.
func SetCached(b []byte, n uint64) { binary.LittleEndian.PutUint64(b[offCard:], n) }

// Invalidate marks the estimate in the header as old.
func Invalidate(b []byte) { b[offCard+7] |= 1 << 7 }

// Count estimates from the registers.
func Count(b []byte) (uint64, error) {
	var h histogram
	if Dense(b) {
		h.dense(b[HeaderSize:])
	} else if err := h.sparse(b); err != nil {
		return 0, err
	}
	return h.estimate(), nil
}

// Valid reports ErrCorrupt unless the opcodes of a sparse value give exactly its registers.
func Valid(b []byte) error {
	if Dense(b) {
		return nil
	}
	var h histogram
	return h.sparse(b)
}

// ToDense writes the dense form of the sparse value b to dst, which is DenseSize bytes long and does not overlap b. After an error its
// content means nothing.
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

// Register is register i of a dense value.
func Register(b []byte, i int) byte { return register(b[HeaderSize:], i) }
