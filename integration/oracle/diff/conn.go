package diff

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"godwit/internal/resp/client"
)

// ioTimeout bounds the wait for each reply and each write. The commands are cheap and the server is
// on loopback: one that answers later does not answer.
const ioTimeout = 15 * time.Second

// errNoReply reports a server that does not answer in time.
var errNoReply = errors.New("no reply")

// Conn is a connection that reads replies as raw frames. It returns io.EOF when the peer has
// closed, in whatever way. The other errors are those of time and of bytes that are not RESP.
type Conn struct {
	client *client.Client
	sock   *socket
	closed bool
	Pushes int    // RESP3 push messages seen; they are no replies
	batch  []byte // replies that Batch has returned
	out    []byte // commands that DoAll sends
}

// Dial connects to a server.
func Dial(addr string) (*Conn, error) {
	nc, err := net.DialTimeout("tcp", addr, 5*time.Second)
	if err != nil {
		return nil, err
	}
	c := &Conn{sock: &socket{Conn: nc}}
	c.client = client.New(c.sock)
	c.client.Timeout = ioTimeout
	return c, nil
}

// Close drops the connection.
func (c *Conn) Close() {
	if c != nil {
		c.client.Close()
	}
}

// Send writes request bytes.
func (c *Conn) Send(b []byte) error {
	if c.closed {
		return io.EOF
	}
	if err := c.client.Send(b); isTimeout(err) {
		return err
	}
	return nil // the peer may have closed: what it sent before that is still to be read
}

func isTimeout(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) && ne.Timeout()
}

// next reads one frame, which is valid until the next call.
func (c *Conn) next() ([]byte, error) {
	frame, err := c.client.ReceiveRaw()
	switch {
	case err == nil, errors.Is(err, client.ErrReply):
		return frame, err
	case isTimeout(err):
		return nil, fmt.Errorf("%w in %v", errNoReply, c.client.Timeout)
	}
	c.closed = true
	return nil, io.EOF
}

// Batch reads n replies. raw holds them one after the other, and the end of each is appended to
// ends. Fewer than n mean that the connection was closed. Both are valid until the next call.
func (c *Conn) Batch(n int, ends []int) (raw []byte, _ []int, err error) {
	c.batch, ends = c.batch[:0], ends[:0]
	for len(ends) < n {
		frame, err := c.next()
		switch {
		case errors.Is(err, io.EOF):
			return c.batch, ends, nil
		case err != nil:
			return c.batch, ends, err
		case frame[0] == '>' && !subscribeReply(frame):
			c.Pushes++
		default:
			c.batch = append(c.batch, frame...)
			ends = append(ends, len(c.batch))
		}
	}
	return c.batch, ends, nil
}

// subscribeReply reports whether a push confirms that a subscription began or ended. That is the
// reply to a command, not a message.
func subscribeReply(frame []byte) bool {
	return bytes.Contains(frame[:min(len(frame), 40)], []byte("subscribe\r\n"))
}

// Exchange sends bytes, closes the sending side, and returns everything that comes back, such as
// what remains after a protocol error.
func (c *Conn) Exchange(b []byte) ([]byte, error) {
	if err := c.Send(b); err != nil {
		return nil, err
	}
	if t, ok := c.sock.Conn.(*net.TCPConn); ok {
		t.CloseWrite()
	}
	c.sock.SetReadDeadline(time.Now().Add(ioTimeout))
	got, err := io.ReadAll(c.sock)
	if isTimeout(err) {
		return got, fmt.Errorf("%w in %v", errNoReply, ioTimeout)
	}
	return got, nil
}

// drain returns the complete frames that have arrived, without waiting for more. It returns io.EOF
// when the peer has closed after them.
func (c *Conn) drain() (frames [][]byte, err error) {
	defer func() { c.sock.poll = false }()
	for {
		c.sock.poll = true
		frame, err := c.next()
		if errors.Is(err, errNoReply) && c.client.Buffered() > 0 { // the rest is on its way
			c.sock.poll = false
			frame, err = c.next()
		}
		switch {
		case err == nil:
			frames = append(frames, bytes.Clone(frame))
		case errors.Is(err, errNoReply) && c.sock.poll:
			return frames, nil
		default:
			return frames, err
		}
	}
}

// Do sends one command and reads its reply.
func (c *Conn) Do(args ...string) (Reply, error) {
	cmd := Cmd{Args: make([][]byte, len(args))}
	for i, a := range args {
		cmd.Args[i] = []byte(a)
	}
	rs, err := c.DoAll([]Cmd{cmd})
	if err != nil {
		return Reply{}, fmt.Errorf("%s: %w", args[0], err)
	}
	return rs[0], nil
}

// DoAll pipelines commands and decodes their replies.
func (c *Conn) DoAll(cmds []Cmd) ([]Reply, error) {
	c.out = c.out[:0]
	for _, cmd := range cmds {
		c.out = cmd.Append(c.out)
	}
	if err := c.Send(c.out); err != nil {
		return nil, err
	}
	raw, ends, err := c.Batch(len(cmds), nil)
	if err != nil {
		return nil, err
	}
	if len(ends) < len(cmds) {
		return nil, io.EOF
	}
	out := make([]Reply, len(cmds))
	start := 0
	for i, end := range ends {
		out[i] = decode(raw[start:end])
		start = end
	}
	return out, nil
}

// socket is a connection that can be asked for only what has already arrived.
type socket struct {
	net.Conn
	poll bool // Read does not wait
}

func (s *socket) Read(b []byte) (n int, err error) {
	if !s.poll {
		return s.Conn.Read(b)
	}
	rc, err := s.Conn.(syscall.Conn).SyscallConn()
	if err != nil {
		return 0, err
	}
	var failed error
	err = rc.Read(func(fd uintptr) bool {
		n, failed = syscall.Read(int(fd), b)
		return true
	})
	switch {
	case err != nil:
		return 0, err
	case n > 0:
		return n, nil
	case errors.Is(failed, syscall.EAGAIN), errors.Is(failed, syscall.EINTR):
		return 0, os.ErrDeadlineExceeded
	}
	return 0, io.EOF
}
