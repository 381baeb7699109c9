package scan

import (
	"bytes"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"godwit/internal/testseed"
)

func TestMatch(t *testing.T) {
	// Verified against redis-server 7.0.15 (KEYS; COMMAND LIST for nocase).
	for _, c := range []struct {
		pattern, s string
		nocase     bool
		want       bool
	}{
		{"", "", false, true}, {"", "a", false, false},
		{"*", "", false, false}, {"**", "", false, false}, {"?", "", false, false},
		{"*", "a", false, true}, {"**", "abc", false, true}, {"*?", "a", false, true},
		{"??", "a", false, false}, {"a*", "a", false, true}, {"a**", "a", false, true},
		{"*a", "a", false, true}, {"a*b*c", "a--b--c", false, true},
		{"a*b*c", "a--c--b", false, false}, {"*ab", "aab", false, true},
		{"*aab*", "aaab", false, true}, {"h?llo", "hello", false, true},
		{"h[ae]llo", "hallo", false, true}, {"h[^e]llo", "hello", false, false},
		{"h[a-b]llo", "hbllo", false, true}, {"h[b-a]llo", "hbllo", false, true},
		{"[z-a]", "m", false, true}, {"[", "[", false, false}, {"[", "a", false, false},
		{"[a", "a", false, true}, {"[a", "b", false, false}, {"[]", "a", false, false},
		{"[]", "]", false, false}, {"[]]", "]", false, false}, {"[]a]", "a]", false, false},
		{"[^]", "a", false, true}, {"[^", "a", false, true}, {"[^]b", "ab", false, true},
		{"[a-]", "]", false, true}, {"[a-]", "a", false, true}, {"[a-]", "_", false, true},
		{"[a-]", "-", false, false}, {"[a-", "-", false, true}, {"[-a]", "-", false, true},
		{`[a\]b]`, "]", false, true}, {`[a\]b]`, "b", false, true}, {`[a\]b]`, `\`, false, false},
		{`[\`, `\`, false, true}, {`[a\`, `\`, false, true}, {`[\^a]`, "^", false, true},
		{"[a^]", "^", false, true}, {`\`, `\`, false, true}, {`a\`, `a\`, false, true},
		{`\*`, "*", false, true}, {`\*`, "a", false, false}, {`\a`, "a", false, true},
		{`\\`, `\`, false, true}, {"[\x01-\xff]", "m", false, false},
		{"[\x01-\xff]", "\x00", false, true}, {"[\x80-\xff]", "\xc3", false, true},
		{"HELLO", "hello", true, true}, {"h[A-F]llo", "hello", true, true},
		{`\H*`, "hello", true, true}, {`[\H]ello`, "hello", true, false},
		{"[H]ello", "hello", true, true}, {"HELLO", "hello", false, false},
		{"[Z-a]ello", "hello", true, false},
	} {
		if got := Match([]byte(c.pattern), []byte(c.s), c.nocase); got != c.want {
			t.Errorf("Match(%q, %q, %v) = %v", c.pattern, c.s, c.nocase, got)
		}
	}
}

// reference decides by sets of bytes and a table of reachable positions: slowly, and in another way
// than Match.
func reference(pattern, s []byte, nocase bool) bool {
	if len(s) == 0 {
		return len(pattern) == 0
	}
	type element struct {
		star bool
		set  [256]bool
	}
	var elements []element
	fold := func(c byte) byte {
		if nocase && c < 0x80 {
			return bytes.ToLower([]byte{c})[0]
		}
		return c
	}
	for p := pattern; len(p) > 0; {
		var e element
		if p[0] == '*' {
			elements = append(elements, element{star: true})
			p = p[1:]
			continue
		}
		var n int
		switch {
		case p[0] == '[':
			n = referenceSet(p, &e.set, fold)
		case p[0] == '?':
			n = 1
			for c := range e.set {
				e.set[c] = true
			}
		default:
			n = 1
			if p[0] == '\\' && len(p) > 1 {
				n = 2
			}
			for c := range e.set {
				e.set[c] = fold(byte(c)) == fold(p[n-1])
			}
		}
		elements = append(elements, e)
		p = p[n:]
	}
	reach := make([]bool, len(s)+1)
	reach[0] = true
	for _, e := range elements {
		next := make([]bool, len(s)+1)
		for i, ok := range reach {
			switch {
			case e.star:
				next[i] = ok || i > 0 && next[i-1]
			case i > 0:
				next[i] = reach[i-1] && e.set[s[i-1]]
			}
		}
		reach = next
	}
	return reach[len(s)]
}

// referenceSet fills set from a bracket expression and returns its length.
func referenceSet(p []byte, set *[256]bool, fold func(byte) byte) int {
	i := 1
	not := i < len(p) && p[i] == '^'
	if not {
		i++
	}
	for ; i < len(p) && p[i] != ']'; i++ {
		switch {
		case p[i] == '\\' && i+1 < len(p):
			i++
			set[p[i]] = true
		case i+2 < len(p) && p[i+1] == '-':
			lo, hi := int8(p[i]), int8(p[i+2])
			if lo > hi {
				lo, hi = hi, lo
			}
			for c := int(int8(fold(byte(lo)))); c <= int(int8(fold(byte(hi)))); c++ {
				for d := range set {
					set[d] = set[d] || fold(byte(d)) == byte(c)
				}
			}
			i += 2
		default:
			for d := range set {
				set[d] = set[d] || fold(byte(d)) == fold(p[i])
			}
		}
	}
	for d := range set {
		set[d] = set[d] != not
	}
	return min(i+1, len(p))
}

func randomText(rnd *rand.Rand, alphabet string, most int) []byte {
	b := make([]byte, rnd.Intn(most+1))
	for i := range b {
		b[i] = alphabet[rnd.Intn(len(alphabet))]
	}
	return b
}

const patternAlphabet = "abcABC***??[[]]^^--\\\x00\x7f\x80\xff"

func TestMatchAgainstReference(t *testing.T) {
	rnd := rand.New(rand.NewSource(int64(testseed.New(t))))
	matched := 0
	for range 8000 {
		p := randomText(rnd, patternAlphabet, 10)
		s := randomText(rnd, "aabbcABC]^-\\[\x00\x7f\x80\xff", 8)
		nocase := rnd.Intn(2) == 0
		want := reference(p, s, nocase)
		if got := Match(p, s, nocase); got != want {
			t.Fatalf("Match(%q, %q, %v) = %v", p, s, nocase, got)
		}
		if want {
			matched++
		}
	}
	if matched < 80 {
		t.Errorf("only %d matches: the generator is too wild to test anything", matched)
	}
}

func FuzzMatch(f *testing.F) {
	for _, p := range []string{"*", "a*b?", "[a-z]x", "[^", `[a\]b]`, `\`, "[z-a]*[]"} {
		f.Add([]byte(p), []byte("abz]x"), false)
		f.Add([]byte(p), []byte("ABC"), true)
		f.Add([]byte(p+"\xed"), []byte("\xcd"), true)
	}
	f.Fuzz(func(t *testing.T, p, s []byte, nocase bool) {
		if len(p) > 200 || len(s) > 200 {
			return
		}
		if got, want := Match(p, s, nocase), reference(p, s, nocase); got != want {
			t.Fatalf("Match(%q, %q, %v) = %v, want %v", p, s, nocase, got, want)
		}
	})
}

// TestMatchIsPolynomial matches a pattern that, with backtracking over more than the last star,
// would not end in this universe.
func TestMatchIsPolynomial(t *testing.T) {
	s := []byte(strings.Repeat("a", 3000))
	for _, c := range []struct {
		pattern string
		want    bool
	}{
		{strings.Repeat("a*", 1000) + "b", false},
		{strings.Repeat("*a", 1000) + "*b", false},
		{strings.Repeat("a*", 1000), true},
		{"*" + strings.Repeat("a", 1500) + "b", false},
		{strings.Repeat("*a", 3001), false},
		{strings.Repeat("*[^b]?", 1000) + "c*", false},
		{"[" + strings.Repeat("b", 3000), false},
		{"*[" + strings.Repeat("b", 3000) + "a]c", false},
	} {
		if got := Match([]byte(c.pattern), s, false); got != c.want {
			t.Errorf("%.20q…: %v", c.pattern, got)
		}
	}
	p := []byte("*a*a*b")
	if n := testing.AllocsPerRun(10, func() { Match(p, s, true) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkMatch(b *testing.B) {
	s := []byte("user:1234567:session:abcdef")
	for _, p := range []string{"user:*", "*:session:*", "user:[0-9]*:session:??????",
		"*a*a*a*a*a*z"} {
		b.Run(fmt.Sprintf("%q", p), func(b *testing.B) {
			for b.Loop() {
				Match([]byte(p), s, false)
			}
		})
	}
}
