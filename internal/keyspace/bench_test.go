package keyspace

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"godwit/internal/arena"
	"godwit/internal/object"
)

// benchKeyspace returns a keyspace of one database and n names for keys.
func benchKeyspace(n int) (*Keyspace, *DB, [][]byte) {
	p := Params{Databases: 1, Samples: 5, ActiveExpire: true, Slots: inSlots}
	ks := New(arena.New(), p, rand.New(rand.NewPCG(1, 2)), 1_700_000_000_000, &recorder{})
	names := make([][]byte, n)
	for i := range names {
		names[i] = fmt.Appendf(nil, "key:%012d", i)
	}
	return ks, ks.DB(0), names
}

// fillKeys gives each key a value of 64 bytes, and a deadline if ttl returns one (ms from now).
func fillKeys(ks *Keyspace, db *DB, names [][]byte, ttl func(i int) int64) {
	value := object.RawValue(make([]byte, 64))
	for i, name := range names {
		deadline := int64(0)
		if d := ttl(i); d != 0 {
			deadline = ks.Now() + d
		}
		db.Set(name, value, deadline)
	}
	for ks.RehashSlice(1 << 20) {
	}
}

func never(int) int64 { return 0 }

// benchBoth runs a benchmark in both layouts.
func benchBoth(b *testing.B, bench func(b *testing.B)) {
	defer func() { inSlots = false }()
	for _, inSlots = range []bool{false, true} {
		b.Run(map[bool]string{false: "one dict", true: "slots"}[inSlots], bench)
	}
}

func BenchmarkLookup(b *testing.B) { benchBoth(b, benchLookup) }

func benchLookup(b *testing.B) {
	for _, n := range []int{1 << 10, 1 << 20} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			ks, db, names := benchKeyspace(n)
			fillKeys(ks, db, names, never)
			b.ReportAllocs()
			for i := 0; b.Loop(); i += 7919 {
				db.LookupRead(names[i&(n-1)])
			}
		})
	}
}

func BenchmarkOverwrite(b *testing.B) { benchBoth(b, benchOverwrite) }

func benchOverwrite(b *testing.B) {
	for _, n := range []int{1 << 10, 1 << 20} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			ks, db, names := benchKeyspace(n)
			fillKeys(ks, db, names, never)
			value := object.RawValue(make([]byte, 64))
			b.ReportAllocs()
			for i := 0; b.Loop(); i += 7919 {
				db.Set(names[i&(n-1)], value, 0)
			}
		})
	}
}

// BenchmarkSetDelete adds a key and deletes it again.
func BenchmarkSetDelete(b *testing.B) { benchBoth(b, benchSetDelete) }

func benchSetDelete(b *testing.B) {
	ks, db, names := benchKeyspace(1 << 11)
	fillKeys(ks, db, names[:1<<10], never)
	value := object.RawValue(make([]byte, 64))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		name := names[1<<10+i&(1<<10-1)]
		db.Set(name, value, 0)
		db.Delete(name)
	}
}

// BenchmarkDeadlineMemory reports what a deadline costs in bytes a key: all in all, and of that the
// record in the timing wheel. The values are of 64 bytes.
func BenchmarkDeadlineMemory(b *testing.B) {
	const keys = 1_000_000
	for _, c := range []struct {
		name string
		ttl  func(i int) int64
	}{
		{"within a minute", func(i int) int64 { return 1 + int64(i)*60_000/keys }},
		{"within an hour", func(i int) int64 { return 1 + int64(i)*3_600_000/keys }},
		{"within 30 days", func(i int) int64 { return 1 + int64(i)*30*86_400_000/keys }},
	} {
		b.Run(c.name, func(b *testing.B) {
			var with, without, record float64
			for b.Loop() {
				ks, db, names := benchKeyspace(keys)
				fillKeys(ks, db, names, never)
				without = float64(ks.A.Used()) / keys
				ks, db, _ = benchKeyspace(0)
				fillKeys(ks, db, names, c.ttl)
				with = float64(ks.A.Used()) / keys
				record = float64(ks.wheel.MemoryBytes()) / keys
			}
			b.ReportMetric(without, "B/key")
			b.ReportMetric(with, "B/key+ttl")
			b.ReportMetric(with-without, "B/deadline")
			b.ReportMetric(record, "B/record")
		})
	}
}
