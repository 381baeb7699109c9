package command

import (
	"godwit/internal/engine"
	"godwit/internal/object"
	"godwit/internal/resp"
	"godwit/internal/script"
)

const errNoScript = "NOSCRIPT No matching script. Please use EVAL."

var _ = family(scriptHandlers)

func scriptHandlers() engine.Handlers {
	return engine.Handlers{
		"eval":          func(c *engine.Ctx) { evalCmd(c, false) },
		"evalsha":       func(c *engine.Ctx) { evalshaCmd(c, false) },
		"eval_ro":       func(c *engine.Ctx) { evalCmd(c, true) },
		"evalsha_ro":    func(c *engine.Ctx) { evalshaCmd(c, true) },
		"script|load":   scriptLoadCmd,
		"script|exists": scriptExistsCmd,
		"script|flush":  scriptFlushCmd,
		"script|kill":   scriptKillCmd,
		"script|debug":  scriptDebugCmd,
		"script|show":   scriptShowCmd,
		"script|help":   helpOf(scriptHelp...),
	}
}

// scriptHelp lists the lines of SCRIPT HELP.
var scriptHelp = []string{
	"DEBUG (YES|SYNC|NO)",
	"    Set the debugging of the scripts to come.",
	"EXISTS <sha1> [<sha1> ...]",
	"    Tell which of the scripts the server knows.",
	"FLUSH [ASYNC|SYNC]",
	"    Forget all scripts.",
	"KILL",
	"    End the script that runs.",
	"LOAD <script>",
	"    Keep a script without running it.",
	"SHOW <sha1>",
	"    Show the text of a script.",
}

func scriptKillCmd(c *engine.Ctx) {
	if msg := c.E.KillScript(false); msg != "" {
		c.Err(msg)
		return
	}
	c.OK()
}

// scriptKeys reads numkeys. It replies with Redis's errors and reports false if it is invalid.
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
	if c.Client.Debug != engine.DebugOff && !c.Client.InMulti() {
		debugEval(c, keys, args, readOnly)
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
	if c.Client.Debug != engine.DebugOff {
		c.Err("ERR Please use EVAL instead of EVALSHA for debugging")
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

// evalDeclares returns the flags that the script of an EVAL declares.
func evalDeclares(c *engine.Ctx) (script.Flags, bool) { return script.Declares(c.Args[1]) }

func evalshaDeclares(c *engine.Ctx) (script.Flags, bool) {
	if sc := c.E.Scripts().Find(c.Args[1]); sc != nil {
		return sc.Flags, sc.Declared
	}
	return 0, false
}

func runScript(c *engine.Ctx, sc *script.Script, keys, args [][]byte, readOnly bool) {
	o := engine.ScriptRun{Name: sc.SHA, Flags: sc.Flags, Declared: sc.Declared, ReadOnly: readOnly,
		Debug: c.Client.Debug != engine.DebugOff && !c.Client.InMulti(), Keys: keys}
	h := c.E.Scripts()
	c.E.RunScript(c, o, func(w *resp.Writer) { h.Run(sc, keys, args, w) })
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
	c.E.Scripts().Flush() // The garbage collector frees them in the background either way.
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
