package engine

// clientStage takes the large replies of a client. The connection keeps them in pieces and writes
// them at the end of the turn.
type clientStage struct {
	e *Engine
	c *Client
}

// Take implements resp.Stage. The output limit is held while the reply grows, and what a client
// that is over it would get is dropped.
func (s *clientStage) Take(head, body []byte) {
	c := s.c
	if c.CloseASAP || c.Conn == nil {
		return
	}
	if !c.Conn.Stage(head, body) {
		s.noMemory(len(head) + len(body))
		return
	}
	_, _, out := c.Conn.Buffers()
	s.e.CheckOutput(c, out)
}

// Fits implements resp.Stage. Go's heap copies a buffer when it grows.
func (s *clientStage) Fits(n int) bool {
	if s.c.CloseASAP {
		return false
	}
	if s.e.probe(3 * int64(n)) {
		return true
	}
	s.noMemory(n)
	return false
}

// noMemory marks the client to be closed, because there is no memory for n bytes of its replies.
func (s *clientStage) noMemory(n int) {
	s.e.Log.Warning(
		"Client %s scheduled to be closed ASAP: the system has no memory left for its reply.",
		s.e.Describe(s.c, n))
	s.c.CloseASAP = true
}

// nowhere takes replies that nobody gets.
type nowhere struct{}

func (nowhere) Take(_, _ []byte) {}
func (nowhere) Fits(int) bool    { return true }
