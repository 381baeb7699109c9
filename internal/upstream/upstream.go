// Package upstream is a replica's side of the conversation with its master, up to the stream of
// commands: the handshake, and the payload of a full synchronization.
//
//	replica                              master
//	PING                            ─→
//	                                ←─   +PONG
//	AUTH … REPLCONF …               ─→                 all at once
//	                                ←─   +OK …
//	PSYNC id offset                 ─→
//	                                ←─   +CONTINUE id          the stream follows
//	                                ←─   +FULLRESYNC id offset
//	                                ←─   $length or $EOF:mark, the RDB file; then the stream
//
// The master may be anything: a web server, or nobody. What it says is bounded in length and time,
// and quoted in the errors, which have the words that Redis's log has for them. The package neither
// starts goroutines nor knows the server above it.
package upstream

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"godwit/internal/logging"
	"godwit/internal/resp"
)

const (
	// readBuffer is the size of a connection's buffer, and so the longest line that is read.
	readBuffer = 16 << 10
	// maxLine is the longest line that a master may send here.
	maxLine = 4 << 10
	// shownLine is how much of a line errors quote.
	shownLine = 256
)

// Conn is the connection to a master before the stream of commands. It belongs to one goroutine,
// except Close and StopStream. After Answer Channel, one reads the stream and another one writes.
type Conn struct {
	net.Conn
	// Timeout is repl-timeout: how long the master may be silent.
	Timeout time.Duration

	r    *bufio.Reader
	rest []byte // what was read together with the end of a payload
}

// New returns the conversation over a connection.
func New(nc net.Conn, timeout time.Duration) *Conn {
	return &Conn{Conn: nc, Timeout: timeout, r: bufio.NewReaderSize(nc, readBuffer)}
}

// Rest returns what has been read of the stream, and ends the conversation.
func (c *Conn) Rest() []byte {
	b, _ := c.r.Peek(c.r.Buffered())
	return append(c.rest, b...)
}

// errLine reports a line that does not end.
var errLine = fmt.Errorf("a line of more than %d bytes", maxLine)

// line returns the master's next line, without its end. A line has the time Timeout to arrive.
// Empty lines are signs of life of a master that is not ready yet, and begin that time anew.
func (c *Conn) line() (string, error) {
	for {
		if err := c.SetReadDeadline(time.Now().Add(c.Timeout)); err != nil {
			return "", err
		}
		b, err := c.r.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull) || len(b) > maxLine:
			return "", errLine
		case err != nil:
			return "", readError(err)
		}
		b = b[:len(b)-1]
		if len(b) > 0 && b[len(b)-1] == '\r' {
			b = b[:len(b)-1]
		}
		if len(b) > 0 {
			return string(b), nil
		}
	}
}

// readError returns an error of the connection in words for the log.
func readError(err error) error {
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("Connection closed by the master")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errors.New("Timeout: the master does not answer")
	}
	return errors.New(logging.OSError(err))
}

// show returns what a master has said as errors quote it: without control characters, and not all
// of it.
func show(line string) string {
	b := []byte(line[:min(len(line), shownLine)])
	for i, ch := range b {
		if ch < ' ' || ch > '~' {
			b[i] = '.'
		}
	}
	return string(b)
}

// send writes commands.
func (c *Conn) send(commands ...[]string) error {
	var b []byte
	for _, argv := range commands {
		b = resp.AppendCommand(b, argv...)
	}
	if err := c.SetWriteDeadline(time.Now().Add(c.Timeout)); err != nil {
		return err
	}
	if _, err := c.Write(b); err != nil {
		return readError(err)
	}
	return nil
}

// Newline sends the sign of life of a replica that is busy with loading.
func (c *Conn) Newline() error {
	if err := c.SetWriteDeadline(time.Now().Add(c.Timeout)); err != nil {
		return err
	}
	_, err := c.Write([]byte{'\n'})
	return err
}
