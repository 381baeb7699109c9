package keyspace

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/arena"
	"godwit/internal/object"
	"godwit/internal/testseed"
)

type record struct {
	val      string
	deadline int64
}

// recorder counts what the hooks are told.
type recorder struct{ expired, evicted []string }

func (r *recorder) KeyEvent(string, []byte, int)               {}
func (r *recorder) FieldEvent(string, []byte, FieldNames, int) {}
func (r *recorder) FieldExpired(_, _ []byte, _ int)            {}
func (r *recorder) KeyChanged([]byte, int)                     {}
func (r *recorder) Ready([]byte, int, object.Type)             {}

func (r *recorder) Removed(key []byte, _ int, evicted bool) {
	if evicted {
		r.evicted = append(r.evicted, string(key))
	} else {
		r.expired = append(r.expired, string(key))
	}
}

func newKeyspace(t *testing.T, p Params) (*Keyspace, *recorder, *rand.Rand) {
	rng := testseed.Rand(t)
	r := &recorder{}
	if p.Databases == 0 {
		p.Databases = 4
	}
	if p.Samples == 0 {
		p.Samples = 5
	}
	p.ActiveExpire = true
	p.Slots = inSlots
	return New(arena.New(), p, rng, 1_000_000, r), r, rng
}

// drain frees everything and checks that the arena is empty but for what an empty keyspace needs.
func drain(t *testing.T, ks *Keyspace) {
	for i := range ks.dbs {
		ks.dbs[i].Flush(i%2 == 0)
	}
	for ks.LazyFreeSlice(1000) {
	}
	require.Zero(t, ks.A.UsedBy(arena.Values))
	require.Zero(t, ks.SlotBytes())
}

func randomValue(rng *rand.Rand) string {
	switch rng.IntN(6) {
	case 0:
		return fmt.Sprint(int64(rng.Uint64()))
	case 1:
		return string(make([]byte, rng.IntN(40000)))
	case 2:
		return fmt.Sprint(rng.IntN(100))
	default:
		b := make([]byte, rng.IntN(200))
		for i := range b {
			b[i] = byte(rng.IntN(256))
		}
		return string(b)
	}
}

// requirePending holds that the cheap questions, which slices ask first, miss no work.
func requirePending(t *testing.T, ks *Keyspace) {
	t.Helper()
	for _, db := range ks.dbs {
		if !ks.ExpiryDue() && db.store.expires > 0 {
			db.store.each(func(r arena.Ref) {
				if d := object.View(ks.A, r).Deadline(); d != 0 && d < ks.Now() {
					t.Fatalf("a key was due at %d, nothing is at %d", d, ks.Now())
				}
			})
		}
		if db.store.rehashing() {
			require.True(t, ks.RehashPending(), "database %d", db.id)
		}
	}
}

// TestRehashPending checks that slices find tables that grow and shrink, in whatever database they
// are by then.
func TestRehashPending(t *testing.T) { bothLayouts(t, testRehashPending) }

func testRehashPending(t *testing.T) {
	ks, _, rng := newKeyspace(t, Params{})
	rehashed := 0
	for i := range 30000 {
		ks.DB(rng.IntN(2)).Set(fmt.Appendf(nil, "{%d}k%d", i%9, i), object.IntValue(1), 0)
		if i%1000 == 999 {
			ks.Swap(rng.IntN(4), rng.IntN(4))
		}
		if ks.RehashPending() {
			rehashed++
		}
		requirePending(t, ks)
	}
	for i := range 30000 {
		for _, db := range ks.dbs {
			db.Delete(fmt.Appendf(nil, "{%d}k%d", i%9, i))
		}
		requirePending(t, ks)
	}
	require.Positive(t, rehashed)
	for ks.RehashSlice(10) {
	}
	require.False(t, ks.RehashPending())
	for _, db := range ks.dbs {
		require.False(t, db.store.rehashing())
	}
	drain(t, ks)
}

// TestEachVisitsOnce checks a walk over a table with room for many more keys: its first step begins
// to shrink the table.
func TestEachVisitsOnce(t *testing.T) {
	for i := range 20 {
		ks, _, _ := newKeyspace(t, Params{})
		db := ks.DB(0)
		db.store.dict.Expand(2000)
		seen := map[string]int{}
		for k := range 150 {
			db.Set(fmt.Appendf(nil, "k%d %d", i, k), object.IntValue(1), 0)
		}
		db.Each(func(e object.Entry) { seen[string(e.Key())]++ })
		require.Len(t, seen, 150)
		for key, n := range seen {
			require.Equal(t, 1, n, key)
		}
		drain(t, ks)
	}
}

// TestFlushWhileRehashing checks that slices do not look at tables that no database has any more.
func TestFlushWhileRehashing(t *testing.T) { bothLayouts(t, testFlushWhileRehashing) }

func testFlushWhileRehashing(t *testing.T) {
	for _, async := range []bool{false, true} {
		ks, _, _ := newKeyspace(t, Params{})
		db := ks.DB(0)
		for i := 0; i < 1000 || !db.Rehashing(); i++ {
			db.Set(fmt.Appendf(nil, "k%d", i), object.IntValue(1), 0)
		}
		require.True(t, ks.RehashPending())
		db.Flush(async)
		require.False(t, ks.RehashPending())
		for more := true; more; {
			more = ks.LazyFreeSlice(10)
			require.False(t, ks.RehashSlice(10))
		}
		drain(t, ks)
	}
}

// TestExpiryIsExact checks that after a slice without more to do no key that is due is left,
// whatever way deadlines took.
func TestExpiryIsExact(t *testing.T) {
	ks, rec, rng := newKeyspace(t, Params{})
	db := ks.DB(0)
	for i := range 20000 {
		k := fmt.Appendf(nil, "k%d", i)
		db.Set(k, object.IntValue(1), ks.Now()+int64(rng.IntN(1000)))
		for range rng.IntN(3) {
			db.SetDeadline(db.Lookup(k), ks.Now()+1+int64(rng.IntN(1000)))
		}
	}
	for range 110 {
		ks.SetNow(ks.Now() + 10)
		for ks.ExpiryDue() {
			ks.ExpireSlice(64)
		}
		for cursor := uint64(0); ; {
			cursor = db.store.scan(cursor, func(r arena.Ref) {
				require.GreaterOrEqual(t, object.View(ks.A, r).Deadline(), ks.Now())
			})
			if cursor == 0 {
				break
			}
		}
	}
	require.Zero(t, db.Len())
	require.Len(t, rec.expired, 20000)
	require.Zero(t, ks.wheel.Len())
	drain(t, ks)
}

// TestOneWheelRecord checks that moving a deadline to and fro does not fill the wheel for longer
// than the deadlines last.
func TestOneWheelRecord(t *testing.T) { bothLayouts(t, testOneWheelRecord) }

func testOneWheelRecord(t *testing.T) {
	ks, _, _ := newKeyspace(t, Params{})
	db := ks.DB(0)
	k := []byte("k")
	db.Set(k, object.IntValue(1), ks.Now()+1000)
	for range 1000 {
		db.SetDeadline(db.Lookup(k), ks.Now()+100000)
		db.SetDeadline(db.Lookup(k), ks.Now()+1000)
	}
	db.SetDeadline(db.Lookup(k), ks.Now()+500000)
	ks.SetNow(ks.Now() + 2000)
	for ks.ExpireSlice(1000) {
	}
	require.Less(t, ks.wheel.Len(), 50) // one in 64 passes for the one that counts
	require.True(t, db.Peek(k).Exists())
	ks.SetNow(ks.Now() + 500000)
	for ks.ExpireSlice(1000) {
	}
	require.Zero(t, db.Len())
}

func TestEviction(t *testing.T) { bothLayouts(t, testEviction) }

func testEviction(t *testing.T) {
	for p := VolatileLRU; p <= AllKeysRandom; p++ {
		t.Run(fmt.Sprint(p), func(t *testing.T) {
			ks, rec, _ := newKeyspace(t, Params{Policy: p, LFULogFactor: 10, LFUDecayTime: 1})
			db := ks.DB(1)
			const n = 2000
			for i := range n {
				deadline := int64(0)
				if i%2 == 0 {
					deadline = 100_000_000 + int64(i)
				}
				db.Set(fmt.Appendf(nil, "k%d", i), object.IntValue(1), deadline)
				ks.SetNow(ks.Now() + 1000)
			}
			// Keys below 1000 are hot.
			for range 20 {
				for i := range n / 2 {
					db.LookupRead(fmt.Appendf(nil, "k%d", i))
				}
			}
			hot := 0
			for range n / 4 {
				require.True(t, ks.EvictOne())
			}
			for _, k := range rec.evicted {
				var i int
				fmt.Sscanf(k, "k%d", &i)
				if i < n/2 {
					hot++
				}
				if p.volatile() {
					require.Zero(t, i%2, "%s has no deadline", k)
				}
			}
			require.Len(t, rec.evicted, n/4)
			switch {
			case p.lru() || p.lfu():
				require.Less(t, hot, n/20, "hot keys evicted")
			case p == VolatileTTL:
				require.Greater(t, hot, n/4*3/4, "those that expire first go first")
			}
			for p.volatile() && db.Expires() > 0 {
				require.True(t, ks.EvictOne())
			}
			if p.volatile() {
				require.False(t, ks.EvictOne())
			}
			drain(t, ks)
		})
	}
}

func TestBigValuesAreFreedInSlices(t *testing.T) {
	ks, _, _ := newKeyspace(t, Params{})
	db := ks.DB(0)
	db.Set([]byte("big"), object.StringValue(make([]byte, 64<<20)), 0)
	require.True(t, db.Delete([]byte("big")))
	require.GreaterOrEqual(t, ks.Waiting(), int64(64<<20))
	slices := 0
	for ks.FreeSlice() {
		slices++
	}
	require.Greater(t, slices, 60)
	require.Zero(t, ks.Waiting())
	drain(t, ks)
}
