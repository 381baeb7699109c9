package command

import (
	"fmt"
	"testing"

	"godwit/internal/invariant"
	"godwit/internal/testserver"
)

// sortable returns a server with a list of 1000 numbers and one of 1000 words.
func sortable(t testing.TB) *local {
	l := newLocal(t)
	for i := range 1000 {
		l.exec(split(fmt.Sprint("RPUSH numbers ", i*7919%100003)))
		l.exec(split(fmt.Sprint("RPUSH words word:", i*7919%100003)))
	}
	return l
}

func benchSort(b *testing.B, command string) { benchOn(b, sortable(b), command) }

func BenchmarkSort(b *testing.B)      { benchSort(b, "SORT numbers") }
func BenchmarkSortAlpha(b *testing.B) { benchSort(b, "SORT words ALPHA") }
func BenchmarkSortLimit(b *testing.B) { benchSort(b, "SORT numbers LIMIT 0 10") }
func BenchmarkLPos(b *testing.B)      { benchSort(b, "LPOS words nothing") }

// TestSortAllocations checks that SORT uses the memory of the one before it, and LPOS none.
func TestSortAllocations(t *testing.T) {
	if invariant.Enabled || testserver.Race {
		t.Skip("the checks allocate")
	}
	l := sortable(t)
	for i := range 1000 {
		l.exec(split(fmt.Sprintf("SET weight:%d %d", i*7919%100003, i)))
	}
	for _, c := range []string{"SORT numbers", "SORT words ALPHA DESC", "SORT numbers LIMIT 990 10",
		"SORT numbers LIMIT 0 10", "SORT numbers BY weight:*", "SORT numbers BY none:* ALPHA",
		"LPOS numbers 15838", "LPOS words word:7919 COUNT 0"} {
		argv := split(c)
		l.exec(argv)
		if n := testing.AllocsPerRun(100, func() { l.exec(argv) }); n > 4 {
			t.Errorf("%s: %v allocations", c, n)
		}
	}
}
