package server

import "godwit/internal/engine"

// serveOthers serves other clients for a moment while a script of the client busy is over its time
// limit. The script's goroutine calls it, with the executor held. It reports whether the server is
// ending.
//
// That goroutine is in the middle of a turn, of a loop or of a connection with its own goroutines.
// What the turn keeps in places that serving others uses too is put aside. A loop then reads its
// sockets and runs what has come (serveBusy). Then the executor is released for a moment, for the
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
