package slot

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// Set is a set of slots. The zero Set is empty. It is a value: an assignment copies it.
type Set struct {
	words [Count / 64]uint64
}

// Range is the slots from First to Last, both included.
type Range struct{ First, Last int }

// SetOf returns the set of all slots of the ranges.
func SetOf(ranges ...Range) (s Set) {
	for _, r := range ranges {
		for i := r.First; i <= r.Last; i++ {
			s.Add(i)
		}
	}
	return s
}

// Add puts a slot into the set.
func (s *Set) Add(i int) { s.words[i/64] |= 1 << (i % 64) }

// Remove takes a slot out of the set.
func (s *Set) Remove(i int) { s.words[i/64] &^= 1 << (i % 64) }

// Has reports whether the slot is in the set.
func (s *Set) Has(i int) bool { return s.words[i/64]>>(i%64)&1 != 0 }

// Len returns the number of slots.
func (s *Set) Len() (n int) {
	for _, w := range s.words {
		n += bits.OnesCount64(w)
	}
	return n
}

// Empty reports whether there is no slot in the set.
func (s *Set) Empty() bool { return *s == Set{} }

// Union adds the slots of o.
func (s *Set) Union(o *Set) {
	for i, w := range o.words {
		s.words[i] |= w
	}
}

// Subtract removes the slots of o.
func (s *Set) Subtract(o *Set) {
	for i, w := range o.words {
		s.words[i] &^= w
	}
}

// Common returns the slots that are in both sets.
func (s *Set) Common(o *Set) (c Set) {
	for i, w := range o.words {
		c.words[i] = s.words[i] & w
	}
	return c
}

// Each calls fn for each slot, in ascending order, until it returns false.
func (s *Set) Each(fn func(i int) bool) {
	for k, w := range s.words {
		for ; w != 0; w &= w - 1 {
			if !fn(k*64 + bits.TrailingZeros64(w)) {
				return
			}
		}
	}
}

// Ranges returns the slots as ranges that neither touch nor overlap, in ascending order.
func (s *Set) Ranges() (list []Range) {
	s.Each(func(i int) bool {
		if n := len(list); n > 0 && list[n-1].Last == i-1 {
			list[n-1].Last = i
		} else {
			list = append(list, Range{i, i})
		}
		return true
	})
	return list
}

// String returns the ranges as CLUSTER NODES writes them: "0-5460 5462".
func (s Set) String() string {
	var b strings.Builder
	for i, r := range s.Ranges() {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(r.String())
	}
	return b.String()
}

// String returns "first-last", or the slot if it is one.
func (r Range) String() string {
	if r.First == r.Last {
		return strconv.Itoa(r.First)
	}
	return fmt.Sprintf("%d-%d", r.First, r.Last)
}

// ErrRange reports text that is no range of slots.
var ErrRange = errors.New("Invalid or out of range slot")

// Parse reads what Set.String writes.
func Parse(text string) (s Set, err error) {
	for _, f := range strings.Fields(text) {
		first, last, ok := strings.Cut(f, "-")
		if !ok {
			last = first
		}
		a, err1 := strconv.ParseUint(first, 10, 16)
		b, err2 := strconv.ParseUint(last, 10, 16)
		if err1 != nil || err2 != nil || a > b || b >= Count {
			return Set{}, ErrRange
		}
		for i := int(a); i <= int(b); i++ {
			s.Add(i)
		}
	}
	return s, nil
}

// MarshalText implements encoding.TextMarshaler.
func (s Set) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Set) UnmarshalText(b []byte) (err error) {
	*s, err = Parse(string(b))
	return err
}
