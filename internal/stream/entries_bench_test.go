package stream

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"godwit/internal/arena"
)

// sensor returns the fields of an entry of three small fields.
func sensor(buf [][]byte, i int) [][]byte {
	buf = append(buf[:0], []byte("sensor"), nil, []byte("temp"), nil, []byte("hum"), nil)
	buf[1] = strconv.AppendInt(nil, int64(i%1000), 10)
	buf[3] = strconv.AppendInt(nil, int64(i*7%4000), 10)
	buf[5] = strconv.AppendInt(nil, int64(i%100), 10)
	return buf
}

var benchLimits = Limits{4096, 100}

func benchStream(n int) (*Stream, []ID) {
	s := New(&Shared{A: arena.New()})
	ids := make([]ID, n)
	var fields [][]byte
	for i := range ids {
		ids[i] = ID{uint64(1_700_000_000_000 + i/5), uint64(i % 5)}
		fields = sensor(fields, i)
		s.Append(ids[i], fields, benchLimits)
	}
	return s, ids
}

func BenchmarkAppend(b *testing.B) {
	s := New(&Shared{A: arena.New()})
	fields := sensor(nil, 12345)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		s.Append(ID{uint64(1_700_000_000_000 + i/5), uint64(i % 5)}, fields, benchLimits)
		i++
	}
	b.ReportMetric(float64(s.Bytes())/float64(s.Len()), "B/entry")
}

func BenchmarkRange100(b *testing.B) {
	s, ids := benchStream(1_000_000)
	for _, reverse := range []bool{false, true} {
		b.Run(map[bool]string{false: "forward", true: "reverse"}[reverse], func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 2))
			b.ReportAllocs()
			sum := 0
			for b.Loop() {
				from, to := ids[rng.IntN(len(ids))], MaxID
				if reverse {
					from, to = ID{}, from
				}
				it := s.Range(from, to, reverse)
				for n := 0; n < 100 && it.Next(); n++ {
					for range it.Fields() {
						sum += len(it.Name()) + int(it.Value().N)
					}
				}
			}
		})
	}
}

func BenchmarkLookup(b *testing.B) {
	s, ids := benchStream(1_000_000)
	rng := rand.New(rand.NewPCG(1, 2))
	b.Run("contains", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if !s.Contains(ids[rng.IntN(len(ids))]) {
				b.Fatal("missing")
			}
		}
	})
	b.Run("range", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			id := ids[rng.IntN(len(ids))]
			it := s.Range(id, id, false)
			if !it.Next() || it.Fields() != 3 {
				b.Fatal("missing")
			}
		}
	})
}

// BenchmarkDelete deletes nine of ten entries, in random order, and reports what that leaves of the
// memory.
func BenchmarkDelete(b *testing.B) {
	s, ids := benchStream(1_000_000)
	rng := rand.New(rand.NewPCG(1, 2))
	rng.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	before, used := s.Bytes(), s.sh.A.Used()
	b.ReportAllocs()
	b.ResetTimer()
	n := 0
	for range b.N {
		if n == len(ids)*9/10 {
			break
		}
		s.Delete(ids[n])
		n++
	}
	b.StopTimer()
	b.ReportMetric(float64(s.Bytes())/float64(before), "left")
	b.ReportMetric(float64(s.sh.A.Used())/float64(used), "used-left")
	b.ReportMetric(float64(s.Bytes())/float64(s.Len()), "B/entry")
	b.ReportMetric(float64(s.Len())/float64(s.Nodes()), "entries/block")
}
