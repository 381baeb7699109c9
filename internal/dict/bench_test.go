package dict

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"godwit/internal/arena"
)

// The benchmarks use entries like those of a database: one block with a 4-byte header, a 16-byte
// key and a 64-byte value.
const (
	benchKey   = 16
	benchEntry = 4 + benchKey + 64
)

type benchDict struct {
	a    *arena.Arena
	d    *Dict
	seed maphash.Seed
	key  [benchKey]byte
}

func newBenchDict() *benchDict {
	w := &benchDict{a: arena.New(), seed: maphash.MakeSeed()}
	w.d = New(w.a, Funcs{
		Hash: func(r arena.Ref) uint64 {
			return maphash.Bytes(w.seed, w.a.Bytes(r, benchEntry)[4:4+benchKey])
		},
		Match: func(r arena.Ref, key []byte) bool {
			return string(w.a.Bytes(r, benchEntry)[4:4+benchKey]) == string(key)
		},
	})
	return w
}

// setKey writes key number i, "key:" and 12 digits.
func (w *benchDict) setKey(i uint64) []byte {
	copy(w.key[:], "key:")
	for p := benchKey - 1; p >= 4; p-- {
		w.key[p] = '0' + byte(i%10)
		i /= 10
	}
	return w.key[:]
}

func (w *benchDict) insert(i uint64) {
	k := w.setKey(i)
	r := w.a.Alloc(benchEntry, arena.Keys)
	copy(w.a.Bytes(r, benchEntry)[4:], k)
	w.d.Insert(maphash.Bytes(w.seed, k), r)
}

func (w *benchDict) fill(n int) {
	for i := range uint64(n) {
		w.insert(i)
	}
	for w.d.RehashSlice(1 << 20) {
	}
}

var sizes = []int{1000, 1_000_000, 3_000_000}

func BenchmarkFind(b *testing.B) {
	for _, n := range sizes {
		w := newBenchDict()
		w.fill(n)
		r := rand.New(rand.NewPCG(1, 2))
		for _, c := range []struct {
			name string
			base uint64
		}{{"hit", 0}, {"miss", 1 << 32}} {
			b.Run(fmt.Sprintf("%s/%d", c.name, n), func(b *testing.B) {
				found := 0
				defer cpuTime(b)()
				for b.Loop() {
					k := w.setKey(c.base + r.Uint64N(uint64(n)))
					if w.d.Find(maphash.Bytes(w.seed, k), k) != 0 {
						found++
					}
				}
				if (found > 0) != (c.base == 0) {
					b.Fatalf("%d found", found)
				}
			})
		}
		w.a.Close()
	}
}

// BenchmarkFindBatch looks up 16 keys at a time, as a pipeline does, with and without prefetching.
func BenchmarkFindBatch(b *testing.B) {
	const batch = 16
	for _, n := range sizes {
		w := newBenchDict()
		w.fill(n)
		r := rand.New(rand.NewPCG(1, 2))
		for _, mode := range []string{"plain", "bucket", "bucket+entry"} {
			b.Run(fmt.Sprintf("%s/%d", mode, n), func(b *testing.B) {
				var keys [batch][benchKey]byte
				var hs [batch]uint64
				sum := byte(0)
				defer cpuTime(b)()
				for i := 0; b.Loop(); i++ {
					if i%batch != 0 { // one iteration is one lookup
						continue
					}
					for j := range keys {
						copy(keys[j][:], w.setKey(r.Uint64N(uint64(n))))
						hs[j] = maphash.Bytes(w.seed, keys[j][:])
						if mode != "plain" {
							w.d.Prefetch(hs[j])
						}
					}
					if mode == "bucket+entry" {
						for j := range keys {
							w.d.PrefetchEntry(hs[j])
						}
					}
					for j := range keys {
						sum += w.a.Bytes(w.d.Find(hs[j], keys[j][:]), benchEntry)[benchEntry-1]
					}
				}
				benchSink += sum
			})
		}
		w.a.Close()
	}
}

var benchSink byte

// BenchmarkInsert loads n keys, resizes included; the time is for each key.
func BenchmarkInsert(b *testing.B) {
	for _, n := range sizes {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			w := newBenchDict()
			defer cpuTime(b)()
			for i := 0; b.Loop(); i++ {
				if i%n == 0 {
					w.a.Close()
					w = newBenchDict()
				}
				w.insert(uint64(i % n))
			}
			w.a.Close()
		})
	}
}

// BenchmarkGoMap does the same with map[string][]byte, for comparison.
func BenchmarkGoMap(b *testing.B) {
	w := newBenchDict()
	for _, n := range sizes {
		m := map[string][]byte{}
		for i := range uint64(n) {
			m[string(w.setKey(i))] = make([]byte, 64)
		}
		r := rand.New(rand.NewPCG(1, 2))
		b.Run(fmt.Sprintf("hit/%d", n), func(b *testing.B) {
			defer cpuTime(b)()
			for b.Loop() {
				benchSink += m[string(w.setKey(r.Uint64N(uint64(n))))][63]
			}
		})
	}
}

// BenchmarkMemory reports table and resident bytes for each key; its times mean nothing.
func BenchmarkMemory(b *testing.B) {
	for _, n := range sizes[1:] {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			before := resident(b)
			w := newBenchDict()
			for i := range uint64(n) {
				w.insert(i)
			}
			rss := resident(b) - before
			for b.Loop() { // resets the metrics
			}
			b.ReportMetric(float64(w.d.TableBytes())/float64(n), "tableB/key")
			b.ReportMetric(float64(w.a.UsedBy(arena.Keys))/float64(n), "entryB/key")
			b.ReportMetric(float64(rss)/float64(n), "rssB/key")
			w.a.Close()
		})
	}
}

// cpuTime starts a measurement. The function it returns reports the CPU time of each iteration,
// which other processes disturb less than elapsed time.
func cpuTime(b *testing.B) func() {
	now := func() int64 {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return u.Utime.Nano() + u.Stime.Nano()
	}
	start := now()
	return func() { b.ReportMetric(float64(now()-start)/float64(b.N), "cpu-ns/op") }
}

// BenchmarkByLoad measures what maxLoad rests on: lookups and table memory at a fixed number of
// entries a bucket.
func BenchmarkByLoad(b *testing.B) {
	const buckets = 1 << 17
	for load := 4; load <= 12; load += 2 {
		w := newBenchDict()
		w.d.tab[0] = w.d.newTable(buckets)
		w.d.Pause++ // never grow
		n := uint64(load * buckets)
		for i := range n {
			w.insert(i)
		}
		r := rand.New(rand.NewPCG(1, 2))
		for _, c := range []struct {
			name string
			base uint64
		}{{"hit", 0}, {"miss", 1 << 32}} {
			b.Run(fmt.Sprintf("%s/%d", c.name, load), func(b *testing.B) {
				defer cpuTime(b)()
				for b.Loop() {
					k := w.setKey(c.base + r.Uint64N(n))
					benchSink += byte(w.d.Find(maphash.Bytes(w.seed, k), k))
				}
				b.ReportMetric(float64(w.d.TableBytes())/float64(n), "tableB/key")
			})
		}
		w.a.Close()
	}
}

// resident returns this process's resident memory in bytes.
func resident(b *testing.B) int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		b.Skip(err)
	}
	pages, err := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
	if err != nil {
		b.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

// BenchmarkLoadTable inserts made-up Refs, so that the table's own cost shows; small tables hash.
func BenchmarkLoadTable(b *testing.B) {
	a := arena.New()
	d := New(a, Funcs{
		Hash: func(r arena.Ref) uint64 { return mix(uint64(r)) },
		Match: func(r arena.Ref, k []byte) bool {
			return uint64(r) == binary.LittleEndian.Uint64(k)
		},
	})
	for i := uint64(1); b.Loop(); i++ {
		r := arena.Unpack(i)
		d.Insert(mix(uint64(r)), r)
	}
	b.ReportMetric(float64(d.TableBytes())/float64(d.Len()), "tableB/key")
}

// BenchmarkDouble moves 1.3 M entries to a table of twice the size; the time is for each entry.
func BenchmarkDouble(b *testing.B) {
	const n = maxLoad<<17 - 1
	w := newBenchDict()
	w.fill(n)
	moved := 0
	defer cpuTime(b)()
	for b.Loop() {
		if moved--; moved > 0 {
			continue
		}
		if !w.d.Rehashing() {
			size := (w.d.tab[0].mask + 1) * 2
			if size > 1<<20 {
				size = 1 << 17 // back, so that it can double again
			}
			w.d.tab[1] = w.d.newTable(size)
		}
		before := w.d.moved
		w.d.RehashSlice(1)
		if w.d.Rehashing() && w.d.tab[1].mask > w.d.tab[0].mask && w.d.moved > before {
			moved = n / int(w.d.tab[0].mask+1)
		}
	}
	w.a.Close()
}
