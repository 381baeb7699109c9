package scan

import (
	"bufio"
	"fmt"
	"io"
	"math/rand"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"

	"godwit/internal/testseed"
	"godwit/internal/testserver"
)

// realServer is a redis-server of this test's own, talked to over a unix socket.
type realServer struct {
	t    *testing.T
	conn net.Conn
	r    *bufio.Reader
}

func startRealServer(t *testing.T) *realServer {
	t.Helper()
	conn, err := net.Dial("unix", testserver.StartRedis(t, "").Socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &realServer{t, conn, bufio.NewReader(conn)}
}

// do sends one command and returns the strings of its reply, nested ones flattened; errors with their '-'.
func (s *realServer) do(args ...string) []string {
	s.t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, a := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(a), a)
	}
	if _, err := io.WriteString(s.conn, b.String()); err != nil {
		s.t.Fatal(err)
	}
	return s.reply(nil)
}

func (s *realServer) reply(out []string) []string {
	line, err := s.r.ReadString('\n')
	if err != nil {
		s.t.Fatal(err)
	}
	line = strings.TrimRight(line, "\r\n")
	n, _ := strconv.Atoi(line[1:])
	switch line[0] {
	case '*':
		for range n {
			out = s.reply(out)
		}
		return out
	case '$':
		b := make([]byte, n+2)
		if _, err := io.ReadFull(s.r, b); err != nil {
			s.t.Fatal(err)
		}
		return append(out, string(b[:n]))
	}
	return append(out, line)
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
		check("COMMAND LIST", p, s.do("COMMAND", "LIST", "FILTERBY", "PATTERN", p), filter(commands, p, true))
	}
	for range 1000 {
		c := string(randomText(rnd, "0011-+ 8a\x00\t9999999999999999999", 22))
		_, ok := ParseCursor([]byte(c))
		if r := s.do("SCAN", c); (r[0] != "-ERR invalid cursor") != ok {
			t.Fatalf("SCAN %q: server %q, ParseCursor %v", c, r[0], ok)
		}
	}
}
