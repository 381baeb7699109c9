package command

import (
	"strings"

	"godwit/internal/engine"
	"godwit/internal/object"
	"godwit/internal/resp"
	"godwit/internal/scan"
	"godwit/internal/script"
)

var _ = family(functionHandlers)

func functionHandlers() engine.Handlers {
	return engine.Handlers{
		"fcall":            func(c *engine.Ctx) { fcallCmd(c, false) },
		"fcall_ro":         func(c *engine.Ctx) { fcallCmd(c, true) },
		"function|load":    functionLoadCmd,
		"function|delete":  functionDeleteCmd,
		"function|flush":   functionFlushCmd,
		"function|list":    functionListCmd,
		"function|stats":   functionStatsCmd,
		"function|kill":    functionKillCmd,
		"function|dump":    functionDumpCmd,
		"function|restore": functionRestoreCmd,
		"function|help":    helpOf(functionHelp...),
	}
}

// functionHelp lists the lines of FUNCTION HELP.
var functionHelp = []string{
	"LOAD [REPLACE] <code>",
	"    Add the library that the code makes, in place of one of its name if REPLACE is given.",
	"DELETE <library>",
	"    Remove a library.",
	"LIST [LIBRARYNAME <pattern>] [WITHCODE]",
	"    Show the libraries, those whose names match, with their functions and perhaps their code.",
	"STATS",
	"    Show the function that runs, with the call and how long it has run, and how many " +
		"libraries and functions there are.",
	"KILL",
	"    End the function that runs.",
	"FLUSH [ASYNC|SYNC]",
	"    Remove all libraries.",
	"DUMP",
	"    Serialise all libraries.",
	"RESTORE <payload> [FLUSH|APPEND|REPLACE]",
	"    Add the libraries of a payload: to no others, to those that are there (the default),",
	"    or in place of those with the same names.",
}

// fcallDeclares returns the flags of the function that is called.
func fcallDeclares(c *engine.Ctx) (script.Flags, bool) {
	if f := c.E.Functions().Function(c.Args[1]); f != nil {
		return f.Flags, true
	}
	return 0, false
}

func fcallCmd(c *engine.Ctx, readOnly bool) {
	c.FeedMonitors()
	f := c.E.Functions().Function(c.Args[1])
	if f == nil {
		c.Err("ERR Function not found")
		return
	}
	n, ok := object.ParseInt(c.Args[2])
	rest := c.Args[3:]
	switch {
	case !ok:
		c.Err("ERR Bad number of keys provided")
		return
	case n > int64(len(rest)):
		c.Err("ERR Number of keys can't be greater than number of args")
		return
	case n < 0:
		c.Err("ERR Number of keys can't be negative")
		return
	}
	o := engine.ScriptRun{Name: f.Name, Flags: f.Flags, Declared: true, ReadOnly: readOnly,
		Function: true, Keys: rest[:n]}
	fs := c.E.Functions()
	c.E.RunScript(c, o, func(w *resp.Writer) { fs.Call(f, rest[:n], rest[n:], w) })
}

func functionLoadCmd(c *engine.Ctx) {
	options, code := c.Args[2:len(c.Args)-1], c.Args[len(c.Args)-1]
	for _, o := range options {
		if !is(o, "replace") {
			c.Err("ERR Unknown option given: " + cString(o, len(o)))
			return
		}
	}
	l, err := c.E.Functions().Load(code, c.E.LoadOptions(c.Client, len(options) > 0))
	if err != nil {
		c.Err("ERR " + err.Error())
		return
	}
	c.Dirty(1)
	c.BulkString(l.Name)
}

func functionDeleteCmd(c *engine.Ctx) {
	if !c.E.Functions().Delete(string(c.Args[2])) {
		c.Err("ERR Library not found")
		return
	}
	c.Dirty(1)
	c.OK()
}

func functionFlushCmd(c *engine.Ctx) {
	if len(c.Args) > 3 {
		wrongSub(c)
		return
	}
	if len(c.Args) == 3 && !is(c.Args[2], "async") && !is(c.Args[2], "sync") {
		c.Err("ERR FUNCTION FLUSH only supports SYNC|ASYNC option")
		return
	}
	c.E.FlushFunctions() // The garbage collector frees them in the background either way.
	c.Dirty(1)
	c.OK()
}

// lineBreaks replaces line breaks by spaces. It includes those at the end, which an error otherwise
// loses.
var lineBreaks = strings.NewReplacer("\r", " ", "\n", " ")

func functionListCmd(c *engine.Ctx) {
	var pattern []byte
	code := false
	for i := 2; i < len(c.Args); i++ {
		switch a := c.Args[i]; {
		case is(a, "withcode") && !code:
			code = true
		case is(a, "libraryname") && pattern == nil:
			if i++; i == len(c.Args) {
				c.Err("ERR library name argument was not given")
				return
			}
			pattern = c.Args[i]
		default:
			c.Err("ERR Unknown argument " + lineBreaks.Replace(cString(a, len(a))))
			return
		}
	}
	var shown []*script.Library
	for _, l := range c.E.Functions().Libraries() {
		if pattern == nil || scan.Match(pattern, []byte(l.Name), true) {
			shown = append(shown, l)
		}
	}
	c.Array(len(shown))
	for _, l := range shown {
		listLibrary(c, l, code)
	}
}

func listLibrary(c *engine.Ctx, l *script.Library, code bool) {
	c.Map(3 + int(boolInt(code)))
	c.BulkString("library_name")
	c.BulkString(l.Name)
	c.BulkString("engine")
	c.BulkString(l.Engine)
	c.BulkString("functions")
	c.Array(len(l.Functions))
	for _, f := range l.Functions {
		c.Map(3)
		c.BulkString("name")
		c.BulkString(f.Name)
		c.BulkString("description")
		if f.Described {
			c.BulkString(f.Description)
		} else {
			c.Null()
		}
		c.BulkString("flags")
		names := f.Flags.Names()
		c.Set(len(names))
		for _, n := range names {
			c.Simple(n)
		}
	}
	if code {
		c.BulkString("library_code")
		c.BulkString(l.Code)
	}
}

func functionStatsCmd(c *engine.Ctx) {
	name, function, since := c.E.RunningScript()
	if name != "" && !function {
		c.Err(c.E.BusyText())
		return
	}
	c.Map(2)
	c.BulkString("running_script")
	if name == "" {
		c.Null()
	} else {
		c.Map(3)
		c.BulkString("name")
		c.BulkString(name)
		c.BulkString("command")
		argv := c.E.RunningArgs()
		c.Array(len(argv))
		for _, a := range argv {
			c.Bulk(a)
		}
		c.BulkString("duration_ms")
		c.Int(since.Milliseconds())
	}
	libraries, functions := c.E.Functions().Len()
	c.BulkString("engines")
	c.Map(1)
	c.BulkString("LUA")
	c.Map(2)
	c.BulkString("libraries_count")
	c.Int(int64(libraries))
	c.BulkString("functions_count")
	c.Int(int64(functions))
}

func functionKillCmd(c *engine.Ctx) {
	if msg := c.E.KillScript(true); msg != "" {
		c.Err(msg)
		return
	}
	c.OK()
}
