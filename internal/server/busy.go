package server

import "godwit/internal/engine"

// serveOthers serves clients for a moment while a script of the client busy is over its time limit;
// the script's goroutine calls it, with the executor held. It reports whether the server is ending.
//
// That goroutine is in the middle of a turn: of a loop, or of a connection with goroutines of its
// own. What the turn keeps in places that serving others uses too is put aside. A loop then reads
// its sockets and runs what has come (serveBusy); the executor is given away for a moment, for the
// other loops and connections.
func (s *Server) serveOthers(busy *engine.Client) (ending bool) {
	ahead0, holder := s.ahead, s.holder
	s.ahead = ahead{}
	if holder != nil {
		holder.serveBusy(busy)
	}
	s.holder = nil
	s.eng.Yield()
	s.ahead, s.holder = ahead0, holder
	return s.stopping.Load()
}
