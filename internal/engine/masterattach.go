package engine

import "godwit/internal/upstream"

// Attach makes the client that applies the master's stream, for the connection that carries it. It
// returns nil if nobody waits for it any more. AckMaster must follow: the master waits for that.
func (a *LinkAttempt) Attach(conn Conn) *Client {
	if !a.Wanted() {
		return nil
	}
	e, m := a.e, a.master
	c := e.addSource(conn, OriginMaster, m.db)
	if a.answer.Kind == upstream.Continue {
		e.continueHistory(a.answer.ID)
		e.Log.Notice("MASTER <-> REPLICA sync: Master accepted a Partial Resynchronization.")
	}
	if a.Kept != nil {
		e.Log.Notice("MASTER <-> REPLICA sync: Starting to stream replication buffer into the db "+
			"(%d bytes).", a.Kept.Reader(0).Lag())
		if a.Kept.Reader(0).Lag() > 0 {
			e.PauseAt(PauseKeptStream)
		}
	}
	e.inStep(a.answer.Term, a.answer.Begin)
	e.ensureBacklog()
	m.keptBytes()
	m.client, m.attempt, m.state, m.kept = c, nil, LinkConnected, a.Kept
	m.retryAt, m.attempts, m.refusals = 0, 0, 0
	if m.full = a.answer.Kind != upstream.Continue; !m.full {
		m.failures = 0
	}
	m.upSince = e.Steady()
	if m.downSince != 0 {
		m.downMs += m.upSince - m.downSince
		m.downSince = 0
	}
	m.fack = fackState{}
	if f := m.followed; f != nil {
		f.fault, f.errors = "", e.Stats.UnexpectedErrors
	}
	return c
}

// continueHistory goes on with the master's stream where this server is. If the master has a new id
// for the history, replicas of this server must learn it: they come back and go on.
func (e *Engine) continueHistory(id string) {
	if id == "" || id == e.repl.id {
		return
	}
	e.Log.Notice("Master replication ID changed to %s", id)
	e.repl.id2, e.repl.second = e.repl.id, e.Feed.Offset()+1
	e.repl.id = id
	e.dropReplicas()
}
