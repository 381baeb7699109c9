package command

import (
	"godwit/internal/engine"
	"godwit/internal/object"
)

var _ = family(transactionHandlers)

func transactionHandlers() engine.Handlers {
	return engine.Handlers{
		"multi":   multiCmd,
		"exec":    execCmd,
		"discard": discardCmd,
		"watch":   watchCmd,
		"unwatch": unwatchCmd,
	}
}

func unwatchCmd(c *engine.Ctx) {
	c.E.Unwatch(c.Client)
	c.OK()
}

func multiCmd(c *engine.Ctx) {
	if c.Client.InMulti() {
		c.Err("ERR MULTI calls can not be nested")
		return
	}
	c.E.BeginMulti(c.Client)
	c.OK()
}

func execCmd(c *engine.Ctx) {
	if !c.Client.InMulti() {
		c.Err("ERR EXEC without MULTI")
		return
	}
	if c.Client.QueueAwaits() {
		c.ExecAwaiting(execConditions)
		return
	}
	c.ExecMulti(execConditions)
}

// execConditions reports whether all conditions of an EXEC hold. They look at keys as EXISTS does,
// but leave no trace in statistics and access times.
func execConditions(c *engine.Ctx) (hold bool, err string) {
	if len(c.Args) == 1 {
		return true, ""
	}
	keys, bad := c.Cmd.KeyRefs(nil, c.Args)
	if bad != nil {
		return false, "invalid check condition syntax"
	}
	hold = true
	for _, k := range keys {
		cond, operand := compareToken(c.Args[k.Pos-1]), []byte(nil)
		e := c.DB.Peek(c.Args[k.Pos])
		switch {
		case is(c.Args[k.Pos-1], "nx"):
			cond = ifMissing
		case is(c.Args[k.Pos-1], "xx"):
			cond = ifPresent
		case e.Exists() && e.Type() != object.String:
			return false, engine.ErrWrongType
		default:
			operand = c.Args[k.Pos+1]
		}
		hold = hold && cond.holds(c, e, operand)
	}
	return hold, ""
}

func discardCmd(c *engine.Ctx) {
	if !c.Client.InMulti() {
		c.Err("ERR DISCARD without MULTI")
		return
	}
	c.E.Discard(c.Client)
	c.OK()
}

func watchCmd(c *engine.Ctx) {
	if c.Client.InMulti() {
		c.Err("ERR WATCH inside MULTI is not allowed")
		return
	}
	for _, key := range c.Args[1:] {
		c.E.Watch(c.Client, key)
	}
	c.OK()
}
