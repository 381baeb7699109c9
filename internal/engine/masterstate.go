package engine

// linkDown reports whether the server is a replica without its master: its data may be old.
func (e *Engine) linkDown() bool {
	return e.repl.master != nil && e.repl.master.state != LinkConnected
}

// servesNothing reports whether the data is old and must not be served (replica-serve-stale-data).
func (e *Engine) servesNothing() bool { return e.linkDown() && !e.Cfg.ReplicaServeStaleData }

// goesOnWithoutDisk reports whether the master's commands run although the disk fails
// (replica-ignore-disk-write-errors). If not, it gives the link up until that is over.
func (e *Engine) goesOnWithoutDisk(c *Client) bool {
	if !e.Cfg.ReplicaIgnoreDiskErrors {
		e.Log.Warning("The link to the master is given up until commands can be written to disk "+
			"again (replica-ignore-disk-write-errors): %s", e.diskError())
		c.CloseASAP = true
		return false
	}
	if m := &e.masterErrors; m.diskAt == 0 || e.Steady()-m.diskAt >= diskWarnMs {
		m.diskAt = e.Steady()
		e.Log.Warning("Replica is applying a command it is unable to write to disk.")
	}
	return true
}

// diskWarnMs is the time between two warnings that the disk fails.
const diskWarnMs = 10_000

// waitsForDisk reports whether the link to the master has to wait for the disk.
func (e *Engine) waitsForDisk() bool {
	return !e.Cfg.ReplicaIgnoreDiskErrors && e.diskError() != ""
}

// readOnly reports whether the server refuses writes of its clients because it is a replica.
func (e *Engine) readOnly() bool {
	m := e.repl.master
	return m != nil && (e.Cfg.ReplicaReadOnly || m.followed != nil)
}

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
		m.cached, m.odd = false, true
	}
}

// lacksDatabase gives up the link to the master, of which a command needs a database that is not
// here. What follows would change another one.
func (e *Engine) lacksDatabase(c *Ctx) {
	e.masterErrors.database = false
	e.Log.Warning("Closing the link to the master: '%s' needs a database that is not here "+
		"(databases %d)", c.Cmd.FullName(), e.KS.Databases())
	e.distrustMaster(c.Client)
	c.Client.CloseASAP = true
}
