package server

import (
	"errors"
	"io"
	"net"
	"os"
	"time"
)

const (
	// talkPause is how long a conversation waits for the client before others are served.
	talkPause = 20 * time.Millisecond
	// talkWrite is how long it waits for a client that does not read.
	talkWrite = 5 * time.Second
)

// Talk implements engine.Talker. It is called in run, on the reading goroutine.
func (c *goConn) Talk() io.ReadWriter {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.q.empty() || c.ending || c.dead {
		return nil
	}
	return goTalk{c.nc}
}

// File implements filer.
func (c *goConn) File() (*os.File, error) {
	if f, ok := c.nc.(filer); ok { // not TLS
		return f.File()
	}
	return nil, errNotOverTLS
}

type goTalk struct{ nc net.Conn }

// Read implements io.Reader.
func (t goTalk) Read(b []byte) (n int, err error) {
	if err = t.nc.SetReadDeadline(time.Now().Add(talkPause)); err != nil {
		return 0, err
	}
	if n, err = t.nc.Read(b); errors.Is(err, os.ErrDeadlineExceeded) {
		err = nil
	}
	_ = t.nc.SetReadDeadline(time.Time{}) // the next use shows it
	return n, err
}

// Write implements io.Writer.
func (t goTalk) Write(b []byte) (int, error) {
	if err := t.nc.SetWriteDeadline(time.Now().Add(talkWrite)); err != nil {
		return 0, err
	}
	n, err := t.nc.Write(b)
	_ = t.nc.SetWriteDeadline(time.Time{}) // the next use shows it
	return n, err
}
