package server

// What a master's stream has brought during a full synchronization is kept in blocks outside of
// Go's heap (see rdbchannel.go). The connection runs it before what the socket has, some in each
// turn. It does not read the socket until then.

// nextKept returns some of the input that was kept, nil if nothing is left. kept.Advance must
// follow if it returns something.
func (s *session) nextKept() []byte {
	if s.kept == nil {
		return nil
	}
	var piece [1][]byte
	if list := s.kept.Next(piece[:0]); len(list) > 0 {
		return list[0][:min(len(list[0]), windowInput)]
	}
	s.dropKept()
	return nil
}

// refill moves input that was kept to the session's own, unless there is enough. The executor must
// be held.
func (s *session) refill() {
	if s.kept == nil || s.more {
		return
	}
	b := s.nextKept()
	if b == nil {
		return
	}
	if !s.room() || !s.reserve(len(s.in)+len(b)) {
		s.kept.Advance(0)
		s.cl.CloseASAP = true
		return
	}
	s.in = append(s.in, b...)
	s.peak = max(s.peak, len(s.in))
	s.kept.Advance(len(b))
	s.received(len(b))
}

// dropKept frees what was kept.
func (s *session) dropKept() {
	if s.kept != nil {
		s.kept.Close()
		s.kept = nil
	}
}
