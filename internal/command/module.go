package command

import (
	"fmt"

	"godwit/internal/engine"
)

// builtInModule is a module whose commands are built in, as MODULE LIST names it.
type builtInModule struct {
	name    string
	version int64
}

// builtInModules are the modules that Godwit replaces: RedisBloom as of Redis 8, and redis-cell.
var builtInModules = []builtInModule{{"bf", 80000}, {"redis-cell", 1}}

const errLoadModule = "ERR Error loading the extension. Please check the server logs."

var _ = family(moduleHandlers)

func moduleHandlers() engine.Handlers {
	return engine.Handlers{
		"module|list":   moduleListCmd,
		"module|load":   moduleLoadCmd,
		"module|loadex": moduleLoadCmd,
		"module|unload": moduleUnloadCmd,
		"module|help":   helpOf(moduleHelp...),
	}
}

// moduleHelp lists the lines of MODULE HELP.
var moduleHelp = []string{
	"LIST",
	"    List the modules, which are all built in.",
	"LOAD <path> [<arg> ...]",
	"    No module can be loaded.",
	"LOADEX <path> [CONFIG <name> <value> ...] [ARGS <arg> ...]",
	"    No module can be loaded.",
	"UNLOAD <name>",
	"    No module can be unloaded.",
}

func moduleListCmd(c *engine.Ctx) {
	c.Array(len(builtInModules))
	for _, m := range builtInModules {
		c.Map(4)
		c.BulkString("name")
		c.BulkString(m.name)
		c.BulkString("ver")
		c.Int(m.version)
		c.BulkString("path")
		c.BulkString("")
		c.BulkString("args")
		c.Array(0)
	}
}

func moduleLoadCmd(c *engine.Ctx) {
	c.E.Log.Warning(
		"Module %s failed to load: modules cannot be loaded; RedisBloom and redis-cell are built "+
			"in", c.Args[2])
	c.Err(errLoadModule)
}

func moduleUnloadCmd(c *engine.Ctx) {
	for _, m := range builtInModules {
		if m.name == string(c.Args[2]) {
			c.Err("ERR Error unloading module: the module can't be unloaded")
			return
		}
	}
	c.Err("ERR Error unloading module: no such module with that name")
}

// infoModules writes the section of INFO that lists the modules.
func infoModules(t *infoText) {
	for _, m := range builtInModules {
		t.str("module", fmt.Sprintf(
			"name=%s,ver=%d,api=1,filters=0,usedby=[],using=[],options=[]", m.name, m.version))
	}
}
