package engine

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"time"

	"godwit/internal/upstream"
)

// valkeyFiles is the version of Valkey whose RDB files can be read. A master of that kind chooses
// the format by it.
const valkeyFiles = "9.1.0"

// connectMaster begins to link up with the master, if it is time for that.
func (e *Engine) connectMaster() {
	m := e.repl.master
	if m == nil || m.state != LinkConnect || e.loading.on || e.ended || e.LinkMaster == nil ||
		e.Steady() < m.retryAt || e.waitsForDisk() || m.followed != nil && m.followed.over ||
		e.ending.hand.step == handedOver { // it stops with what it has
		return
	}
	e.Log.Notice("Connecting to MASTER %s:%d", m.Host, m.Port)
	timeout := time.Duration(e.Cfg.ReplTimeout) * time.Second
	a := &LinkAttempt{
		Dial: DialOptions{
			Addr: net.JoinHostPort(m.Host, strconv.Itoa(m.Port)), TLS: e.Cfg.TLSReplication,
			Source: e.Cfg.BindSourceAddr, Timeout: timeout,
		},
		Hello: upstream.Hello{
			User: e.Cfg.MasterUser, Password: e.Cfg.MasterAuth, Port: e.announcedPort(),
			IP: e.Cfg.ReplicaAnnounceIP, Version: valkeyFiles,
			Failover: e.failover.step == failoverRuns,
			Channel:  e.Cfg.ReplRDBChannel && !m.oneLine,
		},
		KeepLimit: e.keepLimit(), MaxRecord: e.MasterInputLimit(),
		Timeout: timeout, e: e, master: m, began: e.Steady(), Close: func() {},
	}
	if f := m.followed; f != nil {
		a.Dial.TLS, a.Hello.User, a.Hello.Password = f.TLS, f.User, f.Password
	} else if e.cluster.on {
		a.Hello.Peer = e.ownPeer().String()
	}
	if m.cached {
		a.Hello.ID, a.Hello.Offset = e.repl.id, e.Feed.Offset()
	}
	m.state, m.attempt, m.oneLine = LinkConnecting, a, false
	m.attempts++
	m.attemptsAt++
	e.Log.Notice("MASTER <-> REPLICA sync started")
	e.LinkMaster(a)
}

// announcedPort returns the port that a master is told.
func (e *Engine) announcedPort() int {
	switch {
	case e.Cfg.ReplicaAnnouncePort != 0:
		return int(e.Cfg.ReplicaAnnouncePort)
	case e.Cfg.TLSReplication && e.Cfg.TLSPort != 0:
		return e.Cfg.TLSPort
	}
	return e.Cfg.Port
}

// Wanted reports whether the attempt is still the one that the engine waits for. If not, its
// goroutine must end.
func (a *LinkAttempt) Wanted() bool {
	return a.master == a.e.repl.master && a.master.attempt == a && !a.e.ended
}

// Connected notes that there is a connection. closeIt ends it; it must not wait.
func (a *LinkAttempt) Connected(closeIt func()) {
	a.e.Log.Notice("Non blocking connect for SYNC fired the event.")
	a.master.state, a.Close = LinkHandshake, closeIt
}

// Answered notes the master's answer to PSYNC.
func (a *LinkAttempt) Answered(answer upstream.Answer) {
	e, m := a.e, a.master
	a.answer = answer
	if a.Hello.Failover {
		e.endFailover()
	}
	switch answer.Kind {
	case upstream.Continue:
		e.Log.Notice("Successful partial resynchronization with master.")
		return
	case upstream.Full:
		e.Log.Notice("Full resync from master: %s:%d", answer.ID, answer.Offset)
	}
	a.Progress.LastIO.Store(e.Steady() - a.began)
	m.state = LinkSync
}

// Failed ends the attempt. The next one follows after a pause.
func (a *LinkAttempt) Failed(err error) {
	if !a.Wanted() {
		return
	}
	e, m := a.e, a.master
	e.Log.Warning("%s", err)
	if f := m.followed; f != nil && !f.over {
		f.fault = err.Error()
	}
	synced := m.state == LinkSync
	m.keptBytes()
	m.oneLine = errors.Is(err, upstream.ErrChannel)
	m.attempt, m.state = nil, LinkConnect
	m.failures++
	m.retryAt = e.Steady() + retryAfter(e.rng, m.failures, synced)
	if errors.Is(err, upstream.ErrFailover) && e.failover.step == failoverRuns {
		e.failover.refused = true
		return
	}
	if errors.Is(err, upstream.ErrPeer) {
		m.failures, m.refusals = 0, m.refusals+1
		m.retryAt = e.Steady() + retryPeerMs
		if m.refusals > patientPeers {
			m.retryAt = e.Steady() + retryMs
		}
	}
	if errors.Is(err, upstream.ErrLater) {
		m.failures = 0
		m.retryAt = e.Steady() + retryMs
	}
}

const (
	retryMs      = 1000  // between the first attempts
	retryPeerMs  = 50    // when two nodes of a cluster are not of one mind yet
	patientPeers = 20    // attempts until it is retryMs
	steadyMs     = 10000 // after which a link counts as good
	retryMost    = 5000  // between later ones
	retrySync    = 30000 // the same after full synchronizations that have failed
	patientFor   = 10    // attempts until the pauses grow
	jitterShare  = 4     // a pause is up to a quarter longer, so that replicas do not come together
)

// retryAfter returns the pause in ms after so many failures in a row. A failed full synchronization
// has cost the master much.
func retryAfter(rng *rand.Rand, failures int, synced bool) int64 {
	most, first := int64(retryMost), patientFor
	if synced {
		most, first = retrySync, 1
	}
	pause := int64(retryMs)
	for i := first; i < failures && pause < most; i++ {
		pause *= 2
	}
	pause = min(pause, most)
	return pause + rng.Int64N(pause/jitterShare)
}

// masterGone notes that the master's client has lost its connection, which is on its way out.
func (e *Engine) masterGone(c *Client) {
	m := e.repl.master
	if m == nil || m.client != c {
		return // the server has another master, or none
	}
	e.Log.Notice("Connection with master lost.")
	if m.cached {
		e.Log.Notice("Caching the disconnected master state.")
	}
	m.client, m.state, m.db = nil, LinkConnect, c.db.ID()
	m.pending, m.kept = nil, nil
	m.lastIO = c.LastUsed
	m.downSince = e.Steady()
	odd := m.odd
	m.odd = false
	switch up := e.Steady() - m.upSince; {
	case odd, m.full && up < steadyMs: // the next one would be a full synchronization again
		m.failures++
		m.retryAt = e.Steady() + retryAfter(e.rng, m.failures, true)
		return
	case up < retryMs: // it may be that the master does not want this replica
		m.retryAt = e.Steady() + retryMs
		return
	}
	m.failures = 0
	e.Log.Notice("Reconnecting to MASTER %s:%d", m.Host, m.Port)
	e.connectMaster()
}
