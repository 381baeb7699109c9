package config

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/testserver"
)

// The tests of this file compare the table with the newest Redis and Valkey. What these know is in
// testdata/directives.txt as well, for where they are not.

var updateDirectives = flag.Bool("update-directives", false,
	"write testdata/directives.txt from the peers")

const directivesFile = "testdata/directives.txt"

var peers = []testserver.Peer{testserver.Redis, testserver.Valkey}

// peerDirective is a directive of a peer with its default.
type peerDirective struct {
	peer          testserver.Peer
	name, initial string
}

func peerDirectives(t testing.TB) []peerDirective {
	text, err := os.ReadFile(directivesFile)
	require.NoError(t, err)
	var all []peerDirective
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		peer, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		name, initial, _ := strings.Cut(rest, " ")
		all = append(all, peerDirective{testserver.Peer(peer), name, initial})
	}
	return all
}

// hiddenNames are directives that CONFIG GET of a peer shows only when asked by name.
var hiddenNames = []string{
	"aof-disable-auto-gc", "cluster-ping-interval", "cluster-message-gossip-perc", "debug-context",
	"enable-debug-assert", "io-threads-always-active", "key-load-delay",
	"loading-process-events-interval-bytes",
	"lua-enable-deprecated-api", "lua-enable-insecure-api", "min-io-threads-avoid-copy-reply",
	"min-string-size-avoid-copy-reply", "min-string-size-avoid-copy-reply-threaded",
	"rdb-key-save-delay", "repl-rdb-channel",
	"use-exit-on-panic", "watchdog-period",
}

// ownNames are directives whose value depends on how the tests start a peer.
var ownNames = []string{"port", "unixsocket", "dir"}

// ownDefaults are directives with another default here. Defragmentation costs nothing while there
// is nothing to do, and is to serve small data sets too. The backlog is as long as Valkey's.
// Failures in a cluster are noticed sooner.
var ownDefaults = []string{"activedefrag", "active-defrag-ignore-bytes", "repl-backlog-size",
	"cluster-node-timeout"}

// askPeer asks a running peer for its directives.
func askPeer(t *testing.T, p testserver.Peer) []peerDirective {
	c, out := runServer(t, p.Program(t, "server"), t.TempDir(), "", "--port", "0", "--unixsocket",
		"s")
	require.NotNil(t, c, out)
	var all []peerDirective
	for name, value := range get(t, c, append([]string{"*"}, hiddenNames...)...) {
		if !slices.Contains(ownNames, name) {
			all = append(all, peerDirective{p, name, value})
		}
	}
	slices.SortFunc(all, func(a, b peerDirective) int { return strings.Compare(a.name, b.name) })
	return all
}

// TestPeersDefaultsLoad starts Godwit with a file of all defaults of a standalone Redis or Valkey.
// There must be no warning.
func TestPeersDefaultsLoad(t *testing.T) {
	check := func(t testing.TB, all []peerDirective) {
		require.NotEmpty(t, all)
		for _, d := range all {
			row := Lookup(d.name)
			if row == nil {
				t.Errorf("%s: %s is not known", d.peer, d.name)
				continue
			}
			line := d.name + " " + quote(d.initial)
			c, err := Parse("file", line)
			if err != nil {
				t.Errorf("%s: %s: %v", d.peer, line, err)
				continue
			}
			if got := ours(c, d.name)[d.name]; got != d.initial {
				t.Errorf("%s: %s reads as %q", d.peer, line, got)
			}
			got := row.Value(Default())
			if d.peer == testserver.Redis && got != d.initial &&
				!slices.Contains(ownDefaults, d.name) {
				t.Errorf("%s: the default of %s is %q, not %q", d.peer, d.name, d.initial, got)
			}
			if w := c.Warnings(); len(w) > 0 && d.peer == testserver.Redis {
				t.Errorf("%s: %s: %q", d.peer, line, w)
			}
		}
	}
	t.Run("listed", func(t *testing.T) {
		if *updateDirectives {
			writeDirectives(t)
		}
		check(t, peerDirectives(t))
	})
	for _, p := range peers {
		t.Run(string(p), func(t *testing.T) { check(p.TB(t), askPeer(t, p)) })
	}
}

func writeDirectives(t *testing.T) {
	var b strings.Builder
	b.WriteString(
		"# Directives of Redis and Valkey with their defaults. go test -run PeersDefaults " +
			"-update-directives writes it.\n")
	for _, p := range peers {
		fmt.Fprintf(&b, "# %s %s\n", p, p.Version(t))
		for _, d := range askPeer(t, p) {
			fmt.Fprintf(&b, "%s %s %s\n", d.peer, d.name, d.initial)
		}
	}
	require.NoError(t, os.WriteFile(directivesFile, []byte(b.String()), 0o644))
}

// TestEveryDirectiveRefusesAsRedis8 compares bounds and flags of every directive that Redis 8
// knows, as seen in the errors of CONFIG SET.
func TestEveryDirectiveRefusesAsRedis8(t *testing.T) {
	p := testserver.Redis
	dir := t.TempDir()
	args := []string{"--port", "0", "--unixsocket", "s", "--dir", dir,
		"--active-defrag-ignore-bytes", "100mb", "--repl-backlog-size", "1mb"} // of ownDefaults
	c, out := runServer(t, p.Program(t, "server"), dir, "", args...)
	require.NotNil(t, c, out)
	mine, err := Load(args, nil)
	require.NoError(t, err)
	differ := map[string]string{
		"activedefrag":    "depends on the allocator Redis was built with",
		"bind":            "only the server can tell whether an address is ours",
		"locale-collate":  "depends on the locales of the machine",
		"tls-replication": "there is no certificate that Redis could use",
		"tls-cluster":     "there is no certificate that Redis could use",

		"cluster-node-timeout": "other bounds and another default",
		"cluster-announce-ip":  "Redis takes what is no address",
	}
	for _, d := range Directives() {
		if differ[d.Name] != "" || len(get(t, c, d.Name)) == 0 {
			continue
		}
		for _, v := range []string{"", "zzz", "-2", "-1", "0", "99999999999", "1 2", "1.5", "yes",
			"5%", "1kb"} {
			compareSet(p.TB(t), c, mine, d.Name, v)
		}
	}
	for b := range 256 {
		compareSet(p.TB(t), c, mine, "cluster-announce-human-nodename", "a"+string([]byte{byte(b)}))
	}
}

// TestPackagedConf starts Godwit with the configuration files that packages install.
func TestPackagedConf(t *testing.T) {
	load := func(t testing.TB, path string) {
		text, err := os.ReadFile(path)
		if os.IsPermission(err) {
			t.Skipf("%s cannot be read: %v", path, err)
		}
		require.NoError(t, err)
		for _, uncomment := range []bool{false, true} {
			_, err = Parse(path, standing(t, string(text), uncomment))
			require.NoError(t, err)
		}
	}
	t.Run("7.0", func(t *testing.T) {
		if _, err := os.Stat("/etc/redis/redis.conf"); err != nil {
			t.Skip(err)
		}
		load(t, "/etc/redis/redis.conf")
	})
	for _, p := range peers {
		t.Run(string(p), func(t *testing.T) { load(p.TB(t), p.Conf(t)) })
	}
}

// standing replaces dir in the text by a folder that exists, and uncomments each line that holds a
// directive and a value of its own, except those that a standalone server does not have or that
// name files.
func standing(t testing.TB, text string, uncomment bool) string {
	dir := t.TempDir()
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if uncomment && strings.HasPrefix(line, "# ") {
			words, ok := splitArgs(line[2:])
			if ok && len(words) > 1 && Lookup(words[0]) != nil &&
				Lookup(words[0]).Name != "replicaof" &&
				words[0] != "cluster-enabled" && words[0] != "tls-auth-clients-user" &&
				words[0] != "import-mode" {
				if d := Lookup(words[0]); d.value.parse(Default(), words[1:], false) == nil {
					line = line[2:]
				}
			}
		}
		if strings.HasPrefix(line, "dir ") {
			line = "dir " + quote(dir)
		}
		if strings.HasPrefix(line, "include ") {
			line = "include " + filepath.Join(dir, "*.conf")
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}
