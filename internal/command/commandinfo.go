package command

import (
	"strings"

	"godwit/internal/engine"
	"godwit/internal/scan"
	"godwit/internal/spec"
)

var _ = family(commandInfoHandlers)

func commandInfoHandlers() engine.Handlers {
	return engine.Handlers{
		"command":                 func(c *engine.Ctx) { commandInfo(c, nil) },
		"command|count":           func(c *engine.Ctx) { c.Int(int64(len(c.E.Table().List()))) },
		"command|docs":            commandDocsCmd,
		"command|info":            func(c *engine.Ctx) { commandInfo(c, c.Args[2:]) },
		"command|list":            commandListCmd,
		"command|getkeys":         func(c *engine.Ctx) { commandGetKeys(c, false) },
		"command|getkeysandflags": func(c *engine.Ctx) { commandGetKeys(c, true) },
		"command|help":            helpOf(commandHelp...),
	}
}

// commandHelp lists the lines of COMMAND HELP.
var commandHelp = []string{
	"(no subcommand)",
	"    Describe every command.",
	"COUNT",
	"    How many commands there are.",
	"LIST [FILTERBY (MODULE <module>|ACLCAT <category>|PATTERN <pattern>)]",
	"    Name the commands, or those that pass the filter.",
	"INFO [<command-name> ...]",
	"    Describe the commands, or all: arity, flags, keys, categories.",
	"DOCS [<command-name> ...]",
	"    Document the commands, or all: summary, arguments, history.",
	"GETKEYS <full-command>",
	"    Pick the keys out of a command with its arguments.",
	"GETKEYSANDFLAGS <full-command>",
	"    The same, with what the command does to each key.",
}

// commandInfo describes the named commands, or all. The reply for an unknown name is null.
func commandInfo(c *engine.Ctx, names [][]byte) {
	if len(names) == 0 {
		list := c.E.Table().List()
		c.Array(len(list))
		for _, cmd := range list {
			infoReply(c, cmd)
		}
		return
	}
	c.Array(len(names))
	for _, n := range names {
		if cmd := c.E.Table().Get(string(n)); cmd != nil {
			infoReply(c, cmd)
		} else {
			c.Null()
		}
	}
}

// infoReply replies with one command of COMMAND INFO. It has ten elements. The last are the
// subcommands, in the same form.
func infoReply(c *engine.Ctx, cmd *spec.Command) {
	c.Array(10)
	c.BulkString(cmd.FullName())
	c.Int(int64(cmd.Arity))
	statusSet(c, "", cmd.FlagNames())
	first, last, step := cmd.LegacyRange()
	c.Int(int64(first))
	c.Int(int64(last))
	c.Int(int64(step))
	statusSet(c, "@", cmd.ACL())
	c.Set(len(cmd.Tips))
	for _, t := range cmd.Tips {
		c.BulkString(t)
	}
	c.Set(len(cmd.Keys))
	for i := range cmd.Keys {
		keySpecReply(c, &cmd.Keys[i])
	}
	if len(cmd.Sub) == 0 {
		c.Set(0)
		return
	}
	c.Array(len(cmd.Sub))
	for _, s := range cmd.Sub {
		infoReply(c, s)
	}
}

func statusSet(c *engine.Ctx, prefix string, names []string) {
	c.Set(len(names))
	for _, n := range names {
		c.Simple(prefix + n)
	}
}

func keySpecReply(c *engine.Ctx, k *spec.KeySpec) {
	if k.Notes != "" {
		c.Map(4)
		c.BulkString("notes")
		c.BulkString(k.Notes)
	} else {
		c.Map(3)
	}
	c.BulkString("flags")
	statusSet(c, "", k.Access.Names())
	b, f := k.Begin, k.Find
	c.BulkString("begin_search")
	switch {
	case k.Unknown():
		typeAndSpec(c, "unknown")
	case b.Keyword != "":
		typeAndSpec(c, "keyword", "keyword", b.Keyword, "startfrom", b.From)
	default:
		typeAndSpec(c, "index", "index", b.Index)
	}
	c.BulkString("find_keys")
	switch {
	case k.Unknown():
		typeAndSpec(c, "unknown")
	case f.KeyNum:
		typeAndSpec(c, "keynum",
			"keynumidx", f.KeyNumIdx, "firstkey", f.FirstKey, "keystep", f.Step)
	default:
		typeAndSpec(c, "range", "lastkey", f.LastKey, "keystep", f.Step, "limit", f.Limit)
	}
}

// typeAndSpec replies with the map of a key search: its type and its parameters, given as names and
// values in turn.
func typeAndSpec(c *engine.Ctx, kind string, params ...any) {
	c.Map(2)
	c.BulkString("type")
	c.BulkString(kind)
	c.BulkString("spec")
	c.Map(len(params) / 2)
	for _, p := range params {
		switch p := p.(type) {
		case string:
			c.BulkString(p)
		case int:
			c.Int(int64(p))
		}
	}
}

// commandListCmd replies with the names of commands and subcommands. There are no modules, so
// FILTERBY MODULE finds nothing.
func commandListCmd(c *engine.Ctx) {
	pass := func(*spec.Command) bool { return true }
	if args := c.Args[2:]; len(args) > 0 {
		if len(args) != 3 || !is(args[0], "filterby") {
			c.Err(engine.ErrSyntax)
			return
		}
		switch v := args[2]; {
		case is(args[1], "module"):
			pass = func(*spec.Command) bool { return false }
		case is(args[1], "aclcat"):
			pass = func(cmd *spec.Command) bool { return hasCategory(cmd, string(v)) }
		case is(args[1], "pattern"):
			pass = func(cmd *spec.Command) bool {
				return scan.Match(v, []byte(cmd.FullName()), true)
			}
		default:
			c.Err(engine.ErrSyntax)
			return
		}
	}
	var names []string
	for _, cmd := range c.E.Table().List() {
		for _, cmd := range append([]*spec.Command{cmd}, cmd.Sub...) {
			if pass(cmd) {
				names = append(names, cmd.FullName())
			}
		}
	}
	c.Array(len(names))
	for _, n := range names {
		c.BulkString(n)
	}
}

func hasCategory(cmd *spec.Command, name string) bool {
	for _, cat := range cmd.ACL() {
		if strings.EqualFold(cat, name) {
			return true
		}
	}
	return false
}

// commandGetKeys replies with the keys of the command in the arguments, with or without their
// flags.
func commandGetKeys(c *engine.Ctx, flags bool) {
	argv := c.Args[2:]
	cmd := c.E.Table().Find(argv)
	switch {
	case cmd == nil:
		c.Err("ERR Invalid command specified")
		return
	case !cmd.HasKeys():
		c.Err("ERR The command has no key arguments")
		return
	case !cmd.AcceptsArgs(len(argv)):
		c.Err("ERR Invalid number of arguments specified for command")
		return
	}
	all, err := cmd.KeyRefs(nil, argv)
	var refs []spec.KeyRef
	for _, r := range all {
		if r.Access&spec.NotKey == 0 {
			refs = append(refs, r)
		}
	}
	if err != nil || len(refs) == 0 && !cmd.Is(spec.NoMandatoryKeys) {
		c.Err("ERR Invalid arguments specified for command")
		return
	}
	c.Array(len(refs))
	for _, r := range refs {
		if flags {
			c.Array(2)
		}
		c.Bulk(argv[r.Pos])
		if flags {
			statusSet(c, "", r.Access.Names())
		}
	}
}
