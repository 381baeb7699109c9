package command

import (
	"fmt"
	"strings"
	"testing"

	"godwit/internal/invariant"
	"godwit/internal/propagation/propagationtest"
)

// TestZSetPropagation checks that commands that change something propagate as they came. ZMPOP
// propagates with the set that it chose.
func TestZSetPropagation(t *testing.T) {
	l := newLocal(t)
	s := propagationtest.Attach(&l.e.Feed)
	for _, c := range []struct{ command, want string }{
		{"ZADD z 1 a 2 b 3 c", "0 ZADD z 1 a 2 b 3 c"},
		{"ZADD z 1 a", ""},
		{"ZADD z XX 5 d", ""},
		{"ZADD none XX 5 d", ""},
		{"ZADD z INCR 2 a", "0 ZADD z INCR 2 a"},
		{"ZINCRBY z 0.1 a", "0 ZINCRBY z 0.1 a"},
		{"ZINCRBY z 0 a", ""},
		{"ZADD z x a", ""},
		{"ZREM z d", ""},
		{"ZREM z a d", "0 ZREM z a d"},
		{"ZPOPMIN z 0", ""},
		{"ZPOPMIN z", "0 ZPOPMIN z"},
		{"ZMPOP 2 none z MAX COUNT 5", "0 ZPOPMAX z 1"},
		{"ZMPOP 2 none z MIN", ""},
		{"ZPOPMAX z 3", ""},
	} {
		s.Reset()
		l.exec(argvOf(strings.Split(c.command, " ")...))
		if got := strings.Join(s.Lines(), "|"); got != c.want {
			t.Errorf("%s: propagated %q, want %q", c.command, got, c.want)
		}
	}
}

// TestZSetAllocations checks that commands on sorted sets do not allocate, packed or not.
func TestZSetAllocations(t *testing.T) {
	if invariant.Enabled {
		t.Skip("checks allocate")
	}
	l := newLocal(t)
	for i := range 1000 {
		if i < 100 {
			l.exec(argvOf("ZADD", "small", fmt.Sprint(i), fmt.Sprint("member:", i)))
		}
		l.exec(argvOf("ZADD", "large", fmt.Sprint(i), fmt.Sprint("member:", i)))
	}
	for _, key := range []string{"small", "large"} {
		cmds := [][][]byte{argvOf("ZADD", key, "50.5", "member:7"),
			argvOf("ZADD", key, "7", "member:7"), argvOf("ZINCRBY", key, "0.5", "member:9"),
			argvOf("ZSCORE", key, "member:5"), argvOf("ZMSCORE", key, "member:5", "x"),
			argvOf("ZRANK", key, "member:5"), argvOf("ZCARD", key),
			argvOf("ZPOPMIN", key), argvOf("ZADD", key, "0.25", "member:0"),
			argvOf("ZREM", key, "member:0"), argvOf("ZADD", key, "0.25", "member:0")}
		for range 2 { // The reply's buffer grows.
			for _, argv := range cmds {
				l.exec(argv)
			}
		}
		if n := testing.AllocsPerRun(100, func() {
			for _, argv := range cmds {
				l.exec(argv)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", key, n)
		}
	}
}
