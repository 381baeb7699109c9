package upstream

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"
)

// ErrChannel reports a second connection that the master does not take for what it is: maybe the
// address leads to several servers. The next attempt should do with one (Hello.Channel).
var ErrChannel = errors.New("the RDB channel could not be opened")

// RDBChannel makes the connection the second one of a master that has answered Channel. It returns
// the place of the RDB file, which follows.
func (c *Conn) RDBChannel(h Hello, client string) (Answer, error) {
	var commands [][]string
	if auth := h.auth(); auth != nil {
		commands = append(commands, auth)
	}
	commands = append(commands, []string{"REPLCONF", "capa", "eof", "rdb-only", "1", "rdb-channel",
		"1", "main-ch-client-id", client, "listening-port", strconv.Itoa(h.Port)})
	if err := c.send(commands...); err != nil {
		return Answer{}, fmt.Errorf("%w: %w", ErrChannel, err)
	}
	for _, argv := range commands {
		line, err := c.line()
		if err != nil {
			return Answer{}, fmt.Errorf("%w: %w", ErrChannel, err)
		}
		if line[0] == '-' {
			return Answer{}, fmt.Errorf("%w: the master answers %s with: %s", ErrChannel, argv[0],
				show(line))
		}
	}
	if err := c.send([]string{"PSYNC", "?", "-1"}); err != nil {
		return Answer{}, fmt.Errorf("%w: %w", ErrChannel, err)
	}
	line, err := c.line()
	if err != nil {
		return Answer{}, fmt.Errorf("%w: %w", ErrChannel, err)
	}
	a, err := parsePSYNC(line)
	switch {
	case errors.Is(err, errNoPSYNC) || err == nil && a.Kind != Full:
		return Answer{}, fmt.Errorf("%w: the master answers PSYNC with: %s", ErrChannel, show(line))
	case err != nil:
		return Answer{}, err
	}
	return a, nil
}

// The stream of a master that has answered Channel comes while another goroutine deals with the RDB
// file. One goroutine reads it, and another one ends that.

// BeginStream must be called before Stream.
func (c *Conn) BeginStream() error { return c.SetReadDeadline(time.Time{}) }

// Stream reads some of the stream, however long that takes. It returns ErrStopped after StopStream;
// nothing has been lost then.
func (c *Conn) Stream(b []byte) (int, error) {
	n, err := c.r.Read(b)
	switch {
	case err == nil:
		return n, nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return n, ErrStopped
	case errors.Is(err, io.EOF):
		return n, errors.New("Connection closed by the master")
	}
	return n, readError(err)
}

// ErrStopped is what Stream returns after StopStream.
var ErrStopped = errors.New("stopped")

// StopStream ends Stream on another goroutine.
func (c *Conn) StopStream() error { return c.SetReadDeadline(time.Unix(1, 0)) }
