package diff

import (
	"io"
	"strings"
	"testing"
)

func reader(text string) io.Reader { return strings.NewReader(text) }

func known(t *testing.T, text string) *Known {
	t.Helper()
	k, err := ParseKnown(reader(text))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestParseKnown(t *testing.T) {
	k := known(t, "# comment\n\nclient|*  kind  a reason\nclient|id exact another one\n")
	for name, want := range map[string]string{"client|list": "kind", "client|id": "exact",
		"get": "exact"} {
		if got := k.Rule(name).Comparator; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	for _, bad := range []string{"get", "get exact", "get nosuch reason", "[ exact reason"} {
		if _, err := ParseKnown(reader(bad)); err == nil {
			t.Errorf("%q accepted", bad)
		}
	}
}

func TestComparators(t *testing.T) {
	for _, c := range []struct {
		name, a, b string
		want       bool
	}{
		{"exact", "+OK\r\n", "+OK\r\n", true},
		{"exact", "+OK\r\n", "$2\r\nOK\r\n", false},
		{"exact", "$-1\r\n", "$0\r\n\r\n", false},
		{"set", "*2\r\n:1\r\n:2\r\n", "*2\r\n:2\r\n:1\r\n", true},
		{"set", "*2\r\n:1\r\n:1\r\n", "*2\r\n:2\r\n:1\r\n", false},
		{"set", "*1\r\n:1\r\n", "~1\r\n:1\r\n", false},
		{"set", "-ERR a\r\n", "-ERR b\r\n", false},
		{"pairs", "*4\r\n+a\r\n+1\r\n+b\r\n+2\r\n", "*4\r\n+b\r\n+2\r\n+a\r\n+1\r\n", true},
		{"pairs", "*4\r\n+a\r\n+1\r\n+b\r\n+2\r\n", "*4\r\n+b\r\n+1\r\n+a\r\n+2\r\n", false},
		{"pairs", "%1\r\n+a\r\n+b\r\n", "%1\r\n+b\r\n+a\r\n", false},
		{"subset", "*1\r\n+a\r\n", "*2\r\n+b\r\n+a\r\n", true},
		{"subset", "*2\r\n+a\r\n+a\r\n", "*2\r\n+b\r\n+a\r\n", false},
		{"rounded", ",0.10000000000000001\r\n", ",0.1\r\n", true},
		{"rounded", ",0.1\r\n", ",0.10001\r\n", false},
		{"rounded", ":1\r\n", ":2\r\n", false},
		{"ttl-s", ":100\r\n", ":99\r\n", true},
		{"ttl-s", ":100\r\n", ":90\r\n", false},
		{"ttl-s", ":-1\r\n", ":-2\r\n", false},
		{"ttl-s", ":1\r\n", ":-1\r\n", false},
		{"times", "*1\r\n:100\r\n", "*1\r\n:101\r\n", true},
		{"times", "*1\r\n+a\r\n", "*1\r\n+b\r\n", false},
		{"errclass", "-ERR a\r\n", "-ERR b\r\n", true},
		{"errclass", "-ERR a\r\n", "-WRONGTYPE a\r\n", false},
		{"errclass", "-ERR a\r\n", "+OK\r\n", false},
		{"kind", "$1\r\na\r\n", "$1\r\nb\r\n", true},
		{"kind", "$1\r\na\r\n", "$-1\r\n", false},
		{"kind", "-ERR a\r\n", "-ERR b\r\n", false},
		{"fields", "*4\r\n+id\r\n:1\r\n+v\r\n+2\r\n", "*4\r\n+id\r\n:9\r\n+v\r\n+3\r\n", true},
		{"fields", "*4\r\n+id\r\n:1\r\n+v\r\n+2\r\n", "*4\r\n+di\r\n:1\r\n+v\r\n+2\r\n", false},
		{"fields", "*2\r\n+id\r\n:1\r\n", "*2\r\n+id\r\n+1\r\n", false},
		{"specs", "*1\r\n*4\r\n+notes\r\n+one\r\n+x\r\n+y\r\n", "*1\r\n*2\r\n+y\r\n+x\r\n", true},
		{"specs", "*2\r\n+x\r\n+y\r\n", "*2\r\n+x\r\n+z\r\n", false},
		{"ignore", "+a\r\n", "-ERR\r\n", true},
	} {
		k := known(t, "x "+c.name+" because\n")
		a, err := Decode([]byte(c.a))
		if err != nil {
			t.Fatal(c.a, err)
		}
		b, err := Decode([]byte(c.b))
		if err != nil {
			t.Fatal(c.b, err)
		}
		if got := k.equal(cmdOf("x"), a, b); got != c.want {
			t.Errorf("%s of %s and %s: %v, want %v", c.name, a, b, got, c.want)
		}
	}
}

func TestScanComparator(t *testing.T) {
	page := func(cursor string, keys ...string) Reply {
		r := Reply{Kind: '*',
			Elems: []Reply{{Kind: '$', Str: cursor}, {Kind: '*', Elems: []Reply{}}}}
		for _, k := range keys {
			r.Elems[1].Elems = append(r.Elems[1].Elems, Reply{Kind: '$', Str: k})
		}
		return r
	}
	k := known(t, "scan scan order\n")
	from := func(cursor string) Cmd { return cmdOf("SCAN", cursor) }
	if !k.equal(from("0"), page("0", "a", "b"), page("0", "b", "a")) {
		t.Error("full iterations in another order differ")
	}
	if k.equal(from("0"), page("0", "a", "b"), page("0", "b")) {
		t.Error("a full iteration that lacks a key passes")
	}
	if !k.equal(from("5"), page("0", "a"), page("0", "b")) ||
		!k.equal(from("0"), page("3", "a"), page("0", "b")) {
		t.Error("partial pages are compared")
	}
}
