package keyspace

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/arena"
	"godwit/internal/object"
	"godwit/internal/slot"
)

// evictAll calls EvictOne until it says that there is nothing more to evict, at most limit times.
func evictAll(t *testing.T, ks *Keyspace, limit int) (steps int) {
	t.Helper()
	for ks.EvictOne() {
		steps++
		require.Less(t, steps, limit, "%d keys evicted", ks.Stats.Evicted)
	}
	return steps
}

// TestEvictionOfSparseTables checks that a few keys in a table of millions of places are all found,
// by steps whose number the size of the table bounds. Nobody looks at the table otherwise, so that
// it stays as it is.
func TestEvictionOfSparseTables(t *testing.T) {
	for p := VolatileLRU; p <= AllKeysRandom; p++ {
		t.Run(fmt.Sprint(p), func(t *testing.T) {
			ks, rec, _ := newKeyspace(t, Params{Policy: p, LFULogFactor: 10, LFUDecayTime: 1})
			const keys, places = 1000, 1 << 21
			for i, db := range ks.dbs[:2] {
				db.Expect(places)
				db.store.dict.Pause++ // it stays as large as it is
				deadline := int64(0)
				if p.volatile() {
					deadline = 100_000_000
				}
				for k := range keys >> (4 * i) {
					db.Set(fmt.Appendf(nil, "k%d", k), object.IntValue(1), deadline)
				}
			}
			all := keys + keys>>4
			evictAll(t, ks, 4*places/searchBuckets+4*all)
			require.Len(t, rec.evicted, all)
			for _, db := range ks.dbs[:2] {
				db.store.dict.Unpause()
			}
			drain(t, ks)
		})
	}
}

// TestEvictionOfRareDeadlines checks that the few keys with a deadline among many without are found
// at once.
func TestEvictionOfRareDeadlines(t *testing.T) { bothLayouts(t, testEvictionOfRareDeadlines) }

func testEvictionOfRareDeadlines(t *testing.T) {
	for p := VolatileLRU; p <= VolatileTTL; p++ {
		t.Run(fmt.Sprint(p), func(t *testing.T) {
			ks, rec, _ := newKeyspace(t, Params{Policy: p, LFULogFactor: 10, LFUDecayTime: 1})
			db := ks.DB(0)
			for i := range 100_000 {
				db.Set(fmt.Appendf(nil, "k%d", i), object.IntValue(1), 0)
			}
			for i := range 3 {
				db.Set(fmt.Appendf(nil, "rare%d", i), object.IntValue(1), 10_000_000+int64(i))
			}
			ks.DB(1).Set([]byte("other"), object.IntValue(1), 10_000_003)
			evictAll(t, ks, 200)
			require.ElementsMatch(t, []string{"rare0", "rare1", "rare2", "other"}, rec.evicted)
			if p == VolatileTTL {
				require.Equal(t, []string{"rare0", "rare1", "rare2", "other"}, rec.evicted)
			}
			require.Equal(t, 100_000, db.Len())
			drain(t, ks)
		})
	}
}

// TestEvictionBehindOtherRecords checks that keys with a deadline whose records cannot be picked,
// because those of another database crowd them out, are found by the search.
func TestEvictionBehindOtherRecords(t *testing.T) { bothLayouts(t, testEvictionBehindOtherRecords) }

func testEvictionBehindOtherRecords(t *testing.T) {
	ks, rec, _ := newKeyspace(t, Params{Policy: VolatileLRU})
	for i := range 50_000 {
		ks.DB(0).Set(fmt.Appendf(nil, "k%d", i), object.IntValue(1), 0)
		ks.DB(1).Set(fmt.Appendf(nil, "k%d", i), object.IntValue(1), 10_000_000)
	}
	ks.DB(0).Set([]byte("rare"), object.IntValue(1), 10_000_000)
	ks.SetNow(ks.Now() + 1_000_000) // the others are used now, so that it is the best to evict
	for i := range 50_000 {
		ks.DB(1).Lookup(fmt.Appendf(nil, "k%d", i))
	}
	for steps := 0; ks.DB(0).Expires() > 0; steps++ {
		require.Less(t, steps, 2*50_000/searchEntries)
		require.True(t, ks.EvictOne())
	}
	require.Equal(t, "rare", rec.evicted[len(rec.evicted)-1])
	drain(t, ks)
}

// TestPoolKeepsUp checks that what the pool remembers is no reason to evict a key that has changed
// its database, was used since, or is good to evict by another policy only.
func TestPoolKeepsUp(t *testing.T) { bothLayouts(t, testPoolKeepsUp) }

func testPoolKeepsUp(t *testing.T) {
	ks, rec, _ := newKeyspace(t, Params{Policy: AllKeysLRU, Samples: 64})
	db := ks.DB(0)
	for i := range 10 {
		db.Set(fmt.Appendf(nil, "k%d", i), object.IntValue(1), 10_000_000-int64(i))
		ks.SetNow(ks.Now() + 5000)
	}
	require.True(t, ks.EvictOne())
	require.Equal(t, []string{"k0"}, rec.evicted)

	db.Lookup([]byte("k1")) // it was next
	ks.Swap(0, 3)
	require.True(t, ks.EvictOne())
	require.Equal(t, []string{"k0", "k2"}, rec.evicted)
	require.Equal(t, 8, ks.DB(3).Len())

	ks.P.Policy = VolatileTTL
	require.True(t, ks.EvictOne())
	require.Equal(t, "k9", rec.evicted[2])
	ks.P.Policy = AllKeysLRU // the scores of volatile-ttl would be higher than all
	require.True(t, ks.EvictOne())
	require.Equal(t, "k3", rec.evicted[3])

	ks.DB(3).Flush(false)
	require.False(t, ks.EvictOne())
	drain(t, ks)
}

// TestEvictionSparesHiddenKeys checks that each policy evicts all keys but hidden ones.
func TestEvictionSparesHiddenKeys(t *testing.T) {
	inSlots = true
	defer func() { inSlots = false }()
	for p := VolatileLRU; p <= AllKeysRandom; p++ {
		t.Run(fmt.Sprint(p), func(t *testing.T) {
			ks, _, _ := newKeyspace(t, Params{Policy: p, LFULogFactor: 10, LFUDecayTime: 1})
			var hidden slot.Set
			keep := 0
			for k := range 500 {
				key := fmt.Appendf(nil, "{%d}%d", k%5, k)
				if k%5 < 4 {
					hidden.Add(slot.Of(key))
					keep++
				}
				ks.DB(k%2).Set(key, object.IntValue(1), 100_000_000)
			}
			ks.Hide(&hidden)
			evictAll(t, ks, 1_000_000)
			require.Equal(t, keep, ks.DB(0).Len()+ks.DB(1).Len())
			require.Zero(t, ks.DB(0).Shown()+ks.DB(1).Shown())
			ks.Hide(nil)
			evictAll(t, ks, 1_000_000)
			require.Zero(t, ks.DB(0).Len()+ks.DB(1).Len())
			drain(t, ks)
		})
	}
}

// TestEvictableAmongHidden compares whether a key may be evicted with a look at all of them, while
// slots are hidden and keys come and go. A slot that has one is found again at once.
func TestEvictableAmongHidden(t *testing.T) {
	inSlots = true
	defer func() { inSlots = false }()
	for _, policy := range []Policy{AllKeysRandom, VolatileTTL} {
		ks, _, rng := newKeyspace(t, Params{Policy: policy, Databases: 1})
		db := ks.DB(0)
		for range 3000 {
			key := fmt.Append(nil, rng.IntN(12))
			switch rng.IntN(4) {
			case 0:
				db.Set(key, object.IntValue(1), ks.Now()+1000*int64(rng.IntN(2)))
			case 1, 2:
				db.Delete(key)
			case 3:
				var hidden slot.Set
				for i := range 12 {
					if rng.IntN(3) > 0 {
						hidden.Add(slot.Of(fmt.Append(nil, i)))
					}
				}
				ks.Hide(&hidden)
			}
			want := false
			db.store.each(func(r arena.Ref) {
				e := object.View(ks.A, r)
				want = want || !ks.hides(e) && (!policy.volatile() || e.Deadline() != 0)
			})
			require.Equal(t, want, db.evictable())
		}
	}
}
