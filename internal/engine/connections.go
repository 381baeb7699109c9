package engine

import "godwit/internal/resp"

// NewClient makes a client for a connection, lists it, and gives it the default user.
func (e *Engine) NewClient(conn Conn) *Client {
	e.nextClientID++
	c := &Client{
		W: resp.Writer{Proto: 2}, Conn: conn, ID: e.nextClientID, FD: -1,
		Created: e.Steady(), LastUsed: e.Steady(), db: e.KS.DB(0),
	}
	e.stageReplies(c)
	e.setDefaultUser(c)
	e.clients.push(c)
	e.countClient(c)
	e.Stir(c)
	e.Stats.Connections++
	return c
}

// addSource lists a client that applies what another server sends, from a database on. It has all
// rights, and nobody gets its replies.
func (e *Engine) addSource(conn Conn, origin Origin, db int) *Client {
	e.nextClientID++
	c := &Client{
		W: resp.Writer{Proto: 2}, Conn: conn, ID: e.nextClientID, FD: -1, Origin: origin,
		Authenticated: true, Reply: ReplyOff, Created: e.Steady(), LastUsed: e.Steady(),
		db: e.KS.DB(db),
	}
	e.clients.push(c)
	e.countClient(c)
	e.Stir(c)
	return c
}

// Forget takes a client off the list. Its connection is gone or is being closed.
func (e *Engine) Forget(c *Client) {
	if !c.linked {
		return
	}
	e.uncountClient(c)
	e.clients.remove(c)
	e.forgetReplica(c)
	e.forgetMigration(c)
	e.leaveMonitor(c)
	e.leaveHub(c)
	e.Untrack(c)
	e.unpostpone(c)
	e.forgetWait(c)
	e.Discard(c)
	c.held = nil
	if c.Origin == OriginMaster {
		e.masterGone(c)
	}
}

// Kill closes a client's connection: at once, or behind its reply if its command is the running
// one. A client that is closed at once is off the list when Kill returns; its socket is closed a
// moment later. A client whose script is busy goes when the script ends.
func (e *Engine) Kill(c *Client) {
	if c == e.current {
		c.CloseAfterReply = true
		return
	}
	// A busy script needs its caller's transaction until it ends.
	if r := e.script.run; r == nil || r.caller != c {
		e.Forget(c)
	}
	c.CloseASAP = true
	if c.Conn != nil {
		c.Conn.Close()
	}
}

// ResetClient puts the client back into the state of a new connection (RESET).
func (e *Engine) ResetClient(c *Client) {
	e.leaveMonitor(c)
	e.leaveHub(c)
	e.Untrack(c)
	e.Discard(c)
	c.Name = ""
	c.W.Proto = 2
	c.Reply = ReplyOn
	c.NoEvict, c.NoTouch = false, false
	c.ReadOnly, c.asking = false, notAsking
	e.setDefaultUser(c)
	e.SelectDB(c, 0)
}
