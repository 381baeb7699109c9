package command

import (
	"math"

	"godwit/internal/engine"
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
	"    its number, the unix time, the duration in microseconds, the arguments, and",
	"    the client's address and name.",
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

func slowlogGetCmd(c *engine.Ctx) {
	count := int64(10)
	switch len(c.Args) {
	case 2:
	case 3:
		n, ok := object.ParseInt(c.Args[2])
		if !ok || n < -1 {
			c.Err("ERR count should be greater than or equal to -1")
			return
		}
		if count = n; n == -1 {
			count = math.MaxInt64
		}
	default:
		wrongSub(c)
		return
	}
	log := &c.E.Slowlog
	n := int(min(count, int64(log.Len())))
	c.Array(n)
	for i := range n {
		e := log.At(i)
		c.Array(6)
		c.Int(e.ID)
		c.Int(e.Time)
		c.Int(e.Duration)
		c.Array(len(e.Args))
		for _, a := range e.Args {
			c.BulkString(a)
		}
		c.BulkString(e.ClientAddr)
		c.BulkString(e.ClientName)
	}
}
