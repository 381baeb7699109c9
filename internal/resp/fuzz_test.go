package resp

import (
	"bytes"
	"testing"
)

// FuzzParser checks that input gives the same result however it is cut, and that no argument is
// larger than the input it came from.
func FuzzParser(f *testing.F) {
	for _, s := range []string{"*1\r\n$4\r\nPING\r\n", "*2\r\n$3\r\nGET\r\n$1\r\nk\r\nPING\r\n",
		"SET \"a b\" 'c'\r\n\n*0\r\n",
		"*-1\r\n*1\r\n$-1\r\n", "*11\r\n", "*1\r\n$16385\r\n", "*1\r\nx\r\n", "*1\x00\r\n",
		"\"a\"b\n", "\x00000000000000000000000000000000000"} {
		f.Add([]byte(s), uint8(3), true)
		f.Add([]byte(s), uint8(1), false)
	}
	f.Fuzz(func(t *testing.T, in []byte, cut uint8, auth bool) {
		lim := &Limits{Authenticated: auth, MaxInline: 100}
		var p Parser
		want := feed(&p, in, lim, whole(len(in)))
		p.Reset()
		step := int(cut)
		got := feed(&p, in, lim, func() int {
			step = (step*5 + 1) % 61
			return 1 + step%(int(cut)+1)
		})
		if got.String() != want.String() {
			t.Fatalf("cut %d: %v\nwhole: %v", cut, got, want)
		}
		total := 0
		for _, cmd := range want.cmds {
			for _, a := range cmd {
				total += len(a)
			}
		}
		if total > want.consumed || want.consumed > len(in) {
			t.Fatalf("%d bytes of arguments, %d consumed of %d", total, want.consumed, len(in))
		}
		if most := 8*len(in) + 64; p.steps > 2*most {
			t.Fatalf("%d steps for %d bytes", p.steps, len(in))
		}
	})
}

// FuzzInline checks the words against a second reading of the quoting rules.
func FuzzInline(f *testing.F) {
	for _, s := range []string{`GET k`, `a"b c"`, `"\x41\n\q"`, `'\''`, `"a"b`, `"`, "\"a\"\v'b'",
		`"\x4`, ``} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.ContainsAny(line, "\n\x00") ||
			len(line) > 0 && (line[0] == '*' || line[len(line)-1] == '\r') {
			return
		}
		var p Parser
		argv, n, err := p.Next(append(bytes.Clone(line), '\n'), open)
		want, ok := splitModel(line)
		if (err == nil) != ok {
			t.Fatalf("%q: %v, want ok %v", line, err, ok)
		}
		if !ok {
			return
		}
		if n != len(line)+1 || len(argv) != len(want) {
			t.Fatalf("%q: %q, %d bytes, want %q", line, argv, n, want)
		}
		for i := range argv {
			if string(argv[i]) != want[i] {
				t.Fatalf("%q: %q, want %q", line, argv, want)
			}
		}
	})
}

// splitModel reads words with a state machine over single bytes, slow and plain. States: 0 between
// words, 1 in a plain part, a quote character inside such quotes, 2 right after a closing quote.
func splitModel(line []byte) (words []string, ok bool) {
	state, word := byte(0), ""
	hex := "00112233445566778899aAbBcCdDeEfF"
	for i := 0; i < len(line); i++ {
		c := line[i]
		space := bytes.IndexByte([]byte(" \t\n\v\f\r"), c) >= 0
		switch {
		case state == 2 && !space:
			return nil, false
		case state == 2:
			words, word, state = append(words, word), "", 0
		case state == 0 && space:
		case (state == 0 || state == 1) && (c == '"' || c == '\''):
			state = c
		case state == 1 && space && c != '\v' && c != '\f':
			words, word, state = append(words, word), "", 0
		case state == 0 || state == 1:
			word, state = word+string([]byte{c}), 1
		case c == state:
			state = 2
		case state == '\'' && c == '\\' && i+1 < len(line) && line[i+1] == '\'':
			word, i = word+"'", i+1
		case state == '"' && c == '\\' && i+3 < len(line) && line[i+1] == 'x' &&
			bytes.IndexByte([]byte(hex), line[i+2]) >= 0 &&
			bytes.IndexByte([]byte(hex), line[i+3]) >= 0:
			hi, lo := bytes.IndexByte([]byte(hex), line[i+2])/2,
				bytes.IndexByte([]byte(hex), line[i+3])/2
			word, i = word+string([]byte{byte(hi*16 + lo)}), i+3
		case state == '"' && c == '\\' && i+1 < len(line):
			i++
			c = line[i]
			if at := bytes.IndexByte([]byte("nrtba"), c); at >= 0 {
				c = "\n\r\t\b\a"[at]
			}
			word += string([]byte{c})
		default:
			word += string([]byte{c})
		}
	}
	switch state {
	case 0:
		return words, true
	case 1, 2:
		return append(words, word), true
	}
	return nil, false
}
