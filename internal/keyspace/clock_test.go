package keyspace

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/arena"
	"godwit/internal/invariant"
	"godwit/internal/object"
	"godwit/internal/testseed"
)

// settle runs slices as a loop does until none has anything to do, and holds that their number is
// bounded by what there is to look at, wherever the clock is.
func settle(t *testing.T, ks *Keyspace) {
	t.Helper()
	const n = 64
	bound := 16 * (ks.Records()/n + 2)
	slices := 0
	for ; ks.SweepPending(); slices++ {
		require.Less(t, slices, bound, "%d records, %d of keys with a deadline, %d of fields",
			ks.Records(), ks.wheel.live, ks.fields.live)
		ks.SweepSlice(n)
	}
	if ks.generations() {
		requireFewDead(t, ks)
	}
	// Each record moves down at most seven levels; a slice takes a few records of fields only.
	bound = 16 * (ks.Records() + 2)
	for slices = 0; ks.ExpiryDue(); slices++ {
		require.Less(t, slices, bound, "%d records", ks.Records())
		ks.ExpireSlice(n)
	}
}

// TestClockJumpsModel checks that a clock that jumps back and forth by more and by less than the
// deadlines are away leaves no dead records that a sweep cannot reach, and nothing that is due for
// ever.
func TestClockJumpsModel(t *testing.T) {
	rounds, burst := 60, 3000
	if invariant.Enabled {
		rounds, burst = 30, 800
	}
	for _, databases := range []int{2, maxTagged + 1} {
		for _, active := range []bool{true, false} {
			t.Run(fmt.Sprintf("%d databases, expire %t", databases, active), func(t *testing.T) {
				rng := testseed.Rand(t)
				p := Params{Databases: databases, ActiveExpire: active, Samples: 5,
					Limits: fieldLimits[0]}
				hooks := &fieldHooks{fields: map[string]int{}, events: map[string]int{}}
				ks := New(arena.New(), p, rng, 1<<41, hooks)
				steps := []int64{1, 50, 1000, 3_600_000, 86_400_000, 365 * 86_400_000}
				for range rounds {
					db := ks.DB(rng.IntN(2))
					jump := rng.Int64N(steps[rng.IntN(len(steps))])
					if rng.IntN(2) == 0 {
						jump = -jump
					}
					ks.SetNow(ks.Now() + jump)
					far := steps[rng.IntN(len(steps))]
					if rng.IntN(4) == 0 { // at one instant
						far = 1
					}
					at := ks.Now() + 1 + rng.Int64N(86_400_000)
					for i := range rng.IntN(burst) {
						k := fmt.Sprint("k", rng.IntN(burst))
						switch rng.IntN(4) {
						case 0:
							db.Delete([]byte(k))
						case 1:
							if e := db.Lookup([]byte(k)); !e.Exists() || e.Type() == object.Hash {
								setField(db, k, fmt.Sprint("f", i%4), at+rng.Int64N(far))
							}
						default:
							db.Set([]byte(k), object.IntValue(1), at+rng.Int64N(far))
						}
						if rng.IntN(8) == 0 && ks.ExpiryDue() {
							ks.ExpireSlice(1 + rng.IntN(64))
						}
						if rng.IntN(8) == 0 && ks.SweepPending() {
							ks.SweepSlice(1 + rng.IntN(64))
						}
					}
					if rng.IntN(2) == 0 {
						for i := range burst {
							if i%10 != 0 {
								db.Delete(fmt.Appendf(nil, "k%d", i))
							}
						}
					}
					require.NoError(t, ks.CheckRecords())
					settle(t, ks)
				}
				require.NoError(t, ks.CheckRecords())
				drain(t, ks)
			})
		}
	}
}

// TestDeadRecordsWhereTimeHasStopped checks that dead records are dropped wherever the wheel has
// them: due and not fired as active expiry is off, and waiting for their place after the clock was
// set back.
func TestDeadRecordsWhereTimeHasStopped(t *testing.T) {
	const n = 5000
	day := int64(86_400_000)
	for name, move := range map[string]func(ks *Keyspace){
		"due": func(ks *Keyspace) {
			ks.P.ActiveExpire = true
			ks.SetNow(ks.Now() + day + 1)
			ks.ExpireSlice(10)
			ks.P.ActiveExpire = false
		},
		"set back":             func(ks *Keyspace) { ks.SetNow(ks.Now() - day) },
		"set back by a little": func(ks *Keyspace) { ks.SetNow(ks.Now() - 60) },
	} {
		t.Run(name, func(t *testing.T) {
			ks, _, _ := newKeyspace(t, Params{})
			ks.P.ActiveExpire = false
			db := ks.DB(0)
			deadline := ks.Now() + day
			set := func(k string) { db.Set([]byte(k), object.IntValue(1), deadline) }
			for i := range n {
				set(fmt.Sprint("k", i))
			}
			move(ks)
			if name != "due" {
				deadline = ks.Now() + 50
			}
			set("live")
			for i := range n {
				set(fmt.Sprint("later", i))
			}
			for i := range n {
				db.Delete(fmt.Appendf(nil, "k%d", i))
				db.Delete(fmt.Appendf(nil, "later%d", i))
			}
			set("live")
			settle(t, ks)
			require.NoError(t, ks.CheckRecords())
			drain(t, ks)
		})
	}
}

// TestSetBackDeadlinesStayAway checks that what gets a deadline after the clock was set back is not
// due before it, and is due then.
func TestSetBackDeadlinesStayAway(t *testing.T) {
	ks, _, _ := newKeyspace(t, Params{})
	db := ks.DB(0)
	db.Set([]byte("old"), object.IntValue(1), ks.Now()+1000)
	ks.SetNow(ks.Now() - 86_400_000)
	db.Set([]byte("new"), object.IntValue(1), ks.Now()+3_600_000)
	settle(t, ks)
	require.Equal(t, 2, db.Len())
	ks.SetNow(ks.Now() + 3_600_001)
	require.True(t, ks.ExpiryDue())
	settle(t, ks)
	require.Equal(t, 1, db.Len())
	drain(t, ks)
}
