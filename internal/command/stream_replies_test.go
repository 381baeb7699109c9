package command

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"godwit/internal/resp/client"
)

// replyStage is a Stage that keeps what it takes.
type replyStage struct{ b []byte }

func (s *replyStage) Next(n, _ int) []byte {
	s.b = append(s.b, make([]byte, n)...)
	return s.b[len(s.b)-n:]
}

func (s *replyStage) Insert(n int, b []byte) { s.b = slices.Insert(s.b, len(s.b)-n, b...) }

// idleTimes finds the idle times of pending entries, which depend on the clock.
var idleTimes = regexp.MustCompile(`[a-z]\r\n:\d+\r\n:`)

// TestLargeRepliesAreStaged runs commands with replies of megabytes, which must be the same
// whether they are staged or not, and must not be held in one piece.
func TestLargeRepliesAreStaged(t *testing.T) {
	const n = 10_000
	plain, staged := newLocal(t), newLocal(t)
	plain.c.W.Stage = nil
	value := strings.Repeat("v", 300)
	both := func(words ...string) {
		t.Helper()
		st := &replyStage{}
		staged.c.W.Reset()
		staged.c.W.Buf = nil
		staged.c.W.Stage = st
		argv := argvOf(words...)
		plain.do(t, argv) // one whole reply
		rest := staged.exec(argv)
		got := append(st.b, rest...)
		_, left, err := client.Parse(got)
		if err != nil || len(left) > 0 {
			t.Fatalf("%.80q: %v, %d bytes too many", words, err, len(left))
		}
		raw := plain.c.W.Buf
		if slices.Contains(words, "CLAIM") || words[0] == "XPENDING" {
			raw, got = idleTimes.ReplaceAll(raw, nil), idleTimes.ReplaceAll(got, nil)
		}
		if !bytes.Equal(raw, got) {
			t.Fatalf("%.80q: %d bytes are staged as %d others", words, len(raw), len(got))
		}
		if room := cap(staged.c.W.Buf); room > 256<<10 {
			t.Errorf("%.80q: %d bytes of the reply are held in one piece", words, room)
		}
	}
	for _, key := range []string{"s", "t"} {
		for i := range n {
			argv := argvOf("XADD", key, fmt.Sprint(i+1, "-0"), "f", value)
			plain.exec(argv)
			staged.exec(argv)
		}
		both("XGROUP", "CREATE", key, "g", "0")
		both("XGROUP", "CREATE", key, "h", "0")
	}
	for _, words := range largeReplies(n) {
		both(words...)
	}
}

// largeReplies returns commands on two streams of n entries and their groups.
func largeReplies(n int) [][]string {
	read := func(options ...string) []string {
		return append([]string{"XREADGROUP", "GROUP"}, options...)
	}
	claim := []string{"XCLAIM", "s", "g", "d", "0"}
	for i := range n {
		claim = append(claim, fmt.Sprint(i+1, "-0"))
	}
	return [][]string{
		{"XREAD", "MAXCOUNT", "15000", "STREAMS", "s", "t", "0", "0"},
		{"XREAD", "MAXCOUNT", "10000", "STREAMS", "s", "t", "0", "0"},
		{"XREAD", "MAXCOUNT", "9000", "COUNT", "8000", "STREAMS", "s", "x", "t", "0", "0", "5-0"},
		{"XREAD", "COUNT", "8000", "STREAMS", "s", "t", "0", "9999-0"},
		{"XREAD", "MAXSIZE", "2000000", "STREAMS", "s", "t", "0", "0"},
		{"XREAD", "MAXSIZE", "4500000", "COUNT", "9000", "STREAMS", "s", "x", "t", "0", "0", "0"},
		{"XRANGE", "s", "-", "+"},
		{"XREVRANGE", "s", "+", "-", "COUNT", "9000"},
		read("g", "c", "COUNT", "6000", "STREAMS", "s", "t", ">", ">"),
		read("g", "c", "MAXCOUNT", "6000", "STREAMS", "s", "t", ">", "0"),
		read("g", "c", "MAXCOUNT", "9000", "STREAMS", "s", "t", "50-0", ">"),
		read("h", "c", "MAXCOUNT", "10000", "STREAMS", "s", "t", ">", ">"),
		read("g", "c", "STREAMS", "s", "s", "t", "0", "1000-0", ">"),
		read("g", "e", "STREAMS", "s", "t", ">", ">"),
		read("g", "e", "STREAMS", "s", "t", "0", "0"),
		read("g", "e", "CLAIM", "0", "STREAMS", "s", "t", ">", ">"),
		read("g", "e", "CLAIM", "0", "MAXCOUNT", "15000", "STREAMS", "s", "t", ">", ">"),
		read("g", "e", "CLAIM", "0", "MAXSIZE", "30000000", "STREAMS", "s", "t", ">", ">"),
		read("g", "e", "MAXSIZE", "3500000", "STREAMS", "s", "t", "0", "0"),
		{"XPENDING", "s", "g", "-", "+", "10000"},
		claim,
		append(claim, "JUSTID"),
		{"XAUTOCLAIM", "s", "g", "c", "0", "0", "COUNT", "9000"},
		{"XDEL", "s", "3-0", "5000-0", "9999-0"},
		{"XAUTOCLAIM", "s", "g", "e", "0", "0", "COUNT", "20000"},
		{"XAUTOCLAIM", "s", "g", "e", "0", "0", "COUNT", "20000", "JUSTID"},
		claim,
	}
}
