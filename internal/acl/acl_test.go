package acl

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// testCatalog is a small table of commands.
func testCatalog() *Catalog {
	return NewCatalog([]Info{
		{Name: "auth", Categories: []string{"fast", "connection"}, NoAuth: true},
		{Name: "get", Categories: []string{"read", "string", "fast"}},
		{Name: "set", Categories: []string{"write", "string", "slow"}},
		{Name: "del", Categories: []string{"write", "keyspace", "slow"}},
		{Name: "select", Categories: []string{"fast", "connection"}},
		{Name: "config", Categories: []string{"slow"}},
		{Name: "config|get", Categories: []string{"admin", "slow", "dangerous"}},
		{Name: "config|set", Categories: []string{"admin", "slow", "dangerous"}},
		{Name: "publish", Categories: []string{"pubsub", "fast"}},
	}, []string{"read", "write", "string", "keyspace", "fast", "slow", "connection", "admin", "dangerous", "pubsub", "geo"})
}

func user(t *testing.T, rules ...string) *User {
	t.Helper()
	us := NewUsers(testCatalog())
	rule, err := us.Set("u", rules, false)
	require.NoError(t, err, rule)
	return us.Get("u")
}

// check asks for a command with one key.
func check(t *testing.T, u *User, command, key string, mode Mode) Reason {
	t.Helper()
	id, ok := u.cat.ID(command)
	require.True(t, ok, command)
	argv := [][]byte{[]byte(command), []byte(key)}
	c := Call{ID: id, Argv: argv}
	if mode != 0 {
		c.Keys = []KeyUse{{1, mode}}
	}
	reason, _ := u.Check(&c)
	return reason
}

func TestRules(t *testing.T) {
	for _, c := range []struct{ rules, want string }{
		{"", "off resetchannels -@all"},
		{"on nopass ~* &* +@all", "on nopass ~* &* +@all"},
		{"allkeys allchannels allcommands", "off ~* &* +@all"},
		{"+get +SET -get", "off resetchannels -@all +set -get"},
		{"+@read -get +get", "off resetchannels -@all +@read +get"},
		{"+config|get -config", "off resetchannels -@all -config"},
		{"+select|0 +select|1 +select|0", "off resetchannels -@all +select|1 +select|0"},
		{"+@all -@dangerous", "off resetchannels +@all -@dangerous"},
		{"+get -@all", "off resetchannels -@all"},
		{"~a* %R~b* %W~b* %rw~c %W~d", "off ~a* ~b* ~c %W~d resetchannels -@all"},
		{"~a resetkeys ~b", "off ~b resetchannels -@all"},
		{"&a &b &a", "off resetchannels &a &b -@all"},
		{"(~x +get) (%R~y &z)", "off resetchannels -@all (~x resetchannels -@all +get) (%R~y resetchannels &z -@all)"},
		{"(~x) clearselectors", "off resetchannels -@all"},
		{"on ~* +@all (~x) >p reset", "off sanitize-payload resetchannels -@all"},
		{"skip-sanitize-payload", "off skip-sanitize-payload resetchannels -@all"},
		{">a nopass resetpass", "off resetchannels -@all"},
	} {
		rules, bad, ok := Merge(strings.Fields(c.rules))
		require.True(t, ok, bad)
		u := user(t, rules...)
		require.Equal(t, c.want, u.String(), c.rules)
		// What is written down gives the same user again.
		rules, _, _ = Merge(strings.Fields(u.String()))
		require.Equal(t, c.want, user(t, rules...).String())
	}
}

func TestRuleErrors(t *testing.T) {
	for _, c := range []struct {
		rules string
		want  RuleError
	}{
		{"nonsense", ErrSyntax}, {"", ErrSyntax}, {"+nosuch", ErrUnknown}, {"-nosuch", ErrUnknown}, {"+@nosuch", ErrUnknown}, {"-select|0", ErrUnknown},
		{"+config|nosuch", ErrUnknown}, {"+select|", ErrSyntax}, {"+config|get|x", ErrFirstArg}, {"+nosuch|x", ErrUnknown}, {"+", ErrUnknown},
		{"%~x", ErrSyntax}, {"%RR~x", ErrSyntax}, {"%X~x", ErrSyntax}, {"%R", ErrSyntax}, {"~* ~x", ErrKeysAfterAll}, {"&* &x", ErrChanAfterAll},
		{"~a\x00", ErrSyntax}, {"<nopass", ErrNoPassword}, {"!" + strings.Repeat("a", 64), ErrNoPassword}, {"#abc", ErrBadHash}, {"!abc", ErrBadHash},
		{"#" + strings.Repeat("A", 64), ErrBadHash}, {"(on)", ErrSyntax}, {"(", ErrSyntax}, {"(+get +nosuch)", ErrUnknown},
	} {
		us := NewUsers(testCatalog())
		rules := strings.Split(c.rules, " ")
		if c.rules == "(+get +nosuch)" {
			rules = []string{c.rules}
		}
		rule, err := us.Set("u", append([]string{"on", "+get"}, rules...), false)
		require.Equal(t, c.want, err, "%q", c.rules)
		require.Equal(t, rules[len(rules)-1], rule)
		require.Nil(t, us.Get("u"), "nothing is made by rules of which one is wrong")
	}
	us := NewUsers(testCatalog())
	before := us.Get(Default).String()
	_, err := us.Set(Default, []string{"off", "-@all", "nonsense"}, false)
	require.Error(t, err)
	require.Equal(t, before, us.Get(Default).String())
}

func TestPasswords(t *testing.T) {
	u := user(t, "on", ">secret", ">second", ">secret")
	require.Len(t, u.Passwords(), 2)
	require.Equal(t, "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b", u.Passwords()[0])
	require.True(t, u.Authenticate([]byte("secret")))
	require.True(t, u.Authenticate([]byte("second")))
	require.False(t, u.Authenticate([]byte("third")))
	require.False(t, u.Authenticate(nil))
	require.NoError(t, u.Apply("<secret"))
	require.False(t, u.Authenticate([]byte("secret")))
	require.NoError(t, u.Apply("off"))
	require.False(t, u.Authenticate([]byte("second")))
	require.NoError(t, u.Apply("nopass"))
	require.False(t, u.Authenticate([]byte("second")), "off")
	require.NoError(t, u.Apply("on"))
	require.True(t, u.Authenticate([]byte("anything")))
	us := NewUsers(testCatalog())
	require.NotNil(t, us.Authenticate(Default, nil))
	require.Nil(t, us.Authenticate("nobody", nil))
}

func TestCheck(t *testing.T) {
	u := user(t, "+get", "+config|get", "+select|0", "~data:*", "%R~read:*", "%W~write:*", "&ch:*", "(+@write ~w:*)")
	require.Equal(t, Allowed, check(t, u, "auth", "", 0), "open to everybody")
	require.Equal(t, Allowed, check(t, u, "get", "data:1", Read))
	require.Equal(t, Allowed, check(t, u, "get", "read:1", Read))
	require.Equal(t, DeniedKey, check(t, u, "get", "write:1", Read))
	require.Equal(t, DeniedKey, check(t, u, "get", "read:1", Read|Write))
	require.Equal(t, DeniedKey, check(t, u, "get", "w:1", Read), "the parts of a call cannot be allowed by different selectors")
	require.Equal(t, Allowed, check(t, u, "set", "w:1", Write))
	require.Equal(t, DeniedKey, check(t, u, "set", "data:1", Write))
	require.Equal(t, Allowed, check(t, u, "config|get", "", 0))
	require.Equal(t, DeniedCommand, check(t, u, "config|set", "", 0))
	require.Equal(t, Allowed, check(t, u, "select", "0", 0))
	require.Equal(t, DeniedCommand, check(t, u, "select", "1", 0))
	require.Equal(t, DeniedCommand, check(t, u, "publish", "ch:1", 0))
	require.True(t, u.MayKey([]byte("w:1"), Write))
	require.False(t, u.MayKey([]byte("read:1"), Write))
	require.True(t, u.MayChannel([]byte("ch:1"), false))
	require.False(t, u.MayChannel([]byte("ch:1"), true), "a pattern must be written the same")
	require.True(t, u.MayChannel([]byte("ch:*"), true))

	require.NoError(t, u.Apply("+publish"))
	id, _ := u.cat.ID("publish")
	call := Call{ID: id, Argv: [][]byte{[]byte("publish"), []byte("other"), []byte("x")}, Channels: []ChannelUse{{Pos: 1}}}
	reason, pos := u.Check(&call)
	require.Equal(t, DeniedChannel, reason)
	require.Equal(t, 1, pos)
	call.Argv[1] = []byte("ch:2")
	reason, _ = u.Check(&call)
	require.Equal(t, Allowed, reason)
	require.Zero(t, testing.AllocsPerRun(100, func() { u.Check(&call) }))
}

// TestRandomRules applies random rules, and then those that describe the result: both users may do the same.
func TestRandomRules(t *testing.T) {
	seed := rand.Uint64()
	t.Log("seed", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	pool := strings.Fields("+get -get +set -set +@all -@all +@string -@string +@slow -@slow +@fast -@fast +config -config +config|get -config|get +select|0 +select|1 +select " +
		"-select ~a* %R~b* %W~b* resetkeys allkeys &c* allchannels resetchannels (~x|+get) (+@all|-@slow) clearselectors on off nopass resetpass >p reset")
	for range 2000 {
		us := NewUsers(testCatalog())
		for range rnd.IntN(12) {
			// Some are refused, such as ~a* behind allkeys.
			_, _ = us.Set("u", []string{strings.ReplaceAll(pool[rnd.IntN(len(pool))], "|+", " +")}, rnd.IntN(2) == 0)
		}
		u := us.Get("u")
		if u == nil {
			continue
		}
		other := NewUsers(us.Catalog)
		require.NoError(t, other.Load(us.Save(), false), us.Save())
		o := other.Get("u")
		require.Equal(t, u.String(), o.String())
		require.Len(t, o.selectors, len(u.selectors))
		for i := range u.selectors {
			a, b := u.selectors[i], o.selectors[i]
			for id, info := range us.Catalog.infos {
				require.Equal(t, a.may(id), b.may(id), "%s: %s", info.Name, u)
				require.ElementsMatch(t, a.firstArgs[id], b.firstArgs[id], "%s: %s", info.Name, u)
			}
		}
	}
}

func TestFile(t *testing.T) {
	us := NewUsers(testCatalog())
	alice := func() *User { return us.Get("alice") }
	require.NoError(t, us.Load("# people\n\nuser alice on >x ~* +@all\r\nuser bob off (~k +get)\n", false))
	require.Equal(t, []string{"alice", "bob", Default}, us.Names())
	held := alice()
	require.NoError(t, us.Load("user alice on nopass -@all", false))
	require.Same(t, held, alice(), "connections keep their user")
	require.Equal(t, []string{"alice", Default}, us.Names())
	before := us.Save()
	err := us.Load("user alice off\nnonsense\nuser carl +nosuch\nuser carl on\nuser dora (~x\n", false)
	for _, want := range []string{"line 2", "line 3", "line 4", "line 5"} {
		require.ErrorContains(t, err, want)
	}
	require.Equal(t, before, us.Save(), "a file with errors changes nothing")
	require.True(t, us.Delete("alice"))
	require.False(t, us.Delete("alice"))
	require.False(t, us.Delete(Default))
}

// FuzzRules: no rule does harm, and what a user is described as can be read again.
func FuzzRules(f *testing.F) {
	for _, s := range []string{"on >x ~a +get", "(~a +@all", "%RW~x &y", "+select|0 -@all", "#" + strings.Repeat("0", 64), "+|", "+config|", "()", "( )", "~", "%"} {
		f.Add(s)
	}
	cat := testCatalog()
	f.Fuzz(func(t *testing.T, s string) {
		words := strings.Fields(s)
		rules, _, _ := Merge(words)
		us := NewUsers(cat)
		for _, r := range rules {
			_, _ = us.Set("u", []string{r}, len(r)%2 == 0)
		}
		u := us.Get("u")
		if u == nil {
			return
		}
		again := NewUsers(cat)
		if err := again.Load(us.Save(), false); err != nil {
			t.Fatal(err, us.Save())
		}
		if got := fmt.Sprint(again.Get("u")); got != u.String() {
			t.Fatalf("%q became %q", u, got)
		}
	})
}

func TestMerge(t *testing.T) {
	rules, bad, ok := Merge([]string{"on", "(~a", "+get)", "(~b)", "off"})
	require.True(t, ok)
	require.Empty(t, bad)
	require.Equal(t, []string{"on", "(~a +get)", "(~b)", "off"}, rules)
	_, bad, ok = Merge([]string{"on", "(~a", "+get"})
	require.False(t, ok)
	require.Equal(t, "(~a +get", bad)
	require.False(t, slices.Contains(rules, ""))
}
