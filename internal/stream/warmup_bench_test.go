package stream

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"godwit/internal/arena"
)

// benchMember is a stream with a group of ten consumers.
type benchMember struct {
	s   *Stream
	g   *Group
	all []*Consumer
}

// benchMany returns a stream of so many entries, 300 a ms, a tenth of them pending with ten
// consumers that have read them in runs.
func benchMany(sh *Shared, entries int) (m benchMember) {
	m.s = New(sh)
	m.g = m.s.CreateGroup([]byte("g"), ID{}, 0)
	for i := range 10 {
		m.all = append(m.all, m.g.CreateConsumer(fmt.Appendf(nil, "c:%d", i), 0))
	}
	run := max(1, min(1000, entries/100))
	var fields [][]byte
	for i := range entries {
		if i%100 == 0 {
			fields = sensor(fields, i)
		}
		id := benchID(i, 300)
		m.s.Append(id, fields, benchLimits)
		if i < entries/10 {
			m.g.Set(Pending{id, m.all[i/run%10], int64(id.Ms) + 5, 1})
		}
	}
	return m
}

// benchOne is what a command on one entry does.
type benchOne struct {
	name    string
	pending bool // the entry is pending
	warm    bool // the entry is noted in a Warmup
	run     func(m *benchMember, id ID, to int)
}

var benchOnes = []benchOne{
	{"range", false, true, func(m *benchMember, id ID, _ int) {
		it := m.s.Range(id, id, false)
		it.Next()
	}},
	{"claim", true, true, func(m *benchMember, id ID, to int) {
		p, _ := m.g.Find(id)
		if m.s.Contains(id) {
			m.g.Set(Pending{id, m.all[to], p.Time, p.Count + 1})
		}
	}},
	{"ack", true, false, func(m *benchMember, id ID, _ int) { m.g.Ack(id) }},
	{"delete", false, true, func(m *benchMember, id ID, _ int) { m.s.Delete(id) }},
}

// BenchmarkOne runs what commands on one entry at random do, in 200 streams of a thousand entries
// and in one of ten million, alone and with a Warmup of sixteen, in turn. It ignores b.N. The
// figures are ns of the thread's CPU time: the first quartile of parts.
func BenchmarkOne(b *testing.B) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, size := range []struct{ streams, entries int }{{200, 1000}, {1, 10_000_000}} {
		sh := &Shared{A: arena.New()}
		of := make([]benchMember, size.streams)
		for i := range of {
			of[i] = benchMany(sh, size.entries)
		}
		for _, one := range benchOnes {
			b.Run(fmt.Sprintf("%s/entries=%d", one.name, size.entries), func(b *testing.B) {
				var used [2][]float64
				for part := range 100 {
					rng := rand.New(rand.NewPCG(1, uint64(part)))
					n := one.part(of, size.entries, part%2 == 1, rng)
					used[part%2] = append(used[part%2], n)
				}
				for i, name := range []string{"alone-ns", "warm-ns"} {
					slices.Sort(used[i])
					b.ReportMetric(used[i][len(used[i])/4], name)
				}
			})
		}
		sh.A.Close()
	}
}

// part runs a thousand, and returns the CPU time of each in ns.
func (o *benchOne) part(of []benchMember, among int, warm bool, rng *rand.Rand) float64 {
	var w Warmup
	if o.pending {
		among /= 10
	}
	const n = 1024
	var ids [n]ID
	for i := range ids {
		ids[i] = benchID(rng.IntN(among), 300)
	}
	start := threadTime()
	for i := 0; i < n; i += WarmupMax {
		if warm && o.warm {
			for j := i; j < i+WarmupMax; j++ {
				if m := &of[j%len(of)]; m.s.WarmupWorth() {
					w.Entry(m.s, ids[j])
				}
			}
			w.Run()
		}
		for j := i; j < i+WarmupMax; j++ {
			o.run(&of[j%len(of)], ids[j], int(ids[j].Seq+uint64(j))%10)
		}
	}
	used := threadTime() - start
	if o.name == "ack" {
		for j, id := range ids {
			m := &of[j%len(of)]
			m.g.Set(Pending{id, m.all[j%10], int64(id.Ms) + 5, 1})
		}
	}
	return float64(used) / n
}

// threadTime returns the CPU time of the thread in ns.
func threadTime() int64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0
	}
	return t.Nano()
}
