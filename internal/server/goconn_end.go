package server

import (
	"time"

	"godwit/internal/crash"
	"godwit/internal/engine"
)

// begin acknowledges where the server is, if the connection leads to its master, and runs the input
// that was read before the connection came here. It reports false when the connection has ended.
func (c *goConn) begin() bool {
	if c.cl.Origin == engine.OriginMaster {
		c.enter()
		c.srv.eng.AckMaster()
		c.leave()
	}
	first := c.first
	c.first = nil
	return (len(first) == 0 || c.input(first)) && c.inputKept()
}

// heldPoll is how often a connection looks whether its input is still held.
const heldPoll = 10 * time.Millisecond

// inputKept runs the input that was kept (see kept.go). It reports false when the connection has
// ended.
func (c *goConn) inputKept() bool {
	var buf []byte
	for c.kept != nil {
		c.enter()
		held, ended := c.held(), c.ended()
		c.leave()
		switch {
		case ended:
			return false
		case held:
			time.Sleep(heldPoll)
			continue
		}
		buf = append(buf[:0], c.nextKept()...)
		if len(buf) == 0 {
			break
		}
		c.kept.Advance(len(buf))
		if !c.input(buf) {
			return false
		}
	}
	return true
}

func (c *goConn) ended() bool { return c.cl.CloseASAP || c.cl.CloseAfterReply }

// finish ends the connection after its reader: at once, unless the last command's replies are still
// to be written.
func (c *goConn) finish() {
	c.mu.Lock()
	ending := c.ending
	c.mu.Unlock()
	if !ending {
		c.kill()
	}
}

// kill ends the connection without waiting: it closes the socket under the goroutines. The queued
// replies are dropped when both have ended, because the writer may be using them.
func (c *goConn) kill() {
	c.mu.Lock()
	c.dead = true
	c.mu.Unlock()
	_ = c.raw.Close()
	c.notify()
}

// farewellTime bounds how long the server's end waits for clients to take their replies.
const farewellTime = 500 * time.Millisecond

// dismiss ends the connections with goroutines. It writes waiting replies first, because what they
// acknowledge is on the disk. Clients that are slow to take them are cut off.
func (s *Server) dismiss() {
	s.eng.Enter()
	for c := range s.gos {
		c.farewell()
	}
	s.eng.Leave()
	gone := make(chan struct{})
	go func() {
		defer crash.Guard("waiting for connections")()
		s.goConns.Wait()
		close(gone)
	}()
	select {
	case <-gone:
		return
	case <-time.After(farewellTime):
	}
	s.eng.Enter()
	for c := range s.gos {
		c.kill()
	}
	s.eng.Leave()
	<-gone
}

// farewell lets the connection end after its waiting replies. The executor must be held.
func (c *goConn) farewell() {
	c.mu.Lock()
	c.ending = true
	c.mu.Unlock()
	_ = c.raw.SetReadDeadline(time.Now()) // if it fails, so does the reader
	c.notify()
}
