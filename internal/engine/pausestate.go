package engine

import "godwit/internal/spec"

// pauseState is the state of CLIENT PAUSE.
type pauseState struct {
	active    bool
	all       bool  // every command, not only those that may write
	until     int64 // steady ms
	postponed []*Client
}

// Paused returns for how many ms CLIENT PAUSE still holds commands back, 0 if it does not, and
// whether it holds all of them.
func (e *Engine) Paused() (ms int64, all bool) {
	p := &e.pause
	if !p.active || e.Steady() >= p.until {
		return 0, false
	}
	return p.until - e.Steady(), p.all
}

// covers reports whether the pause holds a command with these flags of that client back now.
func (p *pauseState) covers(f spec.Flag, cl *Client, now int64) bool {
	if !p.active || now >= p.until || !cl.Origin.heldByPause() || cl.Class == ClassReplica {
		return false
	}
	return p.all || f&(spec.Write|spec.MayReplicate) != 0
}
