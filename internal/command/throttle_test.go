package command

import (
	"strconv"
	"strings"
	"testing"

	"godwit/internal/invariant"
	"godwit/internal/propagation/propagationtest"
)

// TestThrottlePropagation checks that a request propagates the bucket's new state, or nothing if
// the state did not change.
func TestThrottlePropagation(t *testing.T) {
	l := newLocal(t)
	s := propagationtest.Attach(&l.e.Feed)
	for range 3 {
		s.Reset()
		run(t, l, "CL.THROTTLE", "k", "2", "1", "1000")
		tat := run(t, l, "GET", "k").Text()
		n, err := strconv.ParseInt(tat, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		deadline := run(t, l, "PEXPIRETIME", "k").Int
		if deadline*1e6 < n || (deadline-1)*1e6 >= n {
			t.Errorf("arrival time %d, but the key expires at %d ms", n, deadline)
		}
		want := "0 SET k " + tat + " PXAT " + strconv.FormatInt(deadline, 10)
		if got := strings.Join(s.Lines(), "|"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	s.Reset()
	for _, quantity := range []string{"0", "1", "4"} {
		run(t, l, "CL.THROTTLE", "k", "2", "1", "1000", quantity)
	}
	run(t, l, "CL.THROTTLE", "new", "2", "1", "1000", "0")
	run(t, l, "CL.THROTTLE", "new", "2", "1", "0")
	if len(s.Lines()) > 0 {
		t.Errorf("propagated %q", s.Lines())
	}
}

// TestThrottleReplay checks that replaying the log gives the same bucket, so a restart forgives
// nobody.
func TestThrottleReplay(t *testing.T) {
	l, copied := newLocal(t), newLocal(t)
	s := propagationtest.Attach(&l.e.Feed)
	for range 5 {
		run(t, l, "CL.THROTTLE", "k", "9", "1", "1000", "2")
	}
	for _, line := range s.Lines() {
		run(t, copied, strings.Fields(line)[1:]...)
	}
	for _, x := range []*local{l, copied} {
		v := run(t, x, "CL.THROTTLE", "k", "9", "1", "1000")
		if got := v.Elems[0].Int; got != 1 {
			t.Errorf("admitted beyond the limit: %v", v)
		}
	}
}

func TestThrottleNoAllocations(t *testing.T) {
	if invariant.Enabled {
		t.Skip("invariants allocate")
	}
	l := newLocal(t)
	for _, args := range [][]string{{"CL.THROTTLE", "k", "1000000", "1000000", "3600"},
		{"CL.THROTTLE", "full", "0", "1", "3600"}, {"CL.THROTTLE", "+k", "+15", "030", "60", "0"}} {
		argv := argvOf(args...)
		l.exec(argv)
		if n := testing.AllocsPerRun(200, func() { l.exec(argv) }); n != 0 {
			t.Errorf("%v: %v allocations", args, n)
		}
	}
}

// TestThrottleMemory checks that a bucket costs at most 64 bytes beyond its key's name, with its
// share of the key table and of the timing wheel.
func TestThrottleMemory(t *testing.T) {
	if invariant.Enabled {
		t.Skip("blocks are larger under invariants")
	}
	l := newLocal(t)
	used := func() int64 { return l.e.KS.A.Used() }
	// While the table doubles, there are two tables for a moment: 71 bytes at worst.
	const n = 230_000
	before, names := used(), 0
	for i := range n {
		key := "limit:" + strconv.Itoa(i)
		names += len(key)
		l.exec(argvOf("CL.THROTTLE", key, "15", "30", "60"))
	}
	each := float64(used()-before-int64(names)) / n
	t.Logf("%.1f bytes for each bucket beside its name", each)
	if each > 64 {
		t.Errorf("a bucket takes %.1f bytes beside its name", each)
	}
}

func TestPFAllocations(t *testing.T) {
	if invariant.Enabled {
		t.Skip("invariants allocate")
	}
	l := newLocal(t)
	for i := range 3000 {
		run(t, l, "PFADD", "dense", strconv.Itoa(i))
	}
	run(t, l, "PFADD", "sparse", "a", "b", "c")
	for _, args := range [][]string{{"PFADD", "dense", "1"}, {"PFADD", "sparse", "a", "b"},
		{"PFCOUNT", "dense"}, {"PFCOUNT", "dense", "sparse"},
		{"PFMERGE", "dst", "dense", "sparse"}, {"PFMERGE", "dst2", "sparse"}} {
		argv := argvOf(args...)
		l.exec(argv)
		if n := testing.AllocsPerRun(50, func() { l.exec(argv) }); n != 0 {
			t.Errorf("%v: %v allocations", args, n)
		}
	}
}
