package bloom

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// benchItems is a filter of 12 MB at 1 %: more than most caches hold.
const benchItems = 10_000_000

// layoutsOf10M makes filters of the same bits an item in other layouts: ours in lines, n2 of them
// an item (0: one area with a miss for each probe), and RedisBloom's.
func layoutsOf10M(b *testing.B) map[string]*memory {
	all := map[string]*memory{}
	var buf [16]byte
	for name, n2 := range map[string]int{"2 lines": 2, "1 line": 1, "one area": 0,
		"RedisBloom": -1} {
		head, err := NewHeader(Params{Error: 0.01, Capacity: benchItems, Murmur64A: n2 < 0})
		require.NoError(b, err)
		if n2 >= 0 {
			l := linkAt(head, 0)
			l.n2 = uint8(n2)
			l.put(head[HeadLen:])
		}
		m := &memory{head: head}
		Init(m)
		for i := range benchItems {
			Add(m, item(buf[:], 'i', i))
		}
		all[name] = m
	}
	return all
}

// threadTime returns the CPU time of the thread in ns.
func threadTime() int64 {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_THREAD, &u)
	return u.Utime.Nano() + u.Stime.Nano()
}

// BenchmarkLayouts asks filters of 10 M items for present and absent items and reports the CPU time
// of a question. Compare the best of several runs (-count).
func BenchmarkLayouts(b *testing.B) {
	all := layoutsOf10M(b)
	for _, name := range []string{"2 lines", "1 line", "one area", "RedisBloom"} {
		for _, what := range []string{"there", "not there"} {
			b.Run(name+"/"+what, func(b *testing.B) {
				salt := byte('i')
				if what != "there" {
					salt = 'o'
				}
				var buf [16]byte
				m := all[name]
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				start := threadTime()
				for i := 0; b.Loop(); i++ {
					Has(m, item(buf[:], salt, i*7919%benchItems))
				}
				b.ReportMetric(float64(threadTime()-start)/float64(b.N), "cpu-ns/op")
			})
		}
	}
}
