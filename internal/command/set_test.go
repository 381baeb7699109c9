package command

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"godwit/internal/invariant"
	"godwit/internal/propagation/propagationtest"
	"godwit/internal/resp/client"
	"godwit/internal/testseed"
	"godwit/internal/testserver"
)

func TestSetNoAllocations(t *testing.T) {
	if invariant.Enabled {
		t.Skip("checks allocate")
	}
	l := newLocal(t)
	for i := range 1000 {
		l.exec(argvOf("SADD", "large", fmt.Sprintf("member:%07d", i)))
		l.exec(argvOf("SADD", "ints", fmt.Sprint(i%300)))
		l.exec(argvOf("SADD", "small", fmt.Sprintf("m%d", i%50)))
	}
	for _, key := range []string{"large", "ints", "small"} {
		for _, args := range [][]string{
			{"SADD", key, "7777"}, {"SISMEMBER", key, "7777"}, {"SMISMEMBER", key, "1", "x"},
			{"SREM", key, "7777"}, {"SCARD", key}, {"SRANDMEMBER", key},
			{"SADD", key, "7777", "8888"}, {"SREM", key, "8888", "7777"}, {"SMEMBERS", key},
		} {
			argv := argvOf(args...)
			for range 10 {
				l.exec(argv)
			}
			if n := testing.AllocsPerRun(50, func() { l.exec(argv) }); n != 0 {
				t.Errorf("%q: %v allocations", args, n)
			}
		}
		add, rem, pop := argvOf("SADD", key, "7777"), argvOf("SREM", key, "7777"),
			argvOf("SPOP", key)
		if n := testing.AllocsPerRun(50, func() { l.exec(add); l.exec(rem) }); n != 0 {
			t.Errorf("%s: SADD and SREM: %v allocations", key, n)
		}
		if n := testing.AllocsPerRun(20, func() { l.exec(pop) }); n != 0 {
			t.Errorf("%s: SPOP: %v allocations", key, n)
		}
	}
}

// TestSetPropagation tests that random choices propagate as the chosen members.
func TestSetPropagation(t *testing.T) {
	l := newLocal(t)
	s := propagationtest.Attach(&l.e.Feed)
	for _, c := range []struct{ command, want string }{
		{"SADD s a b", "0 SADD s a b"},
		{"SADD s a", ""},
		{"SREM s z", ""},
		{"SREM s a z", "0 SREM s a z"},
		{"SPOP s", "0 SREM s b"},
		{"SPOP s", ""},
		{"SADD s 17", "0 SADD s 17"},
		{"SPOP s", "0 SREM s 17"},
		{"SADD s a b", "0 SADD s a b"},
		{"SPOP s 0", ""},
		{"SPOP s 2", "0 DEL s"},
		{"CONFIG SET lazyfree-lazy-server-del yes", ""},
		{"SADD s a b", "0 SADD s a b"},
		{"SPOP s 5", "0 UNLINK s"},
		{"SADD s a", "0 SADD s a"},
		{"SMOVE s t a", "0 SMOVE s t a"},
		{"SMOVE s t a", ""},
		{"SMOVE t t a", ""},
		{"SINTERSTORE d t", "0 SINTERSTORE d t"},
		{"SINTERSTORE d none", "0 SINTERSTORE d none"},
		{"SINTERSTORE d none", ""},
		{"SUNIONSTORE d t", "0 SUNIONSTORE d t"},
		{"SDIFFSTORE d t t", "0 SDIFFSTORE d t t"},
		{"SDIFFSTORE d t t", ""},
	} {
		s.Reset()
		l.exec(argvOf(strings.Split(c.command, " ")...))
		if got := strings.Join(s.Lines(), "|"); got != c.want {
			t.Errorf("%s: propagated %q, want %q", c.command, got, c.want)
		}
	}
}

// TestSPopPropagatesWhatItAnswers checks that the members in the reply are those of the propagated
// SREMs, each with at most 1024 members.
func TestSPopPropagatesWhatItAnswers(t *testing.T) {
	l := newLocal(t)
	s := propagationtest.Attach(&l.e.Feed)
	for i := range 5000 {
		run(t, l, "SADD", "s", fmt.Sprintf("m%d", i))
	}
	for _, n := range []string{"10", "1024", "2500"} {
		s.Reset()
		var want, got []string
		for _, e := range run(t, l, "SPOP", "s", n).Elems {
			want = append(want, e.Str)
		}
		for _, line := range s.Lines() {
			words := strings.Fields(line)
			if words[1] != "SREM" || words[2] != "s" || len(words) > 3+1024 {
				t.Fatalf("SPOP %s: %.60s… of %d words", n, line, len(words))
			}
			got = append(got, words[3:]...)
		}
		if !slices.Equal(want, got) {
			t.Errorf("SPOP %s: answered %d members, propagated %d", n, len(want), len(got))
		}
	}
}

var setPatterns = strings.Split(strings.TrimSpace(`
SADD {key} {val} [ {val} ] [ {val} {val} {val} ]
SADD {key} {val} {val} {val} {val} {val} {val}
SREM {key} {val} [ {val} ] [ {val} {val} ]
SMOVE {key} {key} {val}
SISMEMBER {key} {val}
SMISMEMBER {key} {val} [ {val} ]
SCARD {key}
SMEMBERS {key}
SINTER|SUNION|SDIFF {key} [ {key} ] [ {key} {key} ]
SINTERSTORE|SUNIONSTORE|SDIFFSTORE {key} {key} [ {key} ] [ {key} {key} ]
SINTERCARD 1|2|3 {key} [ {key} ] [ {key} ]
SINTERCARD 2 {key} {key} [ LIMIT {count} ] [ X ]
SPOP {key} 0|1000
SRANDMEMBER {key} 0|1000
SSCAN {key} 0 [ MATCH {glob} ] COUNT 1000
COPY {key} {key} [ REPLACE ]
RENAME {key} {key}
SET {key} x
DEL {key}
OBJECT ENCODING {key}
TYPE {key}
`), "\n")

// TestSetsAgainstRedis compares random set commands with redis-server. It sorts replies that have
// no order. What Redis 7.2 keeps in a listpack is a hashtable in 7.0.
func TestSetsAgainstRedis(t *testing.T) {
	redis, l, r := startPeer(t, testserver.Redis), newLocal(t), testseed.Rand(t)
	var show func(v client.Value) string
	show = func(v client.Value) string {
		elems, sorted := []string{}, false
		for _, e := range v.Elems {
			elems = append(elems, show(e))
			sorted = e.Kind == client.Bulk
		}
		if sorted {
			slices.Sort(elems)
		}
		return strings.ReplaceAll(fmt.Sprint(v.Kind, v.Str, v.Int, elems), "listpack", "hashtable")
	}
	var history []string
	for i := range *countFlag / 3 {
		args := wordsOf(r, pick(r, setPatterns...), setArg)
		if i%700 == 0 {
			args = []string{"FLUSHALL"}
			proto := 2 + r.IntN(2)
			redis.proto(t, proto)
			l.proto(t, proto)
		}
		if history = append(history, fmt.Sprintf("%q", args)); len(history) > 100 {
			history = history[1:]
		}
		want, got := show(redis.do(t, argvOf(args...))), show(l.do(t, argvOf(args...)))
		if got != want {
			t.Fatalf("after\n%s\ncommand %d: %q\ngot:  %s\nwant: %s", strings.Join(history, "\n"),
				i, args, got, want)
		}
	}
}

func setArg(r *rand.Rand, kind string) string {
	switch kind {
	case "key":
		return pick(r, "a", "b", "c", "d", "e")
	case "glob":
		return pick(r, "*", "1*", "m*", "?", "[a-z]*")
	case "count":
		return pick(r, "0", "1", "2", "100", "-1", "x")
	}
	switch n := r.IntN(40); r.IntN(12) {
	case 0, 1, 2, 3, 4, 5:
		return strconv.Itoa(n - 20)
	case 6:
		return strconv.FormatInt(int64(n)<<n, 10)
	case 7:
		return strings.Repeat("x", n+40)
	case 8:
		return "0" + strconv.Itoa(n)
	default:
		return fmt.Sprintf("m%d", n)
	}
}
