// Package command holds the command handlers, one file or more for each family. Package spec says
// what each command is. The handlers function of each family maps the commands to their handlers,
// and family puts them into the table.
//
// A handler parses all its arguments, looks up the key, checks its type, acts and replies. Nothing
// changes before the last possible error. Replies and error texts are Redis's, byte for byte.
package command

import (
	"godwit/internal/engine"
	"godwit/internal/spec"
)

// families are the handlers of all commands, as the files of the families add them. They are
// functions because some handlers share a buffer, which belongs to one table.
var families []func() engine.Handlers

// family adds the handlers of one family. A file calls it to initialize a blank variable, so the
// result means nothing.
func family(handlers func() engine.Handlers) bool {
	families = append(families, handlers)
	return true
}

// Table returns the table of all commands.
func Table() *engine.Table {
	all := make([]engine.Handlers, len(families))
	for i, handlers := range families {
		all[i] = handlers()
	}
	t := engine.NewTable(spec.New(), all...)
	setTouches(t)
	for _, variant := range []string{"", "_ro"} {
		t.SetDeclared("eval"+variant, evalDeclares)
		t.SetDeclared("evalsha"+variant, evalshaDeclares)
		t.SetDeclared("fcall"+variant, fcallDeclares)
	}
	return t
}
