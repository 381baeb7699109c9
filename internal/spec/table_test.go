package spec

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/testseed"
)

// TestEntries checks that New's own checks pass. Where key specs alone do not find all keys and
// their use, there is a function that does.
func TestEntries(t *testing.T) {
	for _, c := range New().All() {
		for i := range c.Keys {
			k := &c.Keys[i]
			if k.Unknown() || k.Access&(Incomplete|VariableFlags) != 0 {
				require.NotNil(t, c.KeysFn, "%s: key spec %d", c.FullName(), i)
			}
		}
	}
}

// TestOrder: IDs are dense and follow the names, whichever file describes a command. Subcommands
// follow their container, in the order of its entry.
func TestOrder(t *testing.T) {
	var want []*Command
	last := ""
	for i, c := range New().All() {
		require.Equal(t, i, c.ID())
		if c.Parent() == nil {
			require.Less(t, last, c.Name)
			last, want = c.Name, append(append(want, c), c.Sub...)
		}
	}
	require.Equal(t, want, New().All())
}

func TestRefuses(t *testing.T) {
	good := Command{Name: "x", Arity: 1, Group: GroupGeneric, Since: "1.0.0", Summary: "-"}
	for what, spoil := range map[string]func(c *Command){
		"upper case": func(c *Command) { c.Name = "X" },
		"long name":  func(c *Command) { c.Name = strings.Repeat("x", maxName+1) },
		"no arity":   func(c *Command) { c.Arity = 0 },
		"no summary": func(c *Command) { c.Summary = "" },
		"both":       func(c *Command) { c.Flags = Write | ReadOnly },
		"key spec":   func(c *Command) { c.Args = []Arg{Key("key", 0)} },
		"deep spec":  func(c *Command) { c.Args = []Arg{Block("b", OneOf("o", Key("key", 1)))} },
		"no type":    func(c *Command) { c.Args = []Arg{{Name: "a"}} },
		"twice":      func(c *Command) { a, b := good, good; c.Sub = []*Command{&a, &b} },
	} {
		c := good
		spoil(&c)
		require.Panics(t, func() { NewTable([]*Command{&c}) }, what)
	}
	a, b := good, good
	require.Panics(t, func() { NewTable([]*Command{&a, &b}) }, "a duplicate")
	c := good
	require.NotPanics(t, func() { NewTable([]*Command{&c}) })
}

// TestRename checks that renames belong to one table and do not change full names.
func TestRename(t *testing.T) {
	renamed, other := New(), New()
	require.NoError(t, renamed.Rename("GET", "Fetch"))
	require.NoError(t, renamed.Rename("config", "settings-of-the-server"))
	long := strings.Repeat("0123456789abcdef", 8) // openssl rand -hex 64
	require.NoError(t, renamed.Rename("flushall", long))
	require.NoError(t, renamed.Rename("del", ""))
	argv := func(s string) (out [][]byte) {
		for _, w := range strings.Fields(s) {
			out = append(out, []byte(w))
		}
		return out
	}
	for call, want := range map[string]string{
		"fetch k": "get", "get k": "", "del k": "", "SETTINGS-of-the-server get": "config|get",
		"config get": "", "settings-of-the-server": "config", "client id": "client|id",
		"client nosuch": "", long: "flushall", strings.ToUpper(long): "flushall", long + "0": "",
		strings.Repeat("x", maxRename+1): "",
	} {
		got := ""
		if c := renamed.Find(argv(call)); c != nil {
			got = c.FullName()
		}
		require.Equal(t, want, got, call)
	}
	require.Equal(t, "del", renamed.FindLogged(argv("del k")).FullName())
	require.Equal(t, "config|get", renamed.FindLogged(argv("config get")).FullName())
	require.Same(t, other.Named("get"), renamed.Named("get"))
	require.Same(t, other.Named("get"), other.Find(argv("get k")))
	require.Len(t, renamed.List(), len(other.List())-1)
}

// TestLeadingKeys compares LeadingKeys with KeyRefs, for calls that have arguments of many kinds.
func TestLeadingKeys(t *testing.T) {
	words := []string{"key", "0", "1", "2", "9", "10", "-1", "x", ""}
	found := map[string]int{}
	r := testseed.Rand(t)
	for _, c := range New().All() {
		for range 300 {
			argv := [][]byte{[]byte(c.Name)}
			for range r.IntN(12) {
				argv = append(argv, []byte(words[r.IntN(len(words))]))
			}
			keys := c.LeadingKeys(argv)
			refs, err := c.KeyRefs(nil, argv)
			if !c.AcceptsArgs(len(argv)) || err != nil {
				continue // It is enough not to panic.
			}
			require.LessOrEqual(t, len(keys), len(refs), "%q", argv)
			for i := range keys {
				require.Same(t, &argv[refs[i].Pos], &keys[i], "%q", argv)
			}
			found[c.FullName()] = max(found[c.FullName()], len(keys))
		}
	}
	require.Equal(t, 1, found["get"])
	require.Equal(t, 1, found["mset"])
	require.Zero(t, found["ping"])
	for _, call := range []string{"eval x 9", "zunion 9"} {
		argv := bytes.Fields([]byte(call + " a b c d e f g h i"))
		require.Len(t, New().Top(argv[0]).LeadingKeys(argv), 9, call)
	}
}

// TestOnlyKey compares OnlyKey with KeyRefs, for calls that have options of many commands.
func TestOnlyKey(t *testing.T) {
	words := []string{"key", "1", "get", "set", "overflow", "ifeq", "nx", "store", "limit", "keys"}
	r := testseed.Rand(t)
	for _, c := range New().All() {
		for range 300 {
			argv := [][]byte{[]byte(c.Name)}
			for range r.IntN(12) {
				argv = append(argv, []byte(words[r.IntN(len(words))]))
			}
			if at := c.OnlyKey(); at > 0 && c.AcceptsArgs(len(argv)) {
				refs, err := c.KeyRefs(nil, argv)
				require.NoError(t, err, "%q", argv)
				require.Len(t, refs, 1, "%q", argv)
				require.Equal(t, at, refs[0].Pos, "%q", argv)
			}
		}
	}
	for name, want := range map[string]int{"get": 1, "set": 1, "bitfield": 1, "sort": 0, "mget": 0,
		"exec": 0, "xinfo|stream": 2, "georadius": 0, "ping": 0} {
		require.Equal(t, want, New().Named(name).OnlyKey(), name)
	}
}

// TestWritesUnnamed lists the commands that change keys which they do not name.
func TestWritesUnnamed(t *testing.T) {
	var names []string
	for _, c := range New().All() {
		if c.WritesUnnamed() {
			names = append(names, c.FullName())
		}
	}
	require.Equal(t, []string{"cluster|flushslot", "flushall", "flushdb", "swapdb"}, names)
}
