package persist

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"godwit/internal/keyspace"
	"godwit/internal/listpack"
	"godwit/internal/object"
)

func redisLimits() object.Limits {
	return object.Limits{
		HashMaxListpackEntries: 128, HashMaxListpackValue: 64, SetMaxIntsetEntries: 512,
		SetMaxListpackEntries: 128, SetMaxListpackValue: 64, ZSetMaxListpackEntries: 128,
		ZSetMaxListpackValue: 64, ListMaxListpackSize: -2,
	}
}

// discardDest is a disk without limits.
type discardDest struct {
	f *RDBFormat
	n int64
}

func (d *discardDest) Write(p []byte) error { d.n += int64(len(d.f.Pack(p))); return nil }
func (d *discardDest) WriteString(s *object.FrozenString) error {
	return d.f.PackString(s, func(p []byte) error { d.n += int64(len(p)); return nil })
}
func (d *discardDest) Commit() error { return nil }
func (d *discardDest) Abort()        {}

const benchSize = 1 << 20

// BenchmarkSave measures the executor's part of saving, for an element.
func BenchmarkSave(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	fill := map[string]func(ks *keyspace.Keyspace){
		"strings": func(ks *keyspace.Keyspace) {
			val := make([]byte, 64)
			for i := range benchSize {
				for j := range val {
					val[j] = byte(rng.Uint32())
				}
				ks.DB(0).Set(fmt.Appendf(nil, "key:%012d", i), object.StringValue(val), 0)
			}
		},
		"zset": func(ks *keyspace.Keyspace) {
			x := ks.DB(0).Create([]byte("z"), object.ZSet, object.EncListpack, listpack.Empty())
			for i := range benchSize {
				object.AsZSet(x).Add(rng.Float64()*1e6, fmt.Appendf(nil, "member:%d", i), 0)
			}
		},
		"hash": func(ks *keyspace.Keyspace) {
			x := ks.DB(0).Create([]byte("h"), object.Hash, object.EncPairs, listpack.PairsEmpty())
			for i := range benchSize {
				object.AsHash(x).Set(fmt.Appendf(nil, "field:%d", i),
					fmt.Appendf(nil, "value:%d", i))
			}
		},
		"list": func(ks *keyspace.Keyspace) {
			x := ks.DB(0).Create([]byte("l"), object.List, object.EncListpack, listpack.Empty())
			for i := range benchSize {
				v := fmt.Appendf(nil, "element:%d", i)
				object.AsList(x).MakeRoomFor(v)
				object.AsList(x).Push(v, false)
			}
		},
	}
	for name, f := range fill {
		b.Run(name, func(b *testing.B) {
			ks := newKeyspace(rng, redisLimits())
			f(ks)
			b.ResetTimer()
			var walk time.Duration
			var size int64
			for range b.N {
				f := NewRDBFormat(ks, RDBOptions{Compress: true})
				d := &discardDest{f: f}
				s := Start(ks, f, NewQueue(d, nil), Options{})
				start := time.Now()
				if err := s.Run(); err != nil {
					b.Fatal(err)
				}
				walk += time.Since(start)
				size = d.n
			}
			b.ReportMetric(float64(walk.Nanoseconds())/float64(b.N)/benchSize, "ns/element")
			b.ReportMetric(float64(size)/benchSize, "B/element")
		})
	}
}

// benchWrites returns commands that write to random keys, members or elements.
func benchWrites(rng *rand.Rand) map[string]func(ks *keyspace.Keyspace) {
	val := make([]byte, 64)
	key := make([]byte, 0, 20)
	return map[string]func(ks *keyspace.Keyspace){
		"strings": func(ks *keyspace.Keyspace) {
			key = fmt.Appendf(key[:0], "key:%012d", rng.IntN(benchSize))
			ks.DB(0).Set(key, object.PlainValue(val), 0)
		},
		"zset": func(ks *keyspace.Keyspace) {
			key = fmt.Appendf(key[:0], "member:%d", rng.IntN(benchSize))
			e := ks.DB(0).Lookup([]byte("z"))
			if !e.Exists() {
				e = ks.DB(0).Create([]byte("z"), object.ZSet, object.EncListpack,
					listpack.Empty()).E
			}
			object.AsZSet(ks.DB(0).Open(e)).Add(rng.Float64()*1e6, key, 0)
		},
		"list": func(ks *keyspace.Keyspace) {
			e := ks.DB(0).Lookup([]byte("l"))
			if !e.Exists() {
				e = ks.DB(0).Create([]byte("l"), object.List, object.EncListpack,
					listpack.Empty()).E
			}
			l := object.AsList(ks.DB(0).Open(e))
			if n := l.Len(); n < benchSize {
				key = fmt.Appendf(key[:0], "element:%d", rng.IntN(benchSize))
				l.MakeRoomFor(key)
				l.Push(key, false)
			} else {
				it := l.Iter(rng.IntN(n), false)
				it.Next()
				l.Replace(&it, key)
			}
		},
	}
}

// BenchmarkWritesDuring measures what commands pay that write random keys while a snapshot runs,
// with a slice after each 800 of them as in a loaded server. It reports the time for a write
// without and with a snapshot, what of the throughput is kept, the longest slice, and what memory
// grew by.
func BenchmarkWritesDuring(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	for name, f := range benchWrites(rng) {
		b.Run(name, func(b *testing.B) {
			ks := newKeyspace(rng, redisLimits())
			fills := 3
			if name == "list" {
				fills = 1 // more would be changes in the middle, which take long
			}
			for range fills * benchSize {
				f(ks)
			}
			turn := func() time.Duration {
				start := time.Now()
				for range 800 {
					f(ks)
				}
				return time.Since(start)
			}
			var plain, during, longest time.Duration
			var turns, grown int64
			for range b.N {
				var before time.Duration
				for range 400 {
					before += turn()
				}
				plain += before / 400
				used := ks.A.Used()
				format := NewRDBFormat(ks, RDBOptions{Compress: true})
				s := Start(ks, format, NewQueue(&discardDest{f: format}, nil), Options{})
				start := time.Now()
				for {
					turn()
					at := time.Now()
					s.Slice(500*time.Microsecond, true)
					longest = max(longest, time.Since(at))
					turns++
					grown = max(grown, ks.A.Used()-used+s.side.bytes)
					if done, err := s.Over(); done {
						if err != nil {
							b.Fatal(err)
						}
						break
					}
				}
				during += time.Since(start)
			}
			p, d := float64(plain)/float64(b.N)/800, float64(during)/float64(turns)/800
			b.ReportMetric(p, "ns/plain-write")
			b.ReportMetric(d, "ns/write")
			b.ReportMetric(100*p/d, "%kept")
			b.ReportMetric(during.Seconds()/float64(b.N), "s/save")
			b.ReportMetric(float64(longest.Microseconds()), "µs-longest")
			b.ReportMetric(100*float64(grown)/float64(ks.A.Used()), "%grown")
		})
	}
}
