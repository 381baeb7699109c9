package engine

import (
	"slices"

	"godwit/internal/spec"
)

// PauseReason says who holds commands back. Each reason has a pause of its own, and all must end
// before commands run.
type PauseReason uint8

// The reasons.
const (
	PauseByClient PauseReason = iota // CLIENT PAUSE
	PauseShutdown                    // a shutdown waits for replicas
	PauseFailover                    // FAILOVER waits for a replica
	numPauses
)

// String returns the word that INFO has for the reason.
func (r PauseReason) String() string {
	return [...]string{"client_pause", "shutdown_in_progress", "failover_in_progress"}[r]
}

// pauseState holds all pauses. active, all and until are what they amount to.
type pauseState struct {
	active    bool
	all       bool  // every command, not only those that may write
	until     int64 // steady ms
	by        [numPauses]onePause
	postponed postponed
}

// onePause is the pause for one reason.
type onePause struct {
	active, all bool
	until       int64 // steady ms
}

// postponed is clients whose commands do not run yet, in the order in which they came.
type postponed []*Client

// add holds the client's command back until it is resumed.
func (p *postponed) add(c *Client) {
	c.postponed = true
	*p = append(*p, c)
}

// remove forgets a client, if it is there.
func (p *postponed) remove(c *Client) {
	if i := slices.Index(*p, c); i >= 0 {
		*p = slices.Delete(*p, i, i+1)
	}
}

// sum computes what the pauses amount to.
func (p *pauseState) sum() {
	p.active, p.all, p.until = false, false, 0
	for _, o := range p.by {
		if o.active {
			p.active = true
			p.all = p.all || o.all
			p.until = max(p.until, o.until)
		}
	}
}

// Paused returns for how many ms commands are still held back, 0 if they are not, and whether all
// of them are. reason is the first that there is.
func (e *Engine) Paused() (reason PauseReason, ms int64, all bool) {
	p := &e.pause
	if !p.active || e.Steady() >= p.until {
		return 0, 0, false
	}
	for reason = range numPauses {
		if p.by[reason].active {
			break
		}
	}
	return reason, p.until - e.Steady(), p.all
}

// covers reports whether the pause holds a command with these flags of that client back now.
func (p *pauseState) covers(f spec.Flag, cl *Client, now int64) bool {
	if !p.active || now >= p.until || !cl.Origin.heldByPause() || cl.Class == ClassReplica {
		return false
	}
	return p.all || f&(spec.Write|spec.MayReplicate) != 0
}
