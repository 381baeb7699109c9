package stdlib_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/lua"
)

// fuzzState is an environment in which no call takes long.
func fuzzState(t testing.TB) *lua.State {
	s := newState(t)
	s.Bound = 32 << 20
	return s
}

// fuzzCall runs a source with globals that are set to values, for a limited time.
func fuzzCall(s *lua.State, src string, values map[string]lua.Value) string {
	for name, v := range values {
		s.Globals.SetString(name, v)
	}
	looks := 0
	s.Interrupt = func() error {
		if looks++; looks > 50 {
			return errors.New("late")
		}
		return nil
	}
	return run(s, src)
}

// FuzzPattern checks that no pattern makes the matcher panic, and that the functions agree.
func FuzzPattern(f *testing.F) {
	c := calls{rand.New(rand.NewPCG(3, 1))}
	for range 100 {
		f.Add(c.subject(), c.pattern(), c.IntN(5))
	}
	f.Fuzz(func(t *testing.T, subject, pattern string, init int) {
		s := fuzzState(t)
		values := map[string]lua.Value{"s": lua.String(subject), "p": lua.String(pattern),
			"i": lua.Int(init)}
		found := fuzzCall(s, "local a, b = string.find(s, p, i) return a, b", values)
		captured := fuzzCall(s,
			"local a, b = string.find(s, '(' .. p .. ')', i) return a, b", values)
		if pattern != "" && !strings.ContainsAny(pattern, "^%$\x00") &&
			strings.HasPrefix(found, "true") && strings.HasPrefix(captured, "true") {
			require.Equal(t, found, captured, "with a capture")
		}
		kept := fuzzCall(s, "return (string.gsub(s, p, '%0')) == s", values)
		if strings.HasPrefix(kept, "true") {
			require.Equal(t, "true true", kept, "gsub")
		}
		fuzzCall(s, "for a in string.gmatch(s, p) do local x = string.gsub(s, p, a) end", values)
	})
}

// FuzzFormat checks that no format panics, and that numbers have the width that is asked for.
func FuzzFormat(f *testing.F) {
	for _, format := range []string{"%d", "%-5.2f|%q", "%#x", "%+.99e", "%99.99f", "%c", "%05s",
		"%%"} {
		f.Add(format, 1.5, "text")
	}
	f.Add("%g", math.Inf(1), "\x00")
	f.Fuzz(func(t *testing.T, format string, n float64, text string) {
		s := fuzzState(t)
		values := map[string]lua.Value{"f": lua.String(format), "n": lua.Number(n),
			"s": lua.String(text)}
		fuzzCall(s, "return string.format(f, n, n, n)", values)
		fuzzCall(s, "return string.format(f, s, s, s)", values)
		fuzzCall(s, "return string.format(f, s, n, s)", values)
		require.Equal(t, "true true", fuzzCall(s,
			"return #string.format('%20.3f', n) >= 20 and #string.format('%-9d', n) >= 9", values))
		if !math.IsNaN(n) {
			require.Equal(t, fuzzCall(s, "return n", values),
				fuzzCall(s, "return string.format('%.17g', n) + 0", values))
		}
	})
}
