package server

import "time"

// gatherer makes commits larger. Under appendfsync always each turn ends with a sync of the log, so
// a turn costs about the same for one client as for all. But clients that wait for a reply come
// back a little after it. The loop would find the quickest of them and sync for these alone, while
// the others queue up behind it: half of them each time. So if the last turn had a sync, the next
// one waits until as many connections have sent something as took part in the last two turns, for
// at most a share of what the sync cost. A single client never waits.
type gatherer struct {
	cost  time.Duration // of the last turn's sync; 0: it had none
	turn  uint64
	conns int // connections in the last turn
	last  int // connections in the turn before it
	both  int // connections in both
}

const (
	gatherShare = 2                    // the wait is at most cost/gatherShare
	gatherMax   = 2 * time.Millisecond // and at most this
)

// begin starts to count a turn.
func (g *gatherer) begin() {
	g.turn++
	g.last, g.conns, g.both = g.conns, 0, 0
}

// count counts a connection that takes part in the turn.
func (g *gatherer) count(c *fdConn) {
	if c.turn == g.turn {
		return
	}
	if c.turn != 0 && c.turn == g.turn-1 {
		g.both++
	}
	c.turn = g.turn
	g.conns++
}

// run polls until the expected connections have sent something, or the time is up.
func (g *gatherer) run(l *loop) error {
	want := g.conns + g.last - g.both
	if g.cost == 0 || len(l.batch) == 0 || len(l.batch) >= want || len(l.again) > 0 {
		return nil
	}
	limit := min(g.cost/gatherShare, gatherMax)
	for start := time.Now(); len(l.batch) < want; {
		left := limit - time.Since(start)
		if left <= 0 {
			break
		}
		turn := g.turn
		if _, err := l.ev.Poll(left); err != nil || g.turn != turn {
			return err
		}
	}
	return nil
}
