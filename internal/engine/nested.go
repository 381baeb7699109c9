package engine

import (
	"math"

	"godwit/internal/spec"
)

// nested returns the context for a command within another. unnest must follow. Time stands still in
// between, so all commands of a transaction see the same keys expired. A command that would block
// replies as if its time was up.
func (e *Engine) nested(cl *Client, cmd *spec.Command, argv [][]byte) *Ctx {
	if e.depth == len(e.inner) {
		e.inner = append(e.inner, new(Ctx))
	}
	c := e.inner[e.depth]
	e.depth++
	w := e.writerOf(cl)
	if cl.CloseAfterReply {
		w = &e.discard // CLIENT KILL of itself was the last that it is told
	}
	*c = Ctx{Writer: w, E: e, Client: cl, Cmd: cmd, DB: cl.db, Args: argv, Now: e.now,
		noBlock: true}
	return c
}

func (e *Engine) unnest() {
	e.depth--
	c := e.inner[e.depth]
	if c.Writer == &e.discard {
		e.discard.Reset()
	}
	*c = Ctx{}
}

// stageReplies is how many bytes of replies a transaction collects before it stages them.
const stageReplies = 256 << 10

// execRefused ends the client's transaction with a reply if its commands must not run.
func (c *Ctx) execRefused(conditions func(c *Ctx) (hold bool, err string)) bool {
	e, cl := c.E, c.Client
	e.expireWatched(cl)
	switch {
	case cl.multi.aborted:
		e.Discard(cl)
		c.Err(ErrExecAbort)
		return true
	case cl.watchDirty:
		e.Discard(cl)
		c.NullArray()
		return true
	}
	switch hold, err := conditions(c); {
	case err != "":
		e.Discard(cl)
		c.Err(errExecRefused + err)
		return true
	case !hold:
		e.Discard(cl)
		c.NullArray()
		return true
	}
	return false
}

// ExecMulti runs the client's transaction: the handler of EXEC. It replies with the replies of all
// commands, whether they succeed or not. It replies with null if a watched key has changed or a
// condition does not hold, and with EXECABORT if a command could not be queued or a condition
// cannot be checked. conditions returns the error then. What the commands change is propagated as
// one unit.
func (c *Ctx) ExecMulti(conditions func(c *Ctx) (hold bool, err string)) {
	e, cl := c.E, c.Client
	m := cl.multi
	if c.execRefused(conditions) {
		return
	}
	e.Unwatch(cl) // what comes now must not touch the client's own watches
	c.Array(len(m.cmds))
	e.ExpectInput(math.MaxInt) // the commands came with earlier input
	e.Feed.Begin()
	args := m.args
	for _, q := range m.cmds {
		if len(c.Buf) >= stageReplies {
			c.Spill()
		}
		n := e.nested(cl, q.cmd, args[:q.argc:q.argc])
		n.slot = c.slot
		args = args[q.argc:]
		if msg := e.gatesAtExec(n); msg != passed {
			n.Err(string(msg))
		} else {
			e.call(n)
		}
		if e.unnest(); cl.CloseASAP && cl.Origin == OriginMaster {
			break // see lacksDatabase
		}
	}
	e.EndUnit()
	e.endMulti(cl)
}
