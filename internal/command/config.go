package command

import (
	"godwit/internal/config"
	"godwit/internal/engine"
)

func configCommands() []*engine.Command {
	const admin = engine.Admin | engine.NoScript | engine.Loading | engine.Stale
	return []*engine.Command{{
		Name: "config", Arity: -2, Group: engine.GroupServer, Since: "2.0.0",
		Summary: "Reads and changes the configuration.", Complexity: "Depends on the subcommand.",
		Sub: []*engine.Command{
			{
				Name: "get", Arity: -3, Flags: admin, Group: engine.GroupServer, Since: "2.0.0",
				Summary: "Shows directives and their values.", Complexity: "O(N) in the number of directives",
				History: []engine.History{{Since: "7.0.0", Change: "Takes several patterns."}},
				Args:    []engine.Arg{engine.Block("parameter", engine.Str("parameter")).Many()},
				Run:     configGetCmd,
			},
			{
				Name: "set", Arity: -4, Flags: admin, Group: engine.GroupServer, Since: "2.0.0",
				Summary: "Changes directives, all of the given ones or none.", Complexity: "O(N) in the number of directives",
				History: []engine.History{{Since: "7.0.0", Change: "Takes several directives."}},
				Tips:    []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
				Args:    []engine.Arg{engine.Block("parameter_value", engine.Str("parameter"), engine.Str("value")).Many()},
				Run:     configSetCmd,
			},
			{
				Name: "rewrite", Arity: 2, Flags: admin, Group: engine.GroupServer, Since: "2.8.0",
				Summary: "Brings the configuration file up to date.", Complexity: "O(N) in the size of the file",
				Run: configRewriteCmd,
			},
			{
				Name: "resetstat", Arity: 2, Flags: admin, Group: engine.GroupServer, Since: "2.0.0",
				Summary: "Sets the counters of INFO back to zero.", Complexity: "O(1)",
				Run: func(c *engine.Ctx) {
					c.E.ResetStats()
					c.OK()
				},
			},
			helpSub(engine.GroupServer, "5.0.0",
				"GET <pattern> [<pattern> ...]", "    Show the directives that match a glob-style <pattern>.",
				"SET <directive> <value> [<directive> <value> ...]", "    Give each <directive> its <value>; one that is refused undoes the others.",
				"RESETSTAT", "    Start the counters of INFO again.",
				"REWRITE", "    Write the current settings to the configuration file."),
		},
	}}
}

func configGetCmd(c *engine.Ctx) {
	found := c.E.Cfg.Get(c.Args[2:]...)
	c.Map(len(found))
	for _, d := range found {
		c.BulkString(d[0])
		c.BulkString(d[1])
	}
}

func configSetCmd(c *engine.Ctx) {
	args := c.Args[2:]
	for i := 0; i+1 < len(args); i += 2 {
		// An unknown name may be that of a password, misspelt.
		if d := config.Lookup(string(args[i])); d == nil || d.Flags&config.Sensitive != 0 {
			c.Redact(i + 3)
		}
	}
	if len(args)%2 != 0 {
		c.Err(engine.ErrSyntax)
		return
	}
	pairs := make([][2]string, len(args)/2)
	for i := range pairs {
		pairs[i] = [2]string{string(args[2*i]), string(args[2*i+1])}
	}
	if err := c.E.Cfg.SetFrom(c.Client.Local, pairs, c.E.ConfigChanged); err != nil {
		c.Err(err.Error())
		return
	}
	for _, w := range c.E.Cfg.Warnings() {
		c.E.Log.Warning("%s", w)
	}
	c.OK()
}

func configRewriteCmd(c *engine.Ctx) {
	if err := c.E.RewriteConfig(); err != nil {
		c.E.Log.Warning("CONFIG REWRITE failed: %s", err)
		c.Err(err.Error())
		return
	}
	c.E.Log.Notice("CONFIG REWRITE executed with success.")
	c.OK()
}
