package dict

import (
	"encoding/binary"
	"testing"
)

// TestPrefetchFindsEntries checks that the passes come to every entry, before, during and after a
// resize. Of those that they do not find, all are behind the second bucket of a chain.
func TestPrefetchFindsEntries(t *testing.T) {
	w := newWorld(t)
	const n = 3000
	behind := 0
	for k := range uint64(n) {
		w.insert(k)
		if k%100 != 0 {
			continue
		}
		for k, r := range w.model {
			h := w.hash(k)
			b, _ := w.d.locate(h, r)
			home := w.d.home(h)
			if chain := w.d.PrefetchEntry(h); b == home || !chain {
				if (b == home) == chain {
					t.Fatalf("key %d of %d: in home bucket: %v, chain: %v", k, len(w.model),
						b == home, chain)
				}
				continue
			}
			behind++
			w.d.PrefetchChain(h)
			if next := w.d.next(home); w.d.prefetchFound(next, h) != (b == next) {
				t.Fatalf("key %d of %d is not where the third pass looks", k, len(w.model))
			}
		}
	}
	if behind == 0 {
		t.Error("no entry was in an overflow bucket")
	}
	w.close()
}

// hasherFunc is a Hasher that counts its calls.
type hasherFunc func(key []byte) uint64

func (f hasherFunc) Hash(key []byte) uint64 { return f(key) }

// TestLookahead checks that each key is asked for once and before its turn, whatever becomes of the
// table meanwhile, and that small tables and single keys are left alone.
func TestLookahead(t *testing.T) {
	w := newWorld(t)
	for k := range uint64(prefetchFrom) {
		w.insert(k)
	}
	keys := make([][]byte, 0, 100)
	for i := range uint64(50) {
		keys = append(keys, binary.LittleEndian.AppendUint64(nil, i), []byte("value"))
	}
	asked := 0
	h := hasherFunc(func(key []byte) uint64 {
		if got := binary.LittleEndian.Uint64(key); got != uint64(asked) {
			t.Errorf("key %d asked for, not %d", got, asked)
		}
		asked++
		return w.hash(uint64(asked - 1))
	})
	ahead := w.d.Lookahead(h, keys, 2)
	for i := 0; i < len(keys); i += 2 {
		ahead.Reach(i)
		if asked <= i/2 || asked > i/2+PrefetchGroup {
			t.Fatalf("%d keys asked for before key %d", asked, i/2)
		}
		w.delete(uint64(i)) // the second makes the table small, and the last ones shrink it
	}
	if asked != len(keys)/2 {
		t.Errorf("%d of %d keys asked for", asked, len(keys)/2)
	}
	asked = 0
	for _, l := range []Lookahead{w.d.Lookahead(h, keys, 2), {}} {
		l.Reach(0)
		l.Reach(2)
	}
	w.insert(1 << 40)
	for k := uint64(0); w.d.Len() < prefetchFrom; k++ {
		w.insert(1<<41 + k)
	}
	single := w.d.Lookahead(h, keys[:2], 2)
	single.Reach(0)
	if asked != 0 {
		t.Errorf("%d keys asked for in vain", asked)
	}
	w.close()
}
