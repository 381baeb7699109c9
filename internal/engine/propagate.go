package engine

import "godwit/internal/propagation"

// targets returns where what changes now is sent to. Scripts may choose; the numbers that
// redis.set_repl takes are those of Targets.
func (e *Engine) targets() propagation.Targets {
	if e.script.run == nil {
		return propagation.All
	}
	return propagation.Targets(e.script.run.repl)
}

// propagate sends one command, as a unit of its own or as a part of the open one.
func (e *Engine) propagate(db int, argv [][]byte) { e.Feed.Send(e.targets(), db, argv) }

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

// noteUnit follows a unit of the running command that was sent.
func (e *Engine) noteUnit() {
	if e.current != nil {
		e.noteLogged(e.current)
	}
}

// Commit ends the batch of what was propagated so far: for a connection whose replies may leave at
// once.
func (e *Engine) Commit() { e.Feed.EndBatch() }

// noteLogged remembers up to where the log must be on disk for the client's writes to be.
func (e *Engine) noteLogged(c *Client) {
	if log := e.persist.aof; log != nil {
		c.logged = log.Offset()
	}
}
