package engine

import (
	"time"

	"godwit/internal/object"
)

// CommitCost returns how long the last Commit has waited for the disk.
func (e *Engine) CommitCost() time.Duration {
	if e.persist.aof == nil || !e.persist.aof.Enabled() {
		return 0
	}
	return e.persist.aof.CommitCost()
}

// LogSynced reports whether everything that the client has written is on disk. What its batch has
// written so far is handed over first, so under appendfsync always it is.
func (e *Engine) LogSynced(c *Client) bool {
	log := e.persist.aof
	if log == nil {
		return false
	}
	if c.logged > log.Synced() {
		e.Commit()
	}
	return c.logged <= log.Synced()
}

// LogOn reports whether the append-only file is on.
func (e *Engine) LogOn() bool { return e.persist.aof != nil && e.persist.aof.Enabled() }

// BlockUntilSynced makes the client wait until LogSynced; then its command runs again. The deadline
// and onTimeout are as for Block.
func (c *Ctx) BlockUntilSynced(deadline int64, onTimeout func(*Ctx)) {
	c.Block(Wait{Type: object.String, Deadline: deadline, OnTimeout: onTimeout})
	if !c.rerun {
		b := &c.E.blocking
		b.syncs = append(b.syncs, c.Client.wait)
	}
}
