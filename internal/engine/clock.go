package engine

import "time"

// clock is the engine's two clocks. Both are read when the executor is taken and after each
// command, and stand still in between.
//
//   - The wall clock decides when keys and fields are gone, and is what TIME, LASTSAVE and the logs
//     show. Administrators and time servers may set it, by decades.
//   - The steady clock is for all else: periods, pauses, timeouts, ages, idle and access times. It
//     shows what the wall clock showed at the start, and the time that has passed since by the
//     monotonic clock. It looks like a time of day, never goes back, and never jumps.
//
// Within a command that runs others the wall clock stands still; the steady one goes on.
type clock struct {
	base   time.Time // start of the process, monotonic zero
	baseNs int64     // wall clock at base as of now, unix ns
	lastNs int64     // monotonic ns of the last reading
	now    int64     // wall clock, unix ms
	start  int64     // wall clock at the start, unix ms
	skew   int64     // ns that the wall clock is moved by, see SetClockOffset
}

func newClock() clock {
	t := time.Now()
	return clock{base: t, start: t.UnixMilli()}
}

// Now returns the wall clock of the running command or batch, unix ms.
func (c *clock) Now() int64 { return c.now }

// NowMicros returns the wall clock in unix µs.
func (c *clock) NowMicros() int64 { return c.NowNanos() / 1000 }

// NowNanos returns the wall clock in unix ns.
func (c *clock) NowNanos() int64 { return c.baseNs + c.lastNs }

// Steady returns the steady clock, unix ms.
func (c *clock) Steady() int64 { return c.start + c.lastNs/1e6 }

// MonotonicNanos returns the last reading of the monotonic clock, in ns since the start.
func (c *clock) MonotonicNanos() int64 { return c.lastNs }

// Uptime returns for how long the engine has lived, in ms.
func (c *clock) Uptime() int64 { return c.lastNs / 1e6 }

// syncClock reads both clocks. It follows changes of the wall clock; within a batch only the
// monotonic clock is read (tick).
func (e *Engine) syncClock() {
	t := time.Now()
	e.lastNs = int64(t.Sub(e.base))
	e.baseNs = t.UnixNano() + e.skew - e.lastNs
	if e.script.run != nil {
		return // the clock of deadlines stands still within a script
	}
	e.now = e.NowNanos() / 1e6
	if e.KS != nil {
		e.KS.SetClocks(e.now, e.Steady())
	}
}

// tick reads the monotonic clock and moves the wall clock along, but not within a command that runs
// others.
func (e *Engine) tick() {
	ns := int64(time.Since(e.base))
	e.lastNs = ns
	if ms := (e.baseNs + ns) / 1e6; ms > e.now && e.depth == 0 && e.script.run == nil {
		e.now = ms
		e.KS.SetClocks(ms, e.Steady())
	}
}

// SetClockOffset moves the wall clock by ms against the system's, from now on, as if somebody had
// set it (DEBUG SET-CLOCK-OFFSET). The log's own times stay the system's.
func (e *Engine) SetClockOffset(ms int64) {
	e.skew = ms * 1e6
	e.syncClock()
}

// WallNow reads the wall clock anew, unix ms. It is for what has waited, or runs while Now stands
// still. The executor must be held.
func (e *Engine) WallNow() int64 { return (time.Now().UnixNano() + e.skew) / 1e6 }
