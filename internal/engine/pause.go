package engine

// Pause holds commands back until the steady clock shows the time: all of them, or those that may
// write. Meanwhile the data stands still: keys and fields that are due are hidden but stay, and
// nothing is evicted. A pause never gets shorter or weaker by another one for the same reason.
func (e *Engine) Pause(reason PauseReason, until int64, all bool) {
	p := &e.pause.by[reason]
	if !p.active {
		*p = onePause{active: true}
	}
	p.until = max(p.until, until)
	p.all = p.all || all
	e.pause.sum()
	e.configureExpire()
}

// Unpause ends the pause for a reason. Commands that no other pause holds back run. If it was the
// last one, time deletes what is due.
func (e *Engine) Unpause(reason PauseReason) {
	p := &e.pause
	p.by[reason] = onePause{}
	p.sum()
	e.configureExpire()
	e.resumePostponed()
}

// resumePostponed lets commands that were held back come again. What still holds holds them again.
func (e *Engine) resumePostponed() { e.resume(&e.pause.postponed) }

// resume lets the commands of the clients come again.
func (e *Engine) resume(list *postponed) {
	held := *list
	*list = nil
	e.blocking.unpaused()
	for _, c := range held {
		c.postponed = false
		if c.Conn != nil {
			c.Conn.Resume()
		}
	}
}

// endPause ends the pauses whose time is up, and reports whether none is left.
func (e *Engine) endPause() bool {
	for reason := range numPauses {
		if p := &e.pause.by[reason]; p.active && e.Steady() >= p.until {
			e.Unpause(reason)
		}
	}
	return !e.pause.active
}

// postpone holds a command back if the pause is for it.
func (e *Engine) postpone(c *Ctx) bool {
	p := &e.pause
	if !p.covers(e.table.callFlags(c), c.Client, e.Steady()) {
		return false
	}
	p.postponed.add(c.Client)
	return true
}

// unpostpone forgets a client that goes away while it is held back.
func (e *Engine) unpostpone(c *Client) {
	if !c.postponed {
		return
	}
	c.postponed = false
	e.pause.postponed.remove(c)
	e.cluster.held.remove(c)
}

// BlockedClients returns the number of clients that wait for keys, for the end of CLIENT PAUSE or
// for slots that move.
func (e *Engine) BlockedClients() int {
	return e.blocking.n + len(e.pause.postponed) + len(e.cluster.held)
}
