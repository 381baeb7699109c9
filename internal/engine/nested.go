package engine

import "godwit/internal/spec"

// nesting is the contexts of commands that run within a command: those of a transaction within EXEC.
type nesting struct {
	depth int
	ctxs  []*Ctx // one for each depth, kept for the next time
}

// nested makes the context of a command within another; unnest ends it. Time stands still in between: all commands of a transaction
// see the same keys expired. What would block replies as if its time was up.
func (e *Engine) nested(cl *Client, cmd *spec.Command, argv [][]byte) *Ctx {
	n := &e.nest
	if n.depth == len(n.ctxs) {
		n.ctxs = append(n.ctxs, new(Ctx))
	}
	c := n.ctxs[n.depth]
	n.depth++
	w := e.writerOf(cl)
	if cl.CloseAfterReply {
		w = &e.discard // CLIENT KILL of itself was the last that it is told
	}
	*c = Ctx{Writer: w, E: e, Client: cl, Cmd: cmd, DB: cl.db, Args: argv, Now: e.now, noBlock: true}
	return c
}

func (e *Engine) unnest() {
	n := &e.nest
	n.depth--
	c := n.ctxs[n.depth]
	if c.Writer == &e.discard {
		e.discard.Buf = e.discard.Buf[:0]
	}
	*c = Ctx{}
}
