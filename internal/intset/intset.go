// Package intset is the packed form of a small set of integers: a sorted array in one block of
// bytes.
//
// # Why
//
// Sets of ids are common. As integers of the smallest width that fits them all, they take 2, 4 or 8
// bytes each, with no pointer, no length and no hash. Up to some hundreds of elements, a binary
// search over one or a few cache lines is as fast as a hash table.
//
// # Layout
//
// All numbers are little endian. The bytes are those of Redis's intset, because they travel
// unchanged in RDB files and DUMP payloads:
//
//	0          4          8
//	+----------+----------+---------+---------+--
//	| width    | length   | integer | integer | …
//	+----------+----------+---------+---------+--
//
//	width    uint32: bytes of an integer, 2, 4 or 8
//	length   uint32: how many follow
//	integer  signed; strictly ascending
//
// Example: {-1, 5} is 02000000 02000000 ffff 0500.
//
// # Invariants
//
//   - The block is exactly 8 + length·width bytes long.
//   - The width never shrinks: what removing the widest integer would save is not worth rewriting
//     the rest.
//   - An integer that needs a greater width than the block has lies outside the range of all
//     others. So a block that is widened gets its new integer at one of its ends.
//
// # Cost
//
// Has is O(log n). Add and Remove are O(log n), plus moving the bytes after the place. Widening is
// O(n) and happens at most twice in a block's life.
//
// Limits: 2^32-1 integers; the owner converts to another form far earlier (set-max-intset-entries).
//
// Source: the format is that of Redis's intset (Pieter Noordhuis, 2010).
package intset

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"godwit/internal/invariant"
)

const (
	header = 8

	width16 = 2
	width32 = 4
	width64 = 8
)

// Space is a block in which gaps can be opened and closed.
type Space interface {
	// Bytes returns the block's contents.
	Bytes() []byte
	// Splice replaces del bytes at offset at by ins undefined ones and returns the whole contents.
	// Earlier slices are invalid then.
	Splice(at, del, ins int) []byte
}

var empty = [header]byte{width16}

// Empty returns an intset without integers. It must not be modified.
func Empty() []byte { return empty[:] }

// Len returns the number of integers.
func Len(b []byte) int { return int(binary.LittleEndian.Uint32(b[4:])) }

func width(b []byte) int { return int(b[0]) }

// widthOf returns the width that v needs.
func widthOf(v int64) int {
	switch {
	case v == int64(int16(v)):
		return width16
	case v == int64(int32(v)):
		return width32
	}
	return width64
}

// At returns integer i. 0 is the smallest.
func At(b []byte, i int) int64 { return get(b, width(b), i) }

func get(b []byte, w, i int) int64 {
	p := b[header+i*w:]
	switch w {
	case width16:
		return int64(int16(binary.LittleEndian.Uint16(p)))
	case width32:
		return int64(int32(binary.LittleEndian.Uint32(p)))
	}
	return int64(binary.LittleEndian.Uint64(p))
}

func put(b []byte, w, i int, v int64) {
	p := b[header+i*w:]
	switch w {
	case width16:
		binary.LittleEndian.PutUint16(p, uint16(v))
	case width32:
		binary.LittleEndian.PutUint32(p, uint32(v))
	default:
		binary.LittleEndian.PutUint64(p, uint64(v))
	}
}

func setLen(b []byte, n int) { binary.LittleEndian.PutUint32(b[4:], uint32(n)) }

// Min returns the smallest integer. The set must not be empty.
func Min(b []byte) int64 { return At(b, 0) }

// Max returns the greatest integer. The set must not be empty.
func Max(b []byte) int64 { return At(b, Len(b)-1) }

// Has reports whether v is in the set. O(log n).
func Has(b []byte, v int64) bool {
	if widthOf(v) > width(b) {
		return false
	}
	_, ok := search(b, v)
	return ok
}

// search returns the index of v, or where it would have to be inserted.
func search(b []byte, v int64) (i int, found bool) {
	w, n := width(b), Len(b)
	// Ascending inserts are common.
	if n == 0 || v > get(b, w, n-1) {
		return n, false
	}
	lo, hi := 0, n-1 // v <= the integer at hi
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); get(b, w, mid) < v {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, get(b, w, lo) == v
}

// Add puts v into the set and reports whether it is new.
func Add(s Space, v int64) bool {
	b := s.Bytes()
	if widthOf(v) > width(b) {
		widen(s, v)
		return true
	}
	i, found := search(b, v)
	if found {
		return false
	}
	w, n := width(b), Len(b)
	invariant.Check(n < math.MaxUint32, "intset: %d integers", n)
	b = s.Splice(header+i*w, 0, w)
	put(b, w, i, v)
	setLen(b, n+1)
	return true
}

// widen gives all integers the width of v and adds v, which is less or greater than all of them.
func widen(s Space, v int64) {
	b := s.Bytes()
	n, from, to := Len(b), width(b), widthOf(v)
	b = s.Splice(len(b), 0, n*(to-from)+to)
	shift := 0
	if v < 0 {
		shift = 1
	}
	for i := n - 1; i >= 0; i-- { // from the end, so that nothing is overwritten before it is read
		put(b, to, i+shift, get(b, from, i))
	}
	if v < 0 {
		put(b, to, 0, v)
	} else {
		put(b, to, n, v)
	}
	binary.LittleEndian.PutUint32(b, uint32(to))
	setLen(b, n+1)
}

// Remove removes v and reports whether it was there.
func Remove(s Space, v int64) bool {
	b := s.Bytes()
	if widthOf(v) > width(b) {
		return false
	}
	i, found := search(b, v)
	if !found {
		return false
	}
	RemoveAt(s, i)
	return true
}

// RemoveAt removes integer i.
func RemoveAt(s Space, i int) {
	b := s.Bytes()
	w, n := width(b), Len(b)
	b = s.Splice(header+i*w, w, 0)
	setLen(b, n-1)
}

// ErrInvalid is wrapped by the errors of Validate.
var ErrInvalid = errors.New("invalid intset")

// Validate checks every integer of bytes that come from outside. An empty set is an error, because
// no key may hold one. Bytes must pass before the other functions may get them.
func Validate(b []byte) error {
	if len(b) < header {
		return fmt.Errorf("%w: %d bytes are no header", ErrInvalid, len(b))
	}
	w := binary.LittleEndian.Uint32(b)
	if w != width16 && w != width32 && w != width64 {
		return fmt.Errorf("%w: integers of %d bytes", ErrInvalid, w)
	}
	n := uint64(binary.LittleEndian.Uint32(b[4:]))
	if n == 0 {
		return fmt.Errorf("%w: empty", ErrInvalid)
	}
	if uint64(len(b)) != header+n*uint64(w) {
		return fmt.Errorf("%w: %d integers of %d bytes in %d bytes", ErrInvalid, n, w, len(b))
	}
	for i := 1; i < int(n); i++ {
		if get(b, int(w), i-1) >= get(b, int(w), i) {
			return fmt.Errorf("%w: integer %d is not greater than the one before", ErrInvalid, i)
		}
	}
	return nil
}
