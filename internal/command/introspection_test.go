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

var regolden = flag.Bool("regolden", false, "write testdata/commands.json from redis-server")

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
		f.add(t, v, docs)
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

// TestCommandFacts compares the command table with a file of redis-server 7.0's facts about the
// same commands.
func TestCommandFacts(t *testing.T) {
	if *regolden {
		writeGolden(t)
	}
	compareFacts(t, readGolden(t))
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

// TestCommandFactsRedis compares the table with a live server, if there is one of the file's
// version.
func TestCommandFactsRedis(t *testing.T) {
	redis := startRedis(t)
	info := redis.do(t, argvOf("INFO", "server")).Str
	if !strings.Contains(info, "redis_version:7.0.") {
		t.Skip("redis-server is not 7.0")
	}
	compareFacts(t, gatherFacts(t, redis))
}

func compareFacts(t *testing.T, want facts) {
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
		if want[name] == nil && !newer(c.Docs.Since) {
			t.Errorf("%s is since %s, but redis 7.0 does not have it", name, c.Docs.Since)
		}
	}
	for name, w := range want {
		g, ok := got[name]
		if !ok {
			continue
		}
		shared++
		var gm, wm map[string]any
		if json.Unmarshal(g, &gm) != nil || json.Unmarshal(w, &wm) != nil {
			t.Fatal(name)
		}
		for key := range wm {
			if name == "bitop" && key == "docs" {
				continue // Documented as in 7.2, where the operations are tokens.
			}
			if asInRedis8(name) {
				continue // TestCommandShapesRedis8 tests it.
			}
			if (name == "zrank" || name == "zrevrank") && key == "arity" {
				continue // WITHSCORE is new in 7.2.
			}
			g, w := encode(t, dropNewer(gm[key])), encode(t, wm[key])
			if !bytes.Equal(g, w) {
				t.Errorf("%s: %s\n got %s\nwant %s", name, key, g, w)
			}
		}
	}
	if shared < 100 {
		t.Errorf("only %d commands in common", shared)
	}
}

// TestCommandShapesRedis compares the replies themselves, type by type and in both protocols,
// without the sentences.
func TestCommandShapesRedis(t *testing.T) {
	redis, local := startRedis(t), newLocal(t)
	golden := readGolden(t)
	for _, proto := range []int{2, 3} {
		redis.proto(t, proto)
		local.proto(t, proto)
		for _, cmd := range Table().All() {
			name := cmd.FullName()
			// In Redis, a hash table decides the order of subcommands.
			if golden[name] == nil || len(cmd.Sub) > 0 || name == "bitop" || hasNewer(cmd) ||
				asInRedis8(name) {
				continue
			}
			compareShapes(t, local, redis, proto, name)
		}
	}
}

func compareShapes(t testing.TB, local, redis server, proto int, name string) {
	t.Helper()
	for _, what := range []string{"INFO", "DOCS"} {
		argv := argvOf("COMMAND", what, name, "nosuch")
		got, want := local.do(t, argv), redis.do(t, argv)
		for _, v := range []*client.Value{&got, &want} {
			blank(v)
			if asInRedis8(name) {
				dropDisplay(v)
			}
		}
		if !got.Equal(want) {
			t.Errorf("RESP%d %s %s:\n got %v\nwant %v", proto, what, name, got, want)
		}
	}
}

// asInRedis8 reports whether a command of a part that Godwit does not have is documented as in
// Redis 8, where that differs from 7.0.
func asInRedis8(name string) bool {
	switch name {
	case "replicaof", "slaveof", "failover", "psync", "sync", "replconf", "asking", "readonly",
		"readwrite":
		return true
	}
	return strings.HasPrefix(name, "cluster|") || strings.HasPrefix(name, "module|")
}

// dropDisplay removes the display texts from COMMAND DOCS. Redis 8 repeats each argument's name
// there.
func dropDisplay(v *client.Value) {
	for i := 0; i < len(v.Elems); i++ {
		if v.Elems[i].Str == "display_text" {
			v.Elems = slices.Delete(v.Elems, i, i+2)
		}
	}
	for i := range v.Elems {
		dropDisplay(&v.Elems[i])
	}
}

// TestCommandShapesRedis8 compares the commands of the parts that Godwit does not have.
func TestCommandShapesRedis8(t *testing.T) {
	p := testserver.Redis
	redis, local := startPeer(t, p), newLocal(t)
	for _, proto := range []int{2, 3} {
		redis.proto(t, proto)
		local.proto(t, proto)
		for _, cmd := range Table().All() {
			if name := cmd.FullName(); asInRedis8(name) {
				compareShapes(p.TB(t), local, redis, proto, name)
			}
		}
	}
}

// hasNewer reports whether the entry documents something that Redis 7.0 does not have.
func hasNewer(cmd *spec.Command) bool {
	var inArgs func(args []spec.Arg) bool
	inArgs = func(args []spec.Arg) bool {
		return slices.ContainsFunc(args, func(a spec.Arg) bool {
			return newer(a.Since) || inArgs(a.Args)
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

// dropNewer removes the arguments and the history that Redis 7.0 does not have.
func dropNewer(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			v[k] = dropNewer(e)
		}
		if list, ok := v["history"].([]any); ok && len(list) == 0 {
			delete(v, "history")
		}
	case []any:
		out := []any{}
		for _, e := range v {
			since, _ := e.(string)
			if m, ok := e.(map[string]any); ok {
				since, _ = m["since"].(string)
			}
			if !newer(since) {
				out = append(out, dropNewer(e))
			}
		}
		return out
	}
	return v
}

// newer reports whether s is a version above 7.0.
func newer(s string) bool {
	var major, minor, patch int
	n, _ := fmt.Sscanf(s, "%d.%d.%d", &major, &minor, &patch)
	return n == 3 && (major > 7 || major == 7 && minor > 0)
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
	f := gatherFacts(t, startRedis(t))
	var out bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(f)) {
		out.Write(append(f[name], '\n'))
	}
	if err := os.WriteFile(goldenFile, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
