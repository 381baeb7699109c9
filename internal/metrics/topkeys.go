package metrics

import (
	"cmp"
	"slices"
)

// TopKeys finds the keys with the greatest sums among any number of keys, with a fixed number of
// counters: the Space-Saving algorithm (Metwally, Agrawal, El Abbadi 2005).
//
//	heap:  | key, sum, error | …     the least sum first
//	index: key → place in heap
//
// A key without a counter takes the one with the least sum and inherits it as its error. So the sum
// of a key is never more than error too large, and each key whose true sum exceeds the total by the
// number of counters has one. An update costs O(log n) and allocates for a key that is new.
type TopKeys struct {
	heap  []topKey
	index map[string]int
	total int64
}

type topKey struct {
	key      string
	sum, err int64
}

// NewTopKeys returns an empty TopKeys with n counters, at least 1.
func NewTopKeys(n int) *TopKeys {
	return &TopKeys{heap: make([]topKey, 0, n), index: make(map[string]int, n)}
}

// Add adds n, which is not negative, to the sum of the key.
func (t *TopKeys) Add(key []byte, n int64) {
	t.total += n
	i, known := t.index[string(key)]
	switch {
	case known:
		t.heap[i].sum += n
	case len(t.heap) < cap(t.heap):
		i = len(t.heap)
		t.heap = append(t.heap, topKey{key: string(key), sum: n})
		t.index[t.heap[i].key] = i
		for i > 0 && t.heap[(i-1)/2].sum > t.heap[i].sum {
			t.swap(i, (i-1)/2)
			i = (i - 1) / 2
		}
		return
	default:
		i = 0
		least := &t.heap[0]
		delete(t.index, least.key)
		*least = topKey{key: string(key), sum: least.sum + n, err: least.sum}
		t.index[least.key] = 0
	}
	t.down(i)
}

// down moves a counter whose sum has grown to its place.
func (t *TopKeys) down(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(t.heap); child++ {
			if t.heap[child].sum < t.heap[least].sum {
				least = child
			}
		}
		if least == i {
			return
		}
		t.swap(i, least)
		i = least
	}
}

func (t *TopKeys) swap(i, j int) {
	h := t.heap
	h[i], h[j] = h[j], h[i]
	t.index[h[i].key], t.index[h[j].key] = i, j
}

// Total returns the sum over all keys.
func (t *TopKeys) Total() int64 { return t.total }

// Top calls emit for the n keys with the greatest sums, the greatest first. The sums are what is
// certain: without the errors. Keys of which nothing is certain are left out.
func (t *TopKeys) Top(n int, emit func(key string, sum int64)) {
	list := slices.Clone(t.heap)
	slices.SortFunc(list, func(a, b topKey) int {
		return cmp.Or(cmp.Compare(b.sum-b.err, a.sum-a.err), cmp.Compare(a.key, b.key))
	})
	for i := 0; i < min(n, len(list)) && list[i].sum > list[i].err; i++ {
		emit(list[i].key, list[i].sum-list[i].err)
	}
}

// Bytes returns the memory of the counters with their keys in bytes. It is O(n).
func (t *TopKeys) Bytes() (n int64) {
	const counter, slot = 32, 32
	n = int64(cap(t.heap)) * (counter + slot)
	for i := range t.heap {
		n += int64(len(t.heap[i].key))
	}
	return n
}
