package stream

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"godwit/internal/arena"
)

// million is the number of pending entries of the benchmarks: 100 a millisecond, as fast producers
// add them, or one.
const million = 1_000_000

func benchID(i, perMs int) ID {
	return ID{1_700_000_000_000 + uint64(i/perMs), uint64(i % perMs)}
}

// benchGroup returns a group with consumers that have a million entries in turn.
func benchGroup(b testing.TB, consumers, perMs int) (g *Group, all []*Consumer) {
	s := &Stream{sh: &Shared{A: arena.New()}}
	g = s.CreateGroup([]byte("g"), ID{}, 0)
	for i := range consumers {
		all = append(all, g.CreateConsumer(fmt.Appendf(nil, "c%03d", i), 0))
	}
	for i := range million {
		id := benchID(i, perMs)
		g.Set(Pending{id, all[i%consumers], int64(id.Ms) + 5, 1})
	}
	b.Cleanup(func() {
		n := 1 << 62
		s.drainGroups(&n)
		s.sh.A.Close()
	})
	return g, all
}

// BenchmarkPendingMemory shows what a million pending entries take.
func BenchmarkPendingMemory(b *testing.B) {
	for _, consumers := range []int{1, 100} {
		for _, perMs := range []int{100, 1} {
			b.Run(fmt.Sprintf("consumers=%d/perMs=%d", consumers, perMs), func(b *testing.B) {
				for range b.N {
					g, _ := benchGroup(b, consumers, perMs)
					b.ReportMetric(float64(g.s.groupBytes())/million, "B/pending")
					b.ReportMetric(float64(g.pending.weight())/million, "B/row")
				}
			})
		}
	}
}

// BenchmarkDeliver sets new entries at the end, as XREADGROUP does.
func BenchmarkDeliver(b *testing.B) {
	for _, consumers := range []int{1, 100} {
		b.Run(fmt.Sprintf("consumers=%d", consumers), func(b *testing.B) {
			g, all := benchGroup(b, consumers, 100)
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				id := benchID(million+i, 100)
				g.Set(Pending{id, all[i%consumers], int64(id.Ms) + 5, 1})
			}
		})
	}
}

// BenchmarkAck acknowledges entries from the first one on, adding others at the end beside the
// clock.
func BenchmarkAck(b *testing.B) {
	for _, consumers := range []int{1, 100} {
		b.Run(fmt.Sprintf("consumers=%d", consumers), func(b *testing.B) {
			g, all := benchGroup(b, consumers, 100)
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				if i > 0 && i%(million/2) == 0 {
					b.StopTimer()
					for j := i + million/2; j < i+million; j++ {
						id := benchID(j, 100)
						g.Set(Pending{id, all[j%consumers], int64(id.Ms) + 5, 1})
					}
					b.StartTimer()
				}
				if !g.Ack(benchID(i, 100)) {
					b.Fatal(i)
				}
			}
		})
	}
}

// BenchmarkAckRandom acknowledges an entry anywhere and delivers it again.
func BenchmarkAckRandom(b *testing.B) {
	g, all := benchGroup(b, 1, 100)
	rng := rand.New(rand.NewPCG(1, 1))
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		id := benchID(rng.IntN(million), 100)
		g.Ack(id)
		g.Set(Pending{id, all[0], int64(id.Ms) + 5, 1})
	}
}

// BenchmarkClaim gives entries to another consumer in the order of their IDs, as XAUTOCLAIM does.
func BenchmarkClaim(b *testing.B) {
	for _, consumers := range []int{1, 2, 100} {
		b.Run(fmt.Sprintf("consumers=%d", consumers), func(b *testing.B) {
			g, all := benchGroup(b, consumers, 100)
			it := g.Range(ID{}, MaxID)
			now := int64(1_700_000_100_000)
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				if !it.Next() {
					it = g.Range(ID{}, MaxID)
					it.Next()
					now += 100_000
				}
				to := all[(i+i/million)%consumers]
				g.Set(Pending{it.ID, to, now + int64(i/100), it.Count + 1})
			}
			b.ReportMetric(float64(g.s.groupBytes())/million, "B/pending")
		})
	}
}

// BenchmarkOldest delivers the oldest entries again, as XREADGROUP with CLAIM does.
func BenchmarkOldest(b *testing.B) {
	g, all := benchGroup(b, 2, 100)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		p, _ := g.Oldest()
		p.Owner, p.Time = all[i&1], 1_700_000_100_000+int64(i/100)
		g.Set(p)
	}
}

// BenchmarkRange walks pending entries.
func BenchmarkRange(b *testing.B) {
	g, all := benchGroup(b, 100, 100)
	for _, owned := range []bool{false, true} {
		b.Run(fmt.Sprintf("owned=%v", owned), func(b *testing.B) {
			b.ReportAllocs()
			var it PendingIter
			for range b.N {
				if it.g == nil || !it.Next() {
					if it = g.Range(ID{}, MaxID); owned {
						it = g.Owned(all[0], ID{}, MaxID)
					}
				}
			}
		})
	}
}

// BenchmarkQueue delivers and acknowledges an entry at a time, with few pending.
func BenchmarkQueue(b *testing.B) {
	for _, depth := range []int{0, 10, 1000} {
		b.Run(fmt.Sprintf("depth=%d", depth), func(b *testing.B) {
			s := &Stream{sh: &Shared{A: arena.New()}}
			g := s.CreateGroup([]byte("g"), ID{}, 0)
			c := g.CreateConsumer([]byte("c"), 0)
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				id := benchID(i, 100)
				g.Set(Pending{id, c, int64(id.Ms) + 5, 1})
				if i >= depth {
					g.Ack(benchID(i-depth, 100))
				}
			}
		})
	}
}

// BenchmarkDeleteConsumer deletes one of ten consumers that have a million entries.
func BenchmarkDeleteConsumer(b *testing.B) {
	for range b.N {
		b.StopTimer()
		g, all := benchGroup(b, 10, 100)
		b.StartTimer()
		g.DeleteConsumer(all[3])
		b.StopTimer()
		for !all[3].Drain(million) {
		}
		b.StartTimer()
	}
}
