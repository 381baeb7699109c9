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
	if left > math.MaxInt64-c.E.Steady() {
		return 0
	}
	return c.E.Steady() + left
}

// nextDue returns the next entry of the group that is to be claimed. Those before it that are not
// in the stream any more are pending no longer.
func (d *delivery) nextDue() (p stream.Pending, ok bool) {
	for {
		p, ok = d.g.Oldest()
		if !ok || !d.isDue(d.Ctx, &p) {
			return p, false
		}
		if d.find.find(p.ID) {
			return p, true
		}
		d.path.vanish(d.Ctx, d.g, &p)
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
			d.path.vanish(d.Ctx, d.g, &p)
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
