package engine

import (
	"godwit/internal/keyspace"
	"godwit/internal/object"
	"godwit/internal/propagation"
)

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

// propagateAll is propagate for several commands that belong together.
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

// hooks is the engine as the keyspace sees it.
type hooks struct{ e *Engine }

// KeyEvent implements keyspace.Hooks.
func (h hooks) KeyEvent(_ keyspace.EventClass, event string, key []byte, db int) {
	h.e.keyEvent(event, key, db)
}

// KeyChanged implements keyspace.Hooks: expiry or eviction has changed the key.
func (h hooks) KeyChanged(key []byte, db int) {
	h.e.changed(key, db, nil)
}

// changed tells WATCH, client-side caching and waiting clients that a key has changed. by is the
// client whose command did it, nil for expiry and eviction.
func (e *Engine) changed(key []byte, db int, by *Client) {
	e.keyChanged(key, db)
	e.keyInvalid(key, by)
	e.blocking.keyChanged(key, db)
}

// Ready implements keyspace.Hooks.
func (h hooks) Ready(key []byte, db int, t object.Type) { h.e.blocking.keyReady(key, db, t) }

// FieldExpired implements keyspace.Hooks: like a key's, the end of a field is explicit for AOF and
// replicas.
func (h hooks) FieldExpired(key, field []byte, db int) {
	h.e.Stats.Dirty++
	if h.e.Feed.Attached() != 0 {
		h.e.propagate(db, [][]byte{[]byte("HDEL"), key, field})
	}
}

// Removed implements keyspace.Hooks: an expired or evicted key is propagated as an explicit DEL, so
// that AOF and replicas never look at a clock.
func (h hooks) Removed(key []byte, db int, _ bool) {
	h.e.Stats.Dirty++
	if h.e.Feed.Attached() != 0 {
		h.e.propagate(db, [][]byte{[]byte("DEL"), key})
	}
}
