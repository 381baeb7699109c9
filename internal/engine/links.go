package engine

import (
	"net"
	"time"

	"godwit/internal/resp/client"
)

// Dialer opens connections to other servers. Its methods are called with the executor held.
type Dialer interface {
	// Dial connects and waits for that: nobody else is served meanwhile.
	Dial(o DialOptions) (net.Conn, error)
	// Connect connects beside the executor, and then calls done on it with the connection or the
	// error, never in the middle of a script. A server that ends meanwhile closes the connection
	// instead.
	Connect(o DialOptions, done func(net.Conn, error))
}

// DialOptions say how to connect to another server.
type DialOptions struct {
	Addr    string        // host:port, or the path of a unix socket
	Unix    bool          // Addr is a path
	TLS     bool          // with the certificate and the authorities of the tls directives
	Source  string        // the IP address to connect from, "" for the system's choice
	Timeout time.Duration // of all of it, 0 for the system's limits
}

// Links holds connections that MIGRATE keeps for the next time. A mass of keys is usually moved to
// the same server, key by key.
type Links struct {
	byAddr map[string]*Link
}

// Link is one of these connections. It belongs to the executor.
type Link struct {
	*client.Client
	DB   int    // selected there, -1: not known
	addr string // "host:port" as it was asked for
	used int64  // steady ms
}

const (
	maxLinks   = 64
	linkIdleMs = 10_000
	// maxLinkReply bounds replies in bytes. Those to MIGRATE's commands are a line each.
	maxLinkReply = 1 << 20
)

// Link returns the connection that is kept to the address, or a new one. Connecting takes no longer
// than timeout; everybody waits for it.
func (e *Engine) Link(addr string, timeout time.Duration) (*Link, error) {
	l := &e.Links
	switch c := l.byAddr[addr]; {
	case c == nil:
	case c.Buffered() > 0: // surplus replies, which would count for other commands
		l.Close(c)
	default:
		c.used = e.Steady()
		return c, nil
	}
	if len(l.byAddr) >= maxLinks {
		for _, c := range l.byAddr { // any, as map order has it
			l.Close(c)
			break
		}
	}
	nc, err := e.Dialer.Dial(DialOptions{Addr: addr, TLS: e.Cfg.TLSReplication,
		Timeout: timeout})
	if err != nil {
		return nil, err
	}
	c := &Link{Client: client.New(nc), DB: -1, addr: addr, used: e.Steady()}
	c.MaxReply = maxLinkReply
	if l.byAddr == nil {
		l.byAddr = map[string]*Link{}
	}
	l.byAddr[addr] = c
	return c, nil
}

// Close closes a connection and forgets it.
func (l *Links) Close(c *Link) {
	_ = c.Client.Close() // whatever it says, it is of no use any more
	delete(l.byAddr, c.addr)
}

// Len returns how many connections are kept.
func (l *Links) Len() int { return len(l.byAddr) }

// expire closes connections that have not been used for a while.
func (l *Links) expire(now int64) {
	for _, c := range l.byAddr {
		if now-c.used > linkIdleMs {
			l.Close(c)
		}
	}
}
