package engine

import (
	"fmt"
	"net"

	"godwit/internal/persist/rdb"
)

// ReplicaOf returns what the client has said by REPLCONF. It makes the Replica if there is none.
func (e *Engine) ReplicaOf(c *Client) *Replica {
	if c.replica == nil {
		c.replica = &Replica{Client: c, synced: -1}
	}
	return c.replica
}

// Replicas calls fn for each replica, in the order in which they came. An RDB channel is none.
func (e *Engine) Replicas(fn func(r *Replica)) {
	for _, r := range e.repl.replicas.list {
		if r.main == nil {
			fn(r)
		}
	}
}

// ReplicaCount returns the number of replicas, whatever their states.
func (e *Engine) ReplicaCount() (n int) {
	e.Replicas(func(*Replica) { n++ })
	return n
}

// Name returns how the log calls the replica: by where it listens.
func (r *Replica) Name() string {
	if r.main != nil {
		return r.main.Name()
	}
	host, _, err := net.SplitHostPort(r.Client.Addr)
	if err != nil {
		host = r.Client.Addr
	}
	if r.IP != "" {
		host = r.IP
	}
	if r.Port == 0 {
		return fmt.Sprintf("client id #%d (%s)", r.Client.ID, host)
	}
	return net.JoinHostPort(host, fmt.Sprint(r.Port))
}

// Host returns the address that the replica is known by.
func (r *Replica) Host() string {
	if r.IP != "" {
		return r.IP
	}
	host, _, err := net.SplitHostPort(r.Client.Addr)
	if err != nil {
		return r.Client.Addr
	}
	return host
}

// Acked returns the offset that the replica has acknowledged, and for how many ms it has been
// silent. While it loads a snapshot it sends empty lines, which count.
func (r *Replica) Acked(e *Engine) (offset, silent int64) {
	return r.acked, max(e.Steady()-max(r.ackedAt, r.Client.LastUsed), 0)
}

// follows reports whether the client is a replica, whatever its state.
func (c *Client) follows() bool { return c.replica != nil && c.replica.State != ReplicaNone }

// waits reports whether the replica waits for a snapshot to begin.
func (r *Replica) waits() bool { return r.State == ReplicaWaits && !r.Client.CloseASAP }

// due reports whether a snapshot may begin for the replica.
func (r *Replica) due(e *Engine) bool { return r.waits() && r.since <= e.Steady() }

// Lag returns the number of bytes of the stream that wait for the replica.
func (r *Replica) Lag() int64 {
	if r.reader == nil {
		return 0
	}
	return r.reader.Lag()
}

// target returns the version of RDB files that the replica reads. One that does not say gets the
// lowest that holds the data, or what rdb-version chooses.
func (r *Replica) target(e *Engine) rdb.Target {
	switch {
	case r.main != nil:
		return r.main.target(e)
	case r.CapGodwit:
		return rdb.Auto
	case r.Version >= 9<<16:
		return rdb.ValkeyOwn
	case r.Version > 0:
		return rdb.Redis72
	case r.CapRDBChannel && e.Cfg.ReplForeignSketches == refuseForeign: // Redis 8
		return rdb.Redis74
	case r.CapRDBChannel: // one that knows whatever there is
		return rdb.Auto
	}
	return rdb.Target(e.Cfg.RDBVersion)
}

// enterState sets the state, and counts the replicas that min-replicas-to-write counts.
func (e *Engine) enterState(r *Replica, s ReplicaState) {
	r.State, r.since = s, e.Steady()
	if s == ReplicaOnline {
		r.ackedAt = e.Steady()
	}
	e.countGood()
}

// countGood counts the replicas that are online and not silent for too long.
func (e *Engine) countGood() {
	s := &e.repl.replicas
	s.good = 0
	for _, r := range s.list {
		if _, silent := r.Acked(e); r.State == ReplicaOnline &&
			silent/1000 <= int64(e.Cfg.MinReplicasMaxLag) {
			s.good++
		}
	}
}

// ReplOutput returns the number of bytes that replicas were sent.
func (e *Engine) ReplOutput() int64 {
	n := e.repl.replicas.netOut
	for _, r := range e.repl.replicas.list {
		n += r.streamed()
	}
	return n
}

// streamed returns how many bytes of the stream the replica was sent.
func (r *Replica) streamed() int64 {
	if r.reader == nil {
		return 0
	}
	return r.reader.Offset() - r.from
}

// GoodReplicas returns the number of replicas that count for min-replicas-to-write.
func (e *Engine) GoodReplicas() int { return e.repl.replicas.good }

// lacksReplicas reports whether too few replicas are there for writes.
func (e *Engine) lacksReplicas() bool {
	return e.Cfg.MinReplicasToWrite > 0 && e.Cfg.MinReplicasMaxLag > 0 &&
		e.repl.master == nil && int64(e.repl.replicas.good) < int64(e.Cfg.MinReplicasToWrite)
}
