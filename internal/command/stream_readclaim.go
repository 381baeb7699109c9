package command

import (
	"math"

	"godwit/internal/engine"
	"godwit/internal/stream"
)

// XREADGROUP CLAIM delivers what has been pending for long enough before what is new: first what
// is NACKed, then what was delivered the longest time ago. Without a least time, that is all that
// is pending.

// idle returns how long ago the entry was delivered. What is NACKed is idle since 1970.
func idle(c *engine.Ctx, p *stream.Pending) int64 { return max(c.Now-p.Time, 0) }

// isDue reports whether the entry is to be claimed.
func (r *streamRead) isDue(c *engine.Ctx, p *stream.Pending) bool {
	return p.Owner == nil || idle(c, p) >= r.claim
}

// hasDue reports whether an entry of the group is to be claimed.
func (d *delivery) hasDue() bool {
	_, ok := d.nextDue()
	return ok
}

// dueAt returns the time from which on an entry of the group is to be claimed, steady ms, 0 if
// there is none.
func (r *streamRead) dueAt(c *engine.Ctx, g *stream.Group) int64 {
	p, ok := g.Oldest()
	if !ok {
		return 0
	}
	left := max(r.claim-idle(c, &p), 1)
	if r.isDue(c, &p) {
		left = 1 // the command has dropped as many as it may, and goes on
	}
	if left > math.MaxInt64-c.E.Steady() {
		return 0
	}
	return c.E.Steady() + left
}

// A command drops pending entries that it finds gone from the stream, as Redis does, but no more
// than dropsLeast, or dropsEach for each entry that it may reply with if that is more.
//
// Redis drops all that come before the entries it replies with. There may be millions: what a
// consumer that died had pending in a stream that has been trimmed since. Each costs half a
// microsecond, and a line in the log. So a command leaves the rest to the next one, as XAUTOCLAIM
// does everywhere. One that finds nothing else waits for a millisecond if it may block, and goes
// on. Without COUNT and MAXCOUNT there is no bound: the command asks for all that is due.
const (
	dropsLeast = 1000
	dropsEach  = 10
)

// mayDrop returns how many pending entries that are gone the command drops at most.
func (r *streamRead) mayDrop() int64 {
	n := max(r.count, r.maxCount)
	if n == 0 || n > math.MaxInt64/dropsEach {
		return math.MaxInt64
	}
	return max(n*dropsEach, dropsLeast)
}

// drop makes an entry that is gone from the stream pending no longer. It reports false if the
// command has dropped as many as it may.
func (d *delivery) drop(p *stream.Pending) bool {
	if d.drops == 0 {
		return false
	}
	d.drops--
	d.path.vanish(d.Ctx, d.g, p)
	return true
}

// nextDue returns the next entry of the group that is to be claimed. Those before it that are gone
// from the stream are dropped.
func (d *delivery) nextDue() (p stream.Pending, ok bool) {
	for {
		p, ok = d.g.Oldest()
		if !ok || !d.isDue(d.Ctx, &p) {
			return p, false
		}
		if d.find.find(p.ID) {
			return p, true
		}
		if !d.drop(&p) {
			return p, false
		}
	}
}

// deliverDue delivers what is to be claimed.
func (d *delivery) deliverDue() {
	for {
		p, ok := d.nextDue()
		if !ok {
			return
		}
		if p.Owner != nil && p.Time >= d.Now {
			// It was delivered just now, maybe by this command. Only without a least time is it
			// due all the same.
			d.deliverYoung()
			return
		}
		if !d.claimOne(&p) {
			return
		}
		if d.claim == 0 {
			if d.done == nil {
				d.done = map[stream.ID]bool{}
			}
			d.done[p.ID] = true
		}
	}
}

// deliverYoung delivers what was delivered within the same ms, but not by this command.
func (d *delivery) deliverYoung() {
	for it := d.g.Range(stream.ID{}, stream.MaxID); it.Next(); {
		p := it.Pending
		switch {
		case p.Owner == nil || p.Time < d.Now || d.done[p.ID]:
		case !d.find.find(p.ID):
			d.drop(&p) // if it may
		case !d.claimOne(&p):
			return
		}
	}
}

// claimOne delivers a pending entry, which find is at, to the consumer. It reports whether there
// may be another one.
func (d *delivery) claimOne(p *stream.Pending) bool {
	d.Array(4)
	bulkID(d.Ctx, p.ID)
	replyStreamFields(d.Ctx, &d.find.it)
	d.Int(idle(d.Ctx, p))
	d.Int(p.Count)
	p.Owner, p.Time, p.Count = d.by, d.Now, stream.More(p.Count)
	d.g.Set(*p)
	d.by.Active = d.Now
	d.path.claimed(d.Ctx, p, d.g.LastID)
	d.w.n++
	return d.w.n != d.w.limit && !d.full(d.Ctx)
}
