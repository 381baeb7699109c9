package crash

import "godwit/internal/hll"

// hllSparseMax is the default of hll-sparse-max-bytes.
const hllSparseMax = 3000

// hllOf returns the HyperLogLog at the key, made if it is missing, with room to grow.
func hllOf(s state, k string) (*value, []byte) {
	x := s.get(k, "string")
	b := make([]byte, 0, hll.DenseSize+hll.Room)
	if x.str == "" {
		return x, hll.AppendEmpty(b)
	}
	return x, append(b, x.str...)
}

func dense(b []byte) []byte {
	if hll.Dense(b) {
		return b
	}
	out := make([]byte, hll.DenseSize)
	if err := hll.ToDense(out, b); err != nil {
		panic(err)
	}
	return out
}

// addHLL does what PFADD does to the value's bytes.
func addHLL(s state, k string, elems []string) {
	x, b := hllOf(s, k)
	changed := x.str == ""
	for _, e := range elems {
		index, rank := hll.Hash([]byte(e))
		up, err := false, hll.ErrDense
		if !hll.Dense(b) {
			b, up, err = hll.SetSparse(append(make([]byte, 0, len(b)+hll.Room), b...), index, rank,
				hllSparseMax)
		}
		if err != nil {
			b = dense(b)
			up = hll.SetDense(b, index, rank)
		}
		changed = changed || up
	}
	if changed {
		hll.Invalidate(b)
	}
	x.str = string(b)
}

// mergeHLL does what PFMERGE does to the destination's bytes.
func mergeHLL(s state, k, k2 string) {
	var u hll.Union
	for _, key := range []string{k, k2} {
		if _, has := s[key]; has {
			_, b := hllOf(s, key)
			if err := u.Add(b); err != nil {
				panic(err)
			}
		}
	}
	x, b := hllOf(s, k)
	err := hll.ErrDense
	if !hll.Dense(b) && !u.Dense {
		var nb []byte
		if nb, err = u.StoreSparse(append(make([]byte, 0, hll.MaxSparse+hll.Room), b...),
			hllSparseMax); err == nil {
			b = nb
		}
	}
	if err != nil {
		b = dense(b)
		u.StoreDense(b)
	}
	hll.Invalidate(b)
	x.str = string(b)
}
