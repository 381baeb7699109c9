package command

import (
	"fmt"
	"strconv"
	"testing"

	"godwit/internal/invariant"
	"godwit/internal/propagation"
	"godwit/internal/testseed"
)

// fillStream makes a stream of n entries, 1-0 to n-0, and a group that has read nothing.
func fillStream(t testing.TB, l *local, key string, n int) {
	t.Helper()
	for i := range n {
		id, v := strconv.Itoa(i+1)+"-0", strconv.Itoa(i%100)
		l.exec(argvOf("XADD", key, id, "sensor", v, "ok", "yes"))
	}
	l.exec(argvOf("XGROUP", "CREATE", key, "g", "0"))
}

// TestGroupsDoNotAllocate runs what consumers do again and again, without and with a log.
func TestGroupsDoNotAllocate(t *testing.T) {
	if invariant.Enabled {
		t.Skip("checks allocate")
	}
	const n = 20_000
	l := newLocal(t)
	fillStream(t, l, "s", n)
	rng := testseed.Rand(t)
	id := func() string { return strconv.Itoa(1+rng.IntN(n/4)) + "-0" }
	for _, log := range []bool{false, true} {
		if log {
			l.e.Feed.Attach(propagation.Log, &quietTarget{})
		}
		for _, words := range [][]string{
			{"XREADGROUP", "GROUP", "g", "c", "COUNT", "10", "STREAMS", "s", ">"},
			{"XREADGROUP", "GROUP", "g", "c", "COUNT", "10", "STREAMS", "s", "0"},
			{"XREADGROUP", "GROUP", "g", "c", "COUNT", "10", "CLAIM", "5", "STREAMS", "s", ">"},
			{"XREAD", "COUNT", "10", "STREAMS", "s", "100-0"},
			{"XPENDING", "s", "g", "-", "+", "10"},
			{"XCLAIM", "s", "g", "d", "0", "1-0", "2-0"},
			{"XAUTOCLAIM", "s", "g", "c", "0", "0", "COUNT", "20"},
			{"XACK", "s", "g", id(), id(), id(), id()},
			{"XREADGROUP", "GROUP", "g", "c", "COUNT", "10", "NOACK", "STREAMS", "s", ">"},
		} {
			argv := argvOf(words...)
			for range 20 {
				l.exec(argv)
			}
			if a := testing.AllocsPerRun(100, func() { l.exec(argv) }); a != 0 {
				t.Errorf("%v, with a log %t: %v allocations", words, log, a)
			}
		}
	}
}

// BenchmarkGroups runs what consumers do with a million entries.
func BenchmarkGroups(b *testing.B) {
	const n = 1_000_000
	for _, words := range [][]string{
		{"XREADGROUP", "GROUP", "g", "c", "COUNT", "10", "STREAMS", "s", ">"},
		{"XREADGROUP", "GROUP", "g", "c", "COUNT", "10", "CLAIM", "3600000", "STREAMS", "s", ">"},
		{"XREADGROUP", "GROUP", "g", "c", "COUNT", "10", "STREAMS", "s", "300000"},
		{"XAUTOCLAIM", "s", "g", "d", "0", "0"},
		{"XAUTOCLAIM", "s", "g", "d", "3600000", "300000"},
		{"XPENDING", "s", "g", "300000", "+", "10"},
		{"XACK", "s", "g", "300000"},
	} {
		b.Run(fmt.Sprint(words), func(b *testing.B) {
			l := newLocal(b)
			fillStream(b, l, "s", n)
			half := strconv.Itoa(n / 2)
			l.exec(argvOf("XREADGROUP", "GROUP", "g", "c", "COUNT", half, "STREAMS", "s", ">"))
			argv := argvOf(words...)
			id := argv[len(argv)-1]
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if words[0] == "XACK" {
					argv[3] = strconv.AppendInt(id[:0], int64(100_000+i%800_000), 10)
				}
				if words[0] == "XREADGROUP" && i%40_000 == 39_999 {
					b.StopTimer()
					l.exec(argvOf("XGROUP", "DESTROY", "s", "g"))
					l.exec(argvOf("XGROUP", "CREATE", "s", "g", "0"))
					b.StartTimer()
				}
				l.exec(argv)
			}
		})
	}
}
