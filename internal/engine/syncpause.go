package engine

import "time"

// A replica whose stream exceeds the output limit before it has loaded its snapshot would ask for
// another one at once, and for ever. So would one that cannot load it. So each attempt that ends
// like that makes the next one wait longer: the master is not busy with snapshots that are of no
// use, and the log says what helps.

const (
	firstSyncPause = time.Second
	maxSyncPause   = time.Minute
	// forgetSyncs is how many ms failed attempts are remembered.
	forgetSyncs = 600_000
)

// pause returns for how long the next attempt waits.
func (l *lostSyncs) pause() time.Duration {
	return min(firstSyncPause<<min(l.n-1, 10), maxSyncPause)
}

// noteRefusedSync notes that a replica is gone, if it was sent all of a snapshot and has not
// acknowledged it.
func (e *Engine) noteRefusedSync(r *Replica) {
	if r.State != ReplicaOnline || r.settled || r.lost {
		return
	}
	e.Log.Warning("Replica %s has closed the connection after it was sent a snapshot: its log "+
		"says whether it could load that", r.Name())
	e.noteLostSync(r)
}

// noteLostSync notes that a replica is cut off, if it has not come to follow the stream.
func (e *Engine) noteLostSync(r *Replica) {
	if r.settled || r.lost {
		return
	}
	r.lost = true
	s := &e.repl.replicas
	if s.lost == nil {
		s.lost = map[string]*lostSyncs{}
	}
	l := s.lost[r.Name()]
	if l == nil {
		l = &lostSyncs{}
		s.lost[r.Name()] = l
	}
	l.n++
	l.at = e.Steady()
	e.Log.Warning("Replica %s has lost its full synchronization %d times in a row: the next one "+
		"begins %s after it has asked for it", r.Name(), l.n, l.pause())
}

// settle notes that a replica follows the stream: it has acknowledged what it has loaded.
func (e *Engine) settle(r *Replica) {
	if !r.settled {
		r.settled = true
		delete(e.repl.replicas.lost, r.Name())
	}
}

// syncPause returns how many ms a replica's full synchronization has to wait.
func (e *Engine) syncPause(r *Replica) int64 {
	l := e.repl.replicas.lost[r.Name()]
	if l == nil {
		return 0
	}
	return l.pause().Milliseconds()
}

// forgetLostSyncs forgets what is long ago.
func (e *Engine) forgetLostSyncs() {
	for name, l := range e.repl.replicas.lost {
		if e.Steady()-l.at > forgetSyncs {
			delete(e.repl.replicas.lost, name)
		}
	}
}
