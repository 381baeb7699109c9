package command

import "godwit/internal/engine"

// clientImportSourceCmd marks a connection that copies data to a server in import mode.
func clientImportSourceCmd(c *engine.Ctx) {
	on := is(c.Args[2], "on")
	switch {
	case !c.E.Cfg.ImportMode && !is(c.Args[2], "off"):
		c.Err("ERR Server is not in import mode")
	case !on && !is(c.Args[2], "off"):
		c.Err(engine.ErrSyntax)
	default:
		c.E.ImportSource(c.Client, on)
		c.OK()
	}
}

// clientCapaCmd notes what the client can do. What is not known is passed over.
func clientCapaCmd(c *engine.Ctx) {
	for _, a := range c.Args[2:] {
		if is(a, "redirect") {
			c.Client.Redirects = true
		}
	}
	c.OK()
}
