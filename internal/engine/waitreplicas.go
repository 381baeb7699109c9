package engine

import "godwit/internal/object"

// REPLCONF ACK: what replicas have, and the clients that wait for it (WAIT, WAITAOF).

// Acknowledge notes that a replica has the stream up to an offset, and on disk up to another one,
// -1 if it does not say. The first one after a snapshot begins the stream.
func (e *Engine) Acknowledge(r *Replica, offset, synced int64) {
	s := &e.repl.replicas
	switch r.State {
	case ReplicaOnline:
	case ReplicaBoth: // likewise, but the stream has begun
		e.enterState(r, ReplicaOnline)
	case ReplicaLoads: // it has loaded all, and it is not known here yet that all was sent
		r.onACK = false
		return
	default:
		return
	}
	r.ackedAt = e.Steady()
	r.acked = max(r.acked, min(offset, e.Feed.Offset()))
	r.synced = max(r.synced, min(synced, e.Feed.Offset()))
	e.settle(r)
	if r.onACK {
		r.onACK = false
		e.stream(r)
	}
	if e.Cfg.MinReplicasToWrite > 0 {
		e.countGood()
	}
	e.noteConfirmed()
	if (len(e.blocking.acks) > 0 || e.confirm.waiting()) && !s.acked {
		s.acked = true
		if e.Alarm != nil {
			e.Alarm()
		}
	}
}

// noteConfirmed notes up to where as many replicas as min-replicas-to-ack asks for have the stream.
func (e *Engine) noteConfirmed() {
	f := &e.confirm
	if e.cluster.on {
		e.noteInSync()
		return
	}
	if !f.on {
		return
	}
	f.acks = f.acks[:0]
	for _, r := range e.repl.replicas.list {
		switch {
		case r.State != ReplicaOnline:
		case e.Cfg.MinReplicasAckFsync:
			f.acks = append(f.acks, r.synced)
		default:
			f.acks = append(f.acks, r.acked)
		}
	}
	f.upto = max(f.upto, nthLargest(f.acks, e.Cfg.MinReplicasToAck))
}

// stream has the replica's connection write the stream from where the replica is.
func (e *Engine) stream(r *Replica) {
	r.streams = true
	r.conn.Stream(r.reader)
	e.pushed(r.Client)
}

// say sends the replica a line outside of its own commands.
func (e *Engine) say(r *Replica, line string) {
	c := r.Client
	if c.W.Buf == nil {
		c.W.Buf = e.LendBuffer()
	}
	c.W.Buf = append(c.W.Buf, line...)
	e.pushed(c)
}

// AckedBy returns how many replicas have all that the client has written: in memory, or on disk.
func (e *Engine) AckedBy(c *Client, onDisk bool) (n int64) {
	written := min(c.written, e.Feed.Offset()) // it may be of another history
	for _, r := range e.repl.replicas.list {
		has := r.acked
		if onDisk {
			has = r.synced
		}
		if r.State == ReplicaOnline && has >= written {
			n++
		}
	}
	return n
}

// BlockUntilAcked makes the client wait until replicas acknowledge something; then its command runs
// again. With log it runs again too when LogSynced. The deadline and onTimeout are as for Block.
func (c *Ctx) BlockUntilAcked(log bool, deadline int64, onTimeout func(*Ctx)) {
	c.Block(Wait{Type: object.String, Deadline: deadline, OnTimeout: onTimeout})
	if c.rerun {
		return
	}
	b := &c.E.blocking
	b.acks = append(b.acks, c.Client.wait)
	if log {
		b.syncs = append(b.syncs, c.Client.wait)
	}
	c.E.repl.replicas.ask = true
}
