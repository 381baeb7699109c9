package command

import (
	"fmt"
	"strings"
	"testing"

	"godwit/internal/invariant"
	"godwit/internal/propagation/propagationtest"
)

// TestHashPropagation tests what hash commands propagate: absolute deadlines for the fields that
// got one, and an HDEL for each field that expired.
func TestHashPropagation(t *testing.T) {
	l := newLocal(t)
	s := propagationtest.Attach(&l.e.Feed)
	for _, c := range []struct{ command, want string }{
		{"HSET h a 1 b 2", "0 HSET h a 1 b 2"},
		{"HMSET h a 1", "0 HMSET h a 1"},
		{"HSETNX h a 1", ""},
		{"HSETNX h c 1", "0 HSETNX h c 1"},
		{"HINCRBY h a 5", "0 HINCRBY h a 5"},
		{"HINCRBY h a x", ""},
		{"HINCRBYFLOAT h a 0.5", "0 HSET h a 6.5"},
		{"HDEL h z", ""},
		{"HDEL h c z", "0 HDEL h c z"},
		{"HEXPIREAT h 4102444800 FIELDS 3 a z b", "0 HPEXPIREAT h 4102444800000 FIELDS 2 a b"},
		{"HEXPIREAT h 4102444800 NX FIELDS 2 a z", ""},
		{"HINCRBYFLOAT h a 0.5", "0 HSETEX h KEEPTTL FIELDS 1 a 7"},
		{"HPERSIST h FIELDS 2 a z", "0 HPERSIST h FIELDS 2 a z"},
		{"HPERSIST h FIELDS 1 a", ""},
		{"HGETEX h FIELDS 1 a", ""},
		{"HGETEX h PERSIST FIELDS 2 a b", "0 HPERSIST h FIELDS 1 b"},
		{"HGETEX h EXAT 4102444800 FIELDS 2 z b", "0 HPEXPIREAT h 4102444800000 FIELDS 1 b"},
		{"HGETEX h EXAT 1 FIELDS 2 z b", "0 HDEL h b"},
		{"HSETEX h FNX FIELDS 1 a 1", ""},
		{"HSETEX h FXX FIELDS 1 a 1", "0 HSET h a 1"},
		{"HSETEX h EXAT 4102444800 FXX FIELDS 1 a 1",
			"0 HSETEX h PXAT 4102444800000 FXX FIELDS 1 a 1"},
		{"HSETEX h PXAT 4102444800000 FIELDS 2 a 1 b 1",
			"0 HSETEX h PXAT 4102444800000 FIELDS 2 a 1 b 1"},
		{"HSETEX h XX FIELDS 1 b 1", "0 HSET h b 1"},
		{"HSETEX h NX FIELDS 1 b 1", ""},
		{"HSETEX h FXX XX EXAT 4102444800 FIELDS 1 b 1",
			"0 HSETEX h FXX PXAT 4102444800000 FIELDS 1 b 1"},
		{"HSETEX h EX 0 FIELDS 1 b 1", "0 HDEL h b"},
		{"HSETEX h XX EXAT 1 FIELDS 2 c 1 d 1", "0 HDEL h c|0 HDEL h d"},
		{"HPEXPIRE h 0 FIELDS 2 z a", "0 HDEL h a"},
		{"HGETDEL h FIELDS 1 a", ""},
		{"HSET h a 1", "0 HSET h a 1"},
		{"HGETDEL h FIELDS 2 a z", "0 HDEL h a z"},
	} {
		s.Reset()
		l.exec(argvOf(strings.Split(c.command, " ")...))
		if got := strings.Join(s.Lines(), "|"); got != c.want {
			t.Errorf("%s: propagated %q, want %q", c.command, got, c.want)
		}
	}
}

// TestHashAllocations checks that hash commands do not allocate, packed or not, with and without
// deadlines.
func TestHashAllocations(t *testing.T) {
	if invariant.Enabled {
		t.Skip("checks allocate")
	}
	l := newLocal(t)
	for i := range 1000 {
		l.exec(argvOf("HSET", "big", fmt.Sprint("field:", i), "value"))
		if i < 20 {
			l.exec(argvOf("HSET", "small", fmt.Sprint("field:", i), "value"))
			l.exec(argvOf("HSETEX", "timed", "EX", "1000", "FIELDS", "1", fmt.Sprint("field:", i),
				"value"))
		}
	}
	for _, key := range []string{"small", "timed", "big"} {
		for _, args := range [][]string{
			{"HSET", key, "field:7", "value"}, {"HSET", key, "field:7", "12"},
			{"HGET", key, "field:7"}, {"HGET", key, "none"}, {"HMGET", key, "field:1", "field:2"},
			{"HLEN", key}, {"HEXISTS", key, "field:7"}, {"HSTRLEN", key, "field:7"},
			{"HINCRBY", key, "n", "5"}, {"HDEL", key, "none"}, {"HGETALL", key},
			{"HTTL", key, "FIELDS", "1", "field:3"},
			{"HRANDFIELD", key},
		} {
			argv := argvOf(args...)
			for range 20 {
				l.exec(argv)
			}
			if n := testing.AllocsPerRun(50, func() { l.exec(argv) }); n != 0 {
				t.Errorf("%q: %v allocations", args, n)
			}
		}
	}
}
