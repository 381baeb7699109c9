package command

import (
	"godwit/internal/engine"
	"godwit/internal/object"
	"godwit/internal/slot"
)

// inCluster returns a handler that runs in cluster mode only.
func inCluster(run func(c *engine.Ctx)) func(c *engine.Ctx) {
	return func(c *engine.Ctx) {
		if !c.E.ClusterEnabled() {
			noCluster(c)
			return
		}
		run(c)
	}
}

// errSlot is the reply to what is no slot.
const errSlot = "ERR Invalid or out of range slot"

// slotArg reads a slot. It replies with an error and reports false if it is invalid.
func slotArg(c *engine.Ctx, arg []byte) (int, bool) {
	n, ok := object.ParseInt(arg)
	if !ok || n < 0 || n >= slot.Count {
		c.Err(errSlot)
		return 0, false
	}
	return int(n), true
}

func keySlot(c *engine.Ctx) { c.Int(int64(slot.Of(c.Args[2]))) }

func countKeysInSlot(c *engine.Ctx) {
	i, ok := intArg(c, c.Args[2])
	if !ok {
		return
	}
	if i < 0 || i >= slot.Count {
		c.Err("ERR Invalid slot")
		return
	}
	if c.E.KS.Hides(int(i)) {
		c.Int(0)
		return
	}
	c.Int(int64(c.DB.SlotLen(int(i))))
}

func getKeysInSlot(c *engine.Ctx) {
	i, ok := intArg(c, c.Args[2])
	if !ok {
		return
	}
	n, ok := intArg(c, c.Args[3])
	if !ok {
		return
	}
	if i < 0 || i >= slot.Count || n < 0 {
		c.Err("ERR Invalid slot or number of keys")
		return
	}
	if c.E.KS.Hides(int(i)) {
		n = 0
	}
	at, found := c.Mark(), 0
	c.DB.SlotKeys(int(i), int(min(n, int64(c.DB.SlotLen(int(i))))), func(e object.Entry) {
		if !overOutput(c) {
			c.Bulk(e.Key())
			found++
		}
	})
	countedArray(c, at, found)
}

// flushSlot carries out CLUSTER FLUSHSLOT slot [ASYNC|SYNC]. In logs and streams it may be of one
// database only: CLUSTER FLUSHSLOT slot DB index.
func flushSlot(c *engine.Ctx) {
	async := c.E.KS.P.LazyUserFlush
	i, ok := slotArg(c, c.Args[2])
	switch {
	case !ok:
		return
	case len(c.Args) == 5 && is(c.Args[3], "db") && c.Obeyed():
		d, ok := object.ParseInt(c.Args[4])
		if !ok || d < 0 || d >= int64(c.E.KS.Databases()) {
			c.Err("ERR DB index is out of range")
			return
		}
		c.Dirty(c.E.FlushSlotIn(c.E.KS.DB(int(d)), i, true))
		c.OK()
		return
	case len(c.Args) > 4:
		c.Err(errSubcommand(c))
		return
	case len(c.Args) == 4 && is(c.Args[3], "async"):
		async = true
	case len(c.Args) == 4 && is(c.Args[3], "sync"):
		async = false
	case len(c.Args) == 4:
		c.Err(engine.ErrSyntax)
		return
	}
	if !c.Obeyed() && c.E.SlotMoves(i) { // scripts neither
		c.Err("ERR Slot is being migrated")
		return
	}
	c.Dirty(c.E.FlushSlot(i, async))
	c.OK()
}

// errSubcommand returns the error for a number of arguments that a subcommand of CLUSTER does not
// take, although its arity allows it.
func errSubcommand(c *engine.Ctx) string {
	return "ERR unknown subcommand or wrong number of arguments for '" + string(c.Args[1]) +
		"'. Try CLUSTER HELP."
}
