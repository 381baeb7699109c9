package engine

import (
	"fmt"
	"strconv"

	"godwit/internal/slot"
	"godwit/internal/spec"
)

// keylessWrite reports whether the command writes and names no keys.
func (e *Engine) keylessWrite(cmd *spec.Command) bool {
	return cmd.Is(spec.Write) && e.table.routes[cmd.ID()] == routeNone
}

// importRefuses returns why the migration ends instead of running a command of its source, "" if it
// runs.
func (e *Engine) importRefuses(m *slotImport, c *Ctx, flags spec.Flag) string {
	refs, _ := c.Cmd.KeyRefs(e.migrations.refs[:0], c.Args)
	e.migrations.refs = refs[:0]
	for _, r := range refs {
		if i := slot.Of(c.Args[r.Pos]); !m.slots.Has(i) {
			return fmt.Sprintf("the source has sent %s for slot %d, which is not migrated",
				c.Cmd.FullName(), i)
		}
	}
	switch {
	case len(refs) == 0 && e.keylessWrite(c.Cmd) && !e.flushesOf(m, c):
		return "the source has sent " + c.Cmd.FullName()
	case flags&spec.Write != 0 && e.diskError() != "":
		return e.diskError()
	}
	return ""
}

// flushesOf reports whether the command deletes keys of a slot of the migration.
func (e *Engine) flushesOf(m *slotImport, c *Ctx) bool {
	if c.Cmd.FullName() != "cluster|flushslot" {
		return false
	}
	i, err := strconv.Atoi(string(c.Args[2]))
	return err == nil && i >= 0 && i < slot.Count && m.slots.Has(i)
}

// checkImported ends the migration if a command of its source has failed: the two nodes have not
// the same keys then.
func (e *Engine) checkImported(c *Ctx) {
	why := e.importError
	if why == "" {
		return
	}
	e.importError = ""
	name := "a command"
	if c.Cmd != nil {
		name = c.Cmd.FullName()
	}
	if m := e.migrations.importOf(c.Client); m != nil {
		e.failImport(m, fmt.Sprintf("%s of the source has failed here: %.200s", name, why))
	}
}
