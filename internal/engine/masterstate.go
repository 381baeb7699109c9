package engine

// linkDown reports whether the server is a replica without its master: its data may be old.
func (e *Engine) linkDown() bool {
	return e.repl.master != nil && e.repl.master.state != LinkConnected
}

// servesNothing reports whether the data is old and must not be served (replica-serve-stale-data).
func (e *Engine) servesNothing() bool { return e.linkDown() && !e.Cfg.ReplicaServeStaleData }

// readOnly reports whether the server refuses writes of its clients because it is a replica.
func (e *Engine) readOnly() bool { return e.repl.master != nil && e.Cfg.ReplicaReadOnly }

// resumeMaster goes on with the master's stream, which a busy script has held back.
func (e *Engine) resumeMaster() {
	if m := e.repl.master; m != nil && m.client != nil {
		m.client.Conn.Resume()
	}
}

// Master returns the server that this one copies, nil if there is none.
func (e *Engine) Master() *Master { return e.repl.master }

// distrustMaster forgets how far the server is in the master's history: the stream was not what a
// master sends.
func (e *Engine) distrustMaster(c *Client) {
	if m := e.repl.master; m != nil && m.client == c {
		m.cached = false
	}
}
