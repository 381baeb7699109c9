package upstream

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// markLen is the length of the mark behind an RDB file whose length the master does not know.
const markLen = 40

// Payload is the RDB file of a full synchronization. It is read to io.EOF, which is its end; any
// other error means that it is not whole.
type Payload struct {
	// Len is the number of bytes, -1 if the master does not know.
	Len int64

	c    *Conn
	left int64  // of Len
	mark []byte // what ends a payload of unknown length
	held []byte // bytes in which the mark may begin
	out  []byte // of held: what is before the mark
	over bool
	buf  []byte
}

// Payload waits for the RDB file, and returns it.
func (c *Conn) Payload() (*Payload, error) {
	line, err := c.line()
	if err != nil {
		return nil, fmt.Errorf("I/O error reading bulk count from MASTER: %w", err)
	}
	n, mark, err := parseHead(line)
	if err != nil {
		return nil, err
	}
	return &Payload{Len: n, c: c, left: n, mark: mark}, nil
}

// parseHead reads the line before an RDB file: its length, or the mark that ends it.
func parseHead(line string) (n int64, mark []byte, err error) {
	switch {
	case line[0] == '-':
		return 0, nil, fmt.Errorf("MASTER aborted replication with an error: %s", show(line[1:]))
	case line[0] != '$':
		return 0, nil, fmt.Errorf("Bad protocol from MASTER, the first byte is not '$' (we "+
			"received '%s'), are you sure the host and port are right?", show(line))
	}
	if mark, ok := strings.CutPrefix(line, "$EOF:"); ok {
		if len(mark) != markLen {
			return 0, nil, fmt.Errorf("Bad protocol from MASTER, the mark of the end has not %d "+
				"bytes: '%s'", markLen, show(line))
		}
		return -1, []byte(mark), nil
	}
	n, err = strconv.ParseInt(line[1:], 10, 64)
	if err != nil || n < 0 {
		return 0, nil, fmt.Errorf("Bad protocol from MASTER, bad bulk count: '%s'", show(line))
	}
	return n, nil, nil
}

// Read implements io.Reader. The master may be silent for Timeout.
func (p *Payload) Read(b []byte) (int, error) {
	if p.mark != nil {
		return p.readToMark(b)
	}
	if p.left == 0 {
		return 0, io.EOF
	}
	n, err := p.read(b[:min(int64(len(b)), p.left)])
	p.left -= int64(n)
	if n > 0 {
		err = nil
	}
	return n, err
}

// read reads from the connection. The end of the connection is an error.
func (p *Payload) read(b []byte) (int, error) {
	if err := p.c.SetReadDeadline(time.Now().Add(p.c.Timeout)); err != nil {
		return 0, err
	}
	n, err := p.c.r.Read(b)
	switch {
	case err == nil || n > 0:
		return n, nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return n, errors.New("Timeout receiving bulk data from MASTER... If the problem persists " +
			"try to set the 'repl-timeout' parameter in redis.conf to a larger value.")
	case errors.Is(err, io.EOF):
		return n, errors.New("I/O error trying to sync with MASTER: connection lost")
	}
	return n, fmt.Errorf("I/O error trying to sync with MASTER: %w", readError(err))
}

// readToMark reads up to the mark. The last bytes that could be a part of it are held back.
//
//	held  …………data………… 0123ab        more comes: 40 bytes less one stay
//	held  …………data………… 0123abcd…     the mark: the end
func (p *Payload) readToMark(b []byte) (int, error) {
	for len(p.out) == 0 {
		if p.over {
			return 0, io.EOF
		}
		if p.buf == nil {
			p.buf = make([]byte, 256<<10)
		}
		keep := copy(p.buf, p.held)
		n, err := p.read(p.buf[keep:])
		if err != nil {
			return 0, err
		}
		text := p.buf[:keep+n]
		if i := bytes.Index(text, p.mark); i >= 0 {
			p.over, p.out = true, text[:i]
			p.c.rest = bytes.Clone(text[i+markLen:])
			break
		}
		cut := max(len(text)-markLen+1, 0)
		p.out, p.held = text[:cut], text[cut:]
	}
	return p.take(b), nil
}

// take moves bytes that are data into b.
func (p *Payload) take(b []byte) int {
	n := copy(b, p.out)
	p.out = p.out[n:]
	return n
}
