package engine

// applied is what the last commands of the master's stream have in common: they have run, and the
// clock has not been read since, nor has the stream of this server's own replicas got them. Both
// are done for many commands at once, before the next one that might notice, and at the end of what
// was read from the socket (SettleApplied).
type applied struct {
	text []byte // not in the stream yet; a part of the client's input
	cmds [mostApplied]*CommandStats
	n    int
}

const (
	// mostApplied is how many commands share one reading of the clock.
	mostApplied = 16
	// fewArgs is how many arguments a command that shares a reading has at most.
	fewArgs = 8
	// exactSlowlog is the slowlog-log-slower-than, in µs, below which no reading is shared.
	exactSlowlog = 1000
)

// sharesClock reports whether a command of the master, which is about to run, shares a reading of
// the clock with those before and behind it. Those that take next to no time do, unless somebody
// wants to know how long each of them takes. They do not get into the slow log, and each has the
// same part of the time in the statistics. If the command does not share, what came before it is
// settled first.
func (e *Engine) sharesClock(c *Ctx) bool {
	slow := e.Cfg.SlowlogLogSlowerThan
	exact := slow >= 0 && slow < exactSlowlog || e.Cfg.LatencyMonitorThreshold > 0 ||
		len(e.monitors) > 0 || e.hot.on || e.large.input >= e.large.request
	shares := !exact && c.Cmd.QuickWrite() && len(c.Args) <= fewArgs && c.Client.multi == nil &&
		e.depth == 0
	if !shares || e.applied.n == mostApplied {
		e.SettleApplied()
	}
	return shares
}

// noteApplied counts a command that shares a reading of the clock.
func (e *Engine) noteApplied(c *Ctx) {
	a, st := &e.applied, &e.cmds[c.Cmd.ID()]
	a.cmds[a.n] = st
	a.n++
	st.Calls++
	if c.failed {
		st.Failed++
	}
	e.Stats.Commands++
}

// SettleApplied reads the clock for the commands of the master that have run, and passes them on.
// It must be called before their text is overwritten.
func (e *Engine) SettleApplied() {
	a := &e.applied
	if a.n > 0 {
		start := e.lastNs
		e.tick()
		each := (e.lastNs - start) / int64(a.n)
		for _, st := range a.cmds[:a.n] {
			st.Nanos += each
			if e.Cfg.LatencyTracking {
				st.Hist.Record(each)
			}
		}
		a.n = 0
	}
	if len(a.text) > 0 {
		e.relay(a.text)
	}
	a.text = nil
}

func (e *Engine) relay(text []byte) {
	before := e.Feed.Offset()
	e.Feed.Relay(text)
	e.Feed.SetOffset(before + int64(len(text))) // also if nobody keeps the stream
}
