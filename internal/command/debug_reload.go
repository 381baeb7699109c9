package command

import (
	"godwit/internal/engine"
	"godwit/internal/persist"
)

func debugReloads() []debugSub {
	return []debugSub{
		{"loadaof", 2, 2, "", []string{"Empty all databases and read the append-only file back."},
			debugLoadAOF},
		{"reload", 2, 5, " [NOSAVE] [NOFLUSH] [MERGE]", []string{
			"Save, empty all databases, and read the snapshot back. NOSAVE takes the file that is",
			"there, NOFLUSH keeps the keys, and MERGE lets the file replace keys that are there."},
			debugReload},
	}
}

func debugReload(c *engine.Ctx) {
	if c.E.Loading() { // Half a data set must be neither saved nor added to.
		c.Err(engine.ErrLoading)
		return
	}
	save, empty, from := true, true, persist.FromRDB
	for _, a := range c.Args[2:] {
		switch {
		case is(a, "merge"):
			from = persist.FromRDBMerge
		case is(a, "noflush"):
			empty = false
		case is(a, "nosave"):
			save = false
		default:
			c.Err("ERR DEBUG RELOAD only supports the MERGE, NOFLUSH and NOSAVE options.")
			return
		}
	}
	if save && c.E.SaveQuietly() != nil {
		c.Err("ERR")
		return
	}
	if c.E.Reload(from, empty) != nil {
		c.Err("ERR Error trying to load the RDB dump, check server logs.")
		return
	}
	c.E.Log.Warning("DB reloaded by DEBUG RELOAD")
	c.OK()
}

func debugLoadAOF(c *engine.Ctx) {
	if c.E.Loading() {
		c.Err(engine.ErrLoading)
		return
	}
	if c.E.Reload(persist.FromAOF, true) != nil {
		c.Err("ERR Error trying to load the AOF files, check server logs.")
		return
	}
	c.E.Log.Warning("Append Only File loaded by DEBUG LOADAOF")
	c.OK()
}
