package lua

import (
	"math/bits"
	"strings"
)

const (
	logInterned = 9
	// maxInterned is the length in bytes of the longest string that Intern remembers.
	maxInterned = 32
)

// interned are strings that were made lately. Two may share a place; the one that was used last is
// first.
type interned [1 << logInterned][2]Value

// Intern returns a string with the bytes of s, which it copies unless the same short string was
// made lately.
func (t *Thread) Intern(s string) Value {
	if uint(len(s)-1) >= maxInterned {
		return t.copied(s)
	}
	if t.s.interned == nil {
		t.s.interned = new(interned)
	}
	place := &t.s.interned[internHash(s)]
	n := bitsString | uint64(len(s))
	if v := place[0]; v.n == n && v.Str() == s {
		return v
	}
	v := place[1]
	if v.n != n || v.Str() != s {
		v = t.copied(s)
	}
	place[1], place[0] = place[0], v
	return v
}

func (t *Thread) copied(s string) Value {
	t.Grow(len(s))
	return String(strings.Clone(s))
}

// internHash returns the place of a string. It looks at no more than 16 bytes.
func internHash(s string) uint64 {
	var a, b uint64
	switch n := len(s); {
	case n >= 8:
		a, b = load8(s[:8]), load8(s[n-8:])
	case n >= 4:
		a, b = uint64(load4(s[:4])), uint64(load4(s[n-4:]))
	default:
		a, b = uint64(s[0])|uint64(s[n/2])<<8, uint64(s[n-1])
	}
	h := (a ^ bits.RotateLeft64(b, 23) ^ uint64(len(s))<<56) * 0x9e3779b97f4a7c15
	return h >> (64 - logInterned)
}

func load8(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

func load4(s string) uint32 {
	_ = s[3]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}
