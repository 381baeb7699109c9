package metrics

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"godwit/internal/testseed"
)

func steps(h *Histogram) (out []string) {
	h.Cumulative(func(us int64, n uint64) { out = append(out, fmt.Sprintf("%d:%d", us, n)) })
	return out
}

func TestHistogramEmpty(t *testing.T) {
	var h Histogram
	if h.Count() != 0 || h.Percentile(50) != 0 || steps(&h) != nil {
		t.Error("not empty")
	}
}

// TestCumulativeSteps compares the bounds with those that redis-server 7.0 prints for calls of
// these lengths.
func TestCumulativeSteps(t *testing.T) {
	for _, c := range []struct {
		ns   int64
		want string
	}{
		{0, "1:1"}, {-5, "1:1"}, {1, "1:1"}, {1024, "1:1"}, {1031, "1:1"}, {1032, "2:1"},
		{2063, "2:1"}, {2064, "4:1"}, {15_000, "16:1"}, {16_511, "16:1"}, {16_512, "33:1"},
		{40_000, "66:1"}, {16_000_000, "16908:1"}, {20_000_000, "33816:1"},
		{530_000_000, "541065:1"}, {541_065_215, "541065:1"}, {541_065_216, "1073741:1"},
		{1_000_000_000, "1073741:1"}, {5_000_000_000, "1073741:1"},
	} {
		var h Histogram
		h.Record(c.ns)
		if got := strings.Join(steps(&h), " "); got != c.want {
			t.Errorf("%d ns: %s, want %s", c.ns, got, c.want)
		}
	}
	var h Histogram
	for _, ns := range []int64{500, 900, 3000, 3000, 100_000, 2e9} {
		h.Record(ns)
	}
	if got := strings.Join(steps(&h), " "); got != "1:2 4:4 132:5 1073741:6" {
		t.Error(got)
	}
}

func TestPercentile(t *testing.T) {
	var h Histogram
	for i := range 100 {
		h.Record(int64(i+1) * 1000)
	}
	// As redis-server prints them: 1.003 for 1 µs, 1002438.655 for 1 s.
	for p, want := range map[float64]int64{0: 1003, 1: 1003, 50: 50175, 99: 99327, 99.9: 100351,
		100: 100351, 150: 100351, -1: 1003} {
		if got := h.Percentile(p); got != want {
			t.Errorf("p%v = %d, want %d", p, got, want)
		}
	}
	h = Histogram{}
	h.Record(1_100_000_000)
	if got := h.Percentile(50); got != 1_002_438_655 {
		t.Error(got)
	}
}

func TestHistogramAgainstModel(t *testing.T) {
	rnd := rand.New(rand.NewSource(int64(testseed.New(t))))
	var h Histogram
	var all []int64
	for range 5000 {
		v := rnd.Int63n(1 << (1 + rnd.Intn(30)))
		h.Record(v)
		all = append(all, min(max(v, 1), maxValue))
	}
	slices.Sort(all)
	if h.Count() != 5000 {
		t.Errorf("count %d", h.Count())
	}
	for _, p := range []float64{1, 10, 50, 90, 99, 99.9, 100} {
		exact := all[max(int(p/100*5000+0.5), 1)-1]
		if got := h.Percentile(p); got < exact || got-exact > exact/128 {
			t.Errorf("p%v = %d, exactly %d", p, got, exact)
		}
	}
	h.Cumulative(func(us int64, n uint64) {
		i, _ := slices.BinarySearch(all, (us+1)*1000) // us is rounded down
		if uint64(i) < n {
			t.Errorf("%d at most %d µs, but only %d are", n, us, i)
		}
	})
	if n := testing.AllocsPerRun(100, func() { h.Record(1000) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestRate(t *testing.T) {
	var r Rate
	r.Start(1000, 500)
	for i := range int64(16) {
		r.Sample(1100+100*i, 500+(i+1)*30)
		if want := 300 * (i + 1) / 16; r.PerSecond() != want {
			t.Errorf("after %d samples: %d, want %d", i+1, r.PerSecond(), want)
		}
	}
	for i := range int64(16) {
		r.Sample(2700+100*i, 980)
	}
	if r.PerSecond() != 0 {
		t.Error("old samples stay")
	}
	r.Sample(2700+1500, 10_000) // no time has passed
	if r.PerSecond() != 0 {
		t.Error("a sample without time counts")
	}
}

func TestEvents(t *testing.T) {
	var es Events
	if es.Get("x") != nil || es.Reset("x") || es.ResetAll() != 0 || len(es.Names()) != 0 {
		t.Error("not empty")
	}
	es.Add("fork", 10, 5)
	es.Add("fork", 10, 9)
	es.Add("fork", 10, 7)
	es.Add("fork", 12, 3)
	es.Add("command", 11, 1)
	f := es.Get("fork")
	if f.Len() != 2 || f.At(0) != (EventSample{10, 9}) || f.Latest() != (EventSample{12, 3}) ||
		f.Max() != 9 {
		t.Errorf("%+v", f)
	}
	want := EventStats{Samples: 2, Min: 3, Max: 9, Average: 6, Mad: 3, Period: 5, AllTime: 9}
	if got := f.Stats(20); got != want {
		t.Errorf("%+v", got)
	}
	if got := es.Names(); !slices.Equal(got, []string{"command", "fork"}) {
		t.Error(got)
	}
	if !es.Reset("fork") || es.Get("fork") != nil || es.ResetAll() != 1 {
		t.Error("reset")
	}
	var e Event
	for i := range int64(500) {
		e.Add(i, 1000-i)
	}
	if e.Len() != 160 || e.At(0) != (EventSample{340, 660}) ||
		e.Latest() != (EventSample{499, 501}) || e.Max() != 1000 {
		t.Errorf("%d %v %v %d", e.Len(), e.At(0), e.Latest(), e.Max())
	}
}

func TestSlowlogCutsArguments(t *testing.T) {
	arg := func(n int) []byte { return []byte(strings.Repeat("x", n)) }
	var argv [][]byte
	for i := range 41 {
		argv = append(argv, fmt.Append(nil, i))
	}
	argv[1], argv[2], argv[3] = arg(128), arg(129), arg(200)
	var l Slowlog
	l.SetEntry(32, 128)
	l.Add(1, 2, argv, "a", "n")
	if l.Len() != 0 {
		t.Error("kept without a length")
	}
	l.SetMax(10)
	l.Add(1, 2, argv, "a", "n")
	e := l.At(0)
	if e.ID != 0 || e.Time != 1 || e.Value != 2 || e.Argc != 41 || e.ClientAddr != "a" ||
		e.ClientName != "n" || len(e.Args) != 32 {
		t.Fatalf("%+v", e)
	}
	x128 := string(arg(128))
	for i, want := range map[int]string{0: "0", 1: x128, 2: x128 + "... (1 more bytes)",
		3:  x128 + "... (72 more bytes)",
		30: "30", 31: "... (10 more arguments)"} {
		if e.Args[i] != want {
			t.Errorf("argument %d: %q", i, e.Args[i])
		}
	}
	argv[0][0] = 'z'
	if e.Args[0] != "0" {
		t.Error("arguments are not copied")
	}
	l.SetEntry(2, 1)
	l.Add(1, 2, argv[:6], "", "")
	if got := l.At(0).Args; len(got) != 2 || got[1] != "... (5 more arguments)" {
		t.Errorf("%q", got)
	}
	l.Add(1, 2, argv[4:6], "", "")
	if got := l.At(0).Args; !slices.Equal(got, []string{"4", "5"}) {
		t.Errorf("%q", got)
	}
	l.SetEntry(32, 128)
	l.Add(1, 2, argv[:32], "", "")
	if got := l.At(0).Args; len(got) != 32 || got[31] != "31" {
		t.Errorf("%q", got)
	}
}

func TestSlowlogAgainstModel(t *testing.T) {
	rnd := rand.New(rand.NewSource(int64(testseed.New(t))))
	var l Slowlog
	l.SetEntry(32, 128)
	var model []int64 // ids, newest first
	most, id := 0, int64(0)
	for range 5000 {
		switch n := rnd.Intn(60); {
		case n == 0:
			most = rnd.Intn(100)
			l.SetMax(most)
		case n == 1 && rnd.Intn(10) == 0:
			l.Reset()
			model = nil
		default:
			args := slices.Repeat([][]byte{make([]byte, rnd.Intn(200))}, rnd.Intn(40))
			l.Add(id, 1, args, "127.0.0.1:1"[:rnd.Intn(12)], "name"[:rnd.Intn(5)])
			if most > 0 {
				model = append([]int64{id}, model...)
				id++
			}
		}
		model = model[:min(len(model), most)]
		if l.Len() != len(model) {
			t.Fatalf("%d entries, want %d", l.Len(), len(model))
		}
		for i, want := range model {
			if l.At(i).ID != want {
				t.Fatalf("entry %d is %d, want %d", i, l.At(i).ID, want)
			}
		}
		bytes := int64(0)
		for i := range l.ring {
			bytes += slowEntrySize + l.ring[i].bytes()
		}
		if l.Bytes() != bytes {
			t.Fatalf("%d bytes, want %d", l.Bytes(), bytes)
		}
	}
	l.SetMax(1 << 40) // memory follows the entries, not the limit
	l.Add(0, 0, nil, "", "")
}

func BenchmarkRecord(b *testing.B) {
	var h Histogram
	b.ReportAllocs()
	i := int64(0)
	for b.Loop() {
		h.Record(i & 0xffff)
		i += 37
	}
}

func TestRateOfMeans(t *testing.T) {
	var r Rate
	r.Start(10, 1000)
	for i := range int64(16) {
		r.SampleMean(10+(i+1)*4, 1000+(i+1)*200)
	}
	if r.Mean() != 50 {
		t.Errorf("%d", r.Mean())
	}
	r.SampleMean(10+16*4, 9000) // nothing was added
	if r.Mean() != 50*15/16 {
		t.Errorf("%d after an empty sample", r.Mean())
	}
}
