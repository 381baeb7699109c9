package persist

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"godwit/internal/object"
)

// BenchmarkLongString measures a snapshot of one string of 301 MB: the longest turn of the
// executor, what Go's heap is asked for, and the time that the file's writer takes without a disk.
func BenchmarkLongString(b *testing.B) {
	const size = 301e6
	rng := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, size)
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	words := make([][]byte, 3000)
	for i := range words {
		words[i] = append(bytes.Map(func(r rune) rune {
			return 'a' + r%26
		}, noise[9*i:][:3+rng.IntN(7)]), ' ')
	}
	text := make([]byte, 0, size+10)
	for len(text) < size {
		text = append(text, words[rng.IntN(len(words))]...)
	}
	for name, value := range map[string][]byte{"noise": noise, "text": text,
		"zeros": make([]byte, size)} {
		b.Run(name, func(b *testing.B) {
			ks := newKeyspace(rng, redisLimits())
			ks.DB(0).Set([]byte("k"), object.RawValue(value), 0)
			var longest time.Duration
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			b.ResetTimer()
			for range b.N {
				wake := make(chan struct{}, 100)
				f := NewRDBFormat(ks, RDBOptions{Compress: true})
				s := Start(ks, f, NewQueue(&discardDest{f: f}, func() {
					wake <- struct{}{}
				}), Options{})
				for done := false; !done; done, _ = s.Over() {
					start := time.Now()
					more := s.Slice(500*time.Microsecond, false)
					longest = max(longest, time.Since(start))
					if !more {
						select {
						case <-wake:
						case <-time.After(time.Millisecond):
						}
					}
				}
			}
			b.StopTimer()
			runtime.ReadMemStats(&after)
			b.SetBytes(size)
			b.ReportMetric(float64(longest.Microseconds()), "µs-longest")
			b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/1e6/float64(b.N),
				"MB-heap/op")
			ks.DB(0).Delete([]byte("k"))
			ks.A.Close()
		})
	}
}
