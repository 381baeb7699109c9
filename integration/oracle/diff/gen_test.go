package diff

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// smallTable returns a table with the shapes of argument trees that COMMAND DOCS uses.
func smallTable() Table {
	tok := func(s string) Arg {
		return Arg{Name: strings.ToLower(s), Type: "pure-token", Token: s, HasToken: true}
	}
	key := Arg{Name: "key", Type: "key"}
	str := Arg{Name: "value", Type: "string"}
	opt := func(a Arg) Arg { a.Optional = true; return a }
	many := func(a Arg) Arg { a.Multiple = true; return a }
	with := func(name, token string) Arg {
		return Arg{Name: name, Type: "integer", Token: token, HasToken: true}
	}
	cmds := []*Command{
		{Name: "get", Group: "string", Args: []Arg{key}},
		{Name: "set", Group: "string",
			Args: []Arg{key, str,
				opt(Arg{Name: "condition", Type: "oneof", Args: []Arg{tok("NX"), tok("XX")}}),
				opt(Arg{Name: "expiration", Type: "oneof", Args: []Arg{with("seconds", "EX"),
					with("milliseconds", "PX"), tok("KEEPTTL")}}),
				opt(Arg{Name: "newer", Type: "string", Token: "IFEQ", HasToken: true,
					Since: "8.4.0"})}},
		{Name: "setex", Group: "string", Args: []Arg{key, {Name: "seconds", Type: "integer"}, str}},
		{Name: "expire", Group: "generic",
			Args: []Arg{key, {Name: "seconds", Type: "integer"}, opt(tok("NX"))}},
		{Name: "setbit", Group: "bitmap",
			Args: []Arg{key, {Name: "offset", Type: "integer"}, {Name: "value", Type: "integer"}}},
		{Name: "mset", Group: "string",
			Args: []Arg{many(Arg{Name: "data", Type: "block", Args: []Arg{key, str}})}},
		{Name: "sintercard", Group: "set",
			Args: []Arg{{Name: "numkeys", Type: "integer"}, many(key)}},
		{Name: "blpop", Group: "list", Flags: []string{"blocking"},
			Args: []Arg{many(key), {Name: "timeout", Type: "double"}}},
		{Name: "client|setname", Group: "connection",
			Args: []Arg{{Name: "connection-name", Type: "string"}}},
		{Name: "client", Group: "connection", Parent: true},
	}
	t := Table{}
	for _, c := range cmds {
		t[c.Name] = c
	}
	return t
}

func smallGenerator(t *testing.T) *Generator {
	t.Helper()
	ref := smallTable()
	ref["set"].Args = ref["set"].Args[:4] // the reference server cannot know what came later
	return generatorOf(t, ref, smallTable())
}

// generatorOf returns a generator for the commands of the table that the reference server has.
func generatorOf(t *testing.T, ref, table Table) *Generator {
	t.Helper()
	cov, err := Match(ref, table, "7.0.15", func(*Command) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	g, err := NewGenerator(GenConfig{Keys: 6, Clients: 3, DBs: 2}, cov)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestRoundsAreReproducible(t *testing.T) {
	a, b := smallGenerator(t).Round(7, 3, 2000), smallGenerator(t).Round(7, 3, 2000)
	if !reflect.DeepEqual(a, b) {
		t.Fatal("the same seed and round give different streams")
	}
	g := smallGenerator(t)
	g.Round(7, 2, 2000)
	if !reflect.DeepEqual(a, g.Round(7, 3, 2000)) {
		t.Fatal("a round depends on the rounds before it")
	}
	if reflect.DeepEqual(a, g.Round(8, 3, 2000)) {
		t.Fatal("the seed has no effect")
	}
}

// TestStreamsStayCheapAndTimeless checks what guards promise: no deadline that could pass during a
// run, no long block, no offset that costs megabytes.
func TestStreamsStayCheapAndTimeless(t *testing.T) {
	for _, c := range smallGenerator(t).Round(1, 0, 60_000) {
		if c.Client == 3 { // the connection that waits for its deadlines
			continue
		}
		num := func(i int) int64 {
			if i >= len(c.Args) {
				return -1
			}
			n, err := strconv.ParseInt(string(c.Args[i]), 10, 64)
			if err != nil {
				return -1
			}
			return n
		}
		switch c.Name() {
		case "expire", "setex":
			if n := num(2); n > 0 && n < 90_000 {
				t.Fatalf("near deadline: %v", c)
			}
		case "set":
			for i := 2; i < len(c.Args); i++ {
				if prev := strings.ToUpper(string(c.Args[i-1])); prev == "EX" || prev == "PX" {
					if n := num(i); n > 0 && n < 90_000 {
						t.Fatalf("near deadline: %v", c)
					}
				}
				if strings.EqualFold(string(c.Args[i]), "IFEQ") {
					t.Fatalf("an argument newer than the reference server: %v", c)
				}
			}
		case "setbit":
			if n := num(2); n > 20_000 && n < 1<<32 {
				t.Fatalf("costly offset: %v", c)
			}
		case "blpop":
			if f, err := strconv.ParseFloat(string(c.Args[len(c.Args)-1]), 64); err == nil &&
				len(c.Args) > 2 && (f == 0 || f > 0.01 && f < 1e15) {
				t.Fatalf("long block: %v", c)
			}
		}
	}
}

// TestStreamsReachEverything checks that each command, option and kind of mistake appears.
func TestStreamsReachEverything(t *testing.T) {
	seen := map[string]int{}
	for _, c := range smallGenerator(t).Round(2, 0, 30_000) {
		if c.Raw {
			seen["raw"]++
			continue
		}
		if c.Inline {
			seen["inline"]++
		}
		seen[c.Name()]++
		if c.Name() == "set" {
			if len(c.Args) < 3 {
				seen["set: too few"]++
			}
			for _, a := range c.Args[1:] {
				seen["set "+strings.ToUpper(string(a))]++
			}
		}
		if c.Name() == "sintercard" && len(c.Args) > 2 &&
			string(c.Args[1]) == strconv.Itoa(len(c.Args)-2) {
			seen["numkeys right"]++
		} else if c.Name() == "sintercard" {
			seen["numkeys wrong"]++
		}
	}
	for _, want := range []string{"raw", "inline", "get", "set", "setex", "expire", "setbit",
		"mset", "sintercard", "blpop", "client", "hello",
		"set NX", "set XX", "set EX", "set PX", "set KEEPTTL", "set: too few", "numkeys right",
		"numkeys wrong"} {
		if seen[want] == 0 {
			t.Errorf("no %s in the stream", want)
		}
	}
	if seen["numkeys right"] < 3*seen["numkeys wrong"] {
		t.Errorf("numkeys fits in %d commands and not in %d", seen["numkeys right"],
			seen["numkeys wrong"])
	}
}

func TestMatchTellsWhatIsMissingAndNewer(t *testing.T) {
	ref, tested := smallTable(), smallTable()
	delete(tested, "mset")
	tested["delex"] = &Command{Name: "delex"}
	cov, err := Match(ref, tested, "7.0.15", func(c *Command) bool { return c.Name != "blpop" })
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(cov.Missing, []string{"mset"}) || !slices.Equal(cov.Newer, []string{"delex"}) {
		t.Errorf("missing %v, newer %v", cov.Missing, cov.Newer)
	}
	for _, g := range cov.Grammars {
		if g.Name == "blpop" || g.Name == "client" || g.Name == "mset" {
			t.Errorf("%s takes part", g.Name)
		}
	}
	if _, err := Match(ref, tested, "", func(*Command) bool { return true }); err == nil {
		t.Error("a reference server without a version is accepted")
	}
}

func TestVersionsCompare(t *testing.T) {
	order := []string{"", "2.8", "2.8.1", "6.2.0", "7.0.15", "7.2.0", "10.0"}
	for i := 1; i < len(order); i++ {
		if version(order[i-1]) >= version(order[i]) {
			t.Errorf("%q is not before %q", order[i-1], order[i])
		}
	}
}
