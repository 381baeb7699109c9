package command

import (
	"fmt"
	"testing"

	"godwit/internal/invariant"
)

// TestBloomAllocations checks that BF.ADD and BF.EXISTS do not allocate, nor does the prefetch for
// them.
func TestBloomAllocations(t *testing.T) {
	if invariant.Enabled {
		t.Skip("the checks allocate")
	}
	l := newLocal(t)
	run(t, l, "BF.RESERVE", "f", "0.01", "1000000")
	for _, name := range []string{"BF.ADD", "BF.EXISTS"} {
		argv := argvOf(name, "f", "item:0000000000")
		cl := l.e.LogClient()
		i := 0
		if n := testing.AllocsPerRun(500, func() {
			i++
			argv[2][5], argv[2][6], argv[2][7] = byte(i), byte(i>>8), byte(len(name))
			l.e.Prefetch(cl, [][][]byte{argv})
			l.exec(argv)
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// TestBloomRefusedIsNothing checks that a filter for which there is no memory changes nothing,
// whatever command would create it.
func TestBloomRefusedIsNothing(t *testing.T) {
	l := newLocal(t)
	l.e.Cfg.Maxmemory = 50 << 20
	for _, args := range [][]string{
		{"BF.RESERVE", "f", "0.01", "1073741824"},
		{"BF.INSERT", "f", "CAPACITY", "1073741824", "ITEMS", "x"},
		{"BF.RESERVE", "f", "1e-300", "1073741824"},
	} {
		used := l.e.KS.A.Used()
		v := run(t, l, args...)
		if v.Str != "ERR Insufficient memory to create filter" {
			t.Errorf("%v: %v", args, v)
		}
		if run(t, l, "EXISTS", "f").Int != 0 || l.e.KS.A.Used() != used {
			t.Errorf("%v has left something", args)
		}
	}
	// A layer does not fit: the filter keeps working with those it has.
	run(t, l, "BF.RESERVE", "g", "0.01", "200000", "EXPANSION", "32768")
	full := 0
	for i := 0; i < 300_000 && full == 0; i += 100 {
		args := []string{"BF.MADD", "g"}
		for j := range 100 {
			args = append(args, fmt.Sprint(i+j))
		}
		for _, v := range run(t, l, args...).Elems {
			if v.Str == "ERR problem inserting into filter" {
				full++
			}
		}
	}
	if full == 0 || run(t, l, "BF.CARD", "g").Int != 200_000 ||
		run(t, l, "BF.EXISTS", "g", "1").Int != 1 {
		t.Errorf("full %d times, %v", full, run(t, l, "BF.CARD", "g"))
	}
}
