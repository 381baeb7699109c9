package diff

import (
	"strings"
	"testing"
)

// TestChosenIDs checks what makes streams comparable in which servers choose IDs.
func TestChosenIDs(t *testing.T) {
	far, star := cmdOf("XADD", autoKey, farID, "f", "v"), cmdOf("XADD", autoKey, "*", "f", "v")
	other := star
	other.Client = 1
	for _, c := range []struct {
		stream []Cmd
		want   bool
	}{
		{[]Cmd{far, star}, true}, {[]Cmd{star}, false}, {[]Cmd{far, cmdOf("PING"), star}, false},
		{[]Cmd{far, other}, false}, {[]Cmd{cmdOf("XADD", "k", "1-1", "f", "v")}, true},
	} {
		if got := comparable(c.stream); got != c.want {
			t.Errorf("%v: %v", c.stream, got)
		}
	}
}

// TestEntryGuards checks that idle times and thresholds do not depend on clocks and on nodes.
func TestEntryGuards(t *testing.T) {
	table := smallTable()
	for _, name := range []string{"xadd", "xtrim", "xpending", "xclaim", "xgroup|create"} {
		table[name] = &Command{Name: name, Group: "stream"}
	}
	g := generatorOf(t, table, table)
	g.Round(1, 2, 1)
	for _, c := range []struct{ in, want string }{
		{"XPENDING k g IDLE 5 - + 1", "XPENDING k g IDLE 100000000 - + 1"},
		{"XPENDING k g IDLE 0 - + 1", "XPENDING k g IDLE 0 - + 1"},
		{"XPENDING k g IDLE x - + 1", "XPENDING k g IDLE x - + 1"},
		{"XTRIM k MAXLEN = 5", "XTRIM k MAXLEN = 5"},
		{"XTRIM k MAXLEN ~ -1", "XTRIM k MAXLEN ~ 0|XTRIM k MAXLEN ~ 1000000"},
		{"XTRIM k MAXLEN ~ 5", "XTRIM k MAXLEN ~ 0|XTRIM k MAXLEN ~ 1000000"},
		{"XGROUP CREATE k g 0 ENTRIESREAD 7", "XGROUP CREATE k g 0 ENTRIESREAD 0"},
		{"XADD k * f v", "XADD " + autoKey + " " + farID + " f v"},
	} {
		args := split(c.in)
		name := strings.ToLower(string(args[0]))
		if name == "xgroup" {
			name += "|create"
		}
		got := Cmd{Args: g.guards[name](g, args)}.String()
		got = strings.TrimPrefix(got, "c0 ")
		if !strings.Contains("|"+c.want+"|", "|"+got+"|") {
			t.Errorf("%s became %s, not %s", c.in, got, c.want)
		}
	}
}

// TestPlainInfo checks that fields that a reference lacks are left out, however deep they are.
func TestPlainInfo(t *testing.T) {
	text := func(s string) Reply { return Reply{Kind: '$', Str: s} }
	list := func(elems ...Reply) Reply { return Reply{Kind: '*', Elems: elems} }
	group := list(text("name"), text("g"), text("lag"), text("5"))
	got := plainInfo("lag", "length")(list(text("length"), text("1"), text("groups"), list(group)))
	want := list(text("groups"), list(list(text("name"), text("g"))))
	if !same(got, want) {
		t.Errorf("%v, not %v", got, want)
	}
}

// TestAskedIsNotRun checks that nothing follows a command that COMMAND GETKEYS asks about.
func TestAskedIsNotRun(t *testing.T) {
	table := smallTable()
	for _, name := range []string{"xadd", "xreadgroup"} {
		table[name] = &Command{Name: name, Group: "stream", Args: []Arg{
			{Name: "key", Type: "key"}, {Name: "auto-id", Type: "string"},
			{Name: "group", Type: "string"}, {Name: "consumer", Type: "string"}}}
	}
	g := generatorOf(t, table, table)
	g.Round(1, 2, 1)
	for range 2000 {
		g.after = nil
		if args := g.whole["command|getkeys"](g); len(g.after) > 0 {
			t.Fatalf("%v follows %q", g.after, args)
		}
	}
}

// TestPayloads checks which commands carry what a server has dumped.
func TestPayloads(t *testing.T) {
	value := dumpArg(2, "k}")
	cmds, _, _ := dumpCommands(value)
	if got := cmds[0].String() + " " + cmds[1].String(); got != "c0 SELECT 2 c0 DUMP k}" {
		t.Errorf("%s stands for %s", value, got)
	}
	for _, c := range []struct {
		args []string
		want bool
	}{
		{[]string{"RESTORE", "k", "0", value}, true}, {[]string{"RESTORE", "k", "0", "x"}, false},
		{[]string{"RESTORE"}, false}, {[]string{"SET", "k", value}, false},
		{[]string{"FUNCTION", "RESTORE", functionsArg}, true},
		{[]string{"function", "restore", cutArg, "FLUSH"}, true},
		{[]string{"RESTORE", "k", "0", dumpPrefix}, false},
	} {
		if got := cmdOf(c.args...).swaps(); got != c.want {
			t.Errorf("%q: %v", c.args, got)
		}
	}
}
