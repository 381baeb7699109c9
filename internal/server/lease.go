package server

import "godwit/internal/engine"

// checkLease drops the client's replies, and closes its connection, if they must not leave because
// the node's lease is over. It reports whether they may. What they acknowledge is in the log. The
// executor must be held.
func (s *Server) checkLease(cl *engine.Client) bool {
	may := !cl.Leased || s.eng.LeaseHeld()
	if !may {
		cl.W.Buf = nil
		s.cutOff(cl)
	}
	cl.Leased = false
	return may
}

// cutOff closes a client that must not learn what has become of its writes, because nobody knows.
func (s *Server) cutOff(cl *engine.Client) {
	s.log.Verbose("Closing client: its writes ran, and the lease of this node ended before they "+
		"could be confirmed (addr=%s)", cl.Addr)
	s.eng.Stats.LeaseClosed++
	cl.CloseASAP = true
}
