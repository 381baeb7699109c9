package command

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"godwit/internal/engine"
	"godwit/internal/object"
	"godwit/internal/scan"
)

var _ = family(debugHandlers)

func debugHandlers() engine.Handlers {
	subs := slices.Concat(debugSubs(), debugCollections(), debugReloads(), debugServerSubs(),
		debugSwitches(), debugCrashes(), debugLaterSubs())
	slices.SortFunc(subs, func(a, b debugSub) int { return strings.Compare(a.name, b.name) })
	return engine.Handlers{
		"debug": func(c *engine.Ctx) { debugCmd(c, subs) },
	}
}

// debugSub is one subcommand of DEBUG. As in Redis, the command table does not list them. The
// argument counts include DEBUG and the name.
type debugSub struct {
	name     string
	min, max int
	args     string
	help     []string
	run      func(c *engine.Ctx)
}

func debugSubs() []debugSub {
	return []debugSub{
		{"change-repl-id", 2, 2, "", []string{"Begin another replication history."},
			func(c *engine.Ctx) {
				c.E.NewReplID()
				c.OK()
			}},
		{"check", 2, 2, "",
			[]string{"Check the keyspace's tables, deadlines and memory against each other."},
			func(c *engine.Ctx) {
				if err := c.E.KS.Check(); err != nil {
					c.Err("ERR " + err.Error())
					return
				}
				c.OK()
			}},
		{"error", 3, 3, " <string>", []string{"Answer with <string> as an error."},
			func(c *engine.Ctx) {
				c.Err(strings.NewReplacer("\n", " ", "\r", " ").Replace(string(c.Args[2])))
			}},
		{"htstats", 3, 4, " <dbid> [full]", []string{"Statistics of a database's hash table."},
			debugHtstats},
		{"log", 3, 3, " <message>", []string{"Write <message> to the server's log."},
			func(c *engine.Ctx) {
				c.E.Log.Warning("DEBUG LOG: %s", c.Args[2])
				c.OK()
			}},
		{"object", 3, 4, " <key> [fast]", []string{"Low-level facts about <key> and its value."},
			debugObject},
		{"pause-cron", 3, 3, " <0|1>", []string{"Stop the periodic work (1), or let it go on (0)."},
			func(c *engine.Ctx) {
				c.E.PauseCron(atoi(c.Args[2]) != 0)
				c.OK()
			}},
		{"populate", 3, 5, " <count> [<prefix>] [<size>]", []string{
			"Create <count> string keys named key:<num>, or <prefix>:<num>, with values of <size>",
			"bytes. Keys that exist stay as they are. Nothing is propagated."}, debugPopulate},
		{"protocol", 3, 3, " <type>", []string{
			"Answer with an example of <type>: string, integer, double, bignum, null, array, set,",
			"map, attrib, push, verbatim, true, false."}, debugProtocol},
		{"sdslen", 3, 3, " <key>",
			[]string{"Lengths and allocations of a key and its string value."}, debugSdslen},
		{"set-active-expire", 3, 3, " <0|1>",
			[]string{"Stop (0) or resume (1) the expiry of keys that nobody uses."},
			func(c *engine.Ctx) {
				c.E.SetActiveExpire(atoi(c.Args[2]) != 0)
				c.OK()
			}},
		{"sleep", 3, 3, " <seconds>",
			[]string{"Stop the server for <seconds>, which may be a fraction."}, debugSleep},
		{"stringmatch-len", 4, 4, " <pattern> <string>",
			[]string{"Tell whether <string> matches the glob <pattern>."}, func(c *engine.Ctx) {
				c.Int(boolInt(scan.Match(c.Args[2], c.Args[3], false)))
			}},
	}
}

func debugCmd(c *engine.Ctx, subs []debugSub) {
	if is(c.Args[1], "help") {
		debugHelp(c, subs)
		return
	}
	for i := range subs {
		if s := &subs[i]; is(c.Args[1], s.name) && s.min <= len(c.Args) && len(c.Args) <= s.max {
			s.run(c)
			return
		}
	}
	wrongSub(c)
}

// wrongSub replies to a subcommand that is unknown or has the wrong number of arguments.
func wrongSub(c *engine.Ctx) {
	name := c.Args[0]
	if c.Cmd.Parent() != nil {
		name = []byte(c.Cmd.Parent().Name)
	}
	c.Err("ERR unknown subcommand or wrong number of arguments for '" + cString(c.Args[1], 128) +
		"'. Try " +
		strings.ToUpper(string(name)) + " HELP.")
}

// cString returns at most n bytes of b, up to the first NUL.
func cString(b []byte, n int) string {
	s, _, _ := strings.Cut(string(b[:min(len(b), n)]), "\x00")
	return s
}

// untilNUL returns b up to the first NUL.
func untilNUL(b []byte) string { return cString(b, len(b)) }

func debugHelp(c *engine.Ctx, subs []debugSub) {
	lines := []string{"DEBUG <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"}
	for _, s := range subs {
		lines = append(lines, strings.ToUpper(s.name)+s.args)
		for _, h := range s.help {
			lines = append(lines, "    "+h)
		}
	}
	lines = append(lines, "HELP", "    Print this help.")
	c.Array(len(lines))
	for _, l := range lines {
		c.Simple(l)
	}
}

// atoi returns the integer that b begins with, or 0 if there is none. DEBUG reads its switches so.
func atoi(b []byte) int64 {
	end := 0
	for end < len(b) && (b[end] >= '0' && b[end] <= '9' || end == 0 && b[0] == '-') {
		end++
	}
	n, _ := strconv.ParseInt(string(b[:end]), 10, 64) // 0 is meant on an error.
	return n
}

// debugSleep blocks the executor on purpose: nothing else runs meanwhile.
func debugSleep(c *engine.Ctx) {
	s := string(c.Args[2])
	var sec float64
	for ; s != ""; s = s[:len(s)-1] { // Finds the longest prefix that is a number.
		if f, err := strconv.ParseFloat(s, 64); err == nil && !math.IsNaN(f) {
			sec = f
			break
		}
	}
	time.Sleep(time.Duration(min(max(sec, 0), math.MaxInt32) * float64(time.Second)))
	c.OK()
}

// debugPopulate creates keys. debugSubs describes the arguments. It costs O(N) and does not pause,
// as in Redis.
func debugPopulate(c *engine.Ctx) {
	count, ok := positiveArg(c, c.Args[2])
	if !ok {
		return
	}
	prefix, size := []byte("key"), int64(-1)
	if len(c.Args) > 3 {
		prefix = c.Args[3]
	}
	if len(c.Args) > 4 {
		if size, ok = positiveArg(c, c.Args[4]); !ok {
			return
		}
		if size > c.E.Cfg.ProtoMaxBulkLen {
			c.Err(engine.ErrStringTooLong)
			return
		}
	}
	c.E.ForgetFiles()
	var key, value []byte
	for i := range count {
		key = strconv.AppendInt(append(append(key[:0], prefix...), ':'), i, 10)
		if c.DB.Peek(key).Exists() {
			continue
		}
		value = strconv.AppendInt(append(value[:0], "value:"...), i, 10)
		if size >= 0 {
			value = resized(value, int(size))
		}
		c.DB.Set(key, object.StringValue(value), 0)
		c.Changed(key)
	}
	c.OK()
}

// resized returns b cut to n bytes, or filled up with NULs.
func resized(b []byte, n int) []byte {
	if n <= len(b) {
		return b[:n]
	}
	return append(b, make([]byte, n-len(b))...)
}

// positiveArg reads a number that is not negative.
func positiveArg(c *engine.Ctx, arg []byte) (int64, bool) {
	n, ok := object.ParseInt(arg)
	if !ok || n < 0 {
		c.Err(engine.ErrNegativeCount)
		return 0, false
	}
	return n, true
}
