package wheel

import (
	"cmp"
	"math"
	"math/rand"
	"slices"
	"testing"

	"godwit/internal/arena"
	"godwit/internal/invariant"
	"godwit/internal/testseed"
)

const t0 = int64(1_750_000_000_000) // ms, a date like today's

type fired struct {
	deadline int64
	hash     uint64
	db       uint16
}

// sooner orders what has fired by deadline.
func sooner(x, y fired) int { return cmp.Compare(x.deadline, y.deadline) }

func newWheel(t testing.TB, now int64) *Wheel {
	a := arena.New()
	w := New(a, now)
	t.Cleanup(func() {
		w.Free()
		if used := a.Used(); used != 0 {
			t.Errorf("%d bytes left in the arena", used)
		}
		a.Close()
	})
	return w
}

func check(t *testing.T, w *Wheel) {
	t.Helper()
	if err := w.Check(); err != nil {
		t.Fatal(err)
	}
}

// drain advances until nothing is left to do and returns what fired.
func drain(t *testing.T, w *Wheel, now int64, budget int) (out []fired) {
	t.Helper()
	for {
		n := 0
		more := w.Advance(now, budget, func(d int64, h uint64, db uint16) {
			n++
			out = append(out, fired{d, h, db})
		})
		if n > budget {
			t.Fatalf("%d fired with a budget of %d", n, budget)
		}
		if !more {
			return out
		}
	}
}

func TestEmpty(t *testing.T) {
	w := newWheel(t, t0)
	if _, ok := w.Next(); ok || w.Len() != 0 || w.MemoryBytes() != 0 {
		t.Error("a new wheel is not empty")
	}
	if w.Advance(math.MaxInt64, 1, nil) || w.Advance(math.MinInt64, 1, nil) ||
		w.Advance(t0, 0, nil) {
		t.Error("an empty wheel has work")
	}
	check(t, w)
}

func TestBoundaries(t *testing.T) {
	starts := []int64{t0, 0, -5, 255, 256, 1<<32 - 1, math.MinInt64, math.MaxInt64 - 1}
	deltas := []int64{1, 2, 255, 256, 257, 65535, 65536, 1 << 24, 1 << 40, 1 << 56, 1<<62 + 12345}
	for _, start := range starts {
		for _, delta := range deltas {
			deadline := start + delta
			if deadline < start {
				deadline = math.MaxInt64
			}
			w := newWheel(t, start)
			w.Add(deadline, 7, 3)
			check(t, w)
			if next, ok := w.Next(); !ok || next > deadline || next <= start {
				t.Fatalf("start %d delta %d: next %d %v", start, delta, next, ok)
			}
			if got := drain(t, w, deadline-1, 100); len(got) != 0 {
				t.Fatalf("start %d delta %d: fired a ms early", start, delta)
			}
			check(t, w)
			if got := drain(t, w, deadline, 100); !slices.Equal(got, []fired{{deadline, 7, 3}}) {
				t.Fatalf("start %d delta %d: %v", start, delta, got)
			}
			check(t, w)
		}
	}
}

func TestPastFiresAtNextAdvance(t *testing.T) {
	w := newWheel(t, t0)
	for i, d := range []int64{t0, t0 - 1, 0, -1, math.MinInt64} {
		w.Add(d, uint64(i), 0)
	}
	if next, ok := w.Next(); !ok || next > t0 {
		t.Errorf("next %d %v", next, ok)
	}
	if got := drain(t, w, t0, 100); len(got) != 5 {
		t.Errorf("%v", got)
	}
}

// TestAgainstModel compares the wheel with a plain slice after every operation; time moves by steps
// of all sizes.
func TestAgainstModel(t *testing.T) {
	rnd := rand.New(rand.NewSource(int64(testseed.New(t))))
	for round := range 16 {
		a := arena.New()
		now := []int64{t0, 0, rnd.Int63(), -rnd.Int63()}[rnd.Intn(4)]
		w := New(a, now)
		var model []fired
		step := func() int64 { return rnd.Int63n(1 << rnd.Intn(20+2*round)) }
		for range 200 {
			switch rnd.Intn(12) {
			default:
				for range 1 + rnd.Intn(20) {
					r := fired{now + step() - step()/8, rnd.Uint64() & hashMask,
						uint16(rnd.Intn(1 << 16))}
					w.Add(r.deadline, r.hash, r.db)
					model = append(model, r)
				}
			case 0: // a burst at one instant
				d := now + step()
				for range rnd.Intn(600) {
					r := fired{d, rnd.Uint64() & hashMask, 1}
					w.Add(r.deadline, r.hash, r.db)
					model = append(model, r)
				}
			case 1, 2:
				now += step()
				model = advanceBoth(t, w, model, now, 1+rnd.Intn(1000), rnd)
			case 3: // the clock goes back
				now -= step()
				if rnd.Intn(2) == 0 {
					w.TurnBack(now)
					break // what is added before the next Advance goes by this time
				}
				model = advanceBoth(t, w, model, now, 1+rnd.Intn(1000), rnd)
			case 4:
				if rnd.Intn(20) == 0 {
					w.Reset(now)
					model = model[:0]
				}
			case 5: // some of a sweep: records with an odd hash are dead
				model = sweepBoth(w, model, rnd.Intn(400))
			case 6:
				picksExist(t, w, model, rnd)
			}
			if w.Len() != len(model) {
				t.Fatalf("length %d, model %d", w.Len(), len(model))
			}
			check(t, w)
			if t.Failed() {
				return
			}
		}
		w.Free()
		if a.Used() != 0 {
			t.Fatalf("%d bytes left", a.Used())
		}
		a.Close()
	}
}

// sweepBoth sweeps about n records, of which those with an odd hash are dead, and returns the model
// without them.
func sweepBoth(w *Wheel, model []fired, n int) []fired {
	w.Sweep(n, func(batch []Expiry) {
		for i := range batch {
			if r := &batch[i]; r.Hash&1 != 0 {
				r.Drop = true
				dead := fired{r.Deadline, r.Hash, r.DB}
				is := func(f fired) bool { return f == dead }
				model = slices.DeleteFunc(model, is)
			}
		}
	})
	return model
}

// advanceBoth makes one sliced Advance, with additions between and inside the slices, and compares
// what fired.
func advanceBoth(t *testing.T, w *Wheel, model []fired, now int64, budget int,
	rnd *rand.Rand) []fired {
	t.Helper()
	waits := instant(w.cur) > now && instant(w.cur)-now <= backStep
	var got []fired
	for more := true; more; {
		n := 0
		more = w.Advance(now, budget, func(d int64, h uint64, db uint16) {
			n++
			got = append(got, fired{d, h, db})
			if rnd.Intn(20) == 0 { // what the keyspace puts back may be one too many
				w.Sweep(rnd.Intn(100), func([]Expiry) {})
			}
			if rnd.Intn(8) == 0 { // the keyspace puts a record back
				r := fired{now + 1 + backStep + rnd.Int63n(5000), h, db}
				w.Add(r.deadline, r.hash, r.db)
				model = append(model, r)
			}
		})
		if n > budget {
			t.Fatalf("%d fired with a budget of %d", n, budget)
		}
		if more && rnd.Intn(4) == 0 {
			r := fired{now + rnd.Int63n(100) - 50, rnd.Uint64() & hashMask, 9}
			w.Add(r.deadline, r.hash, r.db)
			model = append(model, r)
		}
		if rnd.Intn(10) == 0 {
			check(t, w)
		}
	}
	left := model[:0:0]
	var due []fired
	for _, r := range model {
		if r.deadline <= now && !waits {
			due = append(due, r)
		} else {
			left = append(left, r)
		}
	}
	order := func(x, y fired) int {
		switch {
		case x.deadline != y.deadline:
			return cmp64(uint64(x.deadline)^1<<63, uint64(y.deadline)^1<<63)
		case x.hash != y.hash:
			return cmp64(x.hash, y.hash)
		}
		return int(x.db) - int(y.db)
	}
	slices.SortFunc(got, order)
	slices.SortFunc(due, order)
	if !slices.Equal(got, due) {
		t.Fatalf("at %d: %d fired, %d were due", now, len(got), len(due))
	}
	return left
}

func cmp64(x, y uint64) int {
	if x < y {
		return -1
	}
	return 1
}

func TestFiresInOrder(t *testing.T) {
	rnd := rand.New(rand.NewSource(int64(testseed.New(t))))
	w := newWheel(t, t0)
	for range 20000 {
		w.Add(t0+1+rnd.Int63n(1<<(1+rnd.Intn(40))), 0, 0)
	}
	got := drain(t, w, math.MaxInt64, 777)
	if len(got) != 20000 || !slices.IsSortedFunc(got, sooner) {
		t.Errorf("%d fired, or out of order", len(got))
	}
}

// TestBudgetBoundsEachCall checks that a call does no more than its budget, moves included.
func TestBudgetBoundsEachCall(t *testing.T) {
	w := newWheel(t, t0)
	const n, budget = 100_000, 500
	for i := range n {
		w.Add(t0+10_000_000, uint64(i), 0) // level 2 or 3: moves down more than once
	}
	calls, firedAll := 0, 0
	for more := true; more; calls++ {
		firedNow := 0
		more = w.Advance(t0+10_000_000, budget, func(int64, uint64, uint16) { firedNow++ })
		if firedNow > budget {
			t.Fatalf("%d fired", firedNow)
		}
		firedAll += firedNow
	}
	// Fewer calls than this would mean that moves are free: then one call may move everything.
	if firedAll != n || calls < 2*n/budget || calls > levels*n/budget {
		t.Errorf("%d fired in %d calls", firedAll, calls)
	}
	check(t, w)
}

func TestResetGivesMemoryBackInSlices(t *testing.T) {
	w := newWheel(t, t0)
	for i := range 100_000 {
		w.Add(t0+int64(i), 0, 0)
	}
	before := w.MemoryBytes()
	w.Reset(t0 + 5)
	check(t, w)
	if w.Len() != 0 || w.MemoryBytes() != before {
		t.Errorf("after Reset: %d records, %d of %d bytes", w.Len(), w.MemoryBytes(), before)
	}
	if !w.Advance(t0+6, 1, nil) {
		t.Error("one step freed everything")
	}
	w.Add(t0+100, 1, 1)
	if got := drain(t, w, t0+200_000, 50); len(got) != 1 || w.MemoryBytes() != 0 {
		t.Errorf("%v, %d bytes left", got, w.MemoryBytes())
	}
}

func TestSmallStepBackWaits(t *testing.T) {
	w := newWheel(t, t0)
	w.Add(t0-1, 1, 0)
	if got := drain(t, w, t0-backStep, 10); len(got) != 0 {
		t.Error("fired although the clock was behind")
	}
	if got := drain(t, w, t0, 10); len(got) != 1 {
		t.Error("lost")
	}
}

func TestMemory(t *testing.T) {
	w := newWheel(t, t0)
	rnd := rand.New(rand.NewSource(1))
	const n = 300_000
	for range n {
		w.Add(t0+rnd.Int63n(3_600_000), rnd.Uint64(), 0) // within an hour
	}
	if per := float64(w.MemoryBytes()) / n; per > 11.2 {
		t.Errorf("%.2f bytes a record", per)
	} else {
		t.Logf("%.2f bytes a record", per)
	}
	if invariant.Enabled {
		return // the arena's checks allocate
	}
	i := int64(0)
	if allocs := testing.AllocsPerRun(1000, func() { i++; w.Add(t0+i, 1, 1) }); allocs != 0 {
		t.Errorf("%v Go allocations for an Add", allocs)
	}
	advance := func() {
		i++
		w.Advance(t0+i, 10, func(int64, uint64, uint16) {})
	}
	if allocs := testing.AllocsPerRun(100, advance); allocs != 0 {
		t.Errorf("%v Go allocations for an Advance", allocs)
	}
}

func BenchmarkAdd(b *testing.B) {
	w := newWheel(b, t0)
	rnd := rand.New(rand.NewSource(1))
	deadlines := make([]int64, 1<<16)
	for i := range deadlines {
		deadlines[i] = t0 + rnd.Int63n(3_600_000)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		w.Add(deadlines[i&(1<<16-1)], uint64(i), 0)
		i++
	}
}

// BenchmarkLife measures the whole cost of a record: Add, its moves down, and firing.
func BenchmarkLife(b *testing.B) {
	w := newWheel(b, t0)
	rnd := rand.New(rand.NewSource(1))
	now, n := t0, 0
	fire := func(int64, uint64, uint16) { n++ }
	for range 1_000_000 {
		w.Add(now+rnd.Int63n(3_600_000), 1, 0)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		w.Add(now+rnd.Int63n(3_600_000), 1, 0)
		if i++; i&255 == 0 {
			now += 920 // about as many fall due as come in
			for w.Advance(now, 1000, fire) {
			}
		}
	}
}

// TestMemoryOfShortChains checks that chains of a thousand records waste little in their last
// blocks.
func TestMemoryOfShortChains(t *testing.T) {
	w := newWheel(t, t0)
	const n, within = 100_000, 6_200_000
	for i := range int64(n) {
		w.Add(t0+i*within/n, uint64(i), 0)
	}
	per := float64(w.MemoryBytes()) / n
	t.Logf("%.2f bytes a record", per)
	if per > 11.6 {
		t.Errorf("%.2f bytes a record", per)
	}
}
