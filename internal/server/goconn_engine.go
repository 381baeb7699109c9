package server

// The engine.Conn of a connection with goroutines. The executor is held in all of these.

// Flush implements engine.Conn.
func (c *goConn) Flush() { c.collect() }

// Resume implements engine.Conn.
func (c *goConn) Resume() {
	if len(c.in) > 0 {
		c.srv.goConns.Go(c.resumed)
	}
}

// Close implements engine.Conn.
func (c *goConn) Close() { c.collect() }

// Buffers implements engine.Conn.
func (c *goConn) Buffers() (in, inCap, out int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.in), cap(c.in), c.q.size + c.staged.size
}

// HeapReplies implements engine.Conn.
func (c *goConn) HeapReplies() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.q.heap()
}
