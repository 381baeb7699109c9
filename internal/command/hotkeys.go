package command

import (
	"math"
	"time"

	"godwit/internal/engine"
	"godwit/internal/metrics"
)

var _ = family(hotkeysHandlers)

func hotkeysHandlers() engine.Handlers {
	return engine.Handlers{
		"hotkeys|start": hotkeysStartCmd,
		"hotkeys|stop": func(c *engine.Ctx) {
			if h := c.E.HotKeys(); h == nil || !h.Active {
				c.Null()
				return
			}
			c.E.StopHotKeys()
			c.OK()
		},
		"hotkeys|get": hotkeysGetCmd,
		"hotkeys|reset": func(c *engine.Ctx) {
			if h := c.E.HotKeys(); h != nil && h.Active {
				c.Err("ERR hotkey tracking session in progress, stop tracking first")
				return
			}
			c.E.DropHotKeys()
			c.OK()
		},
		"hotkeys|help": helpOf(hotkeysHelp...),
	}
}

// hotkeysHelp lists the lines of HOTKEYS HELP.
var hotkeysHelp = []string{
	"START METRICS <count> [CPU] [NET] [COUNT <k>] [DURATION <seconds>] [SAMPLE <ratio>]",
	"    Find the <k> keys (10 unless given) whose commands take the most time (CPU) or",
	"    traffic (NET), for <seconds> or until STOP. Of <ratio> commands it looks at one.",
	"STOP",
	"    Stop looking. What was found stays.",
	"GET",
	"    Show what was found.",
	"RESET",
	"    Forget it.",
}

func hotkeysStartCmd(c *engine.Ctx) {
	if h := c.E.HotKeys(); h != nil && h.Active {
		c.Err("ERR hotkey tracking session already in progress")
		return
	}
	if len(c.Args) < 4 || !is(c.Args[2], "metrics") {
		c.Err("ERR METRICS parameter is required")
		return
	}
	o := engine.HotKeysOptions{Count: 10, Sample: 1}
	rest, ok := hotMetrics(c, c.Args[3:], &o)
	if !ok || !hotOptions(c, rest, &o) {
		return
	}
	c.E.StartHotKeys(o)
	c.OK()
}

// hotMetrics parses the number of metrics and their names, and returns what follows. As in Redis, a
// name that is not known is passed over if another is.
func hotMetrics(c *engine.Ctx, args [][]byte, o *engine.HotKeysOptions) (rest [][]byte, ok bool) {
	n, ok := rangeArg(c, args[0], 1, 2, "ERR METRICS count must be > 0 and <= 2")
	if !ok {
		return nil, false
	}
	args = args[1:]
	names := args[:min(int(n), len(args))]
	for _, name := range names {
		seen, what := &o.CPUTime, "CPU"
		switch {
		case is(name, "net"):
			seen, what = &o.Traffic, "NET"
		case !is(name, "cpu"):
			continue
		}
		if *seen {
			c.Err("ERR METRICS " + what + " defined more than once!")
			return nil, false
		}
		*seen = true
	}
	switch {
	case len(names) < int(n):
		c.Err("ERR METRICS count does not match number of metric types provided")
		return nil, false
	case !o.CPUTime && !o.Traffic:
		c.Err("ERR METRICS no valid metrics passed. Supported: CPU|NET")
		return nil, false
	}
	return args[n:], true
}

// hotOptions parses what follows the metrics.
func hotOptions(c *engine.Ctx, args [][]byte, o *engine.HotKeysOptions) bool {
	for ; len(args) >= 2; args = args[2:] {
		var n int64
		var ok bool
		switch {
		case is(args[0], "count"):
			n, ok = rangeArg(c, args[1], 1, 64, "ERR COUNT must be between 1 and 64")
			o.Count = int(n)
		case is(args[0], "duration"):
			n, ok = rangeArg(c, args[1], 1, 1_000_000,
				"ERR DURATION must be between 1 and 1000000")
			o.Duration = time.Duration(n) * time.Second
		case is(args[0], "sample"):
			o.Sample, ok = rangeArg(c, args[1], 1, math.MaxInt32,
				"ERR SAMPLE ratio must be positive")
		case is(args[0], "slots"):
			c.Err("ERR SLOTS parameter cannot be used in non-cluster mode")
			return false
		default:
			c.Err(engine.ErrSyntax)
			return false
		}
		if !ok {
			return false
		}
	}
	if len(args) > 0 {
		c.Err(engine.ErrSyntax)
		return false
	}
	return true
}

// hotkeysGetCmd replies with an array of one map, since a cluster's nodes would each have theirs.
func hotkeysGetCmd(c *engine.Ctx) {
	h := c.E.HotKeys()
	if h == nil {
		c.Null()
		return
	}
	fields := 7
	if h.CPU != nil {
		fields += 3
	}
	if h.Net != nil {
		fields += 2
	}
	num := func(name string, n int64) {
		c.BulkString(name)
		c.Int(n)
	}
	c.Array(1)
	c.Map(fields)
	num("tracking-active", boolInt(h.Active))
	num("sample-ratio", h.Sample)
	c.BulkString("selected-slots")
	c.Array(1) // all
	c.Array(2)
	c.Int(0)
	c.Int(16383)
	num("all-commands-all-slots-us", h.Nanos/1000)
	num("net-bytes-all-commands-all-slots", h.Bytes)
	num("collection-start-time-unix-ms", h.Started)
	num("collection-duration-ms", h.Milliseconds(c.E))
	if h.CPU != nil {
		user, sys := h.ProcessTime()
		num("total-cpu-time-user-ms", user)
		num("total-cpu-time-sys-ms", sys)
	}
	if h.Net != nil {
		num("total-net-bytes", h.Net.Total())
	}
	if h.CPU != nil {
		c.BulkString("by-cpu-time-us")
		showTop(c, h.CPU, h.Count, 1000)
	}
	if h.Net != nil {
		c.BulkString("by-net-bytes")
		showTop(c, h.Net, h.Count, 1)
	}
}

// showTop replies with keys and their sums in the given unit, which may be 0 then.
func showTop(c *engine.Ctx, t *metrics.TopKeys, count int, unit int64) {
	type entry struct {
		key string
		sum int64
	}
	var list []entry
	t.Top(count, func(key string, sum int64) { list = append(list, entry{key, sum}) })
	c.Array(2 * len(list))
	for _, e := range list {
		c.BulkString(e.key)
		c.Int(e.sum / unit)
	}
}
