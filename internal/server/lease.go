package server

import "godwit/internal/engine"

// checkLease drops the client's replies, and closes its connection, if they must not leave because
// the node's lease is over. What they acknowledge is in the log. The executor must be held.
func (c *goConn) checkLease() {
	cl := c.cl
	if cl.Leased && !c.srv.eng.LeaseHeld() {
		cl.W.Buf = nil
		c.staged.drop()
		c.srv.cutOff(cl)
	}
	cl.Leased = false
}

// cutOff closes a client that must not learn what has become of its writes, because nobody knows.
func (s *Server) cutOff(cl *engine.Client) {
	s.log.Verbose("Closing client: its writes ran, and the lease of this node ended before they "+
		"could be confirmed (addr=%s)", cl.Addr)
	s.eng.Stats.LeaseClosed++
	cl.CloseASAP = true
}
