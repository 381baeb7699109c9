package engine

import "godwit/internal/propagation"

// targets returns the targets of the running command's changes. A script may choose them:
// redis.set_repl takes the numbers of Targets.
func (e *Engine) targets() propagation.Targets {
	if e.script.run == nil {
		return e.ownTargets()
	}
	return propagation.Targets(e.script.run.repl) & e.ownTargets()
}

// ownTargets returns the targets of what this server does of its own accord: a replica passes on
// what its master has sent, and nothing else.
func (e *Engine) ownTargets() propagation.Targets {
	if e.repl.master != nil {
		return propagation.Log
	}
	return propagation.All
}

// propagate sends one command, as a unit of its own or as a part of the open one.
func (e *Engine) propagate(db int, argv [][]byte) {
	to := e.targets()
	switch {
	case to == propagation.Replicas:
		e.persist.strayed = true
	case to&propagation.Replicas == 0 && e.repl.master == nil: // redis.set_repl
		e.ForgetFiles()
	}
	e.Feed.Send(to, db, argv)
}

// ForgetFiles is called when the data set changes in a way that replicas are not told of: from then
// on they are sent no file of before, and no place in the history says what the data set is.
func (e *Engine) ForgetFiles() {
	e.persist.strayed = true
	if e.persist.store != nil {
		e.persist.store.ForgetFiles()
	}
	e.repl.replicas.files.release()
	e.repl.replicas.filed = nil
}

// PropagateAs propagates argv in place of the command as it came. argv is copied. Several calls
// propagate several commands, atomically. NoPropagate must not have been called.
func (c *Ctx) PropagateAs(argv ...[]byte) {
	c.prop = propAs
	if !c.Propagating() {
		return // nobody listens: spare the copies
	}
	cp := make([][]byte, len(argv))
	for i, a := range argv {
		cp[i] = append([]byte(nil), a...)
	}
	c.propCmds = append(c.propCmds, cp)
}

// Propagating reports whether anybody listens to what is propagated. If not, a handler may call
// NoPropagate instead of collecting what PropagateAs needs.
func (c *Ctx) Propagating() bool {
	exports := ^propagation.All
	return c.E.Feed.Attached()&(c.E.ownTargets()|exports) != 0
}

// PropagateMessage propagates the command as it came to the replicas alone: their subscribers hear
// of it, and it changes no data.
func (c *Ctx) PropagateMessage() {
	if to := c.E.targets() & propagation.Replicas; to != 0 {
		c.E.Feed.Send(to, propagation.NoDB, c.Args)
	}
}

// PropagateEach propagates argv in place of the command as it came. It does what PropagateAs does,
// without a copy: the unit takes argv at once. The command must be dirty and must not call
// PropagateAs.
func (c *Ctx) PropagateEach(argv ...[]byte) { c.PropagateIn(c.DB.ID(), argv...) }

// PropagateIn does what PropagateEach does, for a command in another database.
func (c *Ctx) PropagateIn(db int, argv ...[]byte) {
	if c.prop != propSent {
		c.prop = propSent
		c.E.Feed.Begin()
	}
	c.E.propagate(db, argv)
}

// propagateAll sends several commands that belong together.
func (e *Engine) propagateAll(db int, cmds [][][]byte) {
	if len(cmds) == 1 {
		e.propagate(db, cmds[0])
		return
	}
	e.Feed.Begin()
	for _, argv := range cmds {
		e.propagate(db, argv)
	}
	e.Feed.End()
}

// EndUnit closes the unit that Feed.Begin has opened.
func (e *Engine) EndUnit() {
	if e.Feed.End() {
		e.noteUnit()
	}
}

// flushUnit sends what the open unit has collected so far.
func (e *Engine) flushUnit() {
	if e.Feed.Flush() {
		e.noteUnit()
	}
}

// noteUnit remembers that the running command's client has written the unit that was just sent.
func (e *Engine) noteUnit() {
	if e.current != nil {
		e.noteLogged(e.current)
	}
}

// Commit ends the batch of what was propagated so far. A connection calls it whose replies may
// leave at once.
func (e *Engine) Commit() {
	e.Feed.EndBatch()
	if log := e.persist.aof; log != nil {
		e.Stats.Loop.CommitNanos += int64(log.TakeSpent())
	}
}

// noteLogged remembers up to where the log must be on disk, and replicas must have the stream, for
// the client's writes to be there.
func (e *Engine) noteLogged(c *Client) {
	c.written = e.Feed.Offset()
	if log := e.persist.aof; log != nil {
		c.logged = log.Offset()
	}
}
