package command

import (
	"godwit/internal/engine"
	"godwit/internal/metrics"
)

var _ = family(commandlogHandlers)

func commandlogHandlers() engine.Handlers {
	return engine.Handlers{
		"commandlog|get": func(c *engine.Ctx) {
			count, ok := entryCount(c, c.Args[2])
			if !ok {
				return
			}
			if log := namedLog(c, c.Args[3]); log != nil {
				showLog(c, log, count, 6)
			}
		},
		"commandlog|len": func(c *engine.Ctx) {
			if log := namedLog(c, c.Args[2]); log != nil {
				c.Int(int64(log.Len()))
			}
		},
		"commandlog|reset": func(c *engine.Ctx) {
			if log := namedLog(c, c.Args[2]); log != nil {
				log.Reset()
				c.OK()
			}
		},
		"commandlog|help": helpOf(commandlogHelp...),
	}
}

// commandlogHelp lists the lines of COMMANDLOG HELP.
var commandlogHelp = []string{
	"GET <count> <type>",
	"    List the newest <count> entries (-1 for all) of a log: slow, large-request or",
	"    large-reply. An entry is its number, the unix time, microseconds or bytes, the",
	"    arguments, and the client's address and name.",
	"LEN <type>",
	"    Count the entries.",
	"RESET <type>",
	"    Empty the log.",
}

// namedLog returns the log of the type. It replies with an error and returns nil if there is none.
func namedLog(c *engine.Ctx, name []byte) *metrics.Slowlog {
	switch {
	case is(name, "slow"):
		return &c.E.Slowlog
	case is(name, "large-request"):
		return c.E.LargeRequests()
	case is(name, "large-reply"):
		return c.E.LargeReplies()
	}
	c.Err("ERR type should be one of the following: slow, large-request, large-reply")
	return nil
}
