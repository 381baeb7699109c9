package command

import (
	"time"

	"godwit/internal/engine"
)

// debugCrashes returns the subcommands of DEBUG that end the server.
func debugCrashes() []debugSub {
	return []debugSub{
		{"assert", 2, 2, "", []string{"Crash the server by a failed assertion."},
			func(*engine.Ctx) { panic("DEBUG ASSERT: 1 == 2 does not hold") }},
		{"oom", 2, 2, "", []string{"Crash the server as if there was no memory left."},
			func(*engine.Ctx) { panic("DEBUG OOM: out of memory") }},
		{"crash-and-recover", 2, 3, " [<milliseconds>]",
			[]string{"End without saving, wait for <milliseconds>, and start again."},
			func(c *engine.Ctx) { debugRestart(c, false) }},
		{"restart", 2, 3, " [<milliseconds>]", []string{
			"Save configuration and data, end, wait for <milliseconds>, and start again."},
			func(c *engine.Ctx) { debugRestart(c, true) }},
	}
}

func debugRestart(c *engine.Ctx, graceful bool) {
	delay := int64(0)
	if len(c.Args) == 3 {
		var ok bool
		if delay, ok = intArg(c, c.Args[2]); !ok {
			return
		}
	}
	restart := c.E.Restart
	if restart == nil || restart(graceful, time.Duration(max(delay, 0))*time.Millisecond) != nil {
		c.Err("ERR failed to restart the server. Check server logs.")
	}
}
