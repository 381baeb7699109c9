package server

import (
	"errors"
	"io"
	"net"
	"os"
	"time"

	"godwit/internal/crash"
)

const (
	// talkPause is how long a conversation waits for the client before others are served.
	talkPause = 20 * time.Millisecond
	// talkWrite bounds a write, for which somebody waits or nobody any more.
	talkWrite = 10 * time.Second
	// talkPart is how many bytes are written at a time.
	talkPart = 16 << 10
)

// Talk implements engine.Talker. It is called in run, on the reading goroutine.
func (c *goConn) Talk() io.ReadWriter {
	// The client may have got a reply that the writer has not taken off the queue yet.
	for end := time.Now().Add(talkPause); ; time.Sleep(time.Millisecond) {
		c.mu.Lock()
		idle, over := c.q.empty(), c.ending || c.dead
		c.mu.Unlock()
		switch {
		case over:
			return nil
		case idle:
			return &goTalk{nc: c.nc}
		case time.Now().After(end):
			return nil
		}
	}
}

// File implements filer.
func (c *goConn) File() (*os.File, error) {
	if f, ok := c.nc.(filer); ok { // not TLS
		return f.File()
	}
	return nil, errNotOverTLS
}

type goTalk struct {
	nc      net.Conn
	writing chan written // the end of what is being written; nil: nothing
}

// written is how a write has ended.
type written struct {
	n   int
	err error
}

// Read implements io.Reader.
func (t *goTalk) Read(b []byte) (n int, err error) {
	if err = t.nc.SetReadDeadline(time.Now().Add(talkPause)); err != nil {
		return 0, err
	}
	if n, err = t.nc.Read(b); errors.Is(err, os.ErrDeadlineExceeded) {
		err = nil
	}
	_ = t.nc.SetReadDeadline(time.Time{}) // the next use shows it
	return n, err
}

// Write implements io.Writer, but for a long text, of which it writes a part. What has begun to be
// written goes on after the pause, and the next call waits for it: a connection with TLS cannot be
// used any more after a deadline.
func (t *goTalk) Write(b []byte) (int, error) {
	if t.writing == nil {
		b := b[:min(len(b), talkPart)]
		end := make(chan written, 1)
		t.writing = end
		_ = t.nc.SetWriteDeadline(time.Now().Add(talkWrite)) // Write shows it
		go func() {
			defer crash.Guard("writing to the client of a debugging session")()
			n, err := t.nc.Write(b)
			end <- written{n, err}
		}()
	}
	select {
	case w := <-t.writing:
		t.writing = nil
		_ = t.nc.SetWriteDeadline(time.Time{}) // the next use shows it
		if errors.Is(w.err, os.ErrDeadlineExceeded) {
			w.err = io.ErrNoProgress
		}
		return w.n, w.err
	case <-time.After(talkPause):
		return 0, os.ErrDeadlineExceeded
	}
}
