package command

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"godwit/internal/resp/client"
	"godwit/internal/spec"
	"godwit/internal/testserver"
)

// The rules that derive movablekeys, key ranges, categories and key positions must also hold for
// commands that are not in the table yet. So these tests make entries from redis-server's facts
// about all of its commands. They compare what the table derives from flags, group and key specs
// with the same facts.

// modelFacts is the part of a line of commands.json from which entries are made.
type modelFacts struct {
	Name              string
	Arity             int
	Flags, Categories []string
	First, Last, Step int
	Docs              struct{ Group string }
	Keys              []struct {
		Flags []string
		Begin struct {
			Type string
			Spec struct {
				Index     int
				Keyword   string
				StartFrom int
			}
		} `json:"begin_search"`
		Find struct {
			Type string
			Spec struct{ LastKey, KeyStep, Limit, KeyNumIdx, FirstKey int }
		} `json:"find_keys"`
	}
}

// ownCategories are what the entries of these commands must name in Categories.
var ownCategories = map[string][]string{
	"restore": {"dangerous"}, "keys": {"dangerous"}, "migrate": {"dangerous"},
	"info": {"dangerous"}, "swapdb": {"keyspace", "dangerous"},
	"flushdb": {"keyspace", "dangerous"}, "flushall": {"keyspace", "dangerous"},
	"restore-asking": {"keyspace", "dangerous"}, "dbsize": {"keyspace"},
	"sort":    {"set", "sortedset", "list", "dangerous"},
	"sort_ro": {"set", "sortedset", "list", "dangerous"}, "role": {"admin", "dangerous"},
	"lastsave": {"admin", "dangerous"}, "wait": {"connection"},
	"waitaof": {"connection"}, "readonly": {"connection"},
	"readwrite": {"connection"}, "asking": {"connection"}, "command": {"connection"},
	"command|list": {"connection"}, "command|info": {"connection"},
	"command|getkeys": {"connection"}, "command|count": {"connection"},
	"command|help": {"connection"}, "command|docs": {"connection"},
	"command|getkeysandflags": {"connection"},
}

// modelCommands makes an entry for each command of the file, by full name. It leaves out
// containers.
func modelCommands(t *testing.T) (map[string]*spec.Command, map[string]modelFacts) {
	t.Helper()
	flags, access := map[string]spec.Flag{}, map[string]spec.Access{}
	for i := range 64 {
		if names := (&spec.Command{Flags: 1 << i}).FlagNames(); len(names) == 1 {
			flags[names[0]] = 1 << i
		}
		if names := spec.Access(1 << min(i, 15)).Names(); len(names) == 1 {
			access[names[0]] = 1 << i
		}
	}
	facts, cmds, list := map[string]modelFacts{}, map[string]*spec.Command{}, []*spec.Command{}
	for name, raw := range readGolden(t) {
		var f modelFacts
		if err := json.Unmarshal(raw, &f); err != nil {
			t.Fatal(name, err)
		}
		facts[name] = f
	}
	for name, f := range facts {
		if name != "command" && hasSubcommands(facts, name) {
			continue
		}
		cmd := &spec.Command{
			Name: strings.ReplaceAll(name, "|", ":"), Arity: f.Arity,
			Group: spec.Group(f.Docs.Group), Since: "1.0.0", Summary: "-",
			Categories: ownCategories[name],
		}
		for _, n := range f.Flags {
			if n != "movablekeys" { // The table must derive it.
				cmd.Flags |= flags[n]
			}
		}
		for _, k := range f.Keys {
			ks := spec.KeySpec{}
			for _, n := range k.Flags {
				ks.Access |= access[n]
			}
			switch b := k.Begin.Spec; k.Begin.Type {
			case "index":
				ks.Begin = spec.At(b.Index)
			case "keyword":
				ks.Begin = spec.After(b.Keyword, b.StartFrom)
			}
			switch s := k.Find.Spec; k.Find.Type {
			case "range":
				ks.Find = spec.Range(s.LastKey, s.KeyStep, s.Limit)
			case "keynum":
				ks.Find = spec.KeyNum(s.KeyNumIdx, s.FirstKey, s.KeyStep)
			}
			cmd.Keys = append(cmd.Keys, ks)
		}
		cmds[name] = cmd
		list = append(list, cmd)
	}
	spec.NewTable(list)
	return cmds, facts
}

func hasSubcommands(facts map[string]modelFacts, name string) bool {
	for other := range facts {
		if strings.HasPrefix(other, name+"|") {
			return true
		}
	}
	return false
}

func TestDerivedFacts(t *testing.T) {
	cmds, facts := modelCommands(t)
	for name, cmd := range cmds {
		f := facts[name]
		if !slices.Equal(cmd.FlagNames(), f.Flags) {
			t.Errorf("%s: flags %v, want %v", name, cmd.FlagNames(), f.Flags)
		}
		first, last, step := cmd.LegacyRange()
		if first != f.First || last != f.Last || step != f.Step {
			t.Errorf("%s: range %d %d %d, want %d %d %d", name, first, last, step, f.First, f.Last,
				f.Step)
		}
		var cats []string
		for _, c := range cmd.ACL() {
			cats = append(cats, "@"+c)
		}
		if !slices.Equal(cats, f.Categories) {
			t.Errorf("%s: categories %v, want %v", name, cats, f.Categories)
		}
	}
	if len(cmds) < 300 {
		t.Errorf("only %d commands", len(cmds))
	}
}

// keyCalls are calls whose keys are found by each kind of key spec, valid and invalid ones. Calls
// that need a function in place of the specs are in the case files.
var keyCalls = []string{
	"xread streams a 1", "xread count 2 streams a b 1 2", "xread streams a", "xread a b c",
	"xread count streams streams a 1", "xreadgroup group g c streams a b > >",
	"xreadgroup group streams c count 1 streams a >", "xreadgroup a b c d e f g",
	"zunionstore d 2 a b", "zunionstore d 2 a b weights 1 2", "zunionstore d 1 a",
	"zunionstore d 0 a", "zunionstore d 2 a", "zunionstore d x a", "zunionstore d -1 a",
	"zunionstore d 9223372036854775807 a", "zunion 2 a b", "zdiff 3 a b", "eval s 0", "eval s 0 x",
	"eval s 2 a b", "eval s 2 a b c", "eval s 3 a b", "eval s -1 a b", "eval s x a b",
	"fcall f 1 a", "fcall_ro f 0", "lmpop 2 a b left", "lmpop 0 a left", "blmpop 0 1 a left",
	"blmpop 0 x a left", "sintercard 1 a limit 5", "georadius a 1 2 3 m",
	"georadius a 1 2 3 m store b", "georadius a 1 2 3 m storedist b",
	"georadius a 1 2 3 m count 1 STORE b", "georadiusbymember a b 3 m store c", "blpop a b 0",
	"blpop a 0", "bzpopmin a b c 0", "sunionstore d a b c", "pfmerge a", "pfmerge a b",
	"bitop and d a", "mset a 1 b 2", "mset a 1 b", "rename a b", "smove a b c",
	"lmove a b left right", "object encoding a", "xinfo stream a", "xgroup create a b c",
	"memory usage a", "zrangestore a b 0 1", "ssubscribe a", "spublish a b", "watch a b",
	"ping x", "publish a b",
}

// TestKeyRefsRedis compares the keys that key specs alone find with COMMAND GETKEYSANDFLAGS.
func TestKeyRefsRedis(t *testing.T) {
	p := testserver.Redis
	redis := startPeer(t, p)
	cmds, facts := modelCommands(t)
	for _, call := range keyCalls {
		argv := argvOf(strings.Fields(call)...)
		name := string(argv[0])
		if hasSubcommands(facts, name) {
			name += "|" + string(argv[1])
		}
		want := keysReply(redis.do(t, append(argvOf("COMMAND", "GETKEYSANDFLAGS"), argv...)))
		if got := keysOf(t, cmds[name], argv); got != want {
			p.TB(t).Errorf("%s:\n got %s\nwant %s", call, got, want)
		}
	}
}

func keysReply(v client.Value) string {
	if v.IsError() {
		return v.Str
	}
	var out []string
	for _, k := range v.Elems {
		out = append(out, fmt.Sprint(k.Elems[0].Str, k.Elems[1].Strings()))
	}
	return fmt.Sprint(out)
}

func keysOf(t *testing.T, cmd *spec.Command, argv [][]byte) string {
	t.Helper()
	switch {
	case cmd == nil:
		t.Fatalf("no command for %q", argv)
	case !cmd.HasKeys():
		return "ERR The command has no key arguments"
	case !cmd.AcceptsArgs(len(argv)):
		return "ERR Invalid number of arguments specified for command"
	}
	refs, err := cmd.KeyRefs(nil, argv)
	if err != nil || len(refs) == 0 && !cmd.Is(spec.NoMandatoryKeys) {
		return "ERR Invalid arguments specified for command"
	}
	var out []string
	for _, r := range refs {
		out = append(out, fmt.Sprint(string(argv[r.Pos]), r.Access.Names()))
	}
	return fmt.Sprint(out)
}
