package diff

import (
	"slices"
	"testing"
)

func TestRulesOfReplies(t *testing.T) {
	k := known(t, "h*ttl,hget replies \"(error) ERR num*\"\n   \"(error) *\" one text for all\n"+
		"eval replies \"+OK\" \"(nil)\" no reason\nscan lacks TYPE later\n")
	fail := func(text string) Reply { return Reply{Kind: '-', Str: text} }
	list := func(elems ...Reply) Reply { return Reply{Kind: '*', Elems: elems} }
	ok := Reply{Kind: '+', Str: "OK"}
	for _, c := range []struct {
		cmd  Cmd
		a, b Reply
		want bool
	}{
		{cmdOf("HTTL", "k"), fail("ERR numfields"), fail("ERR other"), true},
		{cmdOf("HPTTL", "k"), fail("ERR numfields"), fail("ERR other"), true},
		{cmdOf("HGET", "k"), fail("ERR numfields"), fail("ERR other"), true},
		{cmdOf("HGET", "k"), fail("ERR other"), fail("ERR numfields"), false},
		{cmdOf("HGET", "k"), fail("ERR numfields"), ok, false},
		{cmdOf("GET", "k"), fail("ERR numfields"), fail("ERR other"), false},
		{cmdOf("HGET", "k"), list(ok, fail("ERR num")), list(ok, fail("x")), true},
		{cmdOf("HGET", "k"), list(ok, fail("ERR num")), list(fail("x"), ok), false},
		{cmdOf("HGET", "k"), list(fail("ERR num")), list(fail("x"), ok), false},
		{cmdOf("EVAL", "s"), fail("ERR num script: 1, on @x"), fail("y"), true},
		{cmdOf("EVAL", "s"), list(ok), list(Reply{Kind: '_'}), true},
		{cmdOf("SCAN", "0", "type", "x"), fail("ERR syntax"), ok, true},
		{cmdOf("SCAN", "0", "type", "x"), ok, fail("ERR syntax"), false},
		{cmdOf("SCAN", "0"), fail("ERR syntax"), ok, false},
	} {
		if got := k.equal(c.cmd, c.a, c.b); got != c.want {
			t.Errorf("%v: %v and %v: %v", c.cmd, c.a, c.b, got)
		}
	}
	for _, bad := range []string{`get replies "a" reason`, `get replies "a" "b"`,
		`get replies a b reason`, "get lacks X", "get lacks"} {
		if _, err := ParseKnown(reader(bad)); err == nil {
			t.Errorf("%q accepted", bad)
		}
	}
}

func TestLaterFilesHaveTheLastWord(t *testing.T) {
	k, err := ParseKnown(reader("seen-with redis 8.0.6\nget kind a\n"),
		reader("seen-with redis 7.0.15\nget set b\nset kind c\n"))
	if err != nil {
		t.Fatal(err)
	}
	if k.SeenWith != "redis 7.0.15" || k.Rule("get").Comparator != "set" ||
		k.Rule("set").Comparator != "kind" {
		t.Errorf("%+v", k)
	}
}

func TestLike(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"a", "a", true}, {"a", "ab", false}, {"*", "", true}, {"a*", "ab", true},
		{"a*", "ba", false}, {"*b", "ab", true}, {"*b", "bc", false}, {"a*c*e", "abcde", true},
		{"a*c*e", "abde", false}, {"a*a", "a", false}, {"a**b", "ab", true},
	} {
		if got := like(c.pattern, c.text); got != c.want {
			t.Errorf("%q like %q: %v", c.text, c.pattern, got)
		}
	}
}

func TestRewriters(t *testing.T) {
	text := func(s string) Reply { return Reply{Kind: '$', Str: s} }
	for _, c := range []struct{ name, a, b string }{
		{"doubles", "0.10000000000000001", "0.1"},
		{"doubles", "9223372036854776000", "9.223372036854776e+18"},
		{"doubles", "1e+17", "100000000000000000"},
		{"twelve", "0.00000126736058093", "1.2673605809254695e-6"},
		{"users", "user u off sanitize-payload -@all", "user u off -@all alldbs"},
	} {
		k := known(t, "acl|list,x "+c.name+" because\n")
		if !k.equal(cmdOf("ACL", "LIST"), text(c.a), text(c.b)) ||
			!k.equal(cmdOf("X", "y"), text(c.a), text(c.b)) {
			t.Errorf("%s: %s and %s differ", c.name, c.a, c.b)
		}
		if k.equal(cmdOf("ACL", "USERS"), text(c.a), text(c.b)) {
			t.Errorf("%s: another command is rewritten", c.name)
		}
	}
	k := known(t, "eval origins because\n")
	a := Reply{Kind: '-', Str: "ERR x script: 0123456789012345678901234567890123456789, on @u:1."}
	if !k.equal(cmdOf("EVAL"), a, Reply{Kind: '-', Str: "ERR x script: on @u:1."}) {
		t.Error("origins differ")
	}
}

func TestAdapt(t *testing.T) {
	stream := []Cmd{cmdOf("MULTI"), cmdOf("AUTH", "a", "b"), cmdOf("WATCH", "k"), cmdOf("MULTI"),
		cmdOf("EXEC"), cmdOf("HELLO", "3"), cmdOf("MULTI")}
	for ref, pings := range map[Reference][]int{Redis8: {1}, Redis7: {1}, Valkey9: {1, 2, 3}} {
		for at, c := range ref.adapt(stream) {
			ping := false
			for _, p := range pings {
				ping = ping || p == at
			}
			if (c.Name() == "ping") != ping {
				t.Errorf("%s: command %d is %v", ref, at, c)
			}
		}
	}
	if stream[1].Name() != "auth" {
		t.Error("the stream itself has changed")
	}
}

// TestUnused checks which rules count as needed.
func TestUnused(t *testing.T) {
	k := known(t, "get kind a\nttl ttl-s b\nhget replies \"+a\" \"+b\" c\nscan lacks TYPE d\n"+
		"set doubles e\n")
	str := func(s string) Reply { return Reply{Kind: '+', Str: s} }
	fail := Reply{Kind: '-', Str: "ERR syntax error"}
	check := func(want ...string) {
		t.Helper()
		var got []string
		for _, r := range k.Unused() {
			got = append(got, r.String())
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	k.equal(cmdOf("GET", "k"), str("a"), str("a"))
	k.equal(cmdOf("GET", "k"), str("a"), fail)
	k.equal(cmdOf("HGET", "k"), str("a"), str("c"))
	check("get kind", "ttl ttl-s", `hget replies "+a" "+b"`, "scan lacks TYPE", "set doubles")
	k.equal(cmdOf("GET", "k"), str("a"), str("b"))
	k.equal(cmdOf("HGET", "k"), str("a"), str("b"))
	k.equal(cmdOf("SCAN", "0", "TYPE", "x"), fail, str("a"))
	check("ttl ttl-s", "set doubles")
	k.equal(cmdOf("SET", "k", "v"), Reply{Kind: '$', Str: "0.10000000000000001"},
		Reply{Kind: '$', Str: "0.1"})
	check("ttl ttl-s")
}
