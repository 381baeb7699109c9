package engine

import "time"

// PassTime makes the steady clock show d more, as if so much time had passed; the wall clock stays.
func (e *Engine) PassTime(d time.Duration) {
	e.base = e.base.Add(-d)
	e.syncClock()
}
