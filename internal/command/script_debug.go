package command

import (
	"errors"
	"time"

	"godwit/internal/engine"
	"godwit/internal/script"
)

// scriptDebugCmd sets whether the client's next scripts are debugged.
func scriptDebugCmd(c *engine.Ctx) {
	if len(c.Buf) > 0 || c.Staged > 0 {
		c.Err("ERR SCRIPT DEBUG must be called outside a pipeline")
		return
	}
	switch mode := c.Args[2]; {
	case is(mode, "no"):
		c.Client.Debug = engine.DebugOff
	case is(mode, "yes"):
		c.Client.Debug = engine.DebugFork
	case is(mode, "sync"):
		c.Client.Debug = engine.DebugSync
	default:
		c.Err("ERR Use SCRIPT DEBUG YES/SYNC/NO")
		return
	}
	c.OK()
}

// debugEval runs a script in a session of the debugger, with which the connection ends.
func debugEval(c *engine.Ctx, keys, args [][]byte, readOnly bool) {
	conn := c.E.Console(c.Client)
	if conn == nil {
		c.Err("ERR a script cannot be debugged in a pipeline")
		return
	}
	if c.Client.Debug == engine.DebugFork {
		if err := c.E.DebugApart(c.Client, c.Args); err != nil {
			c.Err("ERR " + err.Error())
			return
		}
		c.Client.CloseASAP = true
		return
	}
	c.Client.CloseAfterReply = true
	c.E.Log.Notice("Redis synchronous debugging eval session started")
	o := script.DebugOptions{Conn: conn,
		Limit: time.Duration(c.E.Cfg.BusyReplyThreshold) * time.Millisecond}
	err := c.E.Scripts().Debug(c.Args[1], o, func(sc *script.Script) {
		runScript(c, sc, keys, args, readOnly)
	})
	switch {
	case errors.Is(err, script.ErrClientLost):
		c.Client.CloseASAP = true
	case err != nil:
		c.Err("ERR " + err.Error())
	}
	c.E.Log.Notice("Redis synchronous debugging eval session ended")
}
