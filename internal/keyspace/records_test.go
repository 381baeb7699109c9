package keyspace

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/arena"
	"godwit/internal/invariant"
	"godwit/internal/object"
	"godwit/internal/testseed"
)

// sweepAll runs slices until none has anything to do, and holds that few records are dead then.
func sweepAll(t *testing.T, ks *Keyspace) {
	t.Helper()
	for n := 0; ks.SweepPending(); n++ {
		require.Less(t, n, 100_000, "sweeps do not end")
		ks.SweepSlice(64)
	}
	requireFewDead(t, ks)
}

func requireFewDead(t *testing.T, ks *Keyspace) {
	t.Helper()
	require.LessOrEqual(t, ks.wheel.Len()-ks.wheel.live, sweepFloor+ks.wheel.Len()/5)
	require.LessOrEqual(t, ks.fields.Len()-ks.fields.live, sweepFloor+ks.fields.Len()/5)
}

// wheelWalk does random operations on keys and fields with deadlines.
type wheelWalk struct {
	t   *testing.T
	ks  *Keyspace
	rng *rand.Rand
}

func (w *wheelWalk) key() string    { return fmt.Sprintf("k%d", w.rng.IntN(200)) }
func (w *wheelWalk) db() *DB        { return w.ks.DB(w.rng.IntN(w.ks.Databases())) }
func (w *wheelWalk) instant() int64 { return w.ks.Now() + w.rng.Int64N(1<<w.rng.IntN(30)) + 1 }

// free returns a key that is absent.
func (w *wheelWalk) free(db *DB) (string, bool) {
	k := w.key()
	return k, !db.Lookup([]byte(k)).Exists()
}

func (w *wheelWalk) write(db *DB, k string) {
	switch w.rng.IntN(8) {
	case 0:
		db.Set([]byte(k), object.IntValue(1), 0)
	case 1:
		db.Set([]byte(k), object.IntValue(2), KeepTTL)
	case 2: // longer than the block of the entry
		db.Set([]byte(k), object.StringValue(make([]byte, w.rng.IntN(300))), w.instant())
	case 3, 4:
		if e := db.Lookup([]byte(k)); e.Exists() && e.Type() != object.Hash {
			return
		}
		for i := range 1 + w.rng.IntN(8) {
			deadline := w.instant()
			if w.rng.IntN(4) == 0 {
				deadline = 0
			}
			setField(db, k, fmt.Sprint("f", i), deadline)
		}
	default:
		db.Set([]byte(k), object.IntValue(3), w.instant())
	}
}

func (w *wheelWalk) step() {
	ks, db, k := w.ks, w.db(), w.key()
	e := db.Lookup([]byte(k))
	switch w.rng.IntN(16) {
	default:
		w.write(db, k)
	case 0:
		db.Delete([]byte(k))
	case 1:
		db.Unlink([]byte(k))
	case 2:
		if e.Exists() {
			db.SetDeadline(e, 0)
		}
	case 3, 4:
		if e.Exists() {
			db.SetDeadline(e, w.instant())
		}
	case 5:
		if dst, ok := w.free(db); e.Exists() && dst != k {
			_ = ok // it may replace a key
			db.Rename([]byte(k), []byte(dst))
		}
	case 6:
		if to := w.db(); e.Exists() && to != db && !to.Lookup([]byte(k)).Exists() {
			db.MoveTo([]byte(k), to)
		}
	case 7:
		if dst := w.key(); e.Exists() && dst != k {
			db.Copy(e, w.db(), []byte(dst))
		}
	case 8:
		ks.Swap(w.rng.IntN(ks.Databases()), w.rng.IntN(ks.Databases()))
	case 9:
		if w.rng.IntN(20) == 0 {
			db.Flush(w.rng.IntN(2) == 0)
		}
	case 10:
		ks.P.Policy = VolatileLRU + Policy(w.rng.IntN(int(AllKeysRandom)))
		ks.EvictOne()
	case 11:
		ks.SetNow(ks.Now() + w.rng.Int64N(1<<w.rng.IntN(18)))
		if w.rng.IntN(10) == 0 {
			ks.SetNow(ks.Now() - w.rng.Int64N(1<<w.rng.IntN(18)))
		}
		ks.ExpireSlice(1 + w.rng.IntN(100))
	case 12:
		ks.SweepSlice(1 + w.rng.IntN(100))
	case 13:
		if k, ok := w.free(db); ok {
			db.Load([]byte(k), object.IntValue(1), w.instant(), Access{-1, -1})
		}
	}
}

// TestWheelModel checks that whatever happens to keys and fields, each deadline has its record, the
// wheels hold as many as there are deadlines and a bounded number of dead ones, and when all
// deadlines have passed nothing is left.
func TestWheelModel(t *testing.T) { bothLayouts(t, testWheelModel) }

func testWheelModel(t *testing.T) {
	steps := 20_000
	if invariant.Enabled {
		steps = 4_000
	}
	for i, lim := range fieldLimits {
		databases := 4
		if i == 2 {
			databases = maxTagged + 1 // records without generations
		}
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			rng := testseed.Rand(t)
			hooks := &fieldHooks{fields: map[string]int{}, events: map[string]int{}}
			p := Params{Databases: databases, ActiveExpire: true, Limits: lim, Samples: 5}
			p.Slots = inSlots
			ks := New(arena.New(), p, rng, 1_000_000, hooks)
			w := &wheelWalk{t, ks, rng}
			check := steps / 100
			if databases > maxTagged {
				steps /= 4
			}
			for n := range steps {
				w.step()
				if n%check == 0 {
					require.NoError(t, ks.CheckRecords(), "step %d", n)
				}
				if n%2000 == 0 && ks.generations() {
					sweepAll(t, ks)
				}
			}
			require.NoError(t, ks.CheckRecords())
			// Deadlines end: what has one goes by itself.
			ks.SetNow(ks.Now() + 1<<31)
			for ks.ExpireSlice(1000) {
			}
			require.Zero(t, ks.wheel.Len())
			require.Zero(t, ks.fields.Len())
			require.Zero(t, ks.wheel.live)
			require.Zero(t, ks.fields.live)
			require.NoError(t, ks.CheckRecords())
			drain(t, ks)
		})
	}
}

// TestDeadRecordsArePaidFor checks that whoever makes dead records in one go, before any slice has
// its turn, sweeps them too.
func TestDeadRecordsArePaidFor(t *testing.T) {
	ks, _, rng := newKeyspace(t, Params{})
	db := ks.DB(0)
	for i := range 20_000 { // live ones among them
		db.Set(fmt.Appendf(nil, "live%d", i), object.IntValue(1), ks.Now()+rng.Int64N(1<<40))
	}
	most := 0
	for i := range 200_000 {
		k := fmt.Appendf(nil, "k%d", i%1000)
		db.Set(k, object.IntValue(1), ks.Now()+86_400_000)
		db.Delete(k)
		most = max(most, ks.wheel.Len())
	}
	require.Less(t, most, (20_000+sweepFloor)*5/4+1)
	require.NoError(t, ks.CheckRecords())
	sweepAll(t, ks)
	drain(t, ks)
}

// TestDeletesAreSwept checks that slices drop the records of many keys that go at once, with
// bounded work each.
func TestDeletesAreSwept(t *testing.T) { bothLayouts(t, testDeletesAreSwept) }

func testDeletesAreSwept(t *testing.T) {
	ks, _, _ := newKeyspace(t, Params{})
	db := ks.DB(0)
	const n = 50_000
	for i := range n {
		db.Set(fmt.Appendf(nil, "k%d", i), object.IntValue(1), ks.Now()+86_400_000+int64(i))
	}
	for i := range n {
		if i%10 != 0 {
			db.Delete(fmt.Appendf(nil, "k%d", i))
		}
	}
	require.Equal(t, n, ks.wheel.Len())
	slices := 0
	for ; ks.SweepSlice(100); slices++ {
		left := ks.wheel.Len()
		ks.SetNow(ks.Now() + 1)
		ks.ExpireSlice(10)
		require.LessOrEqual(t, left-ks.wheel.Len(), 100)
	}
	require.Greater(t, slices, n/200)
	require.NoError(t, ks.CheckRecords())
	requireFewDead(t, ks)
	require.Less(t, ks.wheel.MemoryBytes(), int64(n/10*25))
	ks.SetNow(ks.Now() + 2*86_400_000)
	for ks.ExpireSlice(1000) {
	}
	require.Zero(t, db.Len())
	drain(t, ks)
}

// TestFlushGivesBackAll checks that after FLUSHALL nothing is left in the arena, also when the
// databases were empty but for what deadlines had left behind.
func TestFlushGivesBackAll(t *testing.T) { bothLayouts(t, testFlushGivesBackAll) }

func testFlushGivesBackAll(t *testing.T) {
	for _, async := range []bool{false, true} {
		for _, empty := range []bool{false, true} {
			t.Run(fmt.Sprintf("async %t empty %t", async, empty), func(t *testing.T) {
				ks, _, _ := newKeyspace(t, Params{})
				for i := range 10_000 {
					k := fmt.Sprint("k", i)
					ks.DB(i%2).Set([]byte(k), object.IntValue(1), ks.Now()+1000+int64(i))
					setField(ks.DB(2), k, "f", ks.Now()+1000+int64(i))
					if empty {
						ks.DB(i % 2).Delete([]byte(k))
						ks.DB(2).Delete([]byte(k))
					}
				}
				for _, db := range ks.dbs {
					db.Flush(async)
				}
				for ks.LazyFreeQueued() || ks.SweepPending() {
					ks.LazyFreeSlice(1000)
					ks.SweepSlice(1000)
				}
				require.Zero(t, ks.A.Used())
				require.Zero(t, ks.wheel.Len()+ks.fields.Len())
			})
		}
	}
}
