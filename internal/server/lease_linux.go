package server

// leases is what a loop knows of the replies of a batch that may leave only while this node of a
// cluster holds its lease.
type leases struct {
	batch uint64 // the number of batches before it
	any   bool   // there are such replies
}

// needLease notes that the replies that have just been collected need a lease.
func (c *fdConn) needLease() {
	l := c.loop
	c.cl.Leased = false
	c.leased, l.leases.any = l.leases.batch+1, true
}

// checkLease closes the connections that have such replies, if the lease is over. It ends a batch:
// all of it has run and is in the log, and nothing has been written to sockets. The executor must
// be held.
func (l *loop) checkLease() {
	if !l.leases.any {
		return
	}
	batch := l.leases.batch + 1
	l.leases = leases{batch: batch}
	if l.srv.eng.LeaseHeld() {
		return
	}
	for _, c := range l.writes {
		switch {
		case c.leased != batch || c.closed:
		case c.running: // its own turn closes it
			c.reply = nil
			l.srv.cutOff(c.cl)
		default:
			l.srv.cutOff(c.cl)
			c.close()
		}
	}
}
