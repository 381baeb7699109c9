package diff

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

func reply(t *testing.T, raw string) Reply {
	t.Helper()
	r, err := Decode([]byte(strings.ReplaceAll(raw, " ", "\r\n") + "\r\n"))
	if err != nil {
		t.Fatal(raw, err)
	}
	return r
}

func args(line string) [][]byte { return split(line) }

// TestCollectionComparators checks what the comparators excuse, and that they do not excuse
// anything close to it.
func TestCollectionComparators(t *testing.T) {
	two, owt, one, twice := reply(t, "*2 +a +b"), reply(t, "*2 +b +a"), reply(t, "*1 +a"),
		reply(t, "*2 +a +a")
	refuse := func(why string) Reply { return Reply{Kind: '-', Str: "ERR " + why} }
	none, fail, other := reply(t, "*0"), reply(t, "-ERR"), reply(t, "*2 +c +d")
	for _, c := range []struct {
		name string
		cmp  comparator
		args string
		a, b Reply
		want bool
	}{
		{"all members in any order", cmpSample, "SRANDMEMBER k 1000", two, owt, true},
		{"all members, one missing", cmpSample, "SRANDMEMBER k 1000", two, one, false},
		{"all members, others", cmpSample, "SRANDMEMBER k 1000", two, other, false},
		{"some members", cmpSample, "SRANDMEMBER k 2", two, other, true},
		{"too few members", cmpSample, "SRANDMEMBER k 2", two, one, false},
		{"a member twice", cmpSample, "SRANDMEMBER k 2", two, twice, false},
		{"a member twice where it may be", cmpSample, "SRANDMEMBER k -2", two, twice, true},
		{"an error for members", cmpSample, "SRANDMEMBER k 2", two, fail, false},
		{"fields with values in any order", cmpSample, "HRANDFIELD k 1000 WITHVALUES",
			reply(t, "*4 +a +1 +b +2"), reply(t, "*4 +b +2 +a +1"), true},
		{"fields with the others' values", cmpSample, "HRANDFIELD k 1000 WITHVALUES",
			reply(t, "*4 +a +1 +b +2"), reply(t, "*4 +b +1 +a +2"), false},
		{"an order", cmpSort, "SORT k BY w_*", two, owt, false},
		{"an order by equal strings", cmpSort, "SORT k BY w_* ALPHA", two, owt, true},
		{"a set that is not sorted", cmpSort, "SORT k BY nosort", two, owt, true},
		{"a sorted set that is not sorted", cmpSort, "SORT lx0 BY nosort", two, owt, false},
		{"an empty result", cmpSort, "SORT k BY w_* ALPHA", two, none, false},
		{"two reasons", cmpTimeout, "BLPOP k 1e20", refuse("timeout is negative"),
			refuse("timeout is out of range"), true},
		{"another error", cmpTimeout, "BLPOP k 1e20", refuse("timeout is negative"), fail, false},
	} {
		if got := c.cmp(args(c.args), c.a, c.b); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	text := func(s string) Reply { return Reply{Kind: '$', Str: s} }
	if !encodingsAgree("list", tolerance{old: true}, text("quicklist"), text("listpack")) ||
		encodingsAgree("hash", tolerance{old: true}, text("hashtable"), text("listpack")) {
		t.Error("encodings are excused by the wrong type")
	}
	if encodingsAgree("zset", tolerance{old: true}, text("skiplist"), text("listpack")) ||
		!encodingsAgree("zset", tolerance{sorted: true}, text("skiplist"), text("listpack")) {
		t.Error("a sorted set's encoding may differ after SORT, and only then")
	}
}

// TestRandomPops checks what makes streams with SPOP comparable.
func TestRandomPops(t *testing.T) {
	pop, whole, del := cmdOf("SPOP", "k", "2"), cmdOf("SPOP", "k", "1000"), cmdOf("DEL", "k")
	for _, c := range []struct {
		stream []Cmd
		want   bool
	}{
		{[]Cmd{pop, del}, true}, {[]Cmd{pop}, false}, {[]Cmd{pop, whole, del}, false},
		{[]Cmd{whole}, true}, {[]Cmd{cmdOf("SPOP", "k"), cmdOf("DEL", "other")}, false},
		{[]Cmd{cmdOf("SPOP", "k", "x")}, true},
	} {
		if got := comparable(c.stream); got != c.want {
			t.Errorf("%v: %v", c.stream, got)
		}
	}
}

func blockingGenerator(t *testing.T) *Generator {
	t.Helper()
	table := smallTable()
	for _, name := range []string{"rpush", "lpush", "zadd", "bzpopmin", "blmove", "set", "del",
		"multi", "exec", "sort"} {
		table[name] = &Command{Name: name, Group: "list"}
	}
	return generatorOf(t, table, table)
}

// TestBlockRounds checks that rounds about blocking can be reproduced, consist of steps, and wait
// for whatever times out.
func TestBlockRounds(t *testing.T) {
	a := blockingGenerator(t).Stream(5, 7, 12_000)
	if !reflect.DeepEqual(a, blockingGenerator(t).Stream(5, 7, 12_000)) {
		t.Fatal("the same seed and round give different streams")
	}
	waiting, blocking, inMulti := false, 0, map[int]bool{}
	for _, c := range a {
		switch {
		case !c.Step:
			t.Fatalf("%v is no step", c)
		case c.Sleep > 0:
			waiting = false
		case waiting && !short(c):
			t.Fatalf("%v comes before the timeouts are over", c)
		case short(c):
			waiting = true
		case c.Name() == "multi":
			inMulti[c.Client] = true
		case c.Name() == "exec":
			delete(inMulti, c.Client)
		}
		if strings.HasPrefix(c.Name(), "b") && !inMulti[c.Client] {
			blocking++
			if c.Client == 0 {
				t.Fatalf("%v: the driver must not block", c)
			}
		}
	}
	if blocking < len(a)/5 {
		t.Fatalf("%d of %d steps block", blocking, len(a))
	}
}

// TestStepsInCaseFiles writes and reads steps.
func TestStepsInCaseFiles(t *testing.T) {
	want := []Cmd{stepOf(2, "BLPOP", "k", idOf(3)), {Client: 1, Step: true, Close: true},
		{Client: 0, Step: true, Sleep: longWait}}
	path := t.TempDir() + "/case.txt"
	if err := WriteCase(path, "steps", want); err != nil {
		t.Fatal(err)
	}
	got, err := ReadCase(path)
	if err != nil || !slices.EqualFunc(got, want, func(a, b Cmd) bool {
		return a.String() == b.String() && reflect.DeepEqual(a, b)
	}) {
		t.Fatalf("%v, %v", got, err)
	}
}
