package engine

import (
	"cmp"
	"slices"

	"godwit/internal/rounds"
)

// How clients' memory is counted
//
// Each client carries the bytes it was last counted with; their sum is part of used memory. A
// client is counted again in its turn, once a second for each as the cron goes round, and after
// each of its commands while maxmemory-clients is set. So the sum is cheap with 10,000 clients, and
// at most a second old. Before anyone is closed because of it, all are counted anew.
//
// The round leaves out clients at rest: those without buffers that nothing has reached and that
// have been sent nothing since they were last counted. What counts of them cannot have grown; a
// watch that a change of its key has ended counts until the client is stirred. Connections stir
// their client whenever they have received something, run its input or take replies for it.

// clientMemory is the sum over all clients.
type clientMemory struct {
	total   int64 // bytes of all clients
	pooled  int64 // those of them that are buffers of the pool, which counts them too
	limited int64 // bytes of those that maxmemory-clients is about
	victims int64 // bytes of those among them that it may close
	stirred rounds.Set[*Client]
	peakIn  recentPeak
	peakOut recentPeak
}

// clientOverhead is the size in bytes of a Client with its connection, without buffers.
const clientOverhead = 768

// ClientMemory returns the memory in bytes that the client's buffers and state take. The capacity
// of W.Buf does not count: loops lend it for a turn.
func (e *Engine) ClientMemory(c *Client) int64 {
	n := int64(clientOverhead + len(c.W.Buf) + c.heldBytes() + len(c.Name) + len(c.Addr) +
		len(c.LibName) + len(c.LibVer) + c.sub.Bytes())
	if c.wait != nil {
		n += c.wait.size
	}
	n += c.MultiMemory() + c.watchMemory()
	if c.Conn != nil {
		_, in, out := c.Conn.Buffers()
		n += int64(in + out)
	}
	return n
}

// SmallInput is the largest input buffer that connections keep in Go's heap. Larger ones are in the
// pool. So are replies that wait to be written, except for Conn.HeapReplies.
const SmallInput = 64 << 10

// pooled returns the part of the client's memory that is in the pool.
func (c *Client) pooled() int64 {
	_, in, out := c.Conn.Buffers()
	if in <= SmallInput {
		in = 0
	}
	return int64(in + max(out-c.Conn.HeapReplies(), 0))
}

// countClient updates the sums for one client.
func (e *Engine) countClient(c *Client) {
	if !c.linked || c.CloseASAP {
		return
	}
	n := clientCount{total: e.ClientMemory(c)}
	if c.Conn != nil {
		n.pooled = c.pooled()
	}
	if c.limited() {
		n.limited = n.total
	}
	if c.evictable() {
		n.victims = n.total
	}
	e.clientMem.set(c, n)
}

// clientCount is what the sums hold of one client.
type clientCount struct{ total, pooled, limited, victims int64 }

func (m *clientMemory) set(c *Client, n clientCount) {
	was := &c.counted
	m.total += n.total - was.total
	m.pooled += n.pooled - was.pooled
	m.limited += n.limited - was.limited
	m.victims += n.victims - was.victims
	*was = n
}

// uncountClient takes a client that goes away out of the sums.
func (e *Engine) uncountClient(c *Client) {
	e.clientMem.set(c, clientCount{})
	e.clientMem.stirred.Remove(c)
}

// Round implements what rounds.Set needs.
func (c *Client) Round() *rounds.Member { return &c.round }

// Stir makes the cron count the client until it is at rest.
func (e *Engine) Stir(c *Client) {
	if !c.round.Stirred() && c.linked {
		e.clientMem.stirred.Stir(c)
	}
}

// recountClients updates the sums for all clients.
func (e *Engine) recountClients() {
	e.Clients(func(c *Client) bool {
		e.countClient(c)
		return true
	})
}

// RecentBuffers returns the largest input buffer and the largest backlog of replies of any client
// within the last seconds, in bytes.
func (e *Engine) RecentBuffers() (in, out int) {
	sec := e.Steady() / 1000
	return e.clientMem.peakIn.max(sec), e.clientMem.peakOut.max(sec)
}

// recentSeconds is how far back RecentBuffers looks, as in Redis.
const recentSeconds = 8

// recentPeak is the maximum over the last seconds.
type recentPeak struct {
	at   [recentSeconds]int64
	peak [recentSeconds]int
}

func (p *recentPeak) note(sec int64, n int) {
	i := sec % recentSeconds
	if p.at[i] != sec {
		p.at[i], p.peak[i] = sec, 0
	}
	p.peak[i] = max(p.peak[i], n)
}

func (p *recentPeak) max(sec int64) (n int) {
	for i, at := range p.at {
		if sec-at < recentSeconds {
			n = max(n, p.peak[i])
		}
	}
	return n
}

// limited reports whether maxmemory-clients counts the client.
func (c *Client) limited() bool {
	return !c.CloseASAP && c.Origin == OriginConnection && c.Conn != nil && c.Class != ClassReplica
}

// evictable reports whether maxmemory-clients may close the client.
func (c *Client) evictable() bool { return !c.NoEvict && c.limited() }

// limitClients closes the clients that take the most memory until all are within maxmemory-clients.
// Clients with NO-EVICT count too but stay, so others may all have to go because of them, as in
// Redis. It reports whether it has closed the client whose command is about to run. It is O(1)
// while the clients are within the limit or none may be closed, else O(N log N) in the number of
// clients.
func (e *Engine) limitClients() (self bool) {
	limit := e.Cfg.ClientsLimit()
	m := &e.clientMem
	if limit == 0 || m.limited < limit || m.victims == 0 {
		return false
	}
	e.recountClients()
	if m.limited < limit {
		return false
	}
	var list []*Client
	e.Clients(func(c *Client) bool {
		if c.evictable() {
			list = append(list, c)
		}
		return true
	})
	slices.SortStableFunc(list, func(a, b *Client) int {
		return cmp.Compare(b.counted.total, a.counted.total)
	})
	for _, c := range list {
		if m.limited < limit {
			break
		}
		e.Log.Notice("Evicting client: id=%d addr=%s laddr=%s fd=%d name=%s user=%s tot-mem=%d",
			c.ID, c.Addr, c.LAddr, c.FD, c.Name, c.UserName(), c.counted.total)
		e.Stats.EvictedClients++
		m.set(c, clientCount{})
		c.CloseASAP = true
		if c == e.current {
			self = true
		} else {
			c.Conn.Close()
		}
	}
	return self
}
