package server

import (
	"net"
	"os"

	"golang.org/x/sys/unix"

	"godwit/internal/backlog"
	"godwit/internal/crash"
	"godwit/internal/evloop"
)

// feed is what a replica's connection sends behind its replies: a snapshot, then the stream. The
// engine leaves its wishes in next, which belongs to the executor. The loop takes them over.
type feed struct {
	active   bool // there has been one of the others
	sending  bool // a transfer has begun
	stream   *backlog.Reader
	transfer *transfer // waits until the replies are written
	next     struct {
		stream   *backlog.Reader
		transfer *transfer
	}
}

// Stream implements engine.StreamConn.
func (c *fdConn) Stream(r *backlog.Reader) { c.feed.next.stream = r }

// Fed implements engine.StreamConn.
func (c *fdConn) Fed() { c.post() }

// Transfer implements engine.StreamConn.
func (c *fdConn) Transfer(write func(net.Conn) error, done func(error)) {
	c.feed.next.transfer = &transfer{write, done}
}

// NoDelay implements engine.StreamConn.
func (c *fdConn) NoDelay(on bool) {
	v := 0
	if on {
		v = 1
	}
	// It fails for a unix socket, which delays nothing.
	_ = unix.SetsockoptInt(c.fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, v)
}

// fed takes over what the engine wants, and reports whether the socket should be written to. The
// executor must be held.
func (c *fdConn) fed() bool {
	f := &c.feed
	if f.next.stream != nil {
		if f.stream == nil {
			c.loop.streams++
		}
		f.stream, f.next.stream, f.active = f.next.stream, nil, true
	}
	if f.next.transfer != nil {
		f.transfer, f.next.transfer, f.active = f.next.transfer, nil, true
	}
	return f.active && !c.blocked
}

// feedTurn bounds how many bytes of the stream one turn sends, so that a replica that has fallen
// behind does not keep others waiting.
const feedTurn = 4 << 20

// writeFeed sends what the replica is due, as far as the socket takes it. It reports whether there
// is more, and whether the connection goes on. Nothing waits that is to be sent before it.
func (c *fdConn) writeFeed() (more, ok bool) {
	f := &c.feed
	if f.transfer != nil {
		if !c.beginTransfer(f.transfer) {
			return false, false // dropFeed tells the engine
		}
		f.transfer = nil
		return false, true
	}
	for sent := 0; f.stream != nil; {
		bufs := f.stream.Next(c.loop.vec[:0])
		n, errno := evloop.Writev(c.fd, bufs)
		size := 0
		for i := range bufs {
			size += len(bufs[i])
			bufs[i] = nil
		}
		f.stream.Advance(n)
		switch {
		case !c.wrote(n, errno):
			return false, false
		case n < size:
			return true, true
		case size == 0:
			return false, true
		}
		if sent += n; sent >= feedTurn {
			return true, true
		}
	}
	return false, true
}

// beginTransfer starts the goroutine that sends a snapshot, and reports whether it has. It writes
// to a descriptor of its own, so that the connection may be closed meanwhile.
func (c *fdConn) beginTransfer(t *transfer) bool {
	fd, err := unix.FcntlInt(uintptr(c.fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		c.srv.log.Warning("Can't send a snapshot: %s", err)
		return false
	}
	c.feed.sending = true
	c.srv.transfers.Go(func() {
		defer crash.Guard("sending a snapshot")()
		file := os.NewFile(uintptr(fd), "replica")
		nc, err := net.FileConn(file)
		_ = file.Close()
		if err == nil {
			err = t.write(nc)
			_ = nc.Close()
		}
		c.srv.eng.Enter()
		defer c.srv.eng.Release()
		t.done(err)
	})
	return true
}

// dropFeed ends what is sent to the replica. The executor must be held, and the descriptor open.
func (c *fdConn) dropFeed() {
	f := &c.feed
	if f.sending {
		_ = unix.Shutdown(c.fd, unix.SHUT_RDWR) // or its own descriptor would go on
	}
	for _, t := range []*transfer{f.transfer, f.next.transfer} {
		if t != nil {
			t.done(net.ErrClosed)
		}
	}
	if f.stream != nil {
		c.loop.streams--
	}
	*f = feed{}
}
