package command

import (
	"godwit/internal/engine"
	"godwit/internal/object"
	"godwit/internal/resp"
	"godwit/internal/script"
)

const errNoScript = "NOSCRIPT No matching script. Please use EVAL."

func scriptCommands() []*engine.Command {
	const flags = engine.NoScript | engine.SkipMonitor | engine.MayReplicate | engine.NoMandatoryKeys | engine.Stale
	return []*engine.Command{
		evalCommand("eval", "2.6.0", flags, "script", "Runs a Lua script.", func(c *engine.Ctx) { evalCmd(c, false) }),
		evalCommand("evalsha", "2.6.0", flags, "sha1", "Runs a Lua script that the server knows already.", func(c *engine.Ctx) { evalshaCmd(c, false) }),
		evalCommand("eval_ro", "7.0.0", flags&^engine.MayReplicate|engine.ReadOnly, "script",
			"Runs a Lua script that writes nothing.", func(c *engine.Ctx) { evalCmd(c, true) }),
		evalCommand("evalsha_ro", "7.0.0", flags&^engine.MayReplicate|engine.ReadOnly, "sha1",
			"Runs a Lua script that writes nothing and that the server knows already.", func(c *engine.Ctx) { evalshaCmd(c, true) }),
		scriptCommand(),
	}
}

// evalCommand is the table entry of one of the commands that run scripts.
func evalCommand(name, since string, flags engine.Flag, arg, summary string, run func(*engine.Ctx)) *engine.Command {
	access := engine.RW | engine.AccessFlag | engine.Update
	notes := "what a script does with its keys cannot be known: the worst is assumed"
	if flags&engine.ReadOnly != 0 {
		access, notes = engine.RO|engine.AccessFlag, "what a script does with its keys cannot be known, but that it writes none"
	}
	if arg == "sha1" {
		notes = ""
	}
	return &engine.Command{
		Name: name, Arity: -3, Flags: flags, Group: engine.GroupScripting, Since: since,
		Summary: summary, Complexity: "Depends on the script.",
		Keys: []engine.KeySpec{{Begin: engine.At(2), Find: engine.KeyNum(0, 1, 1), Access: access, Notes: notes}},
		Args: []engine.Arg{engine.Str(arg), engine.Int("numkeys"), engine.Key("key", 0).Opt().Many(), engine.Str("arg").Opt().Many()},
		Run:  run,
	}
}

func scriptCommand() *engine.Command {
	sub := func(name string, arity int, flags engine.Flag, since, summary, complexity string, run func(*engine.Ctx), args ...engine.Arg) *engine.Command {
		return &engine.Command{Name: name, Arity: arity, Flags: flags, Group: engine.GroupScripting, Since: since, Summary: summary,
			Complexity: complexity, Args: args, Run: run}
	}
	load := sub("load", 3, engine.NoScript|engine.Stale, "2.6.0", "Keeps a script for EVALSHA.",
		"O(N) in the length of the script", scriptLoadCmd, engine.Str("script"))
	load.Tips = []string{"request_policy:all_nodes", "response_policy:all_succeeded"}
	exists := sub("exists", -3, engine.NoScript, "2.6.0", "Tells which scripts the server knows.",
		"O(N) in the number of scripts asked for", scriptExistsCmd, engine.Str("sha1").Many())
	exists.Tips = []string{"request_policy:all_shards", "response_policy:agg_logical_and"}
	flush := sub("flush", -2, engine.NoScript, "2.6.0", "Forgets all scripts.", "O(N) in the number of scripts", scriptFlushCmd,
		engine.OneOf("async", engine.Tok("async"), engine.Tok("sync")).Opt().From("6.2.0"))
	flush.Tips = []string{"request_policy:all_nodes", "response_policy:all_succeeded"}
	flush.History = []engine.History{{Since: "6.2.0", Change: "Takes `ASYNC` and `SYNC`."}}
	kill := sub("kill", 2, engine.NoScript|engine.AllowBusy, "2.6.0", "Ends the script that runs, unless it has written.", "O(1)", func(c *engine.Ctx) {
		if msg := c.E.KillScript(false); msg != "" {
			c.Err(msg)
			return
		}
		c.OK()
	})
	kill.Tips = []string{"request_policy:all_shards", "response_policy:one_succeeded"}
	debug := sub("debug", 3, engine.NoScript, "3.2.0", "Sets the debugging of the scripts to come.", "O(1)", scriptDebugCmd,
		engine.OneOf("mode", engine.Tok("yes"), engine.Tok("sync"), engine.Tok("no")))
	show := sub("show", 3, engine.NoScript, "8.0.0", "Shows the text of a script.", "O(1)", scriptShowCmd, engine.Str("sha1"))
	return &engine.Command{
		Name: "script", Arity: -2, Group: engine.GroupScripting, Since: "2.6.0",
		Summary: "Keeps, forgets and ends scripts.", Complexity: "Depends on the subcommand.",
		Sub: []*engine.Command{load, exists, flush, kill, debug, show, helpSub(engine.GroupScripting, "5.0.0",
			"DEBUG (YES|SYNC|NO)", "    Set the debugging of the scripts to come.",
			"EXISTS <sha1> [<sha1> ...]", "    Tell which of the scripts the server knows.",
			"FLUSH [ASYNC|SYNC]", "    Forget all scripts.",
			"KILL", "    End the script that runs.",
			"LOAD <script>", "    Keep a script without running it.",
			"SHOW <sha1>", "    Show the text of a script.")},
	}
}

// scriptKeys reads numkeys; it answers with Redis's errors and reports false otherwise.
func scriptKeys(c *engine.Ctx) (keys, args [][]byte, ok bool) {
	n, ok := object.ParseInt(c.Args[2])
	rest := c.Args[3:]
	switch {
	case !ok:
		c.Err(engine.ErrNotInteger)
	case n > int64(len(rest)):
		c.Err("ERR Number of keys can't be greater than number of args")
	case n < 0:
		c.Err("ERR Number of keys can't be negative")
	default:
		return rest[:n], rest[n:], true
	}
	return nil, nil, false
}

func evalCmd(c *engine.Ctx, readOnly bool) {
	c.FeedMonitors()
	keys, args, ok := scriptKeys(c)
	if !ok {
		return
	}
	sc, err := c.E.Scripts().Load(c.Args[1], false)
	if err != nil {
		c.Err("ERR " + err.Error())
		return
	}
	runScript(c, sc, keys, args, readOnly)
}

func evalshaCmd(c *engine.Ctx, readOnly bool) {
	c.FeedMonitors()
	if len(c.Args[1]) != 40 {
		c.Err(errNoScript)
		return
	}
	keys, args, ok := scriptKeys(c)
	if !ok {
		return
	}
	sc := c.E.Scripts().Find(c.Args[1])
	if sc == nil {
		c.Err(errNoScript)
		return
	}
	runScript(c, sc, keys, args, readOnly)
}

func runScript(c *engine.Ctx, sc *script.Script, keys, args [][]byte, readOnly bool) {
	o := engine.ScriptRun{Name: sc.SHA, Flags: sc.Flags, Declared: sc.Declared, ReadOnly: readOnly, Keys: keys}
	h := c.E.Scripts()
	c.E.RunScript(c, o, func(w *resp.Writer) script.Result { return h.Run(sc, keys, args, w) })
}

func scriptLoadCmd(c *engine.Ctx) {
	sc, err := c.E.Scripts().Load(c.Args[2], true)
	if err != nil {
		c.Err("ERR " + err.Error())
		return
	}
	c.BulkString(sc.SHA)
}

func scriptExistsCmd(c *engine.Ctx) {
	h := c.E.Scripts()
	c.Array(len(c.Args) - 2)
	for _, sha := range c.Args[2:] {
		c.Int(boolInt(h.Find(sha) != nil))
	}
}

func scriptFlushCmd(c *engine.Ctx) {
	if len(c.Args) > 3 || len(c.Args) == 3 && !is(c.Args[2], "async") && !is(c.Args[2], "sync") {
		c.Err("ERR SCRIPT FLUSH only support SYNC|ASYNC option")
		return
	}
	c.E.Scripts().Flush() // what is left is the collector's, in the background either way
	c.OK()
}

func scriptShowCmd(c *engine.Ctx) {
	sc := c.E.Scripts().Find(c.Args[2])
	if sc == nil {
		c.Err(errNoScript)
		return
	}
	c.BulkString(sc.Body)
}

// scriptDebugCmd knows no debugger: only to have none can be set.
func scriptDebugCmd(c *engine.Ctx) {
	switch mode := c.Args[2]; {
	case is(mode, "no"):
		c.OK()
	case is(mode, "yes"), is(mode, "sync"):
		c.Err("ERR scripts cannot be debugged here")
	default:
		c.Err("ERR Use SCRIPT DEBUG YES/SYNC/NO")
	}
}
