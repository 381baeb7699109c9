package command

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"godwit/internal/resp/client"
	"godwit/internal/spec"
	"godwit/internal/testserver"
)

var regolden = flag.Bool("regolden", false, "write testdata/commands.json from Redis 8")

const goldenFile = "testdata/commands.json"

// facts are the contents of COMMAND INFO and COMMAND DOCS for each command and subcommand, without
// prose, as JSON.
type facts map[string]json.RawMessage

// prose are the keys whose values are sentences. Each server has its own.
var prose = []string{"summary", "complexity", "replaced_by", "notes"}

func gatherFacts(t *testing.T, s server) facts {
	t.Helper()
	s.proto(t, 3)
	f := facts{}
	docs := plain(s.do(t, argvOf("COMMAND", "DOCS"))).(map[string]any)
	for _, v := range s.do(t, argvOf("COMMAND", "INFO")).Elems {
		if name := v.Elems[0].Str; name == strings.ToLower(name) { // Else it is a module's.
			f.add(t, v, docs)
		}
	}
	return f
}

func (f facts) add(t *testing.T, v client.Value, docs map[string]any) {
	t.Helper()
	if len(v.Elems) != 10 {
		t.Fatalf("COMMAND INFO has %d elements: %v", len(v.Elems), v)
	}
	name := v.Elems[0].Str
	doc, ok := docs[name].(map[string]any)
	if !ok {
		t.Fatalf("%s: no docs", name)
	}
	subdocs, _ := doc["subcommands"].(map[string]any)
	delete(doc, "subcommands")
	for _, s := range v.Elems[9].Elems {
		f.add(t, s, subdocs)
	}
	one := map[string]any{"docs": doc}
	for i, what := range []string{"name", "arity", "flags", "first", "last", "step", "categories",
		"tips", "keys"} {
		one[what] = plain(v.Elems[i])
	}
	raw, err := json.Marshal(one)
	if err != nil {
		t.Fatal(err)
	}
	f[name] = raw
}

// plain converts a reply to a value for encoding/json, without prose.
func plain(v client.Value) any {
	switch v.Kind {
	case client.Map:
		m := map[string]any{}
		for i := 0; i < len(v.Elems); i += 2 {
			key := v.Elems[i].Str
			switch {
			case slices.Contains(prose, key):
			case key == "history":
				var since []any
				for _, h := range v.Elems[i+1].Elems {
					since = append(since, h.Elems[0].Str)
				}
				m[key] = since
			default:
				m[key] = plain(v.Elems[i+1])
			}
		}
		return m
	case client.Array, client.Set:
		list := []any{}
		for _, e := range v.Elems {
			list = append(list, plain(e))
		}
		return list
	case client.Int:
		return v.Int
	}
	return v.Str
}

func argvOf(args ...string) [][]byte {
	out := make([][]byte, len(args))
	for i, a := range args {
		out[i] = []byte(a)
	}
	return out
}

// TestCommandFacts compares the command table with a file of Redis 8.0's facts about the same
// commands.
func TestCommandFacts(t *testing.T) {
	if *regolden {
		writeGolden(t)
	}
	compareFacts(t, t, readGolden(t))
}

func readGolden(t *testing.T) facts {
	t.Helper()
	raw, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	want := facts{}
	for _, line := range bytes.Split(bytes.TrimSpace(raw), []byte("\n")) {
		var name struct{ Name string }
		if err := json.Unmarshal(line, &name); err != nil {
			t.Fatal(err)
		}
		want[name.Name] = line
	}
	return want
}

// TestCommandFactsRedis compares the table with a live Redis 8.
func TestCommandFactsRedis(t *testing.T) {
	p := testserver.Redis
	compareFacts(t, p.TB(t), gatherFacts(t, startPeer(t, p)))
}

// onlyValkey are commands, and arguments of others, that Redis does not have and Valkey has had
// since before Redis 8.0. Their versions do not tell.
var onlyValkey = map[string][]string{"script|show": nil, "client|capa": nil, "zscan": {"noscores"},
	"cluster|setslot": {"timeout"}}

// newerFacts are facts that a version after Redis 8.0 has changed: EXEC has conditions, a replica
// may be told to replicate no one.
var newerFacts = map[string][]string{"exec": {"arity", "flags", "keys", "docs"},
	"cluster|replicate": {"docs"}}

func compareFacts(t *testing.T, to testing.TB, want facts) {
	t.Helper()
	got := gatherFacts(t, newLocal(t))
	shared := 0
	for name, g := range got {
		if strings.Contains(name, ".") {
			continue // A module's, as the names show.
		}
		var c struct{ Docs struct{ Since string } }
		if err := json.Unmarshal(g, &c); err != nil {
			t.Fatal(err)
		}
		_, valkey := onlyValkey[name]
		if want[name] == nil && !valkey && !newer(c.Docs.Since) {
			to.Errorf("%s is since %s, but Redis 8.0 does not have it", name, c.Docs.Since)
		}
	}
	for name, w := range want {
		g, ok := got[name]
		if !ok {
			continue // TestNothingMissing tests it.
		}
		shared++
		var gm, wm map[string]any
		if json.Unmarshal(g, &gm) != nil || json.Unmarshal(w, &wm) != nil {
			t.Fatal(name)
		}
		for key := range wm {
			if slices.Contains(newerFacts[name], key) {
				continue
			}
			g, w := encode(t, dropNewer(gm[key], onlyValkey[name])), encode(t, wm[key])
			if key == "arity" && bytes.Equal(g, append([]byte("-"), w...)) && hasNewer(cmd(name)) {
				continue // There is an option more.
			}
			if !bytes.Equal(g, w) {
				to.Errorf("%s: %s\n got %s\nwant %s", name, key, g, w)
			}
		}
	}
	if shared < 250 {
		t.Errorf("only %d commands in common", shared)
	}
}

// TestCommandFactsValkey compares the commands that only Valkey has, but for their arguments.
func TestCommandFactsValkey(t *testing.T) {
	p := testserver.Valkey
	got, want, redis := gatherFacts(t, newLocal(t)), gatherFacts(t, startPeer(t, p)), readGolden(t)
	compared := 0
	for name, w := range want {
		if redis[name] != nil || got[name] == nil {
			continue
		}
		compared++
		var gm, wm map[string]any
		if json.Unmarshal(got[name], &gm) != nil || json.Unmarshal(w, &wm) != nil {
			t.Fatal(name)
		}
		for key := range wm {
			if g, w := encode(t, gm[key]), encode(t, wm[key]); key != "docs" && !bytes.Equal(g, w) {
				p.TB(t).Errorf("%s: %s\n got %s\nwant %s", name, key, g, w)
			}
		}
	}
	if compared == 0 {
		t.Error("nothing to compare")
	}
}

func cmd(name string) *spec.Command { return Table().Get(name) }

// TestCommandShapesRedis compares the replies themselves, type by type and in both protocols,
// without the sentences.
func TestCommandShapesRedis(t *testing.T) {
	p := testserver.Redis
	redis, local := startPeer(t, p), newLocal(t)
	golden := readGolden(t)
	for _, proto := range []int{2, 3} {
		redis.proto(t, proto)
		local.proto(t, proto)
		for _, cmd := range Table().All() {
			name := cmd.FullName()
			// In Redis, a hash table decides the order of subcommands.
			if golden[name] == nil || len(cmd.Sub) > 0 || hasNewer(cmd) {
				continue
			}
			compareShapes(p.TB(t), local, redis, proto, name)
		}
	}
}

func compareShapes(t testing.TB, local, redis server, proto int, name string) {
	t.Helper()
	for _, what := range []string{"INFO", "DOCS"} {
		argv := argvOf("COMMAND", what, name, "nosuch")
		got, want := local.do(t, argv), redis.do(t, argv)
		blank(&got)
		blank(&want)
		if !got.Equal(want) {
			t.Errorf("RESP%d %s %s:\n got %v\nwant %v", proto, what, name, got, want)
		}
	}
}

// hasNewer reports whether the entry documents something that Redis 8.0 does not have.
func hasNewer(cmd *spec.Command) bool {
	only := onlyValkey[cmd.FullName()]
	var inArgs func(args []spec.Arg) bool
	inArgs = func(args []spec.Arg) bool {
		return slices.ContainsFunc(args, func(a spec.Arg) bool {
			return newer(a.Since) || slices.Contains(only, a.Name) || inArgs(a.Args)
		})
	}
	return inArgs(cmd.Args) || slices.ContainsFunc(cmd.History, func(h spec.History) bool {
		return newer(h.Since)
	})
}

// blank empties the strings that are prose.
func blank(v *client.Value) {
	for i := range v.Elems {
		if i%2 == 1 {
			switch key := v.Elems[i-1].Str; {
			case slices.Contains(prose, key):
				v.Elems[i].Str = ""
			case key == "history":
				for _, h := range v.Elems[i].Elems {
					h.Elems[1].Str = ""
				}
			}
		}
		blank(&v.Elems[i])
	}
}

// dropNewer removes the arguments and the history that Redis 8.0 does not have: what is newer, and
// the named arguments.
func dropNewer(v any, args []string) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			v[k] = dropNewer(e, args)
		}
		if list, ok := v["history"].([]any); ok && len(list) == 0 {
			delete(v, "history")
		}
	case []any:
		out := []any{}
		for _, e := range v {
			since, _ := e.(string)
			name := ""
			if m, ok := e.(map[string]any); ok {
				since, _ = m["since"].(string)
				name, _ = m["name"].(string)
			}
			if !newer(since) && !slices.Contains(args, name) {
				out = append(out, dropNewer(e, args))
			}
		}
		return out
	}
	return v
}

// newer reports whether s is a version above 8.0.
func newer(s string) bool {
	var major, minor, patch int
	n, _ := fmt.Sscanf(s, "%d.%d.%d", &major, &minor, &patch)
	return n == 3 && (major > 8 || major == 8 && minor > 0)
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// writeGolden writes a line for each command.
func writeGolden(t *testing.T) {
	t.Helper()
	f := gatherFacts(t, startPeer(t, testserver.Redis))
	var out bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(f)) {
		out.Write(append(f[name], '\n'))
	}
	if err := os.WriteFile(goldenFile, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
