package resp

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"godwit/internal/testseed"
)

// seeded returns a generator whose seed is printed and can be set with SEED.
func seeded(t testing.TB) *rand.Rand {
	seed := testseed.New(t)
	if s := os.Getenv("SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = n
	}
	t.Logf("SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

var open = &Limits{Authenticated: true}

// result is all that parsing a stream gives.
type result struct {
	cmds     [][]string
	consumed int
	err      string
}

func (r result) String() string {
	return fmt.Sprintf("%q consumed %d err %q", r.cmds, r.consumed, r.err)
}

// feed parses input as it arrives in pieces of the sizes that size returns. It moves the buffer at
// each piece, as a connection may.
func feed(p *Parser, input []byte, lim *Limits, size func() int) result {
	var r result
	var buf []byte
	quick := false // the last command that AppendWhole could parse was left to Next
	for len(input) > 0 {
		n := min(size(), len(input))
		moved := append(make([]byte, 0, len(buf)+n), buf...)
		for i := range buf {
			buf[i] = 0xEE // whoever still reads the old buffer gives itself away
		}
		buf = append(moved, input[:n]...)
		input = input[n:]
		for len(buf) > 0 {
			argv, consumed := p.AppendWhole(nil, buf, lim)
			var err error
			if quick = !quick; quick || consumed == 0 {
				argv, consumed, err = p.Next(buf, lim)
			}
			if err != nil {
				r.err = err.Error()
				return r
			}
			if argv == nil {
				break
			}
			cmd := make([]string, len(argv))
			for i, a := range argv {
				cmd[i] = string(a)
			}
			r.cmds = append(r.cmds, cmd)
			r.consumed += consumed
			buf = buf[consumed:]
		}
	}
	return r
}

func whole(n int) func() int { return func() int { return max(n, 1) } }

func TestNextBrokenRequests(t *testing.T) {
	long := strings.Repeat("1", DefaultMaxInline)
	tests := []struct{ in, want string }{
		{"*x\r\n", "invalid multibulk length"},
		{"*\r\n", "invalid multibulk length"},
		{"*+1\r\n", "invalid multibulk length"},
		{"* 1\r\n", "invalid multibulk length"},
		{"*1 \r\n", "invalid multibulk length"},
		{"*01\r\n", "invalid multibulk length"},
		{"*-0\r\n", "invalid multibulk length"},
		{"*1\n$4\r\n", "invalid multibulk length"},
		{"*2147483648\r\n", "invalid multibulk length"},
		{"*9223372036854775808\r\n", "invalid multibulk length"},
		{"*18446744073709551617\r\n", "invalid multibulk length"},
		{"*-9223372036854775809\r\n", "invalid multibulk length"},
		{"*1\r\n:4\r\n", "expected '$', got ':'"},
		{"*1\r\n\r\n", "expected '$', got '\r'"},
		{"*1\r\n$\r\n", "invalid bulk length"},
		{"*1\r\n$-1\r\n", "invalid bulk length"},
		{"*1\r\n$5x\r\n", "invalid bulk length"},
		{"*1\r\n$+4\r\n", "invalid bulk length"},
		{"*1\r\n$04\r\n", "invalid bulk length"},
		{"*1\r\n$4\nPING\r\n", "invalid bulk length"},
		{"*1\r\n$536870913\r\n", "invalid bulk length"},
		{"*" + long, "too big mbulk count string"},
		{"*1\r\n$" + long, "too big bulk count string"},
		{long + "1", "too big inline request"},
		{"PING\x00\n" + long, "too big inline request"},
		{"*1\x00\r\n" + long, "too big mbulk count string"},
		{"*1\r\n$4\x00\r\n" + long, "too big bulk count string"},
		{"GET \"a\r\n", "unbalanced quotes in request"},
		{"GET \"a\"b\n", "unbalanced quotes in request"},
		{"GET 'a'b\n", "unbalanced quotes in request"},
		{"GET 'a\\'\n", "unbalanced quotes in request"},
	}
	for _, tt := range tests {
		var p Parser
		got := feed(&p, []byte(tt.in), open, whole(len(tt.in)))
		if want := "Protocol error: " + tt.want; got.err != want {
			t.Errorf("%.40q: %v, want %q", tt.in, got, want)
		}
	}
}

func TestNextNotYetComplete(t *testing.T) {
	for _, in := range []string{"", "*", "*1", "*1\r", "*1\r\n", "*1\r\n$", "*1\r\nX", "*1\r\nX\r",
		"*1\r\n$4\r",
		"*1\r\n$4\r\nPING", "*1\r\n$4\r\nPING\r", "PING", "PING\r", "*1\n", "PI\x00NG\r\n",
		"*1\x00\r\n",
		strings.Repeat("x", DefaultMaxInline), "*2147483647\r\n$4\r\nPING\r\n"} {
		var p Parser
		got := feed(&p, []byte(in), open, whole(len(in)))
		if len(got.cmds) != 0 || got.err != "" {
			t.Errorf("%.40q: %v, want to wait", in, got)
		}
	}
}

func TestNextCompleteRequests(t *testing.T) {
	tests := []struct {
		in   string
		want string
	}{
		{"*1\r\n$4\r\nPING\r\n", `[["PING"]]`},
		{"*1\rX$4\rYPINGZZ", `[["PING"]]`},
		{"*0\r\n", `[[]]`},
		{"*-1\r\n*-9223372036854775808\r\n", `[[] []]`},
		{"*2\r\n$0\r\n\r\n$2\r\n\r\n\r\n", `[["" "\r\n"]]`},
		{"\n\r\n \r\nPING\n", `[[] [] [] ["PING"]]`},
		{"$4\r\nPING\r\n", `[["$4"] ["PING"]]`},
		{"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$12\r\nabcdefghijkl\r\nPING\r\n",
			`[["SET" "k" "abcdefghijkl"] ["PING"]]`},
		{strings.Repeat(" ", DefaultMaxInline) + "\nPING\n", `[[] ["PING"]]`},
	}
	for _, tt := range tests {
		for _, n := range []int{1, 2, 3, 7, 10000, len(tt.in)} {
			if len(tt.in)/n > 1000 {
				continue // feed copies the buffer for each piece
			}
			var p Parser
			got := feed(&p, []byte(tt.in), open, whole(n))
			if fmt.Sprintf("%q", got.cmds) != tt.want || got.err != "" ||
				got.consumed != len(tt.in) {
				t.Errorf("%.40q in pieces of %d: %v, want %s", tt.in, n, got, tt.want)
			}
		}
	}
}

func TestNextLimits(t *testing.T) {
	bulk := func(n int) string {
		return fmt.Sprintf("*1\r\n$%d\r\n%s\r\n", n, strings.Repeat("x", n))
	}
	tests := []struct {
		name string
		in   string
		lim  Limits
		err  string
	}{
		{"10 arguments from a stranger", "*10\r\n" + strings.Repeat("$1\r\nx\r\n", 10), Limits{},
			""},
		{"11 arguments from a stranger", "*11\r\n", Limits{}, "unauthenticated multibulk length"},
		{"16384 bytes from a stranger", bulk(16384), Limits{}, ""},
		{"16385 bytes from a stranger", bulk(16385), Limits{}, "unauthenticated bulk length"},
		{"MaxBulk bytes", bulk(100), Limits{MaxBulk: 100, Authenticated: true}, ""},
		{"MaxBulk+1 bytes", bulk(101), Limits{MaxBulk: 100, Authenticated: true},
			"invalid bulk length"},
		{"no MaxBulk", bulk(101), Limits{MaxBulk: math.MaxInt64, Authenticated: true}, ""},
		{"MaxMultibulk", "*3\r\n", Limits{MaxMultibulk: 2, Authenticated: true},
			"invalid multibulk length"},
		{"MaxInline bytes", "PING\n", Limits{MaxInline: 4}, ""},
		{"MaxInline+1 bytes", "PING \n", Limits{MaxInline: 4}, "too big inline request"},
	}
	for _, tt := range tests {
		for _, n := range []int{1 + len(tt.in)/1000, 1000, len(tt.in)} {
			var p Parser
			got := feed(&p, []byte(tt.in), &tt.lim, whole(n))
			want := tt.err
			if want != "" {
				want = "Protocol error: " + want
			}
			if got.err != want || (want == "" && len(got.cmds) != 1) {
				t.Errorf("%s in pieces of %d: %v, want %q", tt.name, n, got, want)
			}
		}
	}
}

func TestNeed(t *testing.T) {
	var p Parser
	in := []byte("*2\r\n$3\r\nGET\r\n$1000\r\nab")
	if p.Need() != 0 {
		t.Fatalf("Need = %d before any input", p.Need())
	}
	if argv, _, err := p.Next(in, open); argv != nil || err != nil {
		t.Fatal(argv, err)
	}
	want := bytes.Index(in, []byte("ab")) + 1000 + 2
	if p.Need() != want {
		t.Fatalf("Need = %d, want %d", p.Need(), want)
	}
	in = append(in, make([]byte, want-len(in))...)
	if argv, n, err := p.Next(in, open); len(argv) != 2 || n != want || err != nil {
		t.Fatal(len(argv), n, err)
	}
	if p.Need() != 0 {
		t.Fatalf("Need = %d after the command", p.Need())
	}
	huge := []byte("*1\r\n$9223372036854775807\r\n")
	lim := &Limits{MaxBulk: math.MaxInt64, Authenticated: true}
	if _, _, err := p.Next(huge, lim); err != nil || p.Need() != math.MaxInt {
		t.Fatal(p.Need(), err)
	}
}

// manyArgs returns one command of n arguments. Its length in bytes is about 17n.
func manyArgs(n int) []byte {
	b := fmt.Appendf(nil, "*%d\r\n", n)
	for i := range n {
		b = fmt.Appendf(b, "$10\r\nkey:%06d\r\n", i)
	}
	return b
}

// TestStepsAreLinear counts what the parser looks at: at most a small constant for each byte,
// whatever the pieces, plus one for each call.
func TestStepsAreLinear(t *testing.T) {
	quoted := []byte("SET k \"" + strings.Repeat(`\x41`, 15000) + "\"\r\n")
	header := []byte("*1\r\n$" + strings.Repeat("0", DefaultMaxInline-2) + "\r\n")
	hidden := append([]byte("PING\x00"), strings.Repeat("x", DefaultMaxInline)...)
	for _, in := range [][]byte{manyArgs(20000), manyArgs(80000), quoted, header,
		hidden[:DefaultMaxInline+1]} {
		for _, size := range []int{1, 7, 16 << 10, len(in)} {
			var p Parser
			calls, fed := 0, 0
			for fed < len(in) {
				fed = min(fed+size, len(in))
				calls++
				argv, _, err := p.Next(in[:fed], open)
				if done := argv != nil || err != nil; done != (fed == len(in)) {
					t.Fatalf("%.20q…: %d of %d bytes: done %v, %v", in, fed, len(in), done, err)
				}
			}
			if most := 3*len(in) + 2*calls; p.steps > most || p.steps == 0 {
				t.Errorf("%.20q… (%d bytes) in pieces of %d: %d steps, most %d", in, len(in), size,
					p.steps, most)
			}
		}
	}
}

func TestRandomSplitsAgree(t *testing.T) {
	rnd := seeded(t)
	for range 300 {
		in := randomStream(rnd)
		lim := &Limits{Authenticated: rnd.IntN(4) > 0, MaxInline: 64}
		var p Parser
		want := feed(&p, in, lim, whole(len(in)))
		for range 4 {
			p.Reset()
			most := 1 + rnd.IntN(20)
			if got := feed(&p, in, lim, func() int {
				return 1 + rnd.IntN(most)
			}); got.String() != want.String() {
				t.Fatalf("%q:\nsplit %v\nwhole %v", in, got, want)
			}
		}
	}
}

// randomStream returns mostly well-formed commands, sometimes with a byte changed.
func randomStream(rnd *rand.Rand) []byte {
	var b []byte
	for range 1 + rnd.IntN(5) {
		if rnd.IntN(4) == 0 {
			words := []string{"PING", `"a b"`, `'x\'y'`, "k", `"\x41\n"`, "", "\t"}
			for range rnd.IntN(5) {
				b = append(append(b, words[rnd.IntN(len(words))]...), ' ')
			}
			b = append(b, []string{"\n", "\r\n"}[rnd.IntN(2)]...)
			continue
		}
		args := make([][]byte, rnd.IntN(14))
		for i := range args {
			args[i] = bytes.Repeat([]byte{byte(rnd.IntN(256))}, rnd.IntN(40))
		}
		b = AppendCommand(b, args...)
	}
	if rnd.IntN(2) == 0 {
		b[rnd.IntN(len(b))] = "\r\n*$-019x\x00 \"'"[rnd.IntN(13)]
	}
	return b
}

// TestAnnouncementsCostNothing announces a multibulk of two billion arguments. That is legal and
// must cost nothing.
func TestAnnouncementsCostNothing(t *testing.T) {
	in := []byte("*2147483647\r\n$536870912\r\nx")
	n := testing.AllocsPerRun(100, func() {
		var p Parser
		if argv, _, err := p.Next(in, open); argv != nil || err != nil {
			t.Fatal(argv, err)
		}
	})
	if n > 1 { // p itself
		t.Errorf("%v allocations", n)
	}
}

func TestSteadyStateDoesNotAllocate(t *testing.T) {
	var in []byte
	in = AppendCommand(in, []byte("SET"), []byte("key:1"), make([]byte, 64))
	in = append(in, "GET \"key:1\"\r\n*0\r\n\r\n"...)
	in = AppendCommand(in, []byte("GET"), []byte("key:1"))
	var p Parser
	n := testing.AllocsPerRun(100, func() {
		for buf := in; len(buf) > 0; {
			argv, consumed, err := p.Next(buf[:len(buf)-len(buf)/2], open)
			if argv == nil && err == nil {
				argv, consumed, err = p.Next(buf, open)
			}
			if argv == nil || err != nil {
				t.Fatal(consumed, err)
			}
			buf = buf[consumed:]
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestLargeCommandIsNotRetained(t *testing.T) {
	big, small := manyArgs(80000), manyArgs(2)
	var p Parser
	run := func(in []byte) {
		if argv, _, err := p.Next(in, open); argv == nil || err != nil {
			t.Fatal(argv, err)
		}
	}
	run(big)
	for range 2 * shrinkAfter {
		run(small)
	}
	if cap(p.argv) > keepArgs || cap(p.spans) > keepArgs {
		t.Errorf("after small commands: cap(argv) %d, cap(spans) %d", cap(p.argv), cap(p.spans))
	}
	run(big)
	p.Reset()
	if cap(p.argv) > keepArgs || cap(p.spans) > keepArgs {
		t.Errorf("after Reset: cap(argv) %d, cap(spans) %d", cap(p.argv), cap(p.spans))
	}
	run([]byte(strings.Repeat("x", 60000) + "\n"))
	run([]byte("x\n"))
	if cap(p.scratch) > keepScratch {
		t.Errorf("after a long inline command: cap(scratch) %d", cap(p.scratch))
	}
}

// TestLargeCommandsKeepTheirMemory checks that alternating large and small commands do not grow the
// slices anew each time.
func TestLargeCommandsKeepTheirMemory(t *testing.T) {
	big, small := manyArgs(5000), manyArgs(2)
	var p Parser
	n := testing.AllocsPerRun(20, func() {
		for _, in := range [][]byte{big, small} {
			if argv, _, err := p.Next(in, open); argv == nil || err != nil {
				t.Fatal(argv, err)
			}
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestOldBufferIsReleased checks that an argument list does not keep the buffer of an earlier
// command alive.
func TestOldBufferIsReleased(t *testing.T) {
	for _, release := range []string{"next command", "Reset"} {
		var p Parser
		gone := make(chan struct{})
		func() {
			buf := new([64]byte)
			runtime.AddCleanup(buf, func(c chan struct{}) { close(c) }, gone)
			n := copy(buf[:], "*3\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n")
			if argv, _, err := p.Next(buf[:n], open); len(argv) != 3 || err != nil {
				t.Fatal(argv, err)
			}
		}()
		if release == "Reset" {
			p.Reset()
		} else if argv, _, err := p.Next([]byte("*1\r\n$1\r\na\r\n"), open); len(argv) != 1 ||
			err != nil {
			t.Fatal(argv, err)
		}
		if !collected(gone) {
			t.Errorf("%s: the buffer is still reachable", release)
		}
		runtime.KeepAlive(&p)
	}
}

func collected(gone chan struct{}) bool {
	for range 200 {
		runtime.GC()
		select {
		case <-gone:
			return true
		default:
			runtime.Gosched()
		}
	}
	return false
}

func TestParseLen(t *testing.T) {
	for _, s := range []string{"", "-", "+", "+1", " 1", "1 ", "01", "00", "-0", "-01", "1x", "x",
		"0x1", "--1", "1\n",
		"9223372036854775808", "-9223372036854775809", "99999999999999999999"} {
		if n, ok := parseLen([]byte(s)); ok {
			t.Errorf("%q is read as %d", s, n)
		}
	}
	for _, n := range []int64{0, 1, 9, 10, 12, 99, 100, 12345, -1, -9, -10, math.MaxInt64,
		math.MinInt64} {
		if got, ok := parseLen(strconv.AppendInt(nil, n, 10)); !ok || got != n {
			t.Errorf("%d is read as %d, %v", n, got, ok)
		}
	}
}
