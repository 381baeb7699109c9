package rdb

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"godwit/internal/intset"
	"godwit/internal/keyspace"
	"godwit/internal/listpack"
	"godwit/internal/object"
)

// benchKeyspace returns a keyspace with n keys: strings of 64 bytes, and with mixed four kinds of
// small collections as well.
func benchKeyspace(b *testing.B, n int, mixed bool) *keyspace.Keyspace {
	ks := newKeyspace(b, redisLimits(), 1)
	rng := rand.New(rand.NewPCG(1, 1))
	db := ks.DB(0)
	value := make([]byte, 64)
	for i := range n {
		key := fmt.Appendf(nil, "key:%012d", i)
		kind := 0
		if mixed {
			kind = i % 8
		}
		switch kind {
		case 4:
			h := object.AsHash(db.Create(key, object.Hash, object.EncPairs, listpack.PairsEmpty()))
			for j := range 5 {
				h.Set(fmt.Appendf(nil, "field%d", j), fmt.Appendf(nil, "%d", rng.IntN(1e9)))
			}
		case 5:
			z := object.AsZSet(db.Create(key, object.ZSet, object.EncListpack, listpack.Empty()))
			for j := range 5 {
				z.Add(rng.Float64(), fmt.Appendf(nil, "member%d", j), 0)
			}
		case 6:
			s := object.AsSet(db.Create(key, object.Set, object.EncIntset, intset.Empty()))
			for j := range 5 {
				s.Add(fmt.Appendf(nil, "member%d", j))
			}
		case 7:
			l := object.AsList(db.Create(key, object.List, object.EncListpack, listpack.Empty()))
			for j := range 5 {
				l.Push(fmt.Appendf(nil, "element%d", j), false)
			}
		default:
			for i := range value {
				value[i] = byte(rng.Uint32())
			}
			db.Set(key, object.StringValue(value), 0)
		}
	}
	return ks
}

// benchLarge holds one large collection of n elements.
func benchLarge(b *testing.B, t object.Type, n int) *keyspace.Keyspace {
	ks := newKeyspace(b, redisLimits(), 1)
	enc, packed := object.EncListpack, listpack.Empty()
	if t == object.Hash {
		enc, packed = object.EncPairs, listpack.PairsEmpty()
	}
	x := ks.DB(0).Create([]byte("k"), t, enc, packed)
	for i := range n {
		m := fmt.Appendf(nil, "member:%08d", i*7919%n)
		switch t {
		case object.Set:
			object.AsSet(x).Add(m)
		case object.ZSet:
			object.AsZSet(x).Add(float64(i%1000), m, 0)
		case object.Hash:
			object.AsHash(x).Set(m, m)
		case object.List:
			object.AsList(x).MakeRoomFor(m)
			object.AsList(x).Push(m, false)
		}
	}
	return ks
}

// cpuTime returns the processor time of the process so far. Unlike the clock it does not care what
// else the machine does.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkEncode(b *testing.B) {
	for _, mixed := range []bool{false, true} {
		ks := benchKeyspace(b, 500_000, mixed)
		for _, compress := range []bool{false, true} {
			b.Run(fmt.Sprintf("mixed=%v/compress=%v", mixed, compress), func(b *testing.B) {
				benchEncode(b, ks, compress)
			})
		}
	}
}

// benchEncode writes everything in pieces, as a snapshot does.
func benchEncode(b *testing.B, ks *keyspace.Keyspace, compress bool) {
	db := ks.DB(0)
	e := Encoder{Compress: compress}
	size := 0
	start := cpuTime()
	for b.Loop() {
		size = 0
		for cursor, more := uint64(0), true; more; more = cursor != 0 {
			cursor = db.Scan(cursor, func(en object.Entry, _ bool) { e.Record(ks.Heap, en) })
			if len(e.B) > 64<<10 {
				size += len(e.B)
				e.B = e.B[:0]
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*db.Len()), "ns/key")
	b.ReportMetric(float64((cpuTime()-start).Nanoseconds())/float64(b.N*db.Len()), "cpu-ns/key")
	b.ReportMetric(float64(size)/float64(db.Len()), "B/key")
}

// BenchmarkCommands writes everything as commands.
func BenchmarkCommands(b *testing.B) {
	for _, mixed := range []bool{false, true} {
		ks := benchKeyspace(b, 100_000, mixed)
		b.Run(fmt.Sprintf("mixed=%v", mixed), func(b *testing.B) {
			b.ReportAllocs()
			var c Commands
			for b.Loop() {
				for cursor, more := uint64(0), true; more; more = cursor != 0 {
					cursor = ks.DB(0).Scan(cursor, func(en object.Entry, _ bool) {
						c.Record(ks.Heap, en)
					})
					c.B = c.B[:0]
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*100_000), "ns/key")
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, mixed := range []bool{false, true} {
		file := encodeAll(benchKeyspace(b, 500_000, mixed), true)
		for _, workers := range []int{0, 1, 2} {
			b.Run(fmt.Sprintf("mixed=%v/workers=%d", mixed, workers), func(b *testing.B) {
				benchLoad(b, file, 500_000, workers)
			})
		}
	}
}

// BenchmarkRead measures what BenchmarkDecode measures, without inserting.
func BenchmarkRead(b *testing.B) {
	for _, mixed := range []bool{false, true} {
		file := encodeAll(benchKeyspace(b, 500_000, mixed), true)
		b.Run(fmt.Sprintf("mixed=%v", mixed), func(b *testing.B) {
			for b.Loop() {
				r := NewReader(bytes.NewReader(file), ReadOptions{})
				for {
					if _, err := r.Next(); err != nil {
						break
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*500_000), "ns/key")
		})
	}
}

func BenchmarkLarge(b *testing.B) {
	const n = 500_000
	for _, t := range []object.Type{object.List, object.Set, object.ZSet, object.Hash} {
		ks := benchLarge(b, t, n)
		file := encodeAll(ks, true)
		b.Run(t.String()+"/encode", func(b *testing.B) {
			e := Encoder{Compress: true}
			for b.Loop() {
				e.B = e.B[:0]
				e.Record(ks.Heap, ks.DB(0).Peek([]byte("k")))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/element")
		})
		b.Run(t.String()+"/load", func(b *testing.B) { benchLoad(b, file, n, 1) })
	}
}

func benchLoad(b *testing.B, file []byte, n, workers int) {
	var cpu time.Duration
	for b.Loop() {
		b.StopTimer()
		ks := newKeyspace(b, redisLimits(), 1)
		b.StartTimer()
		start := cpuTime()
		if err := load(ks, bytes.NewReader(file), ReadOptions{Workers: workers}); err != nil {
			b.Fatal(err)
		}
		cpu += cpuTime() - start
		b.StopTimer()
		ks.DB(0).Flush(false)
		b.StartTimer()
	}
	b.ReportMetric(float64(cpu.Nanoseconds())/float64(b.N*n), "cpu-ns/key")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/key")
}

func BenchmarkCRC64(b *testing.B) {
	buf := make([]byte, 1<<20)
	b.SetBytes(int64(len(buf)))
	crc := uint64(0)
	for b.Loop() {
		crc = CRC64(crc, buf)
	}
}
