// Package sds holds growing strings: the values of keys that APPEND, SETRANGE, SETBIT and their
// like write to, each in an arena block of its own with room to grow.
//
// # Why
//
// A string that is set at once lives inside its key's entry, where it costs no block. Appending to
// that would copy entry and value each time. With spare room at the end, appending n bytes costs
// O(n) copying in all.
//
// # Shape
//
//	block: | Len bytes of the string | Cap - Len bytes of undefined content |
//	Str, as an entry stores it (little endian):
//	0        8      12     16
//	+--------+------+------+
//	| Ref    | Len  | Cap  |
//	+--------+------+------+
//
// # Growth
//
// A string that needs room for n bytes and lacks it gets room for 2n below 1 MiB, and for n + 1 MiB
// from there on. Either is rounded up to what the arena hands out anyway. Room for more than 512
// MiB is made only if n itself needs it. The first write to an empty Str below 1 MiB gets no spare
// room. Big blocks are remapped, not copied, so the small steps of huge strings stay cheap, and
// untouched room of a fresh mapping takes no memory.
//
// # Limits and invariants
//
// Len <= Cap. Ref is 0 exactly when Cap is 0. Sizes fit 32 bits: callers must check Redis's limit
// of 512 MiB, and a length over 4 GiB - 1 panics. Each Str has one owner: a copy of the Go value is
// invalid as soon as another copy has grown. Blocks are allocated as arena.Values.
package sds

import (
	"encoding/binary"
	"math"

	"godwit/internal/arena"
)

const (
	// EncodedSize is the size of a Str as Encode writes it, in bytes.
	EncodedSize = 16

	// MaxRoom is the size in bytes above which no spare room is made.
	MaxRoom = 512 << 20

	linearFrom = 1 << 20
)

// Str is a growing string. The zero value is the empty string and owns no block.
type Str struct {
	Ref arena.Ref
	Len uint32 // bytes in use
	Cap uint32 // bytes of the block
}

// New returns a string with the contents of b and no more room than the arena gives anyway.
func New(a *arena.Arena, b []byte) Str {
	var s Str
	s.Reserve(a, len(b))
	s.Len = uint32(len(b))
	copy(s.Bytes(a), b)
	return s
}

// Bytes returns the contents. They are valid until the string grows or is freed. They may be
// written in place, except where a snapshot may read them: see object.StringEdit.
func (s *Str) Bytes(a *arena.Arena) []byte {
	if s.Ref == 0 {
		return nil
	}
	return a.Bytes(s.Ref, int(s.Len))
}

// Append adds b at the end. b must not be part of s itself. Amortised O(len(b)).
func (s *Str) Append(a *arena.Arena, b []byte) {
	old := int(s.Len)
	s.makeRoom(a, old+len(b))
	s.Len = uint32(old + len(b))
	copy(s.Bytes(a)[old:], b)
}

// Grow makes the string at least n bytes long and fills it with zeros. It never shortens.
func (s *Str) Grow(a *arena.Arena, n int) {
	old := int(s.Len)
	if n <= old {
		return
	}
	s.makeRoom(a, n)
	s.Len = uint32(n)
	clear(s.Bytes(a)[old:])
}

// Resize makes the string n bytes long, shorter or longer, and returns its bytes with capacity for
// room more after them. New bytes are undefined. With room above 0 there may be more spare room for
// later, as in Append; without, there is none.
func (s *Str) Resize(a *arena.Arena, n, room int) []byte {
	if room > 0 {
		s.makeRoom(a, n+room)
	} else {
		s.Reserve(a, n)
	}
	s.Len = uint32(n)
	return a.Bytes(s.Ref, n+room)[:n]
}

// Truncate shortens the string to n bytes. The room stays.
func (s *Str) Truncate(n int) {
	if n >= 0 && n < int(s.Len) {
		s.Len = uint32(n)
	}
}

// Reserve makes room for n bytes in all, and no more than the arena gives anyway.
func (s *Str) Reserve(a *arena.Arena, n int) {
	if n > int(s.Cap) {
		s.resize(a, n)
	}
}

// Compact gives spare room back.
func (s *Str) Compact(a *arena.Arena) {
	if s.Len == 0 {
		s.Free(a)
	} else if arena.ClassSize(int(s.Len)) < int(s.Cap) {
		s.resize(a, int(s.Len))
	}
}

// Free frees the block and leaves the empty string.
func (s *Str) Free(a *arena.Arena) {
	if s.Ref != 0 {
		a.Free(s.Ref, int(s.Cap), arena.Values)
	}
	*s = Str{}
}

// makeRoom gives the block room for n bytes, with spare room for more.
func (s *Str) makeRoom(a *arena.Arena, n int) {
	if n <= int(s.Cap) {
		return
	}
	room := n + min(n, linearFrom)
	if s.Ref == 0 && n < linearFrom {
		// It is not yet known to grow step by step.
		room = n
	}
	s.resize(a, max(n, min(room, MaxRoom)))
}

// resize moves the contents to a block of at least n bytes.
func (s *Str) resize(a *arena.Arena, n int) {
	if n > math.MaxUint32 {
		panic("sds: string longer than 4 GiB")
	}
	n = int(min(int64(arena.ClassSize(n)), math.MaxUint32))
	if s.Ref == 0 {
		s.Ref = a.Alloc(n, arena.Values)
	} else {
		s.Ref = a.Resize(s.Ref, int(s.Cap), n, arena.Values)
	}
	s.Cap = uint32(n)
}

// Encode writes s to the first 16 bytes of dst.
func (s Str) Encode(dst []byte) {
	_ = dst[EncodedSize-1]
	binary.LittleEndian.PutUint64(dst, uint64(s.Ref))
	binary.LittleEndian.PutUint32(dst[8:], s.Len)
	binary.LittleEndian.PutUint32(dst[12:], s.Cap)
}

// Decode reads what Encode has written.
func Decode(src []byte) Str {
	_ = src[EncodedSize-1]
	return Str{
		Ref: arena.Ref(binary.LittleEndian.Uint64(src)),
		Len: binary.LittleEndian.Uint32(src[8:]),
		Cap: binary.LittleEndian.Uint32(src[12:]),
	}
}
