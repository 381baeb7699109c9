package engine

import (
	"time"

	"godwit/internal/metrics"
)

// cronState is what the periodic work remembers.
type cronState struct {
	expireOff bool // DEBUG SET-ACTIVE-EXPIRE 0
	evicting  bool // makeRoom gave up for lack of time
	lastSec   int64
	nextDB    int
	ops       metrics.Rate
	in, out   metrics.Rate
}

func (s *cronState) reset(e *Engine) {
	s.ops.Start(e.now, e.Stats.Commands)
	s.in.Start(e.now, e.Stats.NetIn)
	s.out.Start(e.now, e.Stats.NetOut)
}

// sliceBudget bounds one slice of background work; clients wait that long at most.
const sliceBudget = 500 * time.Microsecond

// Cron is the periodic work, called hz times a second with the executor held.
func (e *Engine) Cron() {
	s := &e.cron
	e.refreshMemory()
	s.ops.Sample(e.now, e.Stats.Commands)
	s.in.Sample(e.now, e.Stats.NetIn)
	s.out.Sample(e.now, e.Stats.NetOut)
	e.limitClients()
	if e.pause.active && e.now >= e.pause.until {
		e.Unpause()
	}
	if e.KS.P.MaxMemory > 0 {
		e.makeRoom()
	}
}

// Slice does background work for at most sliceBudget: expiry, lazy freeing, rehash, eviction. It reports whether there is more to do now,
// in which case the loop should poll without waiting and call it again.
func (e *Engine) Slice() (more bool) {
	start := time.Now()
	for {
		more = e.KS.ExpireSlice(64)
		more = e.KS.LazyFreeSlice(64) || more
		more = e.KS.RehashSlice(64) || more
		if e.cron.evicting {
			e.cron.evicting = false
			e.makeRoom()
			more = e.cron.evicting || more
		}
		if !more || time.Since(start) >= sliceBudget {
			return more
		}
	}
}

// NextWake is how long a loop with nothing to do may sleep until a key falls due, at most a second.
func (e *Engine) NextWake() time.Duration {
	ms, ok := e.KS.NextDeadline()
	if !ok {
		return time.Second
	}
	return min(max(time.Duration(ms-e.now)*time.Millisecond, time.Millisecond), time.Second)
}

// SetActiveExpire turns active expiry on or off (DEBUG SET-ACTIVE-EXPIRE).
func (e *Engine) SetActiveExpire(on bool) {
	e.cron.expireOff = !on
	e.KS.P.ActiveExpire = on
}

// OpsPerSecond, InputPerSecond and OutputPerSecond are INFO's instantaneous rates: commands and bytes.
func (e *Engine) OpsPerSecond() int64 { return e.cron.ops.PerSecond() }

// InputPerSecond is the rate of bytes received.
func (e *Engine) InputPerSecond() int64 { return e.cron.in.PerSecond() }

// OutputPerSecond is the rate of bytes sent.
func (e *Engine) OutputPerSecond() int64 { return e.cron.out.PerSecond() }

// ConfigChanged applies directives that CONFIG SET changed. An error undoes the change.
func (e *Engine) ConfigChanged(names []string) error {
	e.KS.P = e.params()
	e.Slowlog.SetMax(int(e.Cfg.SlowlogMaxLen))
	e.Log.SetLevel(e.Cfg.LogLevel)
	if e.Reconfigure != nil {
		return e.Reconfigure(names)
	}
	return nil
}
