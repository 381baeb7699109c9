package diff

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

func kindsGenerator(t *testing.T, kinds ...string) *Generator {
	t.Helper()
	table := smallTable()
	for name, args := range map[string][]Arg{
		"acl|setuser": nil, "client|id": nil, "publish": nil, "rpush": nil, "multi": nil,
		"watch": nil, "fcall": {{Name: "function", Type: "string"}},
		"function|load":    {{Name: "function-code", Type: "string"}},
		"function|restore": {{Name: "serialized-value", Type: "string"}}, "spop": nil,
		"sort": nil,
	} {
		table[name] = &Command{Name: name, Group: "generic", Args: args}
	}
	cov, err := Match(table, table, "7.0.15", func(*Command) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	g, err := NewGenerator(GenConfig{Keys: 6, Clients: 3, DBs: 2, Kinds: kinds}, cov)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestKindsOfRounds checks that each kind of round can be reproduced, is what its name says, and
// avoids what no stream may do.
func TestKindsOfRounds(t *testing.T) {
	for _, kind := range Kinds() {
		g := kindsGenerator(t, kind)
		a := g.Stream(3, 1, 4000)
		if !reflect.DeepEqual(a, kindsGenerator(t, kind).Stream(3, 1, 4000)) {
			t.Errorf("%s: the same seed and round give different streams", kind)
		}
		if reflect.DeepEqual(a, g.Stream(4, 1, 4000)) {
			t.Errorf("%s: the seed has no effect", kind)
		}
		tells := slices.Contains([]string{kindUsers, kindCaching, kindMessages}, kind)
		for _, c := range a {
			switch name := c.Name(); {
			case c.Tell != tells:
				t.Fatalf("%s: %v is told to all: %v", kind, c, c.Tell)
			case tells && (name == "spop" || name == "sort" || name == "blpop"):
				t.Fatalf("%s: %v", kind, c)
			case slices.ContainsFunc(c.Args, func(a []byte) bool {
				return string(a) == oracleUser || string(a) == twinUser
			}):
				t.Fatalf("%s: %v names the tester's user", kind, c)
			}
		}
	}
	if err := CheckKinds([]string{kindUsers, "nosuch"}); err == nil {
		t.Error("rounds of no kind are accepted")
	}
}

// TestRoundsByNumber checks that a run has rounds of every kind, and that half of them are plain.
func TestRoundsByNumber(t *testing.T) {
	g, n := kindsGenerator(t), map[string]int{}
	for r := range 240 {
		n[g.kind(r)]++
	}
	for _, kind := range Kinds() {
		if n[kind] < 10 {
			t.Errorf("%d rounds of kind %s", n[kind], kind)
		}
	}
	if n[kindPlain] != 120 {
		t.Errorf("%d plain rounds", n[kindPlain])
	}
}

// TestListenersQueueNothing checks that no connection both listens and queues: 7.0 puts messages in
// the middle of EXEC's reply.
func TestListenersQueueNothing(t *testing.T) {
	listens, queues := map[int]bool{}, map[int]bool{}
	for _, c := range kindsGenerator(t, kindUsers).Stream(1, 0, 40_000) {
		listens[c.Client] = listens[c.Client] || strings.HasSuffix(c.Name(), "subscribe")
		queues[c.Client] = queues[c.Client] || c.Name() == "multi"
	}
	for client := range userClients {
		if listens[client] == queues[client] {
			t.Errorf("connection %d listens: %v, queues: %v", client, listens[client],
				queues[client])
		}
	}
}

// TestToldInCaseFiles writes and reads commands that are told to all.
func TestToldInCaseFiles(t *testing.T) {
	want := []Cmd{told(2, "ACL", "SETUSER", "u", "(~a +get)"), {Client: 1, Tell: true, Close: true},
		told(0, "CLIENT", "TRACKING", "ON", "REDIRECT", idOf(1))}
	path := t.TempDir() + "/case.txt"
	if err := WriteCase(path, "told", want); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadCase(path); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%v, %v", got, err)
	}
}

// TestPushes checks that pushes are told from replies, and that they are compared by content,
// without regard to order.
func TestPushes(t *testing.T) {
	raw := func(s string) []byte { return []byte(strings.ReplaceAll(s, " ", "\r\n") + "\r\n") }
	for frame, want := range map[string]bool{
		">2 $10 invalidate *1 $1 k": true, "*3 $7 message $2 ch $1 m": true,
		"*4 $8 pmessage $1 * $2 ch $1 m": true, ">3 $9 subscribe $2 ch :1": false,
		"*3 $9 subscribe $2 ch :1": false, "+message": false, "*0": false,
		"*1 *1 $7 message": false, "$7 message": false, ">2 $21 tracking-redir-broken :5": true,
	} {
		if got := isPush(raw(frame)); got != want {
			t.Errorf("%s: a push: %v", frame, got)
		}
	}
	k, l, kl, lk := raw(">2 $10 invalidate *1 $1 k"), raw(">2 $10 invalidate *1 $1 l"),
		raw(">2 $10 invalidate *2 $1 k $1 l"), raw(">2 $10 invalidate *2 $1 l $1 k")
	for _, c := range []struct {
		a, b [][]byte
		want bool
	}{
		{[][]byte{k, l}, [][]byte{l, k}, true}, {[][]byte{kl}, [][]byte{lk}, true},
		{[][]byte{k}, [][]byte{l}, false}, {[][]byte{k, l}, [][]byte{kl}, false},
		{[][]byte{k, k}, [][]byte{k}, false},
		{[][]byte{raw("*3 $7 message $2 ch $1 a")}, [][]byte{raw("*3 $7 message $2 ch $1 b")},
			false},
	} {
		if got := new(Runner).samePushes(c.a, c.b); got != c.want {
			t.Errorf("%q and %q: %v", c.a, c.b, got)
		}
	}
}

// TestUserComparators checks what the comparators of these rounds excuse, and that they do not
// excuse anything close to it.
func TestUserComparators(t *testing.T) {
	entry := func(object, age string) Reply {
		return reply(t,
			"*1 *14 +count :1 +reason +key +context +toplevel +object +"+object+
				" +username +u +age-seconds +"+age+" +client-info +id=1;name=;cmd=get")
	}
	refuse := func(why string) Reply { return Reply{Kind: '-', Str: why} }
	for _, c := range []struct {
		name string
		cmp  comparator
		a, b Reply
		want bool
	}{
		{"other times", cmpACLLog, entry("k", "1"), entry("k", "2"), true},
		{"other objects", cmpACLLog, entry("k", "1"), entry("l", "1"), false},
		{"no entry", cmpACLLog, entry("k", "1"), reply(t, "*0"), false},
		{"no entries", cmpACLLog, reply(t, "*0"), reply(t, "*0"), true},
		{"other functions", cmpClash, refuse("ERR Function a already exists"),
			refuse("ERR Function b already exists"), true},
		{"a function and a library", cmpClash, refuse("ERR Function a already exists"),
			refuse("ERR Library a already exists"), false},
		{"another error", cmpClash, refuse("ERR Function a already exists"), refuse("ERR no"),
			false},
		{"two wordings", cmpHello, refuse("NOAUTH HELLO must be called so"),
			refuse("NOAUTH HELLO must be called thus"), true},
		{"another refusal", cmpHello, refuse("NOAUTH HELLO must be called so"), refuse("NOAUTH no"),
			false},
	} {
		if got := c.cmp(nil, c.a, c.b); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	r := &Runner{Common: map[string]bool{"get": true, "set": true, "xadd": false}}
	for b, want := range map[string]bool{"*3 +set +bf.add +get": true, "*1 +get": false,
		"*2 +get +xadd": false} {
		if got := r.sameCategory(reply(t, "*3 +get +xadd +set"), reply(t, b)); got != want {
			t.Errorf("%s: %v", b, got)
		}
	}
}
