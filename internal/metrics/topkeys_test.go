package metrics

import (
	"fmt"
	"math/rand"
	"testing"

	"godwit/internal/testseed"
)

// TestTopKeysAgainstModel compares sums with exact ones: none is too large, and none of a key with
// a counter is too small by more than its error, which is at most the total by the counters.
func TestTopKeysAgainstModel(t *testing.T) {
	rnd := rand.New(rand.NewSource(int64(testseed.New(t))))
	for range 50 {
		counters := 1 + rnd.Intn(40)
		top, model := NewTopKeys(counters), map[string]int64{}
		zipf := rand.NewZipf(rnd, 1.1+rnd.Float64(), 1, uint64(1+rnd.Intn(300)))
		var total int64
		for range 3000 {
			key, n := fmt.Sprint(zipf.Uint64()), rnd.Int63n(100)
			top.Add([]byte(key), n)
			model[key] += n
			total += n
		}
		if top.Total() != total {
			t.Fatalf("total %d, want %d", top.Total(), total)
		}
		for i := range top.heap {
			k := &top.heap[i]
			if top.index[k.key] != i || i > 0 && top.heap[(i-1)/2].sum > k.sum {
				t.Fatalf("counter %d of %v is out of place", i, top.heap)
			}
			if exact := model[k.key]; k.sum < exact || k.sum-k.err > exact ||
				k.err > total/int64(counters) {
				t.Fatalf("%s: %d with error %d, exactly %d", k.key, k.sum, k.err, exact)
			}
		}
		for key, sum := range model {
			if _, ok := top.index[key]; !ok && sum > total/int64(counters) {
				t.Fatalf("no counter for %s: %d of %d", key, sum, total)
			}
		}
		last := int64(1 << 62)
		top.Top(counters, func(key string, sum int64) {
			if sum > last || sum > model[key] || sum <= 0 {
				t.Fatalf("%s: %d after %d, exactly %d", key, sum, last, model[key])
			}
			last = sum
		})
	}
}
