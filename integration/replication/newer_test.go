package replication

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
	"godwit/internal/spec"
	"godwit/internal/testserver"
)

// newer reports whether a version is above Redis 7.0.
func newer(since string) bool {
	var major, minor int
	_, _ = fmt.Sscanf(since, "%d.%d", &major, &minor)
	return major > 7 || major == 7 && minor > 0
}

// TestNewerCases checks that there is a case for each command that writes, and for each argument of
// one, that Redis 7.0 does not know. Such a command must not go to replicas as it is: see
// internal/command/propagate.go and internal/engine/specials.go.
func TestNewerCases(t *testing.T) {
	t.Parallel()
	cases := map[string]bool{}
	for _, list := range append(slices.Collect(maps.Values(special)), translated) {
		for _, c := range list {
			for name := range strings.FieldsSeq(c.of) {
				cases[name] = true
			}
		}
	}
	for _, c := range spec.New().All() {
		family, _, module := strings.Cut(c.Name, ".")
		sketch := slices.Contains([]string{"bf", "cf", "cms", "topk", "tdigest"}, family)
		switch {
		case !c.Is(spec.Write) || module && sketch: // what they change is a sketch
		case c.FullName() == "cluster|flushslot": // replicas of a cluster's nodes are of our kind
		case newer(c.Since) || module:
			require.True(t, cases[c.FullName()], "no case for %s", c.FullName())
		default:
			for _, name := range newerArgs(c.Args) {
				name = c.FullName() + "." + name
				require.True(t, cases[name], "no case for %s", name)
			}
		}
	}
}

// newerArgs returns the names of arguments that are newer.
func newerArgs(args []spec.Arg) (names []string) {
	for i := range args {
		if a := &args[i]; newer(a.Since) {
			names = append(names, a.Name)
		} else {
			names = append(names, newerArgs(a.Args)...)
		}
	}
	return names
}

// newerForms are the ways in which the commands of a case can come.
var newerForms = []string{"plain", "MULTI", "EVAL", "FCALL"}

// all runs commands that come as JSON.
const all = "for _, c in ipairs(cjson.decode(%s[1])) do redis.call(unpack(c)) end"

// runCases sends the cases to a server in all forms. No command may fail.
func runCases(t *testing.T, c *client.Client, name string, cases []newerCase) {
	t.Helper()
	lib := "#!lua name=all\nredis.register_function('all', function(keys, args)\n" +
		fmt.Sprintf(all, "args") + " end)"
	_, err := c.Do("FUNCTION", "LOAD", "REPLACE", lib)
	require.NoError(t, err)
	for i := range cases {
		for _, form := range newerForms {
			runCase(t, c, form, fmt.Sprintf("%s:%d:%s:", name, i, form), cases[i].commands)
		}
	}
}

func runCase(t *testing.T, c *client.Client, form, prefix, commands string) {
	t.Helper()
	var argvs [][]any
	for command := range strings.SplitSeq(strings.ReplaceAll(commands, "@", prefix), ";") {
		var argv []any
		for word := range strings.FieldsSeq(command) {
			argv = append(argv, word)
		}
		argvs = append(argvs, argv)
	}
	text, err := json.Marshal(argvs)
	require.NoError(t, err)
	switch form {
	case "EVAL":
		argvs = [][]any{{"EVAL", fmt.Sprintf(all, "ARGV"), 0, text}}
	case "FCALL":
		argvs = [][]any{{"FCALL", "all", 0, text}}
	case "MULTI":
		argvs = append(append([][]any{{"MULTI"}}, argvs...), []any{"EXEC"})
	}
	for _, argv := range argvs {
		c.Queue(argv...)
	}
	replies, err := c.Pipeline()
	require.NoError(t, err)
	for i, v := range replies {
		for _, v := range append([]client.Value{v}, v.Elems...) {
			require.False(t, v.IsError(), "%s %v: %s", form, argvs[i], v.Text())
		}
	}
}

// TestNewerCommands checks that what Redis 7.0 does not know comes to all replicas in words that
// they know, and to the log. Deadlines of fields come to Redis 8 and Valkey 9, and the rest to a
// Godwit.
func TestNewerCommands(t *testing.T) {
	t.Parallel()
	master := godwit.Run(t, append(bigBacklog, "--appendonly", "yes", "--save", "",
		"--repl-diskless-sync-delay", "0")...)
	replicas := map[testserver.Kind]*testserver.Server{}
	for _, k := range testserver.Kinds() {
		replicas[k] = k.Run(t)
		link(t, replicas[k], master.Addr)
	}
	c := master.Client(t)
	runCases(t, c, "newer", translated)
	require.NoError(t, master.WaitSame(slices.Collect(maps.Values(replicas))...))

	gone := func(k testserver.Kind) {
		require.NoError(t, replicas[k].Promote())
		delete(replicas, k)
	}
	gone(redis7)
	runCases(t, c, "fields", fieldCases)
	require.NoError(t, master.WaitSame(slices.Collect(maps.Values(replicas))...))
	restoreNewer(t, master, replicas[redis8], replicas[valkey9])
	require.NoError(t, master.WaitSame(slices.Collect(maps.Values(replicas))...))
	for _, s := range replicas {
		require.NoError(t, s.WaitLink())
	}
	require.EqualValues(t, 4, stat(t, master, "sync_full"), "nobody was refused")

	gone(redis8)
	gone(valkey9)
	for name, cases := range special {
		runCases(t, c, name, cases)
	}
	// 2-1 goes and 1-1 stays, while nothing was deleted.
	runCases(t, c, "gap", []newerCase{{"", "XADD @x 1-1 f v; XADD @x 2-1 f v; " +
		"XGROUP CREATE @x g 0; XREADGROUP GROUP g c STREAMS @x >; XACK @x g 2-1; " +
		"XTRIM @x ACKED MAXLEN 0"}})
	require.NoError(t, master.WaitSame(replicas[godwit]))
	master = shutdown(t, master, func() { require.NoError(t, replicas[godwit].WaitNoLink()) })
	require.NoError(t, master.WaitSame(replicas[godwit]))
}

// restoreNewer moves a value of each type into the master, as the servers dump them. Redis and
// Valkey do not read each other's payloads.
func restoreNewer(t *testing.T, master *testserver.Server, from ...*testserver.Server) {
	t.Helper()
	for i, s := range from {
		s := s
		for _, key := range []string{"newer:0:plain:k", "newer:3:plain:u", "newer:6:plain:h",
			"newer:11:plain:n", "newer:14:plain:x", "fields:2:plain:h"} {
			v, err := s.Do("DUMP", key)
			require.NoError(t, err)
			require.False(t, v.IsNull(), key)
			for ttl, options := range map[int][]any{0: nil, 10_000_000: nil,
				4102444800000: {"ABSTTL"}} {
				args := []any{"RESTORE", fmt.Sprintf("restored:%d:%d:%s", i, ttl, key), ttl, v.Str}
				do(t, master, append(args, options...)...)
			}
		}
		v, err := s.Do("FUNCTION", "DUMP")
		require.NoError(t, err)
		do(t, master, "FUNCTION", "RESTORE", v.Str, "FLUSH")
	}
}

// TestForeignNewer checks that a replica which may lack what the stream brings is disconnected
// before that comes, for each of the commands in all forms, and that it cannot go on there later.
func TestForeignNewer(t *testing.T) {
	t.Parallel()
	master := godwit.Run(t, append(bigBacklog, "--repl-diskless-sync-delay", "0")...)
	c := master.Client(t)
	do(t, master, "FUNCTION", "LOAD", "#!lua name=all\nredis.register_function('all', "+
		"function(keys, args) "+fmt.Sprintf(all, "args")+" end)")
	first := rawReplicaOf(t, master.Addr, nil)
	first.full("")
	from := first.offset + 1
	psync := func() string { return fmt.Sprintf("PSYNC %s %d", first.id, from) }
	for name, cases := range special {
		for i := range cases {
			for _, form := range newerForms[:3] {
				what := fmt.Sprint(name, cases[i].commands, form)
				// The last commands of some cases take it away again.
				commands := cases[i].commands + "; DEL @b @x @h"
				if form == "plain" {
					commands = cases[i].commands
				}
				r := rawReplicaOf(t, master.Addr, nil)
				require.Equal(t, "+CONTINUE", r.ask(psync()))
				runCase(t, c, form, "@", commands)
				rest, err := io.ReadAll(r.r)
				require.NoError(t, err, what)
				require.NotRegexp(t, "BF|CF|CMS|TOPK|TDIGEST|IDMP|XCFG|XNACK|HPEXP|HSETEX",
					string(rest), what)
				if form == "plain" && name != "NACKed" {
					r = rawReplicaOf(t, master.Addr, nil)
					require.Contains(t, r.ask("PSYNC ? -1"), name, what)
				}
				r = rawReplicaOf(t, master.Addr, nil)
				do(t, master, "DEL", "@b", "@x", "@h")
				do(t, master, "SET", "after", form)
				do(t, master, "SET", "after", i)
				require.Contains(t, r.ask(psync()), "+FULLRESYNC", what)
				require.NoError(t, r.conn.Close())
				offset, err := master.InfoInt("replication", "master_repl_offset")
				require.NoError(t, err)
				from = offset + 1
			}
		}
	}
}
