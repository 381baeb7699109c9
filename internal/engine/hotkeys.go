package engine

import (
	"time"

	"godwit/internal/metrics"
	"godwit/internal/spec"
)

// HotKeys is a session of HOTKEYS: which keys cost the most time and traffic. While there is none,
// a command pays for one comparison.
type HotKeys struct {
	HotKeysOptions
	CPU *metrics.TopKeys // ns by key; nil: not asked for
	Net *metrics.TopKeys // bytes by key; nil: not asked for

	Active  bool
	Started int64 // unix ms

	// Of all commands with keys.
	Nanos, Bytes int64

	began int64    // steady ms
	ended int64    // steady ms, once it is not active
	times CPUTimes // of the process when it began
	refs  []spec.KeyRef
}

// HotKeysOptions holds the arguments of HOTKEYS START.
type HotKeysOptions struct {
	CPUTime, Traffic bool
	Count            int           // keys to show
	Sample           int64         // one command of so many is looked at
	Duration         time.Duration // 0: until it is stopped
}

// countersPerKey is how many counters there are for each key that is shown, so that the sums of
// these are nearly exact.
const countersPerKey = 10

// HotKeys returns the session that runs or ran last, nil if there is none.
func (e *Engine) HotKeys() *HotKeys {
	if h := e.hot.session; h != nil {
		e.limitHotKeys()
		return h
	}
	return nil
}

// StartHotKeys begins a session in place of the last one.
func (e *Engine) StartHotKeys(o HotKeysOptions) {
	h := &HotKeys{HotKeysOptions: o, Active: true, Started: e.now, began: e.Steady(),
		times: ReadCPU()}
	if o.CPUTime {
		h.CPU = metrics.NewTopKeys(o.Count * countersPerKey)
	}
	if o.Traffic {
		h.Net = metrics.NewTopKeys(o.Count * countersPerKey)
	}
	e.hot.session, e.hot.on = h, true
}

// StopHotKeys ends the session. What it has found stays.
func (e *Engine) StopHotKeys() { e.endHotKeys(e.Steady()) }

// DropHotKeys forgets the session, which has ended.
func (e *Engine) DropHotKeys() { e.hot.session = nil }

// hotKeys is the state of HOTKEYS. on is apart, since each command looks at it.
type hotKeys struct {
	on      bool
	session *HotKeys
}

func (e *Engine) endHotKeys(at int64) {
	h := e.hot.session
	h.Active, h.ended, e.hot.on = false, at, false
}

// limitHotKeys ends a session whose time is over.
func (e *Engine) limitHotKeys() {
	h := e.hot.session
	if h == nil || !h.Active || h.Duration == 0 {
		return
	}
	if end := h.began + h.Duration.Milliseconds(); e.Steady() >= end {
		e.endHotKeys(end)
	}
}

// Milliseconds returns for how long the session has run.
func (h *HotKeys) Milliseconds(e *Engine) int64 {
	if h.Active {
		return e.Steady() - h.began
	}
	return h.ended - h.began
}

// ProcessTime returns the CPU time of the process since the session began, in ms.
func (h *HotKeys) ProcessTime() (user, sys int64) {
	now := ReadCPU()
	return int64(1000 * (now.User - h.times.User)), int64(1000 * (now.Sys - h.times.Sys))
}

// noteHot counts the command, which took ns and replied so many bytes, for its keys. Of a script
// the script's keys count, not those of the commands that it calls; of a transaction it is the
// other way round.
func (e *Engine) noteHot(c *Ctx, ns, reply int64) {
	h := e.hot.session
	if e.limitHotKeys(); !h.Active || e.script.run != nil || c.Cmd.Is(spec.RunsQueue) {
		return
	}
	refs, err := c.Cmd.KeyRefs(h.refs[:0], c.Args)
	h.refs = refs[:0]
	keys := int64(0)
	for _, r := range refs {
		if r.Access&spec.NotKey == 0 {
			keys++
		}
	}
	if err != nil || keys == 0 {
		return
	}
	bytes := requestBytes(c.Args) + reply
	h.Nanos += ns
	h.Bytes += bytes
	if h.Sample > 1 && e.rng.Int64N(h.Sample) != 0 {
		return
	}
	for _, r := range refs {
		if r.Access&spec.NotKey != 0 {
			continue
		}
		if h.CPU != nil {
			h.CPU.Add(c.Args[r.Pos], ns/keys)
		}
		if h.Net != nil {
			h.Net.Add(c.Args[r.Pos], bytes/keys)
		}
	}
}

func (h *hotKeys) bytes() (n int64) {
	if h.session == nil {
		return 0
	}
	for _, t := range []*metrics.TopKeys{h.session.CPU, h.session.Net} {
		if t != nil {
			n += t.Bytes()
		}
	}
	return n
}
