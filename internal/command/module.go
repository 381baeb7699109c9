package command

import (
	"fmt"

	"godwit/internal/engine"
)

// builtInModule is a module whose commands are in the table, as MODULE LIST names it.
type builtInModule struct {
	name    string
	version int64
}

// builtInModules are the modules that Godwit stands for: RedisBloom as of Redis 8, and redis-cell.
var builtInModules = []builtInModule{{"bf", 80000}, {"redis-cell", 1}}

const errLoadModule = "ERR Error loading the extension. Please check the server logs."

func moduleCommands() []*engine.Command {
	const admin = engine.Admin | engine.NoScript
	const load = admin | engine.NoAsyncLoading
	sub := func(name string, arity int, flags engine.Flag, since, summary string, run func(*engine.Ctx), args ...engine.Arg) *engine.Command {
		c := &engine.Command{
			Name: name, Arity: arity, Flags: flags, Group: engine.GroupServer, Since: since,
			Summary: summary, Complexity: "O(1)", Args: args, Run: run,
		}
		if flags&engine.NoAsyncLoading != 0 {
			c.Protected = engine.ByModuleCommand
		}
		return c
	}
	path := engine.Str("path")
	list := sub("list", 2, admin, "4.0.0", "Lists the modules.", moduleListCmd)
	list.Tips = []string{"nondeterministic_output_order"}
	return []*engine.Command{{
		Name: "module", Arity: -2, Group: engine.GroupServer, Since: "4.0.0",
		Summary: "Lists modules, and loads none.", Complexity: "Depends on the subcommand.",
		Sub: []*engine.Command{
			list,
			sub("load", -3, load, "4.0.0", "Would load a module.", moduleLoadCmd, path, engine.Str("arg").Opt().Many()),
			sub("loadex", -3, load, "7.0.0", "Would load a module with directives.", moduleLoadCmd, path,
				engine.Block("configs", engine.Str("name"), engine.Str("value")).Tokened("CONFIG").Opt().ManyTokens(),
				engine.Str("args").Tokened("ARGS").Opt().Many()),
			sub("unload", 3, load, "4.0.0", "Would unload a module.", moduleUnloadCmd, engine.Str("name")),
			helpSub(engine.GroupServer, "5.0.0",
				"LIST", "    List the modules, which are all built in.",
				"LOAD <path> [<arg> ...]", "    No module can be loaded.",
				"LOADEX <path> [CONFIG <name> <value> ...] [ARGS <arg> ...]", "    No module can be loaded.",
				"UNLOAD <name>", "    No module can be unloaded."),
		},
	}}
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
	c.E.Log.Warning("Module %s failed to load: modules cannot be loaded; RedisBloom and redis-cell are built in", c.Args[2])
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

// infoModules is the section of INFO that lists the modules.
func infoModules(t *infoText) {
	for _, m := range builtInModules {
		t.str("module", fmt.Sprintf("name=%s,ver=%d,api=1,filters=0,usedby=[],using=[],options=[]", m.name, m.version))
	}
}
