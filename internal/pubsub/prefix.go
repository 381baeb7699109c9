package pubsub

import (
	"math/bits"
	"strings"
)

// maxPrefix is the length in bytes up to which the index distinguishes prefixes.
const maxPrefix = 63

// prefixIndex maps prefixes of at most maxPrefix bytes to values. It finds the values of all
// prefixes of a string with one map lookup for each length in use, however many prefixes there are.
type prefixIndex[V any] struct {
	values  map[string]*V
	count   [maxPrefix + 1]int // prefixes by length
	lengths uint64             // bit n: there are prefixes of n bytes
}

// at returns the value of a prefix, and makes one if there is none yet. It is valid until remove.
func (x *prefixIndex[V]) at(prefix string) *V {
	if v := x.values[prefix]; v != nil {
		return v
	}
	if x.values == nil {
		x.values = map[string]*V{}
	}
	v := new(V)
	x.values[prefix] = v
	x.count[len(prefix)]++
	x.lengths |= 1 << len(prefix)
	return v
}

func (x *prefixIndex[V]) remove(prefix string) {
	if x.values[prefix] == nil {
		return
	}
	delete(x.values, prefix)
	n := len(prefix)
	if x.count[n]--; x.count[n] == 0 {
		x.lengths &^= 1 << n
	}
}

// prefixesOf calls fn for each prefix of s with a value, the shortest first.
func (x *prefixIndex[V]) prefixesOf(s []byte, fn func(v *V)) {
	for left := x.lengths; left != 0; left &= left - 1 {
		n := bits.TrailingZeros64(left)
		if n > len(s) {
			return
		}
		if v := x.values[string(s[:n])]; v != nil {
			fn(v)
		}
	}
}

// literal returns what every string that matches the pattern begins with, up to maxPrefix bytes.
func literal(pattern string) string {
	n := strings.IndexAny(pattern, `*?[\`)
	if n < 0 {
		n = len(pattern)
	}
	return pattern[:min(n, maxPrefix)]
}
