package command

import (
	"fmt"
	"os"

	"godwit/internal/engine"
	"godwit/internal/logging"
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
		"module|list":   replyModules,
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

// replyModules replies with the modules, as MODULE LIST and HELLO name them.
func replyModules(c *engine.Ctx) {
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
	path := string(c.Args[2])
	why := "modules cannot be loaded; RedisBloom and redis-cell are built in"
	if info, err := os.Stat(path); err != nil {
		why = path + ": cannot open shared object file: " + logging.OSError(err)
	} else if info.Mode()&0o111 == 0 {
		why = "It does not have execute permissions."
	}
	c.E.Log.Warning("Module %s failed to load: %s", path, why)
	c.Err(errLoadModule)
}

func moduleUnloadCmd(c *engine.Ctx) {
	why := "no such module with that name"
	for _, m := range builtInModules {
		if m.name == string(c.Args[2]) {
			why = "the module can't be unloaded"
		}
	}
	c.E.Log.Warning("Error unloading module %s: %s", c.Args[2], why)
	c.Err("ERR Error unloading module: " + why)
}

// infoModules writes the section of INFO that lists the modules.
func infoModules(t *infoText) {
	for _, m := range builtInModules {
		t.str("module", fmt.Sprintf(
			"name=%s,ver=%d,api=1,filters=0,usedby=[],using=[],options=[]", m.name, m.version))
	}
}
