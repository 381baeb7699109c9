package engine

// Pause holds commands back until the steady clock shows the time: all of them, or those that may
// write. Meanwhile the data stands still: keys and fields that are due are hidden but stay, and
// nothing is evicted. A pause never gets shorter or weaker by another one.
func (e *Engine) Pause(until int64, all bool) {
	p := &e.pause
	if !p.active {
		p.until, p.all = 0, false
	}
	p.active = true
	p.until = max(p.until, until)
	p.all = p.all || all
	e.configureExpire()
}

// Unpause lets held-back commands run, and time delete what is due.
func (e *Engine) Unpause() {
	p := &e.pause
	p.active = false
	e.configureExpire()
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

// endPause ends the pause if its time is up, and reports whether it did.
func (e *Engine) endPause() bool {
	if e.Steady() < e.pause.until {
		return false
	}
	e.Unpause()
	return true
}

// postpone holds a command back if the pause is for it.
func (e *Engine) postpone(c *Ctx) bool {
	p := &e.pause
	if !p.covers(e.table.callFlags(c), c.Client, e.Steady()) {
		return false
	}
	c.Client.postponed = true
	p.postponed = append(p.postponed, c.Client)
	return true
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
