package server

// The engine.Conn of a connection in a loop. The executor is held in all of these.

// Flush implements engine.Conn.
func (c *fdConn) Flush() { c.post() }

// Resume implements engine.Conn.
func (c *fdConn) Resume() { c.post() }

// Close implements engine.Conn.
func (c *fdConn) Close() { c.post() }

// Buffers implements engine.Conn.
func (c *fdConn) Buffers() (in, inCap, out int) {
	return int(c.inLen.Load()), int(c.inCap.Load()), int(c.size.Load()) + c.staged.size
}

// HeapReplies implements engine.Conn.
func (c *fdConn) HeapReplies() int { return 0 }
