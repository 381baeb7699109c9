package client

import (
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

func bulk(s string) Value { return Value{Kind: Bulk, Str: s} }

func TestParse(t *testing.T) {
	tests := []struct {
		in   string
		want Value
	}{
		{"+OK\r\n", Value{Kind: Simple, Str: "OK"}},
		{"+\r\n", Value{Kind: Simple}},
		{"-ERR a message longer than the buffer\r\n",
			Value{Kind: Error, Str: "ERR a message longer than the buffer"}},
		{":-42\r\n", Value{Kind: Int, Int: -42}},
		{"$0\r\n\r\n", bulk("")},
		{"$4\r\na\r\nb\r\n", bulk("a\r\nb")},
		{"$-1\r\n", Value{Kind: Null}},
		{"*-1\r\n", Value{Kind: NullArray}},
		{"_\r\n", Value{Kind: Null}},
		{"*0\r\n", Value{Kind: Array}},
		{"*2\r\n*1\r\n$1\r\na\r\n:1\r\n",
			Value{Kind: Array,
				Elems: []Value{{Kind: Array, Elems: []Value{bulk("a")}}, {Kind: Int, Int: 1}}}},
		{"%1\r\n+k\r\n:1\r\n",
			Value{Kind: Map, Elems: []Value{{Kind: Simple, Str: "k"}, {Kind: Int, Int: 1}}}},
		{"~1\r\n$1\r\na\r\n", Value{Kind: Set, Elems: []Value{bulk("a")}}},
		{">2\r\n$1\r\na\r\n#f\r\n", Value{Kind: Push, Elems: []Value{bulk("a"), {Kind: Bool}}}},
		{"#t\r\n", Value{Kind: Bool, Bool: true}},
		{",1.5\r\n", Value{Kind: Double, Double: 1.5, Str: "1.5"}},
		{",-inf\r\n", Value{Kind: Double, Double: math.Inf(-1), Str: "-inf"}},
		{",nan\r\n", Value{Kind: Double, Double: math.NaN(), Str: "nan"}},
		{"(-12345678901234567890\r\n", Value{Kind: BigNumber, Str: "-12345678901234567890"}},
		{"=8\r\ntxt:some\r\n", Value{Kind: Verbatim, Format: "txt", Str: "some"}},
		{"!5\r\nE\r\nxy\r\n", Value{Kind: Error, Str: "E\r\nxy"}},
		{"|1\r\n+a\r\n:1\r\n+OK\r\n",
			Value{Kind: Simple, Str: "OK",
				Attr: []Value{{Kind: Simple, Str: "a"}, {Kind: Int, Int: 1}}}},
	}
	for _, tt := range tests {
		got, rest, err := Parse([]byte(tt.in + ":7\r\n"))
		if err != nil || !got.Equal(tt.want) {
			t.Errorf("%q: %v, %v; want %v", tt.in, got, err, tt.want)
		}
		if string(rest) != ":7\r\n" {
			t.Errorf("%q: followed by %q", tt.in, rest)
		}
		again, _, err := Parse(got.Append(nil))
		if err != nil || !again.Equal(got) {
			t.Errorf("%q: reads back as %v, %v", tt.in, again, err)
		}
		for cut := 1; cut < len(tt.in); cut++ {
			if v, _, err := Parse([]byte(tt.in[:cut])); err != io.ErrUnexpectedEOF {
				t.Errorf("%q: %v, %v", tt.in[:cut], v, err)
			}
		}
		piecemeal := New(&dribble{from: strings.NewReader(tt.in)})
		if raw, err := piecemeal.ReceiveRaw(); err != nil || string(raw) != tt.in {
			t.Errorf("%q: comes byte by byte as %q, %v", tt.in, raw, err)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, in := range []string{"\r\n", "+OK\n", "?x\r\n", ":1x\r\n", ":\r\n", "_x\r\n", ",x\r\n",
		"#1\r\n", "(1x\r\n", "(\r\n",
		"$-2\r\n", "$x\r\n", "*-2\r\n", "%-1\r\n", "~-1\r\n", ">-1\r\n", "|-1\r\n", "!-1\r\n",
		"=-1\r\n", "=3\r\ntxt\r\n", "$1\r\nabc\r\n", "$9223372036854775807\r\n",
		"$99999999999999999999\r\n",
		strings.Repeat("*1\r\n", maxDepth+2), strings.Repeat("|0\r\n", maxDepth+2),
		"+" + strings.Repeat("x", maxLine+100)} {
		if v, _, err := Parse([]byte(in)); !errors.Is(err, ErrReply) {
			t.Errorf("%.20q: %v, %v", in, v, err)
		}
	}
	for _, in := range []string{"+", "+OK", "+OK\r", "$5\r\n", "$5\r\nab", "*1\r\n", "*2\r\n:1\r\n",
		"|1\r\n:1\r\n", "|0\r\n",
		"$1073741824\r\nx", "*1073741824\r\n:1\r\n"} {
		if v, _, err := Parse([]byte(in)); err != io.ErrUnexpectedEOF {
			t.Errorf("%q: %v, %v", in, v, err)
		}
	}
	if _, _, err := Parse(nil); err != io.EOF {
		t.Errorf("no input: %v", err)
	}
}

// FuzzParse checks that a value that was read, written and read again is the same, and that a reply
// that comes in two pieces ends where it does in one.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"+OK\r\n", "-ERR x\r\n", ":1\r\n", "$3\r\nabc\r\n", "$-1\r\n",
		"*2\r\n:1\r\n*-1\r\n", "_\r\n", "%1\r\n+a\r\n#t\r\n",
		"~1\r\n,1.5\r\n", ">1\r\n(12\r\n", "=5\r\ntxt:a\r\n", "!1\r\nE\r\n",
		"|1\r\n+a\r\n+b\r\n:1\r\n", "*1073741824\r\n", "$1073741824\r\n"} {
		f.Add([]byte(s), 1)
		f.Add([]byte(s), 5)
	}
	f.Fuzz(func(t *testing.T, in []byte, cut int) {
		var one, two frame
		end, err := one.end(in)
		if err == nil && cut >= 0 && cut < len(in) {
			first, errFirst := two.end(in[:cut])
			if errFirst != nil || first != 0 && first != end {
				t.Fatalf("%q: ends at %d, with %d bytes at %d, %v", in, end, cut, first, errFirst)
			}
			if first == 0 {
				if again, err := two.end(in); err != nil || again != end {
					t.Fatalf("%q: ends at %d, after %d bytes at %d, %v", in, end, cut, again, err)
				}
			}
		}
		v, rest, err := Parse(in)
		if err != nil {
			return
		}
		if len(in)-len(rest) != end {
			t.Fatalf("%q: ends at %d, decoded up to %d", in, end, len(in)-len(rest))
		}
		_ = v.String()
		out := v.Append(nil)
		again, _, err := Parse(out)
		if err != nil || !again.Equal(v) {
			t.Fatalf("%q: %v is written as %q and read as %v, %v", in, v, out, again, err)
		}
	})
}
