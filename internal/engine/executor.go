package engine

import (
	"time"

	"godwit/internal/crash"
)

// Enter takes the executor and reads the clock.
func (e *Engine) Enter() {
	e.waiters.Add(1)
	e.mu.Lock()
	e.waiters.Add(-1)
	e.syncClock()
	if e.cluster.on {
		e.readLease()
		e.leaseCame()
	}
}

// EnterBetween does what Enter does, for what must not happen in the middle of a script. A busy
// script gives the executor away now and then; EnterBetween waits until it ends.
func (e *Engine) EnterBetween() {
	e.Enter()
	for e.script.run != nil {
		e.AwaitScript()
	}
}

// AwaitScript gives the executor away until a busy script has ended. Others may have had the
// executor since.
func (e *Engine) AwaitScript() {
	e.between.Wait()
	e.syncClock()
}

// Leave ends the batch and gives the executor back. What was pushed to clients is delivered, and
// what was propagated leaves as a whole.
func (e *Engine) Leave() {
	e.Deliver()
	e.Commit()
	if e.repl.master != nil {
		e.ackSynced()
	}
	e.mu.Unlock()
}

// Release calls Leave, for a defer statement. After a panic it ends the process instead: it neither
// gives the executor back nor passes on what the batch has sent to the log.
func (e *Engine) Release() {
	if v := recover(); v != nil {
		crash.Fatal("executor", v)
	}
	e.Leave()
}

// Deliver serves clients whose keys have been changed by slices and cron. Then it makes the
// connections of all who were pushed something write it. Loops call it at the end of their turns,
// before they look at what others want of their connections. For everyone else Leave calls it.
func (e *Engine) Deliver() {
	if len(e.blocking.ready) > 0 && !e.loading.on {
		e.serve()
	}
	e.broadcast()
	e.feedReplicas()
	if g := &e.migrations; len(g.exports)+len(g.imports) > 0 {
		e.feedMigrations()
	}
	p := &e.pushing
	for i, c := range p.resumed {
		p.resumed[i] = nil
		if c.reachable() {
			c.Conn.Flush()
			c.Conn.Resume()
		}
	}
	p.resumed = p.resumed[:0]
	if len(p.woken) == 0 {
		return
	}
	for i, c := range p.woken {
		p.woken[i] = nil
		c.woken = false
		if c.reachable() {
			c.Conn.Flush()
		}
	}
	p.woken = p.woken[:0]
	p.scratch, p.channel = keepSmall(p.scratch), keepSmall(p.channel)
	p.message = keepSmall(p.message)
}

// reachable reports whether the client has a connection that may still write.
func (c *Client) reachable() bool { return c.Conn != nil && c.linked && !c.CloseASAP }

// Yield gives the executor to whoever waits for it, and takes it back.
func (e *Engine) Yield() {
	e.Commit()
	e.mu.Unlock()
	for i := 0; e.waiters.Load() > 0 && i < 20; i++ {
		time.Sleep(50 * time.Microsecond)
	}
	e.mu.Lock()
}
