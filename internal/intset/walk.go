package intset

// Walk answers for ascending integers which of them are in a set. Each search begins where the last
// one ended and doubles its steps, so m answers from a set of n cost O(m·log(n/m)): a merge if the
// sets are of one size, binary searches if the other one is much larger.
type Walk struct {
	b       []byte
	w, n, i int // Integers before i are less than all that will be asked for.
}

// NewWalk returns a walk over the set, which must not be changed meanwhile.
func NewWalk(b []byte) Walk { return Walk{b: b, w: width(b), n: Len(b)} }

// Has reports whether v is in the set. v must not be less than in the call before.
func (k *Walk) Has(v int64) bool {
	lo, step := k.i, 1
	for lo+step <= k.n && get(k.b, k.w, lo+step-1) < v {
		lo += step
		step *= 2
	}
	// All before lo are less than v. The one at lo+step-1 is not, if there is one.
	hi := min(lo+step-1, k.n)
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); get(k.b, k.w, mid) < v {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	k.i = lo
	return lo < k.n && get(k.b, k.w, lo) == v
}
