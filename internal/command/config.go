package command

import (
	"godwit/internal/config"
	"godwit/internal/engine"
)

var _ = family(configHandlers)

func configHandlers() engine.Handlers {
	return engine.Handlers{
		"config|get":       configGetCmd,
		"config|set":       configSetCmd,
		"config|rewrite":   configRewriteCmd,
		"config|resetstat": configResetstatCmd,
		"config|help":      helpOf(configHelp...),
	}
}

// configHelp lists the lines of CONFIG HELP.
var configHelp = []string{
	"GET <pattern> [<pattern> ...]",
	"    Show the directives that match a glob-style <pattern>.",
	"SET <directive> <value> [<directive> <value> ...]",
	"    Give each <directive> its <value>; one that is refused undoes the others.",
	"RESETSTAT",
	"    Start the counters of INFO again.",
	"REWRITE",
	"    Write the current settings to the configuration file.",
}

func configResetstatCmd(c *engine.Ctx) {
	c.E.ResetStats()
	c.OK()
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
		// An unknown name may be the misspelt name of a password.
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
