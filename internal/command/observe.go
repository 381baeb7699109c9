package command

import (
	"math"

	"godwit/internal/engine"
	"godwit/internal/metrics"
	"godwit/internal/object"
)

var _ = family(observeHandlers)

func observeHandlers() engine.Handlers {
	return engine.Handlers{
		"slowlog|get":       slowlogGetCmd,
		"slowlog|len":       func(c *engine.Ctx) { c.Int(int64(c.E.Slowlog.Len())) },
		"slowlog|reset":     slowlogResetCmd,
		"slowlog|help":      helpOf(slowlogHelp...),
		"latency|latest":    latencyLatestCmd,
		"latency|history":   latencyHistoryCmd,
		"latency|graph":     latencyGraphCmd,
		"latency|doctor":    func(c *engine.Ctx) { c.Verbatim("txt", latencyDiagnosis(c.E)) },
		"latency|histogram": latencyHistogramCmd,
		"latency|reset":     latencyResetCmd,
		"latency|help":      helpOf(latencyHelp...),
		"monitor":           monitorCmd,
	}
}

// slowlogHelp lists the lines of SLOWLOG HELP.
var slowlogHelp = []string{
	"GET [<count>]",
	"    List the newest <count> entries (10 unless given, -1 for all). An entry is",
	"    its number, the unix time, the duration in microseconds, the arguments, the",
	"    client's address and name, and how many arguments there were.",
	"LEN",
	"    Count the entries.",
	"RESET",
	"    Empty the log.",
}

// latencyHelp lists the lines of LATENCY HELP.
var latencyHelp = []string{
	"DOCTOR",
	"    Say what made the server slow, and what to do.",
	"GRAPH <event>",
	"    Draw the samples of <event>.",
	"HISTORY <event>",
	"    List the samples of <event>: unix time and milliseconds.",
	"LATEST",
	"    Show the newest sample of each event.",
	"RESET [<event> ...]",
	"    Forget the given events, or all.",
	"HISTOGRAM [COMMAND ...]",
	"    How the running times of the given commands are distributed, or of all that ran.",
}

func slowlogResetCmd(c *engine.Ctx) {
	c.E.Slowlog.Reset()
	c.OK()
}

func monitorCmd(c *engine.Ctx) {
	if c.Client.Monitor {
		return // As in Redis, there is no second reply.
	}
	if !c.MayBlock() {
		c.Err("ERR MONITOR isn't allowed for DENY BLOCKING client")
		return
	}
	c.E.StartMonitor(c.Client)
	c.OK()
}

// slowlogGetCmd shows entries with seven fields. The last, how many arguments the command had, is
// that of newer versions than Redis 8.0.
func slowlogGetCmd(c *engine.Ctx) {
	count := int64(10)
	switch len(c.Args) {
	case 2:
	case 3:
		var ok bool
		if count, ok = entryCount(c, c.Args[2]); !ok {
			return
		}
	default:
		wrongSub(c)
		return
	}
	showLog(c, &c.E.Slowlog, count, 7)
}

// entryCount reads how many entries of a log to show.
func entryCount(c *engine.Ctx, arg []byte) (int64, bool) {
	n, ok := object.ParseInt(arg)
	if !ok || n < -1 {
		c.Err("ERR count should be greater than or equal to -1")
		return 0, false
	}
	if n == -1 {
		n = math.MaxInt64
	}
	return n, true
}

// showLog replies with the newest entries of a log.
func showLog(c *engine.Ctx, log *metrics.Slowlog, count int64, fields int) {
	n := int(min(count, int64(log.Len())))
	c.Array(n)
	for i := range n {
		e := log.At(i)
		c.Array(fields)
		c.Int(e.ID)
		c.Int(e.Time)
		c.Int(e.Value)
		c.Array(len(e.Args))
		for _, a := range e.Args {
			c.BulkString(a)
		}
		c.BulkString(e.ClientAddr)
		c.BulkString(e.ClientName)
		if fields > 6 {
			c.Int(int64(e.Argc))
		}
	}
}
