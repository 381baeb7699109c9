package server

import (
	"net"
	"time"

	"godwit/internal/backlog"
)

// transfer is a snapshot that is to be sent to a replica.
type transfer struct {
	write func(net.Conn) error
	done  func(error)
}

// goFeed is what the writer of a replica's connection sends behind its replies.
type goFeed struct {
	stream   *backlog.Reader
	transfer *transfer
}

// Stream implements engine.StreamConn.
func (c *goConn) Stream(r *backlog.Reader) { c.next.stream = r }

// Transfer implements engine.StreamConn.
func (c *goConn) Transfer(write func(net.Conn) error, done func(error)) {
	c.next.transfer = &transfer{write, done}
}

// fed takes over what the engine wants, behind the replies that are collected by now. It reports
// whether that is anything. The executor and the lock must be held.
func (c *goConn) fed() bool {
	if c.next == (goFeed{}) {
		return false
	}
	if c.next.stream != nil {
		c.feed.stream = c.next.stream
	}
	if c.next.transfer != nil {
		c.feed.transfer = c.next.transfer
	}
	c.next = goFeed{}
	return true
}

// Fed implements engine.StreamConn.
func (c *goConn) Fed() { c.notify() }

// NoDelay implements engine.StreamConn.
func (c *goConn) NoDelay(on bool) {
	if tcp, ok := c.raw.(*net.TCPConn); ok {
		_ = tcp.SetNoDelay(on) // whoever has closed it will be noticed elsewhere
	}
}

// writeFeed sends some of what the replica is due, and reports whether that was anything.
func (c *goConn) writeFeed(f goFeed, vec [][]byte) (any bool, err error) {
	if t := f.transfer; t != nil {
		err := t.write(c.nc)
		if err == nil {
			err = c.nc.SetWriteDeadline(time.Time{})
		}
		c.srv.eng.Enter()
		defer c.srv.eng.Release()
		t.done(err)
		return true, err
	}
	if f.stream == nil {
		return false, nil
	}
	bufs := f.stream.Next(vec)
	if len(bufs) == 0 {
		return false, nil
	}
	n, err := c.send(bufs)
	f.stream.Advance(n)
	c.mu.Lock()
	c.sent += int64(n)
	c.writes++
	c.mu.Unlock()
	return true, err
}

// dropFeed ends a transfer that has not begun. The executor must be held, and the writer be gone.
func (c *goConn) dropFeed() {
	for _, t := range []*transfer{c.feed.transfer, c.next.transfer} {
		if t != nil {
			t.done(net.ErrClosed)
		}
	}
	c.feed, c.next = goFeed{}, goFeed{}
}
