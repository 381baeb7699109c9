package keyspace

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/object"
)

// checkQueue compares the queue's count of bytes with what is in it.
func checkQueue(t *testing.T, ks *Keyspace) {
	t.Helper()
	sum := int64(0)
	for _, l := range ks.lazy.large {
		require.GreaterOrEqual(t, l.left, int64(0))
		sum += l.left
	}
	for _, s := range ks.lazy.stores {
		require.GreaterOrEqual(t, s.left, int64(s.len())*minEntry)
		sum += s.left
	}
	require.Equal(t, sum, ks.lazy.bytes)
	if !ks.LazyFreeQueued() {
		require.Zero(t, ks.lazy.bytes)
	}
}

// dropSomething drops or overwrites something large, in one of the ways there are.
func dropSomething(ks *Keyspace, rng *rand.Rand) {
	db := ks.DB(rng.IntN(ks.Databases()))
	key := fmt.Sprint("k", rng.IntN(4))
	t := collectionTypes[rng.IntN(len(collectionTypes))]
	switch rng.IntN(12) {
	case 0:
		db.Delete([]byte(key))
	case 1:
		db.Unlink([]byte(key))
	case 2, 3, 4:
		db.Set([]byte(key), object.StringValue(make([]byte, rng.IntN(2<<20))), 0)
	case 5:
		db.Flush(rng.IntN(2) == 0)
	default:
		db.Delete([]byte(key))
		fill(db, key, t, rng.IntN(5000), strings.Repeat("x", rng.IntN(200)))
	}
}

func TestQueueKnowsItsBytes(t *testing.T) { bothLayouts(t, testQueueKnowsItsBytes) }

func testQueueKnowsItsBytes(t *testing.T) {
	ks, _, rng := newKeyspace(t, Params{Limits: testLimits()})
	for range 40 {
		dropSomething(ks, rng)
		checkQueue(t, ks)
		if rng.IntN(3) == 0 {
			for range rng.IntN(20) {
				ks.FreeSlice()
				checkQueue(t, ks)
			}
		}
	}
	for ks.FreeSlice() {
		checkQueue(t, ks)
	}
	require.Zero(t, ks.Waiting())
	require.NoError(t, ks.A.Check())
	drain(t, ks)
}

func TestQueuedCollectionsCountWhatTheyFree(t *testing.T) {
	for _, typ := range collectionTypes {
		ks, _, _ := newKeyspace(t, Params{Limits: testLimits()})
		fill(ks.DB(0), "k", typ, 20_000, strings.Repeat("x", 100))
		before := ks.A.Used()
		ks.DB(0).Unlink([]byte("k"))
		queued := ks.LazyFreeBytes()
		require.Greater(t, queued, int64(1<<20))
		for ks.LazyFreeSlice(100) {
			l := ks.lazy.large[0]
			require.InDelta(t, ks.A.Used()-(before-queued), l.left, 512, "%v", typ)
		}
		drain(t, ks)
	}
}

func TestFlushedTableCountsAllOfIt(t *testing.T) { bothLayouts(t, testFlushedTableCountsAllOfIt) }

func testFlushedTableCountsAllOfIt(t *testing.T) {
	ks, _, _ := newKeyspace(t, Params{Limits: testLimits()})
	for i := range 4 {
		for j := range 5000 {
			key := fmt.Appendf(nil, "{%d}key %d", j%50, j)
			ks.DB(i).Set(key, object.StringValue(make([]byte, 100*i)), 0)
		}
	}
	before := ks.A.Used()
	for i := range 4 {
		ks.DB(i).Flush(true)
	}
	queued := ks.LazyFreeBytes()
	for ks.FreeSlice() {
	}
	require.InEpsilon(t, before-ks.A.Used(), queued, 0.1)
}

// TestWhoAllocatesPays overwrites without a slice in between: what waits stays bounded all the
// same.
func TestWhoAllocatesPays(t *testing.T) {
	ks, _, rng := newKeyspace(t, Params{Limits: testLimits()})
	const largest = 8 << 20
	for i := range 16 {
		db, key := ks.DB(0), fmt.Sprint("k", rng.IntN(2))
		before := ks.Waiting()
		if i%2 == 0 {
			db.Set([]byte(key), object.StringValue(make([]byte, largest)), 0)
		} else {
			db.Unlink([]byte(key))
			fill(db, key, collectionTypes[i/2%4], 5000, strings.Repeat("x", 200))
		}
		require.LessOrEqual(t, ks.Waiting(), max(before, ks.WaitingBound())+largest+chunkSlack)
		require.Less(t, ks.Waiting(), int64(3*largest), "round %d", i)
	}
	drain(t, ks)
}

// chunkSlack is the size of a chunk of the arena, by which what waits may jump.
const chunkSlack = 4 << 20

func TestDeletesNeverPay(t *testing.T) {
	ks, _, _ := newKeyspace(t, Params{Limits: testLimits()})
	for i := range 20 {
		fill(ks.DB(0), fmt.Sprint("k", i), object.Set, 5000, strings.Repeat("x", 200))
	}
	for i := range 20 {
		before := ks.LazyFreeBytes()
		ks.DB(0).Unlink(fmt.Append(nil, "k", i))
		require.Greater(t, ks.LazyFreeBytes(), before)
	}
	drain(t, ks)
}
