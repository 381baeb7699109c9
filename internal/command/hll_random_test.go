package command

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"godwit/internal/hll"
	"godwit/internal/testseed"
	"godwit/internal/testserver"
)

// hllArgs returns a random command on one of five HyperLogLogs, sometimes on another value.
func hllArgs(r *rand.Rand) []string {
	key := func() string { return "h" + strconv.Itoa(r.IntN(5)) }
	elems := func(n int) (out []string) {
		for range n {
			out = append(out, strconv.Itoa(r.IntN(1<<r.IntN(16))))
		}
		return out
	}
	switch n := r.IntN(100); {
	case n < 35:
		return append([]string{"PFADD", key()}, elems(r.IntN(4))...)
	case n < 50:
		return append([]string{"PFADD", key()}, elems(r.IntN(200))...)
	case n < 60:
		return []string{"PFCOUNT", key()}
	case n < 65:
		return []string{"PFCOUNT", key(), key(), key()}
	case n < 72:
		return []string{"PFMERGE", key(), key(), key()}
	case n < 74:
		return []string{"PFMERGE", key()}
	case n < 80:
		return []string{"DEL", key()}
	case n < 82:
		return []string{"PFDEBUG",
			pick(r, "GETREG", "DECODE", "ENCODING", "TODENSE", "todense", "nonsense"), key()}
	case n < 84:
		return []string{"CONFIG", "SET", "hll-sparse-max-bytes",
			pick(r, "0", "30", "200", "3000", "100000")}
	case n < 86:
		return []string{"OBJECT", "ENCODING", key()}
	case n < 88:
		return []string{"COPY", key(), key(), "REPLACE"}
	case n < 89:
		return []string{"SET", key(), pick(r, "1", "", "HYLL", "some text")}
	case n < 90:
		return []string{"APPEND", key(), "\x83"}
	}
	return []string{"STRLEN", key()}
}

// TestRandomHLLAgainstRedis compares the replies with redis-server's and, after each command, the
// bytes of the value.
func TestRandomHLLAgainstRedis(t *testing.T) {
	redis, l, r := startPeer(t, testserver.Redis), newLocal(t), testseed.Rand(t)
	var history []string
	for i := range *countFlag / 2 {
		args := hllArgs(r)
		if i%1000 == 0 {
			args = []string{"FLUSHALL"}
		}
		if history = append(history, fmt.Sprintf("%.200q", args)); len(history) > 60 {
			history = history[1:]
		}
		for _, args := range [][]string{args, {"GET", "h0"}, {"GET", args[min(1, len(args)-1)]}} {
			theirs, ours := redis.do(t, argvOf(args...)), l.do(t, argvOf(args...))
			if reflect.DeepEqual(theirs, ours) {
				continue // most are 12 KB, which take long to show
			}
			want, got := cliLines(theirs, 0), cliLines(ours, 0)
			if !slices.Equal(got, want) {
				t.Fatalf("after\n%s\ncommand %d: %.200q\ngot:  %.3000q\nwant: %.3000q",
					strings.Join(history, "\n"), i, args, got, want)
			}
		}
	}
}

// TestHLLTravels moves values between the servers by DUMP and RESTORE, then runs commands on them.
func TestHLLTravels(t *testing.T) {
	redis, l := startPeer(t, testserver.Redis), newLocal(t)
	for _, n := range []int{0, 1, 100, 1000, 20_000} {
		args := []string{"PFADD", "h"}
		for i := range n {
			args = append(args, "user"+strconv.Itoa(i))
		}
		for _, way := range [][2]server{{redis, l}, {l, redis}} {
			from, to := way[0], way[1]
			from.do(t, argvOf("FLUSHALL"))
			to.do(t, argvOf("FLUSHALL"))
			from.do(t, argvOf(args...))
			from.do(t, argvOf("PFCOUNT", "h"))
			payload := from.do(t, argvOf("DUMP", "h")).Str
			if v := to.do(t, argvOf("RESTORE", "h", "0", payload)); v.Str != "OK" {
				t.Fatal(n, v)
			}
			for _, cmd := range [][]string{
				{"PFCOUNT", "h"}, {"PFADD", "h", "one", "more"}, {"PFCOUNT", "h"}, {"GET", "h"},
			} {
				want, got := from.do(t, argvOf(cmd...)), to.do(t, argvOf(cmd...))
				if want.Str != got.Str || want.Int != got.Int {
					t.Fatalf("%d elements, %v: %.100v, want %.100v", n, cmd, got, want)
				}
			}
		}
	}
}

// TestCorruptHLL damages values at random. Both servers must reply the same, except where Redis
// reads past the end of the value.
func TestCorruptHLL(t *testing.T) {
	redis, l, r := startPeer(t, testserver.Redis), newLocal(t), testseed.Rand(t)
	both := func(args ...string) (got, want string) {
		g, w := l.do(t, argvOf(args...)), redis.do(t, argvOf(args...))
		return strings.Join(cliLines(g, 0), "\n"), strings.Join(cliLines(w, 0), "\n")
	}
	for i := range *countFlag / 10 {
		both("FLUSHALL")
		args := []string{"PFADD", "src"}
		for range r.IntN(60) {
			args = append(args, strconv.Itoa(r.IntN(1<<20)))
		}
		both(args...)
		if i%5 == 0 {
			both("PFDEBUG", "TODENSE", "src")
		}
		b := []byte(l.do(t, argvOf("GET", "src")).Str)
		for range 1 + r.IntN(3) {
			switch at := r.IntN(len(b)); r.IntN(3) {
			case 0:
				b[at] = byte(r.IntN(256))
			case 1:
				b = slices.Delete(b, at, min(at+1+r.IntN(3), len(b)))
			default:
				b = slices.Insert(b, at, byte(r.IntN(256)))
			}
			if len(b) == 0 {
				break
			}
		}
		cut := hll.Check(b) == nil && !hll.Dense(b) && endsInTheMiddle(b)
		for _, args := range [][]string{{"SET", "h", string(b)}, {"PFCOUNT", "h"},
			{"PFCOUNT", "h", "src"}, {"PFADD", "h", strconv.Itoa(i)},
			{"PFMERGE", "dst", "src", "h"}, {"PFMERGE", "h", "src"}, {"PFDEBUG", "TODENSE", "h"},
			{"GET", "h"}} {
			if got, want := both(args...); got != want && !cut {
				t.Fatalf("value %q\n%.200q\ngot:  %.300s\nwant: %.300s", b, args, got, want)
			}
		}
	}
}

// endsInTheMiddle reports whether the last opcode of a sparse value is cut off.
func endsInTheMiddle(b []byte) bool {
	at := hll.HeaderSize
	for at < len(b) {
		if b[at]&0xc0 == 0x40 {
			at++
		}
		at++
	}
	return at > len(b)
}
