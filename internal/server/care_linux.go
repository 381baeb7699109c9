package server

import "godwit/internal/rounds"

// Round implements what rounds.Set needs.
func (c *fdConn) Round() *rounds.Member { return &c.round }

// stir notes that the connection and its client are to be looked after.
func (c *fdConn) stir() {
	if !c.round.Stirred() && !c.closed {
		c.loop.stirred.Stir(c)
	}
	c.srv.eng.Stir(c.cl)
}

// care runs about once a second for each connection that is not at rest: it checks time limits and
// frees memory that is no longer needed. It reports whether the connection has no buffers.
func (c *fdConn) care() (resting bool) {
	if !c.queued {
		c.shrink()
		c.publish()
	}
	c.checkOutput(c.q.size)
	if c.idle() {
		c.srv.log.Verbose("Closing idle client")
		c.cl.CloseASAP = true
	}
	if c.cl.CloseASAP {
		c.close()
		return true
	}
	if cap(c.in) == 0 && c.q.empty() && c.staged.empty() && !c.queued && !c.waiting {
		return true
	}
	c.srv.eng.Stir(c.cl)
	return false
}
