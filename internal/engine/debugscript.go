package engine

import (
	"errors"
	"io"
	"os"
	"time"
)

// Talker is an optional part of a Conn: one that can speak with its client while a command runs.
type Talker interface {
	// Talk returns the connection, nil if replies wait to be written. Both of its methods wait for
	// some time only. Read then returns 0. Write returns os.ErrDeadlineExceeded, and is called
	// again with the rest, unchanged.
	Talk() io.ReadWriter
}

// Console returns the connection of a client for a session of the debugger, or nil. While the
// client thinks, its script is busy, and others are told so.
func (e *Engine) Console(c *Client) io.ReadWriter {
	t, ok := c.Conn.(Talker)
	if !ok || len(c.W.Buf) > 0 || c.W.Staged > 0 {
		return nil
	}
	if conn := t.Talk(); conn != nil {
		return &console{e, conn, time.Now()}
	}
	return nil
}

// ErrNoSession says that no session can begin now.
var ErrNoSession = errors.New("a snapshot for the session cannot be made now, try again later")

// SaveAside writes the data set to a file for another process, while everybody waits.
func (e *Engine) SaveAside(path string) error {
	s := e.persist.store
	if s == nil || s.Busy() || e.loading.on || e.loading.aside {
		return ErrNoSession
	}
	return s.SaveAside(path)
}

// readPatience is how long a session waits for a client that does not read.
const readPatience = 5 * time.Second

// console is the connection of a session. It implements script.DebugOptions.Conn.
type console struct {
	e    *Engine
	conn io.ReadWriter
	used time.Time // when something was last read or written
}

// Write implements io.Writer.
func (c *console) Write(b []byte) (n int, err error) {
	end := time.Now().Add(readPatience)
	for {
		m, err := c.conn.Write(b[n:])
		if c.used = time.Now(); m > 0 {
			end = c.used.Add(readPatience)
		}
		switch n += m; {
		case n == len(b):
			return n, nil
		case err == nil:
			continue
		case !errors.Is(err, os.ErrDeadlineExceeded) || c.used.After(end):
			return n, io.EOF
		}
		if err := c.wait(); err != nil {
			return n, err
		}
	}
}

// Read implements io.Reader.
func (c *console) Read(b []byte) (int, error) {
	n, err := c.conn.Read(b)
	switch {
	case n > 0:
		c.used = time.Now()
		return n, nil
	case err != nil:
		return 0, io.EOF
	}
	limit := time.Duration(c.e.Cfg.Timeout) * time.Second
	if limit > 0 && time.Since(c.used) > limit {
		c.e.Log.Verbose("The client of a debugging session is idle, the script goes on without it")
		return 0, io.EOF
	}
	return 0, c.wait()
}

// wait lets the server serve others for a moment. Its errors are those of script.DebugOptions.Conn.
func (c *console) wait() error {
	r := c.e.script.run
	switch {
	case r == nil, r.alone: // no script is busy: the others cannot be served
		return io.EOF
	}
	return c.e.handOver(r)
}
