package engine

import (
	"slices"

	"godwit/internal/keyspace"
	"godwit/internal/object"
)

// Sink receives what is propagated: the AOF and the replication stream are sinks. Commands arrive in the order of execution; those of
// one call to Propagate are one atomic unit.
type Sink interface {
	// Propagate is given the commands of a unit; dbs has the database of each. Both, and the arguments, are borrowed.
	Propagate(dbs []int, cmds [][][]byte)
	// EndBatch is called when the batch ends, before its replies are sent: an AOF writes, and syncs under appendfsync always.
	EndBatch()
}

// AddSink adds a receiver of propagated commands.
func (e *Engine) AddSink(s Sink) { e.sinks = append(e.sinks, s) }

// RemoveSink takes a receiver away again.
func (e *Engine) RemoveSink(s Sink) {
	e.sinks = slices.DeleteFunc(slices.Clone(e.sinks), func(o Sink) bool { return o == s })
}

// propagate sends one command to the sinks, as a unit of its own or as a part of the open one.
func (e *Engine) propagate(db int, argv [][]byte) {
	if len(e.sinks) > 0 {
		u := &e.unit
		u.one[0] = argv
		e.propagateAll(db, u.one[:])
		u.one[0] = nil
	}
}

// propagateAll is propagate for several commands that belong together.
func (e *Engine) propagateAll(db int, cmds [][][]byte) {
	u := &e.unit
	if len(e.sinks) == 0 || e.muted() {
		return
	}
	if u.depth > 0 {
		for _, argv := range cmds {
			u.add(db, argv)
		}
		return
	}
	u.sameDB = u.sameDB[:0]
	for range cmds {
		u.sameDB = append(u.sameDB, db)
	}
	for _, s := range e.sinks {
		s.Propagate(u.sameDB, cmds)
	}
}

// Commit hands what was propagated so far to the sinks before the batch ends: for a connection whose replies may leave at once.
func (e *Engine) Commit() {
	for _, s := range e.sinks {
		s.EndBatch()
	}
}

// hooks is the engine as the keyspace sees it.
type hooks struct{ e *Engine }

// KeyEvent implements keyspace.Hooks.
func (h hooks) KeyEvent(_ keyspace.EventClass, event string, key []byte, db int) {
	h.e.keyEvent(event, key, db)
}

// KeyChanged implements keyspace.Hooks.
func (h hooks) KeyChanged(key []byte, db int) {
	h.e.keyChanged(key, db)
	h.e.keyInvalid(key)
	h.e.blocking.keyChanged(key, db)
}

// Ready implements keyspace.Hooks.
func (h hooks) Ready(key []byte, db int, t object.Type) { h.e.blocking.keyReady(key, db, t) }

// FieldExpired implements keyspace.Hooks: like a key's, the end of a field is explicit for AOF and replicas.
func (h hooks) FieldExpired(key, field []byte, db int) {
	h.e.Stats.Dirty++
	if len(h.e.sinks) > 0 {
		h.e.propagate(db, [][]byte{[]byte("HDEL"), key, field})
	}
}

// Removed implements keyspace.Hooks: an expired or evicted key is propagated as an explicit DEL, so that AOF and replicas never look at a clock.
func (h hooks) Removed(key []byte, db int, _ bool) {
	h.e.Stats.Dirty++
	if len(h.e.sinks) > 0 {
		h.e.propagate(db, [][]byte{[]byte("DEL"), key})
	}
}
