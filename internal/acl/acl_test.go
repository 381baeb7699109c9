package acl

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"godwit/internal/spec"
	"godwit/internal/testseed"

	"github.com/stretchr/testify/require"
)

// testTable returns a small table of commands.
func testTable() *spec.Table {
	entry := func(name string, group spec.Group, flags spec.Flag) *spec.Command {
		return &spec.Command{Name: name, Arity: -1, Group: group, Flags: flags, Since: "1",
			Summary: "-"}
	}
	config := entry("config", spec.GroupServer, 0)
	config.Arity = -2
	config.Sub = []*spec.Command{entry("get", spec.GroupServer, spec.Admin),
		entry("set", spec.GroupServer, spec.Admin)}
	return spec.NewTable([]*spec.Command{
		entry("auth", spec.GroupConnection, spec.Fast|spec.NoAuth),
		entry("get", spec.GroupString, spec.ReadOnly|spec.Fast),
		entry("set", spec.GroupString, spec.Write), entry("del", spec.GroupGeneric, spec.Write),
		entry("select", spec.GroupConnection, spec.Fast), config,
		entry("publish", spec.GroupPubSub, spec.PubSub|spec.Fast),
	})
}

func user(t *testing.T, rules ...string) *User {
	t.Helper()
	us := NewUsers(testTable())
	rule, err := us.Set("u", rules, false)
	require.NoError(t, err, rule)
	return us.Get("u")
}

// check asks for a command with one key.
func check(t *testing.T, u *User, command, key string, mode Mode) Reason {
	t.Helper()
	cmd := u.table.Named(command)
	require.NotNil(t, cmd, command)
	argv := [][]byte{[]byte(command), []byte(key)}
	c := Call{Cmd: cmd, Argv: argv}
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
		{"+@all -get +get", "off resetchannels +@all +get"},
		{"+@read -get +@string +get", "off resetchannels -@all +@read +@string +get"},
		{"+get -@all", "off resetchannels -@all"},
		{"~a* %R~b* %W~b* %rw~c %W~d", "off ~a* ~b* ~c %W~d resetchannels -@all"},
		{"~a resetkeys ~b", "off ~b resetchannels -@all"},
		{"&a &b &a", "off resetchannels &a &b -@all"},
		{"(~x +get) (%R~y &z)",
			"off resetchannels -@all (~x resetchannels -@all +get) (%R~y resetchannels &z -@all)"},
		{"(~x) clearselectors", "off resetchannels -@all"},
		{"on ~* +@all (~x) >p reset", "off resetchannels -@all"},
		{"skip-sanitize-payload", "off skip-sanitize-payload resetchannels -@all"},
		{">a nopass resetpass", "off resetchannels -@all"},
		{"db=2,0,2", "off resetchannels db=0,2 -@all"}, {"db=1 ALLDBS", "off resetchannels -@all"},
		{"DB=1 resetdbs", "off resetchannels resetdbs -@all"},
		{"db=1 (+get) (db=7 +set)", "off resetchannels db=1 -@all (resetchannels -@all +get) " +
			"(resetchannels db=7 -@all +set)"},
	} {
		rules, bad, ok := Merge(strings.Fields(c.rules))
		require.True(t, ok, bad)
		u := user(t, rules...)
		// The flag that almost every user has is left out.
		require.Equal(t, c.want, strings.Replace(u.String(), " sanitize-payload", "", 1), c.rules)
		// What is written down gives the same user again.
		rules, _, _ = Merge(strings.Fields(u.String()))
		require.Equal(t, u.String(), user(t, rules...).String())
	}
}

func TestRuleErrors(t *testing.T) {
	for _, c := range []struct {
		rules string
		want  RuleError
	}{
		{"nonsense", ErrSyntax}, {"+nosuch", ErrUnknown}, {"-nosuch", ErrUnknown},
		{"+@nosuch", ErrUnknown}, {"-select|0", ErrUnknown}, {"+config|nosuch", ErrUnknown},
		{"+select|", ErrSyntax}, {"+config|get|x", ErrFirstArg}, {"+nosuch|x", ErrUnknown},
		{"+", ErrUnknown}, {"%~x", ErrSyntax}, {"%RR~x", ErrSyntax}, {"%X~x", ErrSyntax},
		{"%", ErrSyntax}, {"~* ~x", ErrKeysAfterAll}, {"&* &x", ErrChanAfterAll},
		{"~a\x00", ErrSyntax}, {"<nopass", ErrNoPassword},
		{"!" + strings.Repeat("a", 64), ErrNoPassword}, {"#abc", ErrBadHash}, {"!abc", ErrBadHash},
		{"#" + strings.Repeat("A", 64), ErrBadHash}, {"(on)", ErrSyntax}, {"(", ErrSyntax},
		{"(+get +nosuch)", ErrUnknown},
		{"db=", ErrSyntax}, {"db=1,", ErrSyntax}, {"db=x", ErrSyntax}, {"db", ErrSyntax},
		{"db=-1", ErrDatabase}, {"db=2147483648", ErrDatabase},
		{"db=99999999999999999999", ErrDatabase},
	} {
		us := NewUsers(testTable())
		rules := strings.Split(c.rules, " ")
		if c.rules == "(+get +nosuch)" {
			rules = []string{c.rules}
		}
		rule, err := us.Set("u", append([]string{"on", "+get"}, rules...), false)
		require.Equal(t, c.want, err, "%q", c.rules)
		require.Equal(t, rules[len(rules)-1], rule)
		require.Nil(t, us.Get("u"), "nothing is made by rules of which one is wrong")
	}
	us := NewUsers(testTable())
	_, err := us.Set("empty", []string{"", "on", ""}, false)
	require.NoError(t, err, "an empty rule says nothing")
	before := us.Get(Default).String()
	_, err = us.Set(Default, []string{"off", "-@all", "nonsense"}, false)
	require.Error(t, err)
	require.Equal(t, before, us.Get(Default).String())
}

func TestPasswords(t *testing.T) {
	u := user(t, "on", ">secret", ">second", ">secret")
	require.Len(t, u.Passwords(), 2)
	require.Equal(t, "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b",
		u.Passwords()[0])
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
	us := NewUsers(testTable())
	require.NotNil(t, us.Authenticate(Default, nil))
	require.Nil(t, us.Authenticate("nobody", nil))
}

func TestCheck(t *testing.T) {
	u := user(t, "+get", "+config|get", "+select|0", "~data:*", "%R~read:*", "%W~write:*", "&ch:*",
		"(+@write ~w:*)")
	require.Equal(t, Allowed, check(t, u, "auth", "", 0), "open to everybody")
	require.Equal(t, Allowed, check(t, u, "get", "data:1", Read))
	require.Equal(t, Allowed, check(t, u, "get", "read:1", Read))
	require.Equal(t, DeniedKey, check(t, u, "get", "write:1", Read))
	require.Equal(t, DeniedKey, check(t, u, "get", "read:1", Read|Write))
	require.Equal(t, DeniedKey, check(t, u, "get", "w:1", Read),
		"the parts of a call cannot be allowed by different selectors")
	require.Equal(t, Allowed, check(t, u, "set", "w:1", Write))
	require.Equal(t, DeniedKey, check(t, u, "set", "data:1", Write))
	require.Equal(t, Allowed, check(t, u, "config|get", "", 0))
	require.Equal(t, DeniedCommand, check(t, u, "config|set", "", 0))
	require.Equal(t, Allowed, check(t, u, "select", "0", 0))
	require.Equal(t, DeniedCommand, check(t, u, "select", "1", 0))
	require.Equal(t, DeniedCommand, check(t, u, "publish", "ch:1", 0))
	require.Equal(t, DeniedKey, check(t, u, "set", "read:1", Write))
	require.True(t, u.MayChannel([]byte("ch:1"), false))
	require.False(t, u.MayChannel([]byte("ch:1"), true), "a pattern must be written the same")
	require.True(t, u.MayChannel([]byte("ch:*"), true))

	require.NoError(t, u.Apply("+publish"))
	cmd := u.table.Named("publish")
	call := Call{Cmd: cmd, Argv: [][]byte{[]byte("publish"), []byte("other"), []byte("x")},
		Channels: []ChannelUse{{Pos: 1}}}
	reason, pos := u.Check(&call)
	require.Equal(t, DeniedChannel, reason)
	require.Equal(t, 1, pos)
	call.Argv[1] = []byte("ch:2")
	reason, _ = u.Check(&call)
	require.Equal(t, Allowed, reason)
	require.Zero(t, testing.AllocsPerRun(100, func() { u.Check(&call) }))
}

// TestRandomRules applies random rules, and then those that describe the result. Both users must
// have the same rights.
func TestRandomRules(t *testing.T) {
	rnd := testseed.Rand(t)
	pool := strings.Fields(
		"+get -get +set -set +@all -@all +@string -@string +@slow -@slow +@fast -@fast +config " +
			"-config +config|get -config|get +select|0 +select|1 +select " +
			"-select ~a* %R~b* %W~b* resetkeys allkeys &c* allchannels resetchannels (~x|+get) " +
			"(+@all|-@slow) clearselectors on off nopass resetpass >p reset")
	for range 2000 {
		us := NewUsers(testTable())
		for range rnd.IntN(12) {
			// Some are refused, such as ~a* behind allkeys.
			_, _ = us.Set("u", []string{strings.ReplaceAll(pool[rnd.IntN(len(pool))], "|+", " +")},
				rnd.IntN(2) == 0)
		}
		u := us.Get("u")
		if u == nil {
			continue
		}
		other := NewUsers(us.table)
		_, err := other.Load("f", us.Save(), false)
		require.NoError(t, err, us.Save())
		o := other.Get("u")
		require.Equal(t, u.String(), o.String())
		require.Len(t, o.selectors, len(u.selectors))
		for i := range u.selectors {
			a, b := u.selectors[i], o.selectors[i]
			for id, cmd := range us.table.All() {
				require.Equal(t, a.may(id), b.may(id), "%s: %s", cmd.FullName(), u)
				require.ElementsMatch(t, a.firstArgs[id], b.firstArgs[id], "%s: %s", cmd.FullName(),
					u)
			}
		}
	}
}

func TestFile(t *testing.T) {
	us := NewUsers(testTable())
	alice := func() *User { return us.Get("alice") }
	load := func(text string) []*User {
		gone, err := us.Load("f", text, false)
		require.NoError(t, err)
		return gone
	}
	require.Empty(t, load("# people\n\nuser alice on >x ~* +@all\r\nuser bob off (~k +get)\n"))
	require.Equal(t, []string{"alice", "bob", Default}, us.Names())
	held, bob := alice(), us.Get("bob")
	require.Equal(t, []*User{bob}, load("user alice on nopass -@all"))
	require.Same(t, held, alice(), "connections keep their user")
	require.Equal(t, []string{"alice", Default}, us.Names())
	before := us.Save()
	_, err := us.Load("f",
		"user alice off\nnonsense\nuser carl +nosuch off ~* ~x nonsense\nuser carl on\nuser dora "+
			"(~x\n", false)
	require.EqualError(t, err, "f:2 should start with user keyword followed by the username. "+
		"f:3: Error in applying operation '+nosuch': Unknown command or category name in ACL. "+
		"f:3: "+ErrKeysAfterAll.Error()+". "+
		"WARNING: Duplicate user 'carl' found on line 4. f:5: Unmatched parenthesis in selector "+
		"definition."+
		"WARNING: ACL errors detected, no change to the previously active ACL rules was performed")
	require.Equal(t, before, us.Save(), "a file with errors changes nothing")
	require.True(t, us.Delete("alice"))
	require.False(t, us.Delete("alice"))
	require.False(t, us.Delete(Default))
}

// FuzzRules checks that no rule does harm, and that the description of a user can be read again.
func FuzzRules(f *testing.F) {
	for _, s := range []string{"on >x ~a +get", "(~a +@all", "%RW~x &y", "+select|0 -@all",
		"#" + strings.Repeat("0", 64), "+|", "+config|", "()", "( )", "~", "%", "(~))", "(~x) ~y)",
		"(+get|a) ~y)"} {
		f.Add(s)
	}
	table := testTable()
	f.Fuzz(func(t *testing.T, s string) {
		words := strings.Fields(s)
		rules, _, _ := Merge(words)
		us := NewUsers(table)
		for _, r := range rules {
			_, _ = us.Set("u", []string{r}, len(r)%2 == 0)
		}
		u := us.Get("u")
		if u == nil {
			return
		}
		again := NewUsers(table)
		if _, err := again.Load("f", us.Save(), false); err != nil {
			t.Fatal(err, us.Save())
		}
		if got := fmt.Sprint(again.Get("u")); got != u.String() {
			t.Fatalf("%q became %q", u, got)
		}
	})
}

func TestUnrestricted(t *testing.T) {
	for rules, want := range map[string]bool{
		"~* &* +@all": true, "~* &* +@all -get": false, "~* &* +@all -get +get": true,
		"~* +@all": false, "&* +@all": false, "(~* &* +@all)": true,
		"~* &* +@read +@write": false,
	} {
		r, _, _ := Merge(strings.Fields(rules))
		require.Equal(t, want, user(t, r...).Unrestricted(), rules)
	}
	us := NewUsers(testTable())
	require.True(t, us.Get(Default).Unrestricted())
	require.False(t, us.Get(Default).ChecksKeys())
	_, err := us.Set(Default, []string{"reset"}, true)
	require.NoError(t, err)
	require.False(t, us.Get(Default).Unrestricted())
}

func TestMayWithAllKeys(t *testing.T) {
	for rules, want := range map[string]bool{
		"~* +get": true, "%R~* +get": true, "%W~* +get": false, "~k* +get": false,
		"~k +get (~* +set)": false, "+set (%R~* +@read)": true,
	} {
		r, _, _ := Merge(strings.Fields(rules))
		u := user(t, r...)
		cmd := u.table.Named("get")
		c := Call{Cmd: cmd, Argv: [][]byte{[]byte("get"), []byte("k")}, Keys: []KeyUse{{1, Read}}}
		require.Equal(t, want, u.MayWithAllKeys(&c, Read), rules)
	}
}

func TestLog(t *testing.T) {
	var l Log
	add := func(ms int64, object string) {
		l.Add(Entry{Created: ms, At: ms, Object: object, Reason: DeniedKey, User: "u",
			Client: fmt.Sprint(ms)}, 12)
		bytes := int64(0)
		for i := range l.Len() {
			bytes += l.Newest(i).bytes()
		}
		require.Equal(t, bytes, l.Bytes())
	}
	add(1000, "a")
	add(2000, "b")
	add(3000, "a")
	require.Equal(t, 2, l.Len())
	require.Equal(t, Entry{ID: 0, Count: 2, Reason: DeniedKey, Object: "a", User: "u",
		Client: "3000", Created: 1000, Updated: 3000, At: 3000}, *l.Newest(0))
	require.Equal(t, "b", l.Newest(1).Object)
	add(3000+groupingTime, "a")
	require.EqualValues(t, 3, l.Newest(0).Count)
	add(3001+2*groupingTime, "a")
	require.EqualValues(t, 1, l.Newest(0).Count, "a minute later it is news")
	require.EqualValues(t, 2, l.Newest(0).ID)
	for i := range 30 {
		add(5000+2*groupingTime, fmt.Sprint("c", i))
	}
	require.Equal(t, 12, l.Len())
	add(5000+2*groupingTime, "c18")
	require.EqualValues(t, 1, l.Newest(0).Count, "only the newest are looked at")
	l.Trim(0)
	require.Zero(t, l.Len())
	require.Zero(t, l.Bytes())
}

func TestMerge(t *testing.T) {
	rules, bad, ok := Merge([]string{"on", "(~a", "+get)", "(~b)", "off"})
	require.True(t, ok)
	require.Empty(t, bad)
	require.Equal(t, []string{"on", "(~a +get)", "(~b)", "off"}, rules)
	_, bad, ok = Merge([]string{"on", "(~a", "+get"})
	require.False(t, ok)
	require.Equal(t, "(~a", bad)
	require.False(t, slices.Contains(rules, ""))
}
