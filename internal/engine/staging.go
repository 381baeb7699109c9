package engine

// clientStage takes the large replies of a client. The connection keeps them in pieces and writes
// them at the end of the turn.
type clientStage struct {
	e *Engine
	c *Client
}

// Next implements resp.Stage. The output limit is held while the reply grows, and what a client
// that is over it would get is dropped.
func (s *clientStage) Next(n, more int) []byte {
	c := s.c
	if c.CloseASAP {
		return nil
	}
	b := c.Conn.Stage(n, more)
	if b == nil {
		s.noMemory(n)
		return nil
	}
	_, _, out := c.Conn.Buffers()
	s.e.CheckOutput(c, out)
	return b
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

func (nowhere) Next(_, _ int) []byte { return nil }
func (nowhere) Fits(int) bool        { return true }
