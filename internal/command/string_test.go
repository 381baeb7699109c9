package command

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"godwit/internal/invariant"
	"godwit/internal/object"
	"godwit/internal/propagation/propagationtest"
	"godwit/internal/testseed"
	"godwit/internal/testserver"
)

// TestFloatAgainstRedis compares INCRBYFLOAT, digit by digit, for numbers of all sizes and
// spellings.
func TestFloatAgainstRedis(t *testing.T) {
	redis, l, r := startPeer(t, testserver.Redis), newLocal(t), testseed.Rand(t)
	number := func() string {
		switch r.IntN(8) {
		case 0:
			return strconv.FormatFloat(r.NormFloat64()*1e6, 'f', r.IntN(12), 64)
		case 1:
			return strconv.FormatFloat(r.NormFloat64(), 'e', r.IntN(20), 64)
		case 2:
			return fmt.Sprintf("%d.%dE%d", r.IntN(1000), r.Uint64(), r.IntN(60)-30)
		case 3:
			return strconv.FormatInt(int64(r.Uint64()>>r.IntN(64)), 10)
		case 4:
			return fmt.Sprintf("-0x%x.%xp%d", r.IntN(1000), r.Uint64(), r.IntN(40)-20)
		case 5:
			return fmt.Sprintf("%de%d", r.IntN(1000), r.IntN(10200)-5100)
		case 6:
			return fmt.Sprintf("%d.%017d", r.IntN(20), r.Uint64N(1e17))
		}
		return fmt.Sprintf("%d%0*d.5", 1+r.IntN(9), r.IntN(40), r.IntN(10))
	}
	for range 5000 {
		a, b := number(), number()
		var got, want [2]string
		for i, cmd := range [][][]byte{argvOf("SET", "f", a), argvOf("INCRBYFLOAT", "f", b)} {
			got[i] = l.do(t, cmd).Text()
			want[i] = redis.do(t, cmd).Text()
		}
		if got != want {
			t.Fatalf("%s + %s: got %s, want %s", a, b, got[1], want[1])
		}
	}
}

func TestLongDoubleLimits(t *testing.T) {
	for _, bad := range []string{"", "-", "+", ".", "e5", "1e", "1e+", "0x", "0xg", "0x1p", "--1",
		"1.2.3", " 1", "1 ", "1\x00", "nan", "NaN(1)",
		"infinit", "1e4933", "-1e4933", "1e999999999999999999999", "1e-4951",
		strings.Repeat("1", 5120)} {
		if _, ok := object.ParseLongDouble([]byte(bad)); ok {
			t.Errorf("%.40q was taken for a number", bad)
		}
	}
	top := object.MaxLongDouble()
	text := string(top.Append(nil))
	if len(text) != 4933 || !strings.HasPrefix(text, "1189731495357231765") {
		t.Errorf("the largest number is %.30s… with %d digits", text, len(text))
	}
	if again, ok := object.ParseLongDouble([]byte(text)); !ok || again.Cmp(top) != 0 {
		t.Error("the largest number does not survive its own text")
	}
	if _, ok := top.Add(top); ok {
		t.Error("twice the largest number is finite")
	}
}

// lcsModel computes the textbook table, and goes Redis's way back through it.
func lcsModel(a, b []byte) (seq []byte) {
	l := make([][]int, len(a)+1)
	for i := range l {
		l[i] = make([]int, len(b)+1)
		for j := range l[i] {
			switch {
			case i == 0 || j == 0:
			case a[i-1] == b[j-1]:
				l[i][j] = l[i-1][j-1] + 1
			default:
				l[i][j] = max(l[i-1][j], l[i][j-1])
			}
		}
	}
	for i, j := len(a), len(b); i > 0 && j > 0; {
		switch {
		case a[i-1] == b[j-1]:
			i--
			j--
			seq = append([]byte{a[i]}, seq...)
		case l[i-1][j] > l[i][j-1]:
			i--
		default:
			j--
		}
	}
	return seq
}

func TestLCSModel(t *testing.T) {
	r := testseed.Rand(t)
	random := func() []byte {
		b := make([]byte, r.IntN(200))
		for i := range b {
			b[i] = byte('a' + r.IntN(1+r.IntN(8)))
		}
		return b
	}
	for range 300 {
		a, b := random(), random()
		want := lcsModel(a, b)
		if got := newLCSTable(a, b, true).sequence(); !bytes.Equal(got, want) {
			t.Fatalf("%q %q: got %q, want %q", a, b, got, want)
		}
		if got := newLCSTable(a, b, false).length; got != len(want) {
			t.Fatalf("%q %q: length %d, want %d", a, b, got, len(want))
		}
	}
}

// TestNoAllocations checks that the commands of the hot path do not allocate, in a cluster either.
// Garbage for each call would cost every client a collection.
func TestNoAllocations(t *testing.T) {
	if invariant.Enabled {
		t.Skip("checks allocate")
	}
	value := strings.Repeat("v", 64)
	for name, l := range map[string]*local{
		"alone": newLocal(t), "in a cluster": newClusterNode(t, allSlots, nil),
	} {
		for _, args := range [][]string{
			{"SET", "{t}k", value}, {"GET", "{t}k"}, {"SET", "{t}n", "12345"}, {"GET", "{t}n"},
			{"INCR", "{t}n"}, {"INCRBY", "{t}n", "5"}, {"MGET", "{t}k", "{t}n", "{t}none"},
			{"MSET", "{t}k", value, "{t}n", "1"}, {"SET", "k", value, "EX", "100"},
			{"SET", "k", value, "XX", "KEEPTTL"}, {"SETNX", "k", "x"}, {"SET", "k", value, "GET"},
			{"GETEX", "k", "EX", "100"}, {"APPEND", "a", "x"}, {"STRLEN", "k"},
			{"GETRANGE", "k", "0", "5"}, {"SETRANGE", "k", "0", "x"}, {"SETBIT", "b", "7", "1"},
			{"GETBIT", "b", "7"}, {"BITCOUNT", "k"}, {"BITPOS", "k", "1"},
			{"BITFIELD", "b", "INCRBY", "u8", "0", "1"}, {"DIGEST", "k"}, {"EXISTS", "k"},
			{"TTL", "k"},
		} {
			argv := argvOf(args...)
			for range 100 {
				l.exec(argv) // Buffers and tables reach their final size.
			}
			if n := testing.AllocsPerRun(200, func() { l.exec(argv) }); n != 0 {
				t.Errorf("%s, %q: %v allocations", name, args, n)
			}
		}
	}
}

// stringPropagation lists commands, in order, and what each propagates.
var stringPropagation = []struct{ command, want string }{
	{"SET k v", "0 SET k v"},
	{"SET k v NX", ""},
	{"SET k v XX", "0 SET k v"},
	{"SET k v GET", "0 SET k v"},
	{"SET k v PXAT 4102444800000", "0 SET k v PXAT 4102444800000"},
	{"SET k v EXAT 4102444800 GET", "0 SET k v PXAT 4102444800000"},
	{"SET k v KEEPTTL", "0 SET k v KEEPTTL"},
	{"SET k w IFEQ v", "0 SET k w"},
	{"SET k w IFEQ v", ""},
	{"SET k w EXAT 1", "0 SET k w PXAT 1000"},
	{"SET k w EXAT 1", "0 DEL k|0 SET k w PXAT 1000"},
	{"SETNX k v", "0 DEL k|0 SETNX k v"},
	{"SETNX k v", ""},
	{"GETSET k 1", "0 SET k 1"},
	{"GETEX k", ""},
	{"GETEX k PXAT 4102444800000", "0 PEXPIREAT k 4102444800000"},
	{"GETEX k PERSIST", "0 PERSIST k"},
	{"GETEX k PERSIST", ""},
	{"INCRBYFLOAT k 0.5", "0 SET k 1.5 KEEPTTL"},
	{"INCRBYFLOAT k x", ""},
	{"GETEX k EXAT 1", "0 DEL k"},
	{"GETDEL k", ""},
	{"INCR k", "0 INCR k"},
	{"GETDEL k", "0 DEL k"},
	{"INCREX k BYINT 5", "0 SET k 5 KEEPTTL"},
	{"INCREX k UBOUND 5", ""},
	{"INCREX k UBOUND 5 SATURATE EXAT 4102444800", "0 SET k 5 PXAT 4102444800000"},
	{"INCREX k EXAT 4102444900 ENX", "0 SET k 6 KEEPTTL"},
	{"INCREX k PERSIST", "0 SET k 7"},
	{"INCREX k EXAT 1", "0 DEL k"},
	{"MSET a 1 b 2", "0 MSET a 1 b 2"},
	{"MSETNX a 1 b 2", ""},
	{"MSETEX 2 a 1 b 2 EXAT 4102444800",
		"0 SET a 1 PXAT 4102444800000|0 SET b 2 PXAT 4102444800000"},
	{"MSETEX 1 a 1 NX", ""},
	{"DELIFEQ a 1", "0 DEL a"},
	{"DELEX a", ""},
	{"DELEX b IFNE 1", "0 DEL b"},
	{"SETRANGE s 0 abc", "0 SETRANGE s 0 abc"},
	{"SETRANGE s 9 ", ""},
	{"APPEND s d", "0 APPEND s d"},
	{"SETBIT s 0 0", ""},
	{"SETBIT s 0 1", "0 SETBIT s 0 1"},
	{"BITFIELD s GET u8 0", ""},
	{"BITFIELD s SET u8 0 225", ""},
	{"BITFIELD s SET u8 0 226", "0 BITFIELD s SET u8 0 226"},
	{"BITFIELD new OVERFLOW FAIL SET u8 0 256", ""},
	{"BITOP AND d none", ""},
	{"BITOP NOT d s", "0 BITOP NOT d s"},
	{"BITOP AND d none", "0 BITOP AND d none"},
}

// TestPropagation tests that commands propagate results and absolute times, and nothing that
// depends on a clock or on arithmetic.
func TestPropagation(t *testing.T) {
	l := newLocal(t)
	s := propagationtest.Attach(&l.e.Feed)
	for _, c := range stringPropagation {
		s.Reset()
		l.exec(argvOf(strings.Split(c.command, " ")...))
		if got := strings.Join(s.Lines(), "|"); got != c.want {
			t.Errorf("%s: propagated %q, want %q", c.command, got, c.want)
		}
	}
	s.Reset()
	l.exec(argvOf("SET", "k", "v", "EX", "100"))
	if want := fmt.Sprintf("0 SET k v PXAT %d", l.e.Now()+100_000); len(s.Lines()) != 1 ||
		s.Lines()[0][:15] != want[:15] {
		t.Errorf("SET EX: propagated %q, want about %q", s.Lines(), want)
	}
}
