package command

import "godwit/internal/engine"

var _ = family(transactionHandlers)

func transactionHandlers() engine.Handlers {
	return engine.Handlers{
		"multi":   multiCmd,
		"exec":    execCmd,
		"discard": discardCmd,
		"watch":   watchCmd,
		"unwatch": unwatchCmd,
	}
}

func unwatchCmd(c *engine.Ctx) {
	c.E.Unwatch(c.Client)
	c.OK()
}

func multiCmd(c *engine.Ctx) {
	if c.Client.InMulti() {
		c.Err("ERR MULTI calls can not be nested")
		return
	}
	c.E.BeginMulti(c.Client)
	c.OK()
}

func execCmd(c *engine.Ctx) {
	if !c.Client.InMulti() {
		c.Err("ERR EXEC without MULTI")
		return
	}
	c.ExecMulti()
}

func discardCmd(c *engine.Ctx) {
	if !c.Client.InMulti() {
		c.Err("ERR DISCARD without MULTI")
		return
	}
	c.E.Discard(c.Client)
	c.OK()
}

func watchCmd(c *engine.Ctx) {
	if c.Client.InMulti() {
		c.Err("ERR WATCH inside MULTI is not allowed")
		return
	}
	for _, key := range c.Args[1:] {
		c.E.Watch(c.Client, key)
	}
	c.OK()
}
