package command

import (
	"slices"
	"strings"
	"testing"

	"godwit/internal/testserver"
)

// notOurs are the commands, subcommands and options of newer servers that Godwit does not have, and
// why. A name ends in '*' if it stands for all that begin so. An option is a command and the tokens
// that lead to it.
var notOurs = []struct{ name, why string }{
	{"json.*", "JSON is not ours"},
	{"ft.*", "search is not ours"},
	{"ts.*", "time series are not ours"},
	{"v*", "vector sets are not ours: VADD, VSIM and their like"},
	{"ar*", "arrays are not ours: ARSET, ARGET and their like"},
	{"cluster*", "cluster is not there yet"},
	{"shutdown SAFE", "cluster is not there yet"},
	{"shutdown FAILOVER", "a master hands its slots over unasked"},
}

// isNotOurs reports whether notOurs has the name.
func isNotOurs(name string) bool {
	for _, n := range notOurs {
		prefix, all := strings.CutSuffix(n.name, "*")
		if name == n.name || all && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// tokenPaths returns the options in a list of documented arguments, each with the tokens before it.
func tokenPaths(args any, before string) []string {
	var out []string
	list, _ := args.([]any)
	for _, a := range list {
		arg := a.(map[string]any)
		path := before
		if token, ok := arg["token"].(string); ok {
			path += " " + token
			out = append(out, path)
		}
		out = append(out, tokenPaths(arg["arguments"], path)...)
	}
	return out
}

// commandsAndOptions returns the names of the server's commands, of their subcommands, and of all
// options in their documentation: "set EX".
func commandsAndOptions(t *testing.T, s server) map[string]bool {
	t.Helper()
	s.proto(t, 3)
	out := map[string]bool{}
	var add func(name string, doc any)
	add = func(name string, doc any) {
		out[name] = true
		d := doc.(map[string]any)
		for _, option := range tokenPaths(d["arguments"], "") {
			out[name+option] = true
		}
		subs, _ := d["subcommands"].(map[string]any)
		for sub, doc := range subs {
			add(sub, doc)
		}
	}
	for name, doc := range plain(s.do(t, argvOf("COMMAND", "DOCS"))).(map[string]any) {
		add(strings.ToLower(name), doc)
	}
	return out
}

// TestNothingMissing looks for commands, subcommands and options that one of the newest servers has
// and Godwit does not.
func TestNothingMissing(t *testing.T) {
	got := commandsAndOptions(t, newLocal(t))
	for _, p := range []testserver.Peer{testserver.Redis, testserver.Valkey} {
		t.Run(string(p), func(t *testing.T) {
			want := commandsAndOptions(t, startPeer(t, p))
			if len(want) < 800 {
				t.Errorf("only %d commands and options", len(want))
			}
			var missing []string
			for name := range want {
				if !got[name] && !isNotOurs(name) {
					missing = append(missing, name)
				}
			}
			slices.Sort(missing)
			if len(missing) > 0 {
				p.TB(t).Errorf("missing:\n%s", strings.Join(missing, "\n"))
			}
		})
	}
}

// TestNotOursIsNotOurs checks that the exceptions of TestNothingMissing are exceptions.
func TestNotOursIsNotOurs(t *testing.T) {
	for name := range commandsAndOptions(t, newLocal(t)) {
		if isNotOurs(name) && !strings.HasPrefix(name, "cluster") {
			t.Errorf("Godwit has %s", name)
		}
	}
}
