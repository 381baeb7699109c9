package engine

import "time"

// PassTime moves the steady clock by d, as if so much time had passed. The wall clock stays.
func (e *Engine) PassTime(d time.Duration) {
	e.base = e.base.Add(-d)
	e.syncClock()
}
