package client

import (
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"godwit/internal/resp"
)

// Client is one connection. It is not safe for concurrent use, except that one goroutine may call
// Send while another receives.
type Client struct {
	// Timeout bounds the wait for each reply, however slowly its bytes arrive, and for each piece
	// that Send and Flush write. 0 is no bound.
	Timeout time.Duration
	// MaxReply bounds a reply in bytes, give or take what one read brings. 0 is no bound.
	MaxReply int

	conn  net.Conn
	in    []byte // what has arrived; in[at:] has not been handed out
	at    int
	frame frame  // of the reply at in[at:]
	out   []byte // commands queued and not yet flushed
	todo  int    // replies owed for queued commands
}

// DefaultTimeout is a new client's Timeout.
const DefaultTimeout = 10 * time.Second

// keepBuffer is the largest buffer that is kept for the next commands or replies.
const keepBuffer = 1 << 20

// Dial connects to "tcp" host:port or "unix" path.
func Dial(network, addr string) (*Client, error) {
	conn, err := net.DialTimeout(network, addr, DefaultTimeout)
	if err != nil {
		return nil, fmt.Errorf("dial: %w", err)
	}
	return New(conn), nil
}

// New returns a client over a connection it takes ownership of.
func New(conn net.Conn) *Client { return &Client{Timeout: DefaultTimeout, conn: conn} }

// Close closes the connection.
func (c *Client) Close() error { return c.conn.Close() }

// Conn returns the connection, for deadlines, half-closing and addresses.
func (c *Client) Conn() net.Conn { return c.conn }

// Buffered reports how many reply bytes have arrived and not been handed out.
func (c *Client) Buffered() int { return len(c.in) - c.at }

// Do sends one command and returns its reply. An argument is a string, []byte, bool (1 or 0), any
// integer or float, or something fmt can print. An error reply is a Value of kind Error, not err.
// Push messages that come first are returned like any reply: a client that asked for them uses
// Queue and Receive.
func (c *Client) Do(args ...any) (Value, error) {
	if c.todo != 0 {
		return Value{}, fmt.Errorf("do: %d queued replies not received", c.todo)
	}
	c.Queue(args...)
	if err := c.Flush(); err != nil {
		return Value{}, err
	}
	return c.Receive()
}

// Queue appends one command to the pipeline without sending it.
func (c *Client) Queue(args ...any) {
	raw := make([][]byte, len(args))
	for i, a := range args {
		raw[i] = Arg(a)
	}
	c.QueueArgs(raw...)
}

// QueueArgs does what Queue does, for arguments that are bytes. It copies them and allocates
// nothing else.
func (c *Client) QueueArgs(args ...[]byte) {
	c.out = resp.AppendCommand(c.out, args...)
	c.todo++
}

// Flush sends the queued commands.
func (c *Client) Flush() error {
	out := c.out
	if c.out = c.out[:0]; cap(out) > keepBuffer {
		c.out = nil
	}
	return c.Send(out)
}

// Receive reads the next reply or push message.
func (c *Client) Receive() (Value, error) {
	raw, err := c.ReceiveRaw()
	if err != nil {
		return Value{}, err
	}
	v, _, err := decode(raw)
	return v, err
}

// ReceiveRaw reads the next reply or push message and returns its bytes, which are valid until the
// next call. After a timeout it can be called again: what has arrived is kept.
func (c *Client) ReceiveRaw() ([]byte, error) {
	for waiting := false; ; waiting = true {
		n, err := c.frame.end(c.in[c.at:])
		if err != nil {
			return nil, err
		}
		if n > 0 {
			raw := c.in[c.at : c.at+n : c.at+n]
			c.at += n
			c.frame.reset()
			if raw[0] != '>' && c.todo > 0 {
				c.todo--
			}
			return raw, nil
		}
		if c.MaxReply > 0 && c.Buffered() > c.MaxReply {
			return nil, fmt.Errorf("%w: more than %d bytes", ErrReply, c.MaxReply)
		}
		if !waiting {
			if err := c.conn.SetReadDeadline(c.deadline()); err != nil {
				return nil, fmt.Errorf("set read deadline: %w", err)
			}
		}
		if err := c.fill(); err != nil {
			return nil, err
		}
	}
}

// fill reads more bytes, until the connection's deadline.
func (c *Client) fill() error {
	const least = 16 << 10
	if c.at == len(c.in) && cap(c.in) > keepBuffer {
		c.in, c.at = nil, 0
	}
	if c.at > 0 {
		c.in, c.at = c.in[:copy(c.in, c.in[c.at:])], 0
	}
	if cap(c.in)-len(c.in) < least {
		c.in = append(make([]byte, 0, max(2*cap(c.in), 2*least)), c.in...)
	}
	n, err := c.conn.Read(c.in[len(c.in):cap(c.in)])
	c.in = c.in[:len(c.in)+n]
	switch {
	case n > 0:
		return nil
	case err == io.EOF && len(c.in) > 0:
		return io.ErrUnexpectedEOF
	}
	return err
}

// Pipeline flushes the queue and reads a reply for each command queued since the last time. Push
// messages among them are dropped.
func (c *Client) Pipeline() ([]Value, error) {
	if err := c.Flush(); err != nil {
		return nil, err
	}
	out := make([]Value, 0, c.todo)
	for c.todo > 0 {
		v, err := c.Receive()
		if err != nil {
			return out, err
		}
		if v.Kind != Push {
			out = append(out, v)
		}
	}
	return out, nil
}

// Send writes bytes as they are and expects no reply to them. It writes long ones in pieces, each
// of which may take the Timeout.
func (c *Client) Send(raw []byte) error {
	const piece = 64 << 10
	for len(raw) > 0 {
		n := min(len(raw), piece)
		if err := c.conn.SetWriteDeadline(c.deadline()); err != nil {
			return fmt.Errorf("set write deadline: %w", err)
		}
		if _, err := c.conn.Write(raw[:n]); err != nil {
			return fmt.Errorf("write: %w", err)
		}
		raw = raw[n:]
	}
	return nil
}

func (c *Client) deadline() time.Time {
	if c.Timeout == 0 {
		return time.Time{}
	}
	return time.Now().Add(c.Timeout)
}

// Arg converts an argument of Do to the bytes that are sent. Floats are written with the fewest
// digits that read back as the same value.
func Arg(a any) []byte {
	switch a := a.(type) {
	case string:
		return []byte(a)
	case []byte:
		return a
	case int:
		return strconv.AppendInt(nil, int64(a), 10)
	case int64:
		return strconv.AppendInt(nil, a, 10)
	case uint64:
		return strconv.AppendUint(nil, a, 10)
	case float64:
		return strconv.AppendFloat(nil, a, 'g', -1, 64)
	case bool:
		if a {
			return []byte("1")
		}
		return []byte("0")
	}
	return fmt.Append(nil, a)
}
