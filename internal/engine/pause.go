package engine

import "godwit/internal/spec"

// pauseState is the state of CLIENT PAUSE.
type pauseState struct {
	active    bool
	all       bool  // every command, not only those that may write
	until     int64 // steady ms
	postponed []*Client
}

// Pause holds commands back until the steady clock shows the time: all of them, or those that may
// write. A pause never gets shorter or weaker by another one.
func (e *Engine) Pause(until int64, all bool) {
	p := &e.pause
	if !p.active {
		p.until, p.all = 0, false
	}
	p.active = true
	p.until = max(p.until, until)
	p.all = p.all || all
}

// Paused returns for how many ms CLIENT PAUSE still holds commands back, 0 if it does not, and
// whether it holds all of them.
func (e *Engine) Paused() (ms int64, all bool) {
	p := &e.pause
	if !p.active || e.Steady() >= p.until {
		return 0, false
	}
	return p.until - e.Steady(), p.all
}

// Unpause lets held-back commands run.
func (e *Engine) Unpause() {
	p := &e.pause
	p.active = false
	held := p.postponed
	p.postponed = nil
	e.blocking.unpaused()
	for _, c := range held {
		c.postponed = false
		if c.Conn != nil {
			c.Conn.Resume()
		}
	}
}

// postpone holds a command back if the pause is for it.
func (e *Engine) postpone(c *Ctx) bool {
	p := &e.pause
	if e.Steady() >= p.until {
		e.Unpause()
		return false
	}
	if !p.covers(e.table.callFlags(c), c.Client, e.Steady()) {
		return false
	}
	c.Client.postponed = true
	p.postponed = append(p.postponed, c.Client)
	return true
}

// covers reports whether the pause holds a command with these flags of that client back now.
func (p *pauseState) covers(f spec.Flag, cl *Client, now int64) bool {
	if !p.active || now >= p.until || !cl.Origin.heldByPause() || cl.Class == ClassReplica {
		return false
	}
	return p.all || f&(spec.Write|spec.MayReplicate) != 0
}

// unpostpone forgets a client that goes away while it is held back.
func (e *Engine) unpostpone(c *Client) {
	if !c.postponed {
		return
	}
	c.postponed = false
	for i, o := range e.pause.postponed {
		if o == c {
			e.pause.postponed = append(e.pause.postponed[:i], e.pause.postponed[i+1:]...)
			return
		}
	}
}

// BlockedClients returns the number of clients that wait for keys or for the end of CLIENT PAUSE.
func (e *Engine) BlockedClients() int { return e.blocking.n + len(e.pause.postponed) }
