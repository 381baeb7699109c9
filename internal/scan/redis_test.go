package scan

import (
	"math/rand"
	"slices"
	"testing"

	"godwit/internal/resp/client"
	"godwit/internal/testseed"
	"godwit/internal/testserver"
)

// realServer is a redis-server of this test's own, reached over a unix socket.
type realServer struct {
	t *testing.T
	c *client.Client
}

func startRealServer(t *testing.T) *realServer {
	t.Helper()
	return &realServer{t, testserver.Redis.Start(t, "").Client(t)}
}

// do sends one command and returns the strings of its reply, with nested ones flattened. Errors
// keep their '-'.
func (s *realServer) do(args ...any) []string {
	s.t.Helper()
	v, err := s.c.Do(args...)
	if err != nil {
		s.t.Fatal(err)
	}
	return flatten(nil, v)
}

func flatten(out []string, v client.Value) []string {
	switch v.Kind {
	case client.Array:
		for _, e := range v.Elems {
			out = flatten(out, e)
		}
		return out
	case client.Error:
		return append(out, "-"+v.Text())
	}
	return append(out, v.Text())
}

func filter(names []string, pattern string, nocase bool) []string {
	out := []string{}
	for _, n := range names {
		if Match([]byte(pattern), []byte(n), nocase) {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}

func TestAgainstRealServer(t *testing.T) {
	s := startRealServer(t)
	rnd := rand.New(rand.NewSource(int64(testseed.New(t))))
	unique := map[string]bool{"": true}
	for len(unique) < 300 {
		unique[string(randomText(rnd, "aabbcAB]^-\\[*?\x00\x7f\x80\xff", 5))] = true
	}
	var keys []string
	for k := range unique {
		keys = append(keys, k)
		s.do("SET", k, "x")
	}
	check := func(what, pattern string, got, want []string) {
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("%s %q\nserver %q\nMatch  %q", what, pattern, got, want)
		}
	}
	for range 1000 {
		p := string(randomText(rnd, patternAlphabet, 8))
		if p != "*" { // KEYS does not match for that one
			check("KEYS", p, s.do("KEYS", p), filter(keys, p, false))
		}
	}
	// The place where a server matches without regard to case and lets any pattern through.
	commands := s.do("COMMAND", "LIST")
	for range 500 {
		p := string(randomText(rnd, "sSeEgGtTxX***??[[]]^--\\|\xff", 8))
		check("COMMAND LIST", p, s.do("COMMAND", "LIST", "FILTERBY", "PATTERN", p),
			filter(commands, p, true))
	}
	for range 1000 {
		c := string(randomText(rnd, "0011-+ 8a\x00\t9999999999999999999", 22))
		_, ok := ParseCursor([]byte(c))
		if r := s.do("SCAN", c); (r[0] != "-ERR invalid cursor") != ok {
			t.Fatalf("SCAN %q: server %q, ParseCursor %v", c, r[0], ok)
		}
	}
}
