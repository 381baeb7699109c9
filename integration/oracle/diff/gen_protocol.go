package diff

import (
	"slices"
	"strings"
)

// Raw connections: requests at and beyond the edges of the protocol, and inline sessions.

// protocol returns the bytes of a whole connection: mostly an invalid request, else a session of
// commands that do not answer with one reply each.
func (g *Generator) protocol() []byte {
	switch g.rnd.IntN(4) {
	case 0:
		return []byte(g.pick(protocolCases()...))
	case 1:
		var b []byte
		for range 2 + g.rnd.IntN(8) {
			b = append(b, g.pick(g.lines...)+"\r\n"...)
		}
		return b
	}
	var b []byte
	for range 1 + g.rnd.IntN(4) {
		b = Cmd{Args: [][]byte{[]byte("SET"), []byte(g.pick("k3", "k4")),
			[]byte(g.pick("", "v", "two words"))}}.Append(b)
	}
	for range 1 + g.rnd.IntN(2) {
		i := g.rnd.IntN(len(b))
		switch g.rnd.IntN(4) {
		case 0:
			b[i] = "*$-0129\r\n\x00\" x"[g.rnd.IntN(13)]
		case 1:
			b = slices.Delete(b, i, i+1)
		case 2:
			b = slices.Insert(b, i, "*$-0129\r\n\x00\" x"[g.rnd.IntN(13)])
		case 3:
			b = b[:i+1]
		}
	}
	return b
}

// sessionLines returns inline commands for raw sessions: those that answer with no reply or with
// several, as far as both servers have them.
func sessionLines(common map[string]bool) []string {
	lines := []string{"PING", "ECHO x", "SET k3 v", "GET k3", "HELLO 3", "RESET"}
	for name, more := range map[string][]string{
		"client|reply": {"CLIENT REPLY ON", "CLIENT REPLY OFF", "CLIENT REPLY SKIP",
			"CLIENT REPLY", "CLIENT REPLY MAYBE"},
		"client|tracking": {"CLIENT TRACKING ON", "CLIENT TRACKING ON BCAST PREFIX k",
			"CLIENT TRACKING ON OPTIN", "CLIENT CACHING YES", "CLIENT TRACKING OFF"},
		"subscribe":   {"SUBSCRIBE ch1 ch2 ch1", "PUBLISH ch1 m", "PING x", "SUBSCRIBE"},
		"unsubscribe": {"UNSUBSCRIBE ch1", "UNSUBSCRIBE ch3"},
		"psubscribe":  {"PSUBSCRIBE c*", "PUNSUBSCRIBE c*"},
		"ssubscribe":  {"SSUBSCRIBE ch1", "SUNSUBSCRIBE ch1", "SPUBLISH ch1 m"},
		"multi":       {"MULTI", "EXEC", "DISCARD"},
	} {
		if common[name] {
			lines = append(lines, more...)
		}
	}
	slices.Sort(lines) // the map's order is random, streams are not
	return lines
}

// protocolCases returns requests at and beyond the edges of the protocol.
func protocolCases() []string {
	return []string{
		"PING\r\n", "PING\n", "\r\n\r\nPING\r\n", "ping \"a b\" \r\n", "ECHO \"\\x41\\n\\q\"\r\n",
		"ECHO 'it\\'s'\r\n", "ECHO \"open\r\n", "ECHO 'open\r\n", "ECHO \"a\"b\r\n",
		"*0\r\nPING\r\n", "*-1\r\nPING\r\n", "*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nPIN", "*abc\r\n",
		"*\r\n", "*1048577\r\n", "*2147483648\r\n", "*1\r\n*1\r\n", "*1\r\nPING\r\n",
		"*1\r\n$-1\r\n", "*1\r\n$\r\n", "*1\r\n$abc\r\n", "*1\r\n$536870913\r\n",
		"*1\r\n$99999999999999999999\r\n", "*1\r\n$4\r\nPINGxx*1\r\n$4\r\nPING\r\n",
		"*2\r\n$4\r\nECHO\r\n$0\r\n\r\n", "*1\n$4\nPING\n", "* 1\r\n$4\r\nPING\r\n",
		"*01\r\n$4\r\nPING\r\n", "*+1\r\n$4\r\nPING\r\n", "*1\r\n$04\r\nPING\r\n",
		"*1\r\n$ 4\r\nPING\r\n", "*1\r\n$+4\r\nPING\r\n", strings.Repeat("a", 65600),
		"*" + strings.Repeat("1", 65600), "*1\r\n$" + strings.Repeat("1", 65600),
		"POST / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "QUIT\r\nPING\r\n",
		"*1\r\n$4\r\nQUIT\r\n*1\r\n$4\r\nPING\r\n", "\x00\r\n", "SET k3 \x00\r\n",
		"PING\x00PING\r\n", "hello 3\r\nping\r\n", "HELLO 2 SETNAME\r\n", "   \r\nPING\r\n",
		"\tPING\t\r\n",
	}
}
