package command

import (
	"fmt"
	"testing"

	"godwit/internal/invariant"
)

func benchCommand(b *testing.B, command string) {
	l := newLocal(b)
	for i := range 3000 {
		l.exec(split(fmt.Sprint("RPUSH mylist element:", i)))
	}
	benchOn(b, l, command)
}

// benchOn measures a command on a server that has its data.
func benchOn(b *testing.B, l *local, command string) {
	argv := split(command)
	b.ReportAllocs()
	for b.Loop() {
		l.exec(argv)
	}
}

func BenchmarkLPush(b *testing.B)     { benchCommand(b, "LPUSH mylist element:123456") }
func BenchmarkRPush(b *testing.B)     { benchCommand(b, "RPUSH mylist element:123456") }
func BenchmarkLMove(b *testing.B)     { benchCommand(b, "LMOVE mylist mylist LEFT RIGHT") }
func BenchmarkLRange100(b *testing.B) { benchCommand(b, "LRANGE mylist 0 99") }
func BenchmarkLRange600(b *testing.B) { benchCommand(b, "LRANGE mylist 0 599") }

func BenchmarkLPushLPop(b *testing.B) {
	l := newLocal(b)
	push, pop := split("LPUSH mylist element:123456"), split("RPOP mylist")
	for range 3000 {
		l.exec(push)
	}
	b.ReportAllocs()
	for b.Loop() {
		l.exec(push)
		l.exec(pop)
	}
}

// TestListAllocations checks that pushing and popping does not allocate on Go's heap, in either
// encoding.
func TestListAllocations(t *testing.T) {
	if invariant.Enabled {
		t.Skip("the checks allocate")
	}
	for _, size := range []int{10, 3000} {
		l := newLocal(t)
		for range size {
			l.exec(split("RPUSH k element:1 12345"))
		}
		for _, c := range []string{"LPUSH k element:2", "RPUSH k 77", "LPOP k", "RPOP k",
			"LRANGE k 0 10", "LINDEX k 3", "LMOVE k k LEFT RIGHT", "LPOP k 1"} {
			argv := split(c)
			l.exec(argv)
			if n := testing.AllocsPerRun(100, func() { l.exec(argv) }); n != 0 {
				t.Errorf("%s on a list of %d: %v allocations", c, size, n)
			}
		}
	}
}
