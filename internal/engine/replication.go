package engine

// replication is what the server knows of the history of its data set, and of the servers that
// share it.
//
//	               ┌─ Replica ─→        each reads the backlog at its own pace
//	Feed ─ backlog ┤
//	               └─ Replica ─→
//	Master ─→ commands ─→ Relay: what a master has sent is passed on as it came
//
// A history is a stream of bytes: (id, offset) names a place in it. A replica that is promoted
// begins a history of its own with the second half of the old one: id2 is the old one's name, and
// until the offset second both are the same.
type replication struct {
	id, id2  string // 40 hexadecimal characters; id2 is "" if there is none
	second   int64  // the first offset that id2 does not have, -1 if there is none
	master   *Master
	replicas replicas
}

// IsReplica reports whether the server copies a master's data.
func (e *Engine) IsReplica() bool { return e.repl.master != nil }

// ReplID returns 40 hexadecimal characters that identify the data set's history, for replication.
func (e *Engine) ReplID() string { return e.repl.id }

// ReplID2 returns the name that the history had until the offset second, "" if it had no other.
func (e *Engine) ReplID2() (id string, second int64) { return e.repl.id2, e.repl.second }

// ReplOffset returns the number of bytes that the history has.
func (e *Engine) ReplOffset() int64 { return e.Feed.Offset() }

// NewReplID begins a new history: no replica of the old one may go on where it was.
func (e *Engine) NewReplID() {
	e.repl.id = e.hexID(40)
	e.repl.id2, e.repl.second = "", -1
}

// shiftReplID begins a new history that has the old one as its beginning: the server was a replica
// and is a master now. Replicas of the old history may go on.
func (e *Engine) shiftReplID() {
	e.repl.id2, e.repl.second = e.repl.id, e.Feed.Offset()+1
	e.repl.id = e.hexID(40)
}

// joinHistory takes over the history of a master: after a full sync with its offset, or when the
// master has another id for the same history.
func (e *Engine) joinHistory(id string, offset int64) {
	e.repl.id, e.repl.id2, e.repl.second = id, "", -1
	e.Feed.SetOffset(offset)
	e.confirm.newHistory(offset)
	for s, upto := range e.repl.replicas.foreign.upto {
		e.repl.replicas.foreign.upto[s] = min(upto, offset)
	}
}
