package resp

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestInlineWords(t *testing.T) {
	tests := []struct{ in, want string }{
		{`GET k`, `["GET" "k"]`},
		{"  GET\t\v\f k  ", `["GET" "k"]`},
		{"a\vb", `["a\vb"]`},
		{"a\rb", `["a" "b"]`},
		{`"" ''`, `["" ""]`},
		{`a"b c"`, `["ab c"]`},
		{`a'b c' d`, `["ab c" "d"]`},
		{`"\x41\x7f\xff"`, `["A\x7f\xff"]`},
		{`"\x4" "\xzz" "\x"`, `["x4" "xzz" "x"]`},
		{`"\n\r\t\b\a\\\"\q"`, `["\n\r\t\b\a\\\"q"]`},
		{`'\n\x41\'"'`, `["\\n\\x41'\""]`},
		{`"a'b" 'c"d'`, `["a'b" "c\"d"]`},
		{"\"a\"\v'b'", `["a" "b"]`},
		{`a\ b`, `["a\\" "b"]`},
	}
	for _, tt := range tests {
		var p Parser
		argv, n, err := p.Next([]byte(tt.in+"\r\n"), open)
		if got := fmt.Sprintf("%q", argv); got != tt.want || err != nil || n != len(tt.in)+2 {
			t.Errorf("%s: %s, %d bytes, %v; want %s", tt.in, got, n, err, tt.want)
		}
	}
	for _, in := range []string{`"`, `'`, `"a`, `'a`, `"a\`, `"a\"`, `"a"b`, `'a'"b"`, `"a"'`, `a"`,
		`"\x4`} {
		var p Parser
		if argv, _, err := p.Next([]byte(in+"\n"), open); err != errQuotes {
			t.Errorf("%s: %q, %v", in, argv, err)
		}
	}
}

// TestInlineLeavesTheBufferAlone checks that the parser decodes words elsewhere: the line belongs
// to the caller.
func TestInlineLeavesTheBufferAlone(t *testing.T) {
	in := `SET k "\x41\n" 'it\'s'` + "\n"
	buf := []byte(in)
	var p Parser
	if _, _, err := p.Next(buf, open); err != nil || string(buf) != in {
		t.Fatalf("%q, %v", buf, err)
	}
}

// quote writes s so that an inline command reads it back, in one of several ways.
func quote(rnd *rand.Rand, s string) string {
	q := []byte{'"'}
	for i := range len(s) {
		c := s[i]
		switch {
		case c == '\n':
			q = append(q, `\n`...)
		case c == 0 || c >= 0x7f || rnd.IntN(4) == 0:
			q = fmt.Appendf(q, `\x%02x`, c)
		case c == '"' || c == '\\':
			q = append(q, '\\', c)
		default:
			q = append(q, c)
		}
	}
	return string(append(q, '"'))
}

func TestInlineReadsBackWhatIsQuoted(t *testing.T) {
	rnd := seeded(t)
	var p Parser
	for range 500 {
		var line, want []byte
		var words []string
		for range 1 + rnd.IntN(6) {
			b := make([]byte, rnd.IntN(20))
			for i := range b {
				b[i] = byte(rnd.IntN(256))
			}
			words = append(words, string(b))
			line = append(append(line, quote(rnd, string(b))...), " \t"[rnd.IntN(2)])
		}
		want = fmt.Appendf(nil, "%q", words)
		argv, _, err := p.Next(append(line, '\n'), open)
		if got := fmt.Sprintf("%q", argv); got != string(want) || err != nil {
			t.Fatalf("%q: %s, %v, want %s", line, got, err, want)
		}
	}
}
