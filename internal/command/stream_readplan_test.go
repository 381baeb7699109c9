package command

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"godwit/internal/resp/client"
)

// replyStage is a Stage that keeps what it takes. whole is set once a large Buf cannot be staged.
type replyStage struct {
	b     []byte
	whole bool
}

func (s *replyStage) Next(n, _ int) []byte {
	s.b = append(s.b, make([]byte, n)...)
	return s.b[len(s.b)-n:]
}

func (s *replyStage) Fits(int) bool {
	s.whole = true
	return true
}

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
		staged.c.W.Stage = st
		argv := argvOf(words...)
		plain.do(t, argv) // one whole reply
		rest := staged.exec(argv)
		got := append(st.b, rest...)
		_, left, err := client.Parse(got)
		if err != nil || len(left) > 0 {
			t.Fatalf("%.80q: %v, %d bytes too many", words, err, len(left))
		}
		if slices.Contains(words, "CLAIM") {
			return // how long an entry was idle depends on the clock, and what is due is held
		}
		if raw := plain.c.W.Buf; !bytes.Equal(raw, got) {
			t.Fatalf("%.80q: %d bytes are staged as %d others", words, len(raw), len(got))
		}
		if st.whole {
			t.Errorf("%.80q: the reply is held in one piece", words)
		}
	}
	for _, key := range []string{"s", "t"} {
		for i := range n {
			both("XADD", key, fmt.Sprint(i+1, "-0"), "f", value)
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
		read("g", "c", "COUNT", "6000", "STREAMS", "s", "t", ">", ">"),
		read("g", "c", "MAXCOUNT", "6000", "STREAMS", "s", "t", ">", "0"),
		read("g", "c", "MAXCOUNT", "9000", "STREAMS", "s", "t", "50-0", ">"),
		read("h", "c", "MAXCOUNT", "10000", "STREAMS", "s", "t", ">", ">"),
		read("g", "c", "STREAMS", "s", "s", "t", "0", "1000-0", ">"),
		read("g", "e", "STREAMS", "s", "t", ">", ">"),
		read("g", "e", "STREAMS", "s", "t", "0", "0"),
		read("g", "e", "CLAIM", "0", "STREAMS", "s", "t", ">", ">"),
		claim,
		append(claim, "JUSTID"),
		{"XAUTOCLAIM", "s", "g", "c", "0", "0", "COUNT", "9000"},
		{"XDEL", "s", "3-0", "5000-0", "9999-0"},
		{"XAUTOCLAIM", "s", "g", "e", "0", "0", "COUNT", "20000"},
		{"XAUTOCLAIM", "s", "g", "e", "0", "0", "COUNT", "20000", "JUSTID"},
		claim,
	}
}
