package engine

import (
	"net"
	"time"
)

// Links are connections to other servers that MIGRATE keeps for the next time: a mass of keys is usually moved to the same one, key by key.
type Links struct {
	byAddr map[string]*Link
}

// Link is one of them. It belongs to the executor.
type Link struct {
	net.Conn
	DB   int    // selected there, -1: not known
	addr string // "host:port" as it was asked for
	used int64  // steady ms
}

const (
	maxLinks   = 64
	linkIdleMs = 10_000
)

// Get is the connection to the address, a new one if need be; connecting takes no longer than timeout.
func (l *Links) Get(addr string, now int64, timeout time.Duration) (*Link, error) {
	if c := l.byAddr[addr]; c != nil {
		c.used = now
		return c, nil
	}
	if len(l.byAddr) >= maxLinks {
		for _, c := range l.byAddr { // any, as map order has it
			l.Close(c)
			break
		}
	}
	nc, err := net.DialTimeout("tcp", addr, timeout)
	if err != nil {
		return nil, err
	}
	c := &Link{Conn: nc, DB: -1, addr: addr, used: now}
	if l.byAddr == nil {
		l.byAddr = map[string]*Link{}
	}
	l.byAddr[addr] = c
	return c, nil
}

// Close ends a connection and forgets it.
func (l *Links) Close(c *Link) {
	_ = c.Conn.Close() // whatever it says, it is of no use any more
	delete(l.byAddr, c.addr)
}

// Len is how many connections are kept.
func (l *Links) Len() int { return len(l.byAddr) }

// expire closes those that nobody has used for a while.
func (l *Links) expire(now int64) {
	for _, c := range l.byAddr {
		if now-c.used > linkIdleMs {
			l.Close(c)
		}
	}
}
