package engine

import (
	"errors"
	"io"
)

// Talker is an optional part of a Conn: one that can speak with its client while a command runs.
type Talker interface {
	// Talk returns the connection. Read waits for some time, and returns 0 if nothing has come.
	// Write waits until everything is written. It is nil if replies wait to be written.
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
		return console{e, conn}
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

type console struct {
	e    *Engine
	conn io.ReadWriter
}

// Write implements io.Writer.
func (c console) Write(b []byte) (int, error) { return c.conn.Write(b) }

// Read implements io.Reader. It returns 0 if nothing has come for some time, io.EOF if the client
// has gone, and any other error if the script must end.
func (c console) Read(b []byte) (int, error) {
	n, err := c.conn.Read(b)
	switch {
	case n > 0:
		return n, nil
	case err != nil:
		return 0, io.EOF
	}
	return 0, c.e.handOver(c.e.script.run)
}
