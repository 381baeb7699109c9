package engine

import (
	"math"
	"strings"
)

// FailoverOptions are the arguments of FAILOVER.
type FailoverOptions struct {
	Host    string // "" for any replica
	Port    int
	Force   bool
	Timeout int64 // ms, 0 for no limit
}

// StartFailover begins a failover. It returns the error reply, "" if there is none.
func (e *Engine) StartFailover(o FailoverOptions) string {
	switch {
	case e.FailingOver():
		return "ERR FAILOVER already in progress."
	case e.repl.master != nil:
		return "ERR FAILOVER is not valid when server is a replica."
	case len(e.repl.replicas.list) == 0:
		return "ERR FAILOVER requires connected replicas."
	case o.Force && (o.Timeout == 0 || o.Host == ""):
		return "ERR FAILOVER with force option requires both a timeout and target HOST and IP."
	}
	if o.Host != "" {
		switch r := e.replicaAt(o.Host, o.Port); {
		case r == nil:
			return "ERR FAILOVER target HOST and PORT is not a replica."
		case r.State != ReplicaOnline:
			return "ERR FAILOVER target replica is not online."
		}
		e.Log.Notice("FAILOVER requested to %s:%d.", o.Host, o.Port)
	} else {
		e.Log.Notice("FAILOVER requested.")
	}
	e.failover = failoverState{step: failoverWaits, host: o.Host, port: o.Port, force: o.Force,
		timeout: o.Timeout}
	if o.Timeout > 0 {
		e.failover.until = e.Steady() + o.Timeout
	}
	e.Pause(PauseFailover, math.MaxInt64, false)
	return ""
}

// replicaAt returns the replica that listens at an address, nil if there is none.
func (e *Engine) replicaAt(host string, port int) *Replica {
	for _, r := range e.repl.replicas.list {
		if strings.EqualFold(r.Host(), host) && r.Port == int64(port) {
			return r
		}
	}
	return nil
}

// AbortFailover ends a failover. It reports whether there was one.
func (e *Engine) AbortFailover(why string) bool {
	f := e.failover
	if f.step == failoverNone {
		return false
	}
	if f.host != "" {
		e.Log.Notice("Aborting failover to %s:%d. %s", f.host, f.port, why)
	} else {
		e.Log.Notice("Aborting failover. %s", why)
	}
	if f.step == failoverRuns {
		e.Promote(nil)
	}
	e.endFailover()
	return true
}

// failoverCron goes on with a failover that waits for a replica.
func (e *Engine) failoverCron() {
	f := &e.failover
	if f.refused {
		e.AbortFailover("Failover target rejected psync request")
	}
	if f.step == failoverRuns && e.Steady() >= f.until {
		e.AbortFailover("The target does not take over")
	}
	if f.step != failoverWaits {
		return
	}
	if f.until > 0 && e.Steady() >= f.until {
		if !f.force {
			e.AbortFailover("Replica never caught up before timeout")
			return
		}
		e.Log.Notice("Failover to %s:%d time out exceeded, failing over.", f.host, f.port)
		e.giveRole()
		return
	}
	for _, r := range e.repl.replicas.list {
		if r.State != ReplicaOnline || r.acked != e.Feed.Offset() || r.Port == 0 ||
			f.host != "" && r != e.replicaAt(f.host, f.port) {
			continue
		}
		f.host, f.port = r.Host(), int(r.Port)
		e.Log.Notice("Failover target %s:%d is synced, failing over.", f.host, f.port)
		e.giveRole()
		return
	}
}

// giveRole makes this server a replica of the one that takes over.
func (e *Engine) giveRole() {
	f := &e.failover
	f.step = failoverRuns
	f.until = e.Steady() + max(f.timeout, e.Cfg.ReplTimeout*1000)
	e.SetMaster(f.host, f.port, nil)
}

// PsyncFailover carries out PSYNC … FAILOVER: the master hands its role over to this replica, and
// becomes its replica.
func (c *Ctx) PsyncFailover(id string, at int64) {
	e := c.E
	e.Log.Notice("Failover request received for replid %s.", id)
	switch {
	case e.repl.master == nil:
		c.Err("ERR PSYNC FAILOVER can't be sent to a master.")
		return
	case id != e.repl.id:
		c.Err("ERR PSYNC FAILOVER replid must match my replid.")
		return
	}
	e.ReplicaOf(c.Client)
	e.Promote(c.Client)
	c.Psync(id, at)
}
