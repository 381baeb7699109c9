package command

import (
	"math"

	"godwit/internal/engine"
	"godwit/internal/object"
)

func observeCommands() []*engine.Command {
	return []*engine.Command{slowlogCommand(), latencyCommand(), monitorCommand()}
}

func slowlogCommand() *engine.Command {
	sub := func(name string, arity int, summary, complexity string, tips []string, run func(c *engine.Ctx)) *engine.Command {
		return &engine.Command{
			Name: name, Arity: arity, Flags: engine.Admin | engine.Loading | engine.Stale, Group: engine.GroupServer, Since: "2.2.12",
			Summary: summary, Complexity: complexity, Tips: tips, Run: run,
		}
	}
	get := sub("get", -2, "Lists slow commands, the newest first.", "O(N) in the number of entries shown",
		[]string{"request_policy:all_nodes", "nondeterministic_output"}, slowlogGetCmd)
	get.History = []engine.History{{Since: "4.0.0", Change: "Shows the client's address and name."}}
	get.Args = []engine.Arg{engine.Int("count").Opt()}
	return &engine.Command{
		Name: "slowlog", Arity: -2, Group: engine.GroupServer, Since: "2.2.12",
		Summary: "The log of slow commands.", Complexity: "Depends on the subcommand.",
		Sub: []*engine.Command{
			get,
			sub("len", 2, "Counts the entries.", "O(1)",
				[]string{"request_policy:all_nodes", "response_policy:agg_sum", "nondeterministic_output"},
				func(c *engine.Ctx) { c.Int(int64(c.E.Slowlog.Len())) }),
			sub("reset", 2, "Empties the log.", "O(N) in the number of entries",
				[]string{"request_policy:all_nodes", "response_policy:all_succeeded"}, func(c *engine.Ctx) {
					c.E.Slowlog.Reset()
					c.OK()
				}),
			helpSub(engine.GroupServer, "6.2.0",
				"GET [<count>]",
				"    List the newest <count> entries (10 unless given, -1 for all). An entry is",
				"    its number, the unix time, the duration in microseconds, the arguments, and",
				"    the client's address and name.",
				"LEN", "    Count the entries.",
				"RESET", "    Empty the log."),
		},
	}
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

func monitorCommand() *engine.Command {
	return &engine.Command{
		Name: "monitor", Arity: 1, Group: engine.GroupServer, Since: "1.0.0",
		Flags:   engine.Admin | engine.NoScript | engine.Loading | engine.Stale,
		Summary: "Shows every command that the server runs, as it runs.", Complexity: "",
		Run: func(c *engine.Ctx) {
			if c.Client.Monitor {
				return // as in Redis, no second answer
			}
			if !c.MayBlock() {
				c.Err("ERR MONITOR isn't allowed for DENY BLOCKING client")
				return
			}
			c.E.StartMonitor(c.Client)
			c.OK()
		},
	}
}
