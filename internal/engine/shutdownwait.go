package engine

import (
	"math"

	"godwit/internal/object"
)

// AwaitReplicas begins to wait for replicas that lag, and reports whether the shutdown has to wait.
// Engine.Shutdown is called again, with Now, when the wait is over. An error means that there is no
// use in waiting: FinishData would return it.
func (e *Engine) AwaitReplicas(o ShutdownOptions) (waits bool, err error) {
	s := &e.ending
	if s.on.Load() {
		return !o.Now, nil
	}
	s.offset = e.Feed.Offset()
	lag, _ := e.lagging()
	if o.Now || e.Cfg.ShutdownTimeout == 0 || e.loading.on || e.script.run != nil {
		return false, nil
	}
	if err := e.mayFinish(o); err != nil {
		return false, err
	}
	hands := e.mayHandOver()
	if lag == 0 && !hands {
		return false, nil
	}
	if lag > 0 {
		e.Log.Notice("Waiting for %d replicas before shutting down (shutdown-timeout %d).", lag,
			e.Cfg.ShutdownTimeout)
	}
	e.Pause(PauseShutdown, math.MaxInt64, false)
	s.on.Store(true)
	s.o, s.until = o, e.Steady()+int64(e.Cfg.ShutdownTimeout)*1000
	e.repl.replicas.ask = true
	if hands {
		e.beginHandover(s.until)
	}
	return true, nil
}

// BlockUntilShutdown makes a client wait whose SHUTDOWN waits for replicas.
func (c *Ctx) BlockUntilShutdown() {
	c.Block(Wait{Type: object.String, OnTimeout: refuseShutdown})
	if !c.rerun {
		c.E.ending.clients = append(c.E.ending.clients, c.Client.wait)
	}
}

// refuseShutdown answers a client that the server goes on.
func refuseShutdown(c *Ctx) { c.Err(ErrShutdownFailed) }

// AbortShutdown ends the wait of a shutdown: the server goes on. It reports whether there was one.
func (e *Engine) AbortShutdown() bool {
	if !e.ending.on.Load() {
		return false
	}
	e.Log.Notice("Shutdown manually aborted.")
	e.endShutdownWait()
	return true
}

// endShutdownWait lets writes run again, and answers those whose SHUTDOWN has come to nothing.
func (e *Engine) endShutdownWait() {
	s := &e.ending
	clients := s.clients
	s.clients = nil
	s.on.Store(false)
	e.keepShard()
	e.Unpause(PauseShutdown)
	if e.Cluster != nil {
		e.Cluster.Report() // it does not end any more
	}
	for _, w := range clients {
		if w.client.wait == w {
			e.abandon(w, refuseShutdown)
		}
	}
}

// shutdownCron goes on with a shutdown whose wait is over.
func (e *Engine) shutdownCron() {
	s := &e.ending
	if !s.on.Load() {
		return
	}
	if s.hand.step == handsOver && e.goOnHandingOver() {
		return
	}
	if s.hand.step == handedOver {
		if e.redirects() {
			return
		}
	} else {
		lag, all := e.lagging()
		if lag > 0 && e.Steady() < s.until {
			return
		}
		e.reportLag(lag, all)
	}
	o := s.o
	o.Now = true
	if e.Shutdown(o) != nil {
		e.endShutdownWait() // it has said why
	}
}

// reportLag says in the log which replicas lag when the wait is over.
func (e *Engine) reportLag(lag, all int) {
	e.Replicas(func(r *Replica) {
		if r.lags(e) {
			offset, silent := r.Acked(e)
			e.Log.Notice("Lagging replica %s reported offset %d behind master, lag=%d, state=%s.",
				r.Name(), e.Feed.Offset()-offset, silent/1000, r.State)
		}
	})
	e.Log.Notice("%d of %d replicas are in sync when shutting down.", all-lag, all)
}

// lagging returns how many replicas lag, and how many there are.
func (e *Engine) lagging() (lag, all int) {
	e.Replicas(func(r *Replica) {
		all++
		if r.lags(e) {
			lag++
		}
	})
	return lag, all
}

// lags reports whether the replica does not have what there was when the shutdown began. One that
// never acknowledges anything is not waited for.
func (r *Replica) lags(e *Engine) bool {
	return r.acked < e.ending.offset && !r.RDBOnly && !r.legacy
}
