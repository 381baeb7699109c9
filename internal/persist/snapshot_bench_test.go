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
		HashMaxListpackEntries: 128, HashMaxListpackValue: 64, SetMaxIntsetEntries: 512, SetMaxListpackEntries: 128, SetMaxListpackValue: 64,
		ZSetMaxListpackEntries: 128, ZSetMaxListpackValue: 64, ListMaxListpackSize: -2,
	}
}

// discardDest is a disk without limits.
type discardDest struct {
	f *RDBFormat
	n int64
}

func (d *discardDest) Write(p []byte) error { d.n += int64(len(d.f.Pack(p))); return nil }
func (d *discardDest) Commit() error        { return nil }
func (d *discardDest) Abort()               {}

const benchSize = 1 << 20

// BenchmarkSave is the executor's part of saving, for an element.
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
			x := ks.DB(0).Create([]byte("h"), object.Hash, object.EncListpack, listpack.Empty())
			for i := range benchSize {
				object.AsHash(x).Set(fmt.Appendf(nil, "field:%d", i), fmt.Appendf(nil, "value:%d", i))
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
