package engine

// countTables updates the memory in Go's heap of the engine's own tables. Each knows its bytes, so
// this is cheap. UsedMemory takes the sum as of the last tick. What a table holds for one client is
// counted with that client instead: its subscriptions, the keys it watches and waits for, the
// commands that it has queued.
func (e *Engine) countTables() {
	n := e.Slowlog.Bytes() + e.large.requests.Bytes() + e.large.replies.Bytes() +
		e.access.log.Bytes() + e.hub.Bytes() + e.watching.bytes() + e.blocking.bytes +
		e.hot.bytes()
	e.mem.beyond = 0
	if s := e.persist.store; s != nil {
		e.mem.beyond = s.Beyond()
		n += s.Held() + e.mem.beyond
	}
	e.mem.tables = n
}
