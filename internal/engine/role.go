package engine

import (
	"strconv"
	"strings"

	"godwit/internal/logging"
)

// SetMaster makes the server a replica of another one (REPLICAOF host port). by is the client that
// asks. It reports false if it is that already.
//
// What the server has is a place of a history: its own if it was a master, or that of the master
// before. The new master goes on from there if it has the same history.
func (e *Engine) SetMaster(host string, port int, by *Client) bool {
	return e.setMaster(&Master{Host: host, Port: port}, by)
}

// setMaster does what SetMaster does, with a new Master.
func (e *Engine) setMaster(m *Master, by *Client) bool {
	old, host, port := e.repl.master, m.Host, m.Port
	if old != nil && strings.EqualFold(old.Host, host) && old.Port == port &&
		old.followed == nil && m.followed == nil {
		e.Log.Notice("REPLICAOF would result into synchronization with the master we are " +
			"already connected with. No operation performed.")
		return false
	}
	e.flushUnit() // what a transaction has changed before belongs to the history that ends here
	m.cached = true
	if old != nil {
		e.leaveMaster(old)
		m.cached, m.db, m.downSince = old.cached, old.db, old.downSince
		m.local = old.local
	} else {
		e.Log.Notice("Before turning into a replica, using my own master parameters to " +
			"synthesize a cached master: I may be able to synchronize with the new master with " +
			"just a partial transfer.")
	}
	e.repl.master = m
	e.failUnconfirmed()
	if !e.cluster.on { // there the topology says it
		e.Cfg.ReplicaOf = host + " " + strconv.Itoa(port)
	}
	e.dropBlocked()
	e.roleChanged()
	e.connectMaster()
	if by != nil {
		e.Log.Notice("REPLICAOF %s:%d enabled (user request from '%s')", host, port,
			e.describeClient(by))
	}
	return true
}

// Promote makes the server a master (REPLICAOF NO ONE). Its history goes on under a new id.
// Replicas of the old one, and of this server, may go on from where they are.
func (e *Engine) Promote(by *Client) {
	m := e.repl.master
	if m == nil {
		return
	}
	e.leaveMaster(m)
	e.repl.master = nil
	e.Cfg.ReplicaOf = ""
	e.shiftReplID()
	e.Log.Notice("Setting secondary replication ID to %s, valid up to offset: %d. New "+
		"replication ID is %s", e.repl.id2, e.repl.second, e.repl.id)
	e.dropReplicas()
	e.turnLog(true) // a load that has failed may have left it off
	e.roleChanged()
	e.configureConfirm()
	if by != nil {
		e.Log.Notice("MASTER MODE enabled (%s from '%s')", request(by), e.describeClient(by))
	}
}

// leaveMaster ends the link to a master. What it knows of the history stays in m.
func (e *Engine) leaveMaster(m *Master) {
	e.repl.master = nil // so that nobody begins another attempt
	if c := m.client; c != nil {
		m.client, m.db, m.downSince = nil, c.db.ID(), e.Steady()
		e.Kill(c)
	}
	if a := m.attempt; a != nil {
		m.attempt = nil
		a.Close()
	}
	m.state = LinkConnect
}

// dropBlocked ends the waits of clients that a replica cannot serve, and their connections. Those
// who wait for the cluster, or for the end of the server, may have asked for the change.
func (e *Engine) dropBlocked() {
	var list []*Client
	e.Clients(func(c *Client) bool {
		if c.wait != nil && !c.awaitsCluster() && !e.ending.holds(c) {
			list = append(list, c)
		}
		return true
	})
	for _, c := range list {
		c.CloseAfterReply = true
		e.abandon(c.wait, func(ctx *Ctx) { ctx.Err(ErrRoleChanged) })
	}
}

// roleChanged applies what follows from the server's role.
func (e *Engine) roleChanged() {
	if e.repl.master != nil {
		e.Log.SetRole(logging.Replica)
	} else {
		e.Log.SetRole(logging.Primary)
	}
	e.configureExpire()
}

// request says in the log what a client has asked for.
func request(by *Client) string {
	if by.replica != nil {
		return "failover request"
	}
	return "user request"
}

// describeClient returns a client's line of CLIENT LIST, for the log.
func (e *Engine) describeClient(c *Client) string {
	return strings.TrimSuffix(string(c.AppendInfo(nil, e, 0)), "\n")
}

// beReplica makes the server a replica at its start, as the directive replicaof says.
func (e *Engine) beReplica() {
	host, port, ok := strings.Cut(e.Cfg.ReplicaOf, " ")
	if !ok {
		return
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return // the table has checked it
	}
	e.repl.master = &Master{Host: host, Port: n}
	e.roleChanged()
}

// masterCron is called several times a second: connecting, acknowledging, timeouts.
func (e *Engine) masterCron() {
	m := e.repl.master
	if m == nil {
		return
	}
	if len(m.local) > 0 {
		e.expireLocal()
	}
	now := e.Steady()
	gap := now - m.cronAt
	m.cronAt = now
	c := m.client
	if c == nil {
		e.connectMaster()
		return
	}
	if gap > cronGap && gap != now { // nobody has read what the master sent meanwhile
		c.LastUsed = min(c.LastUsed+gap, now)
	}
	if m.keptLag() > 0 { // nobody reads the socket until that is applied
		c.LastUsed = now
	}
	if now-c.LastUsed > e.Cfg.ReplTimeout*1000 {
		e.Log.Warning("MASTER timeout: no data nor PING received...")
		e.Kill(c)
		return
	}
	if now-m.ackedAt >= ackMs {
		e.AckMaster()
	}
}

const (
	ackMs   = 1000 // between two acknowledgements
	cronGap = 2000 // ms between two turns of the cron that tell of a long command
)
