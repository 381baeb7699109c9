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

// Insert implements resp.Stage.
func (s *clientStage) Insert(n int, b []byte) {
	if !s.c.CloseASAP {
		s.c.Conn.StageInsert(n, b)
	}
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
func (nowhere) Insert(int, []byte)   {}
