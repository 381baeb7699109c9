package command

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"godwit/internal/engine"
	"godwit/internal/keyspace"
	"godwit/internal/scan"
)

// debugSwitch returns a subcommand that turns something on or off.
func debugSwitch(name, help string, set func(e *engine.Engine, on bool)) debugSub {
	return debugSub{name, 3, 3, " <0|1>", []string{help}, func(c *engine.Ctx) {
		set(c.E, atoi(c.Args[2]) != 0)
		c.OK()
	}}
}

// debugSwitches returns the subcommands of DEBUG that change how the server works, and some that
// look into it.
func debugSwitches() []debugSub {
	return []debugSub{
		{"aof-flush-sleep", 3, 3, " <microsec>",
			[]string{"Wait that long before each write to the append-only file."},
			func(c *engine.Ctx) {
				us := max(atoi(c.Args[2]), 0)
				c.E.SleepBeforeFlush(time.Duration(us) * time.Microsecond)
				c.OK()
			}},
		debugSwitch("set-skip-checksum-validation",
			"Take (1) files and payloads with a wrong checksum, or refuse them (0).",
			(*engine.Engine).SkipChecksums),
		debugSwitch("set-disable-deny-scripts",
			"Let scripts call commands that they may not call (1), or not (0).",
			func(e *engine.Engine, on bool) { e.Debug.AllowDenied = on }),
		debugSwitch("dict-resizing",
			"Keep the databases' tables at their size (0), or let them grow and shrink (1).",
			func(e *engine.Engine, on bool) { e.KeepTables(!on) }),
		{"replybuffer", 4, 4, " PEAK-RESET-TIME <NEVER|RESET|time> | RESIZING <0|1>", []string{
			"Nothing happens: clients have no reply buffers of their own that are resized."},
			debugReplyBuffer},
		{"config-rewrite-force-all", 2, 2, "",
			[]string{"CONFIG REWRITE with all directives, even those at their default."},
			func(c *engine.Ctx) {
				if err := c.E.Cfg.RewriteAll(); err != nil {
					c.Err("ERR CONFIG-REWRITE-FORCE-ALL failed: " +
						strings.TrimPrefix(err.Error(), "ERR "))
					return
				}
				c.OK()
			}},
		{"client-eviction", 2, 2, "", []string{
			"How the clients that maxmemory-clients may close are distributed by memory."},
			debugClientEviction},
		{"script", 3, 3, " <LIST|<sha>>", []string{
			"Write all cached scripts, or the one with the digest, to the log."}, debugScript},
		{"leak", 3, 3, " <string>", []string{"Keep <string> in memory for good."},
			func(c *engine.Ctx) {
				c.E.Debug.Leaked = append(c.E.Debug.Leaked, slices.Clone(c.Args[2]))
				c.OK()
			}},
		{"stringmatch-test", 2, 2, "",
			[]string{"Match random strings against random glob patterns."}, debugStringmatch},
		{"structsize", 2, 2, "", []string{"Sizes of a few structures in bytes."},
			func(c *engine.Ctx) {
				c.Simple(fmt.Sprintf("bits:64 client:%d bucket:%d",
					reflect.TypeFor[engine.Client]().Size(), keyspace.BucketBytes))
			}},
	}
}

func debugReplyBuffer(c *engine.Ctx) {
	switch {
	case is(c.Args[2], "peak-reset-time"):
		if !is(c.Args[3], "never") && !is(c.Args[3], "reset") {
			if _, ok := intArg(c, c.Args[3]); !ok {
				return
			}
		}
	case is(c.Args[2], "resizing"):
	default:
		wrongSub(c)
		return
	}
	c.OK()
}

func debugClientEviction(c *engine.Ctx) {
	if c.E.Cfg.ClientsLimit() == 0 {
		c.Err("ERR maxmemory-clients is disabled.")
		return
	}
	var b strings.Builder
	list := c.E.ClientBuckets()
	for i, k := range list {
		if i+1 < len(list) {
			fmt.Fprintf(&b, "bucket %10d - %10d", k.Low, list[i+1].Low-1)
		} else {
			fmt.Fprintf(&b, "bucket %10d+            ", k.Low)
		}
		fmt.Fprintf(&b, ": tot-mem: %10d, clients: %d\n", k.Memory, k.Clients)
	}
	c.Verbatim("txt", b.String())
}

func debugScript(c *engine.Ctx) {
	type script struct{ sha, body string }
	var found []script
	all := is(c.Args[2], "list")
	c.E.EachScript(func(sha, body string) {
		if all || is(c.Args[2], sha) {
			found = append(found, script{sha, body})
		}
	})
	if len(found) == 0 && !all {
		if len(c.Args[2]) == 40 {
			c.Err(errNoScript)
		} else {
			wrongSub(c)
		}
		return
	}
	slices.SortFunc(found, func(a, b script) int { return cmp.Compare(a.sha, b.sha) })
	for _, s := range found {
		c.E.Log.Warning("SCRIPT SHA: %s\n%s", s.sha, s.body)
	}
	c.OK()
}

// matchRounds is how many pairs DEBUG STRINGMATCH-TEST matches.
const matchRounds = 100_000

// debugStringmatch matches random strings, which may end the server if the matcher has a fault.
func debugStringmatch(c *engine.Ctx) {
	rng := c.E.Rand()
	const letters = "ab*?[]^-\\c"
	random := func(b []byte, n int) []byte {
		for range rng.IntN(n) {
			b = append(b, letters[rng.IntN(len(letters))])
		}
		return b
	}
	var pattern, text []byte
	for range matchRounds {
		pattern, text = random(pattern[:0], 16), random(text[:0], 32)
		scan.Match(pattern, text, rng.IntN(2) == 0)
	}
	c.Simple("Apparently Godwit did not crash: test passed")
}
