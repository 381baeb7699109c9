package command

import (
	"errors"

	"godwit/internal/engine"
	"godwit/internal/persist"
)

var _ = family(saveHandlers)

func saveHandlers() engine.Handlers {
	return engine.Handlers{
		"save":         saveCmd,
		"bgsave":       bgsaveCmd,
		"bgrewriteaof": bgrewriteaofCmd,
	}
}

const errSaving = "ERR Background save already in progress"

func saveCmd(c *engine.Ctx) {
	switch err := c.E.Save(); {
	case errors.Is(err, engine.ErrSaveRunning):
		c.Err(errSaving)
	case err != nil:
		c.Err("ERR") // The log says why.
	default:
		c.OK()
	}
}

func bgsaveCmd(c *engine.Ctx) {
	if len(c.Args) == 2 && is(c.Args[1], "cancel") {
		bgsaveCancel(c)
		return
	}
	if len(c.Args) > 1 && !(len(c.Args) == 2 && is(c.Args[1], "schedule")) {
		c.Err(engine.ErrSyntax)
		return
	}
	scheduled, err := c.E.SaveInBackground(len(c.Args) > 1)
	switch {
	case errors.Is(err, engine.ErrSaveRunning):
		c.Err(errSaving)
	case errors.Is(err, engine.ErrRewriteRunning):
		c.Err("ERR Another child process is active (AOF?): can't BGSAVE right now. Use BGSAVE " +
			"SCHEDULE in order to schedule a BGSAVE whenever possible.")
	case err != nil:
		c.Err("ERR")
	case scheduled:
		c.Simple("Background saving scheduled")
	default:
		c.Simple("Background saving started")
	}
}

func bgsaveCancel(c *engine.Ctx) {
	switch running, scheduled := c.E.CancelBackgroundSave(); {
	case running:
		c.Simple("Background saving cancelled")
	case scheduled:
		c.Simple("Scheduled background saving cancelled")
	default:
		c.Err("ERR Background saving is currently not in progress or scheduled")
	}
}

func bgrewriteaofCmd(c *engine.Ctx) {
	switch c.E.RewriteAOF() {
	case persist.RewriteAlreadyRunning:
		c.Err("ERR Background append only file rewriting already in progress")
	case persist.RewriteFailed:
		c.Err("ERR Can't execute an AOF background rewriting. Please check the server logs for " +
			"more information.")
	case persist.RewriteScheduled:
		c.Simple("Background append only file rewriting scheduled")
	default:
		c.Simple("Background append only file rewriting started")
	}
}
