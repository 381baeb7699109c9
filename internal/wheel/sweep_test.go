package wheel

import (
	"math/rand"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/testseed"
)

// picksExist holds that Pick and Near show records that are there, if there is one.
func picksExist(t *testing.T, w *Wheel, model []fired, rnd *rand.Rand) {
	t.Helper()
	for range 20 {
		r, ok := w.Pick(rnd.Uint64())
		require.Equal(t, len(model) > 0, ok)
		if ok {
			require.Contains(t, model, fired{r.Deadline, r.Hash, r.DB})
		}
	}
	near := 0
	w.Near(10, func(r Expiry) {
		near++
		require.Contains(t, model, fired{r.Deadline, r.Hash, r.DB})
	})
	require.Equal(t, len(model) > 0, near > 0)
	require.LessOrEqual(t, near, 10)
}

// TestSweepShowsAll checks that the calls of one pass show each record that waits once, in slices,
// while time goes on; what is dropped is gone, what was added or changed meanwhile is not.
func TestSweepShowsAll(t *testing.T) {
	rnd := rand.New(rand.NewSource(int64(testseed.New(t))))
	w := newWheel(t, t0)
	const n = 30_000
	want := map[uint64]bool{}
	for i := range uint64(n) {
		w.Add(t0+100_000+rnd.Int63n(1<<(10+rnd.Intn(30))), i, 0)
		want[i] = i%3 != 0
	}
	seen := map[uint64]int{}
	now, added := t0, uint64(n)
	for calls := 0; ; calls++ {
		shown := 0
		more := w.Sweep(100, func(batch []Expiry) {
			shown += len(batch)
			for i := range batch {
				r := &batch[i]
				seen[r.Hash]++
				r.Drop = r.Hash%3 == 0 && r.Hash < n
				r.DB = 7
			}
		})
		require.LessOrEqual(t, shown, 100+sweepBatch)
		if !more {
			require.Greater(t, calls, n/200)
			break
		}
		now += 200
		w.Advance(now, 50, func(int64, uint64, uint16) {})
		if now > t0+90_000 {
			now = t0 + 90_000 // nothing fires
		}
		w.Add(t0+1<<41, added, 7)
		want[added] = true
		added++
		if calls%20 == 0 {
			check(t, w)
		}
	}
	for i := range uint64(n) {
		require.Positive(t, seen[i], "record %d was not shown", i)
	}
	check(t, w)
	got := drain(t, w, t0+1<<45, 1000)
	for _, f := range got {
		require.True(t, want[f.hash], "record %d fired", f.hash)
		require.EqualValues(t, 7, f.db)
		delete(want, f.hash)
	}
	for hash, left := range want {
		require.False(t, left, "record %d is lost", hash)
	}
}

// TestSweptSlotFires checks that time that reaches the slot which is being swept finds all of its
// records.
func TestSweptSlotFires(t *testing.T) {
	w := newWheel(t, t0)
	for i := range 10_000 {
		w.Add(t0+1_000_000+int64(i), uint64(i), 0)
	}
	for w.sweep.chain.head == 0 {
		require.True(t, w.Sweep(40, func([]Expiry) {}))
	}
	check(t, w)
	next, ok := w.Next()
	require.True(t, ok)
	require.LessOrEqual(t, next, t0+1_000_000)
	got := drain(t, w, t0+2_000_000, 100)
	require.Len(t, got, 10_000)
	require.True(t, slices.IsSortedFunc(got, sooner))
	check(t, w)
}

// TestSweepOfASlotInTurnWithTime checks that a slot that time is to reach while it is swept is
// shown to its end, each record once, however many other slots time has to empty before.
func TestSweepOfASlotInTurnWithTime(t *testing.T) {
	const n, late = 1000, 500
	for _, every := range []uint64{1, 20, late} { // records in a slot that comes before
		w := newWheel(t, t0)
		far := t0 + 1<<20
		for i := range uint64(n) {
			w.Add(far, i, 0)
		}
		for i := range uint64(late) {
			w.Add(t0+1+int64(i/every), n+i, 0)
		}
		seen := map[uint64]int{}
		calls := 0
		for more := true; more; calls++ {
			more = w.Sweep(100, func(batch []Expiry) {
				for _, r := range batch {
					seen[r.Hash]++
				}
			})
			w.Advance(far-1, 20, func(int64, uint64, uint16) {})
			check(t, w)
		}
		for i := range uint64(n) {
			require.Equal(t, 1, seen[i], "record %d, %d in a slot", i, every)
		}
		require.Less(t, calls, 2*(n+late)/100, "each slice of the slot is shown once")
	}
}

// TestSweepFreesWhatResetLeft checks that blocks that Reset has thrown away are freed in slices
// without Advance.
func TestSweepFreesWhatResetLeft(t *testing.T) {
	w := newWheel(t, t0)
	for i := range 100_000 {
		w.Add(t0+int64(i)+1, 0, 0)
	}
	w.Reset(t0)
	require.True(t, w.Trash())
	calls := 0
	for w.Sweep(10, nil) {
		calls++
	}
	require.Greater(t, calls, 10)
	require.False(t, w.Trash())
	require.Zero(t, w.MemoryBytes())
}

// TestSweepEndsWhereverRecordsAre checks that one pass shows each record once, in as many calls as
// that takes, when time has not moved on since they were due or the clock was set back.
func TestSweepEndsWhereverRecordsAre(t *testing.T) {
	const n, day = 10_000, 86_400_000
	for _, move := range []func(w *Wheel){
		func(w *Wheel) { // a burst is due
			w.Advance(t0+day/2, 10, func(int64, uint64, uint16) {})
		},
		func(w *Wheel) { w.TurnBack(t0 - day) },
		func(w *Wheel) { w.TurnBack(t0 - day); w.Advance(t0-day, 100, nil) },
		func(w *Wheel) { w.TurnBack(t0 - backStep) },
	} {
		w := newWheel(t, t0)
		for i := range uint64(n) {
			w.Add(t0+day/2, i, 0)
			w.Add(t0+1+int64(i*i), i, 0)
		}
		w.Sweep(100, func([]Expiry) {})
		move(w)
		for i := range uint64(n) {
			w.Add(t0-day/2+int64(i), i, 0)
		}
		w.Sweep(100, func([]Expiry) {})
		for w.sweep.on {
			w.Sweep(100, func([]Expiry) {})
		}
		check(t, w)
		left, shown, calls := w.Len(), 0, 1
		drop := func(batch []Expiry) {
			shown += len(batch)
			for i := range batch {
				batch[i].Drop = batch[i].Hash%2 != 0
			}
		}
		for w.Sweep(64, drop) {
			calls++
			check(t, w)
		}
		require.Equal(t, left, shown)
		require.LessOrEqual(t, calls, left/64+1)
		require.Less(t, w.Len(), left*3/4)
		check(t, w)
	}
}
