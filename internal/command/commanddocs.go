package command

import (
	"godwit/internal/engine"
	"godwit/internal/spec"
)

// commandDocsCmd documents the named commands, or all. It leaves out unknown names.
func commandDocsCmd(c *engine.Ctx) {
	cmds := c.E.Table().List()
	if names := c.Args[2:]; len(names) > 0 {
		cmds = nil
		for _, n := range names {
			if cmd := c.E.Table().Get(string(n)); cmd != nil {
				cmds = append(cmds, cmd)
			}
		}
	}
	docsMap(c, cmds)
}

func docsMap(c *engine.Ctx, cmds []*spec.Command) {
	c.Map(len(cmds))
	for _, cmd := range cmds {
		c.BulkString(cmd.FullName())
		docsReply(c, cmd)
	}
}

// doc is one pair of a documentation map. A pair without a value is left out.
type doc struct {
	key   string
	there bool
	value func()
}

func docs(c *engine.Ctx, pairs ...doc) {
	n := 0
	for _, p := range pairs {
		if p.there {
			n++
		}
	}
	c.Map(n)
	for _, p := range pairs {
		if p.there {
			c.BulkString(p.key)
			p.value()
		}
	}
}

// text returns a pair whose value is a string.
func text(c *engine.Ctx, key, value string) doc {
	return doc{key, value != "", func() { c.BulkString(value) }}
}

func docsReply(c *engine.Ctx, cmd *spec.Command) {
	flags := cmd.DocFlags
	if cmd.DeprecatedSince != "" {
		flags = append([]string{"deprecated"}, flags...)
	}
	docs(c,
		text(c, "summary", cmd.Summary),
		text(c, "since", cmd.Since),
		text(c, "group", string(cmd.Group)),
		text(c, "complexity", cmd.Complexity),
		doc{"doc_flags", len(flags) > 0, func() { statusSet(c, "", flags) }},
		text(c, "deprecated_since", cmd.DeprecatedSince),
		text(c, "replaced_by", cmd.ReplacedBy),
		doc{"history", len(cmd.History) > 0, func() { historyReply(c, cmd.History) }},
		doc{"arguments", len(cmd.Args) > 0, func() { argsReply(c, cmd.Args) }},
		doc{"subcommands", len(cmd.Sub) > 0, func() { docsMap(c, cmd.Sub) }},
	)
}

func historyReply(c *engine.Ctx, history []spec.History) {
	c.Set(len(history))
	for _, h := range history {
		c.Array(2)
		c.BulkString(h.Since)
		c.BulkString(h.Change)
	}
}

func argsReply(c *engine.Ctx, args []spec.Arg) {
	c.Array(len(args))
	for i := range args {
		a := &args[i]
		var flags []string
		if a.Optional {
			flags = append(flags, "optional")
		}
		if a.Multiple {
			flags = append(flags, "multiple")
		}
		if a.MultipleToken {
			flags = append(flags, "multiple_token")
		}
		docs(c,
			text(c, "name", a.Name),
			text(c, "type", string(a.Type)),
			text(c, "display_text", a.DisplayText()),
			doc{"key_spec_index", a.Type == spec.ArgKey ||
				a.Type == spec.ArgPattern && a.KeySpec > 0, func() { c.Int(int64(a.KeySpec)) }},
			doc{"token", a.Token != "" || a.Type == spec.ArgPureToken, func() {
				c.BulkString(a.Token)
			}},
			text(c, "summary", a.Summary),
			text(c, "since", a.Since),
			text(c, "deprecated_since", a.Deprecated),
			doc{"flags", len(flags) > 0, func() { statusSet(c, "", flags) }},
			doc{"arguments", len(a.Args) > 0, func() { argsReply(c, a.Args) }},
		)
	}
}
