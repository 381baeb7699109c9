package engine

import "slices"

// forgetReplica takes a replica off the list, whose client is gone.
func (e *Engine) forgetReplica(c *Client) {
	r := c.replica
	if r == nil {
		return
	}
	c.replica = nil
	e.repl.replicas.netOut += r.streamed()
	if r.reader != nil {
		r.reader.Close()
	}
	s := &e.repl.replicas
	if i := slices.Index(s.list, r); i >= 0 {
		s.list = slices.Delete(s.list, i, i+1)
		if s.alone = e.Steady(); r.State == ReplicaOnline {
			e.Log.Notice("Connection with replica %s lost.", r.Name())
		}
		if !c.CloseASAP {
			e.noteRefusedSync(r)
		}
		e.countGood()
		if r.node != "" {
			e.nodeGone(r)
		}
	}
	if s.full != nil {
		s.full.leave(r)
	}
	r.unpair()
}

// unpair ends what cannot go on without the replica, whose connection is gone.
func (r *Replica) unpair() {
	if c := r.channel; c != nil && c.Client.replica == c {
		c.Client.closeSoon()
	}
	// What becomes of a snapshot that is on its way, the transfer will tell.
	if m := r.main; m != nil && m.Client.replica == m && r.State < ReplicaLoads {
		m.Client.closeSoon()
	}
}
