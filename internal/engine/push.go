package engine

import "godwit/internal/invariant"

// Messages to clients outside of their own commands
//
// A push is a message of pub/sub, an invalidation, or a line for MONITOR. It is appended to the
// receiver's replies at once, so that it stands in order with them. The receiver's connection hears
// of it only at the end of the batch (Deliver). So a batch that publishes a thousand messages to a
// client wakes the client's loop once and costs one write.
//
// The client whose command is running may be in the middle of its reply. What it is pushed waits
// until the reply is complete: messages first, then the invalidations that its own changes cause,
// as in Redis. Commands whose reply is a push (SUBSCRIBE …) write theirs at once. What a gate
// causes by evicting keys comes before the reply, because the command does not meet those values
// any more.
//
// Who acts is answered before those that the command is about. Pushes are written behind the
// replies of the batch, and so are the replies to clients that CLIENT UNBLOCK frees. There are two
// exceptions, as in Redis: a client that is served what it waited for is written to first, and a
// client that CLIENT KILL ends is gone first.
//
// Nobody reads a receiver's replies before the end of the batch, so its output limit is held here.
// A batch cannot make a buffer grow past the limit.

// pushState is what is on its way to clients.
type pushState struct {
	woken    []*Client // have been pushed something in this batch
	resumed  []*Client // go on with their input at its end, in the order in which their waits ended
	messages []byte    // for the running command's client
	invalid  []byte    // likewise, behind messages
	early    bool      // the running command's reply has not begun: nothing need wait for it
	scratch  []byte    // the message that is being published
	channel  []byte    // of the keyspace event that is being published
	message  []byte    // its message, if that is made for it
	spare    [][]byte  // buffers for replies of clients that no loop has lent one
	bytes    int       // of spare, capacity
	unused   int       // the fewest spare ones since the last tick
}

const (
	// pushBuffer is the size in bytes of a fresh buffer for pushes. keepPush is that of the largest
	// buffer that is used again: growing to what one batch publishes costs more than the copying.
	pushBuffer = 512
	keepPush   = 256 << 10
	// maxSpare bounds the bytes of the buffers that are kept.
	maxSpare = 16 << 20
	// pushCheck is the number of bytes of unsent pushes from which the client's limit is checked.
	pushCheck = 64 << 10
)

// push appends an encoded message to the client's replies. For clients of RESP3 its first byte,
// '*', becomes '>'.
func (e *Engine) push(c *Client, msg []byte) {
	if c.CloseASAP || c.CloseAfterReply || !c.linked {
		return
	}
	if c == e.current && !e.pushing.early {
		e.pushing.messages = appendPush(e.pushing.messages, c, msg)
		e.checkWaiting(c)
		return
	}
	e.pushNow(c, msg)
}

// checkWaiting holds the output limit of the running command's client over what waits for the end
// of its reply. A client that is to be closed gets no more of it.
func (e *Engine) checkWaiting(c *Client) {
	p := &e.pushing
	n := len(p.messages) + len(p.invalid)
	if n < pushCheck || c.Conn == nil {
		return
	}
	_, _, out := c.Conn.Buffers()
	if e.CheckOutput(c, out+len(c.W.Buf)+n); c.CloseASAP {
		p.messages, p.invalid = nil, nil
	}
}

// pushNow does what push does, for a client that is not in the middle of a reply.
func (e *Engine) pushNow(c *Client, msg []byte) {
	if c.HeldReplies() {
		e.holdPush(c, appendPush(nil, c, msg))
		return
	}
	if c.W.Buf == nil {
		c.W.Buf = e.LendBuffer()
	}
	c.W.Buf = appendPush(c.W.Buf, c, msg)
	e.pushed(c)
}

// holdPush appends a message to replies that are held. A client of RESP2 could not tell a message
// that overtakes them from the reply to its command, and one that caches would take a value for
// fresh that has been declared stale before it came.
func (e *Engine) holdPush(c *Client, msg []byte) {
	c.held.add(heldReply{n: len(msg)}, msg)
	if e.CheckOutput(c, len(c.held.buf)); c.CloseASAP && c.Conn != nil {
		c.Conn.Close()
	}
}

func appendPush(b []byte, c *Client, msg []byte) []byte {
	invariant.Check(msg[0] == '*', "push begins with %q", msg[0])
	at := len(b)
	b = append(b, msg...)
	if c.W.Proto == 3 {
		b[at] = '>'
	}
	return b
}

// pushed makes the client's connection look at its replies at the end of the batch.
func (e *Engine) pushed(c *Client) {
	if !c.woken {
		c.woken = true
		e.pushing.woken = append(e.pushing.woken, c)
	}
	if e.Cfg.MaxmemoryClients != 0 {
		e.countClient(c)
	}
	if len(c.W.Buf) >= pushCheck && c.Conn != nil {
		_, _, out := c.Conn.Buffers()
		if e.CheckOutput(c, out+len(c.W.Buf)); c.CloseASAP {
			c.Conn.Close()
		}
	}
}

// endReply appends what has waited until the reply of the running command's client is complete.
func (e *Engine) endReply(c *Client) {
	p := &e.pushing
	if len(p.messages) == 0 && len(p.invalid) == 0 {
		return
	}
	if c.W.Buf == nil {
		c.W.Buf = e.LendBuffer()
	}
	if c.HeldReplies() {
		e.holdPush(c, p.messages)
		e.holdPush(c, p.invalid)
	} else {
		c.W.Buf = append(append(c.W.Buf, p.messages...), p.invalid...)
	}
	p.messages, p.invalid = keepSmall(p.messages), keepSmall(p.invalid)
	e.pushed(c)
}

// keepSmall empties a buffer, and drops it if it is large.
func keepSmall(b []byte) []byte {
	if cap(b) > 1<<20 {
		return nil
	}
	return b[:0]
}

// LendBuffer returns an empty buffer for replies.
func (e *Engine) LendBuffer() []byte {
	p := &e.pushing
	n := len(p.spare) - 1
	if n < 0 {
		return make([]byte, 0, pushBuffer)
	}
	b := p.spare[n]
	p.spare[n] = nil
	p.spare = p.spare[:n]
	p.bytes -= cap(b)
	p.unused = min(p.unused, n)
	return b
}

// TakeBack takes buffers that have been written. They will be lent again.
func (e *Engine) TakeBack(list [][]byte) {
	p := &e.pushing
	for i, b := range list {
		if cap(b) <= keepPush && p.bytes+cap(b) <= maxSpare {
			p.spare = append(p.spare, b[:0])
			p.bytes += cap(b)
		}
		list[i] = nil
	}
}

// trimSpare drops half of the buffers that nobody has wanted since the last call.
func (e *Engine) trimSpare() {
	p := &e.pushing
	n := len(p.spare) - (p.unused+1)/2
	if n = max(n, 0); n < len(p.spare) {
		for _, b := range p.spare[n:] {
			p.bytes -= cap(b)
		}
		clear(p.spare[n:])
		p.spare = p.spare[:n]
	}
	p.unused = len(p.spare)
}
