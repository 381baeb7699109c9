package dict

import (
	"math/rand/v2"
	"testing"

	"godwit/internal/arena"
	"godwit/internal/testseed"
)

// TestScanGuarantee checks that keys that are present throughout a full scan are all returned,
// while the dict grows, shrinks and rehashes around it.
func TestScanGuarantee(t *testing.T) {
	r := testseed.Rand(t)
	for round := range 150 {
		w := newWorld(t)
		stay := uint64(1 + r.IntN(400))
		for k := range stay {
			w.insert(k)
		}
		most := 1 + r.IntN(4000)
		seen := map[uint64]bool{}
		emit := func(ref arena.Ref) { seen[w.key(ref)] = true }
		for cursor, calls := uint64(0), 0; ; calls++ {
			cursor = w.d.Scan(cursor, emit)
			if cursor == 0 {
				break
			}
			if calls > 100000 {
				t.Fatal("the scan does not end")
			}
			w.disturb(r, stay, most)
		}
		for k := range stay {
			if !seen[k] {
				t.Fatalf("round %d: key %d of %d never returned", round, k, stay)
			}
		}
		w.check()
		w.close()
	}
}

// disturb inserts or deletes many keys ≥ stay, forces resizes, or finishes a rehash.
func (w *world) disturb(r *rand.Rand, stay uint64, most int) {
	switch r.IntN(12) {
	case 0:
		for range r.IntN(most) {
			w.insert(stay + r.Uint64N(uint64(most)))
		}
	case 1, 2:
		for range r.IntN(most) {
			if k := w.keys[r.IntN(len(w.keys))]; k >= stay {
				w.delete(k)
			}
		}
	case 3:
		for w.d.RehashSlice(1 + r.IntN(50)) {
		}
	case 4:
		w.d.RehashSlice(1 + r.IntN(50))
	case 5: // a resize to any size that the dict could choose
		if w.d.tab[1].base == nil {
			n := w.d.tab[0].mask + 1
			if n = n << r.IntN(3) >> r.IntN(3); n != w.d.tab[0].mask+1 && n > 0 {
				w.d.tab[1] = w.d.newTable(n)
				w.d.moved = 0
			}
		}
	}
}

// TestScanReturnsEachOnce holds for a dict that nothing disturbs.
func TestScanReturnsEachOnce(t *testing.T) {
	w := newWorld(t)
	for k := range uint64(10000) {
		w.insert(k)
		if k&(k-1) != 0 {
			continue
		}
		count := map[arena.Ref]int{}
		for cursor := w.d.Scan(0, func(r arena.Ref) { count[r]++ }); cursor != 0; {
			cursor = w.d.Scan(cursor, func(r arena.Ref) { count[r]++ })
		}
		for key, r := range w.model {
			if count[r] != 1 {
				t.Fatalf("key %d returned %d times (rehashing %v)", key, count[r], w.d.Rehashing())
			}
		}
	}
	w.close()
}

// TestScanDeletes checks that emit may delete the entry that it is given.
func TestScanDeletes(t *testing.T) {
	r := testseed.Rand(t)
	w := newWorld(t)
	for k := range uint64(20000) {
		w.insert(k)
	}
	calls := 0
	for cursor := uint64(0); ; {
		cursor = w.d.Scan(cursor, func(ref arena.Ref) {
			if k := w.key(ref); k%10 != 0 {
				w.delete(k)
			}
			w.find(r.Uint64N(20000))
		})
		if calls++; calls%100 == 0 {
			w.check()
		}
		if cursor == 0 {
			break
		}
	}
	if w.d.Len() != 2000 {
		t.Errorf("%d entries left, want 2000", w.d.Len())
	}
	w.checkAll()
	w.close()
}

func TestScanOfAnyCursor(t *testing.T) {
	r := testseed.Rand(t)
	w := newWorld(t)
	w.d.Scan(r.Uint64(), func(arena.Ref) { t.Error("entry of an empty dict") })
	for k := range uint64(3000) {
		w.insert(k)
		w.d.Scan(r.Uint64()>>r.IntN(64), func(arena.Ref) {}) // clients may send anything
	}
	w.close()
}
