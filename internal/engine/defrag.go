package engine

import (
	"time"

	"godwit/internal/keyspace"
)

// Active defragmentation
//
// The cron looks at how much memory runs of the arena take beyond what is used: that is two
// numbers. Over active-defrag-ignore-bytes and active-defrag-threshold-lower percent it begins a
// round (keyspace.Defrag), which goes on in slices of 0.25 ms until it is through. How often
// depends on the fragmentation: from active-defrag-cycle-min percent of the time at the lower
// threshold to cycle-max at the upper one, as in Redis. Time that a round does not use is not saved
// up.
//
// A round that finds or achieves little is not repeated before fragmentation has grown, or a minute
// has passed. So a server without anything to do pays for two comparisons ten times a second. Grown
// is what exceeds the least fragmentation since that round: what was there before a FLUSHALL says
// nothing about the keys after it.

const (
	// defragBudget bounds one slice of a round.
	defragBudget = 250 * time.Microsecond
	// defragStride is how many blocks are offered between two looks at the clock.
	defragStride = 64
	// defragRetry is the time after which a round in vain may be followed by another one.
	defragRetry = time.Minute
)

// defragState is what the engine remembers of active defragmentation. Times are since Engine.base.
type defragState struct {
	round    *keyspace.Defrag // nil while none runs
	share    int64            // percent of the time that it may take
	saved    time.Duration    // what it may take now
	savedAt  time.Duration
	begunAt  time.Duration
	vain     int64         // least fragmentation since a round in vain, 0 if none
	vainTill time.Duration // when that is forgotten
}

func (e *Engine) uptime() time.Duration { return time.Since(e.base) }

// defragShare returns the percentage of the time that defragmentation is worth now, 0 for none.
func (e *Engine) defragShare() int64 {
	c := e.Cfg
	frag, used := e.KS.A.Fragmentation(), max(e.KS.A.Used(), 1)
	percent := frag * 100 / used
	lower, upper := int64(c.ActiveDefragThresholdLower), int64(c.ActiveDefragThresholdUpper)
	if !c.ActiveDefrag || frag < c.ActiveDefragIgnoreBytes || percent < lower {
		return 0
	}
	low, high := int64(c.ActiveDefragCycleMin), int64(c.ActiveDefragCycleMax)
	if upper <= lower || high <= low {
		return max(low, high)
	}
	return low + (high-low)*(min(percent, upper)-lower)/(upper-lower)
}

// defragCron begins rounds and sees how much time they may take.
func (e *Engine) defragCron() {
	d := &e.defrag
	share := e.defragShare()
	if d.round != nil {
		if !e.Cfg.ActiveDefrag {
			d.round.Stop()
		}
		d.share = max(d.share, share)
		return
	}
	frag, now := e.KS.A.Fragmentation(), e.uptime()
	d.vain = min(d.vain, frag)
	least := max(e.Cfg.ActiveDefragIgnoreBytes/2, frag/8)
	if share == 0 || d.vain != 0 && now < d.vainTill && frag < d.vain+least {
		return
	}
	*d = defragState{round: e.KS.BeginDefrag(least), share: share,
		savedAt: now, begunAt: now}
}

// defragSlice goes on with the round, if it is its turn.
func (e *Engine) defragSlice() {
	d := &e.defrag
	now := e.uptime()
	d.saved = min(d.saved+(now-d.savedAt)*time.Duration(d.share)/100, 2*defragBudget)
	d.savedAt = now
	if d.saved < defragBudget {
		return
	}
	start := time.Now()
	for {
		done := d.round.Step(defragStride)
		if done {
			e.defragDone()
		}
		if done || time.Since(start) >= defragBudget {
			break
		}
	}
	d.saved -= time.Since(start)
	e.latencySince("active-defrag-cycle", start)
}

// defragDone ends the round that has come to its end.
func (e *Engine) defragDone() {
	d := &e.defrag
	now, gain, stuck := e.uptime(), d.round.Gain, d.round.Stuck
	if stuck >= gain-gain/4 {
		d.vain, d.vainTill = e.KS.A.Fragmentation(), now+defragRetry
	}
	if gain > 0 {
		e.mem.back.slack = 0 // Go's heap may have something to give back after such deletions, too
		e.Stats.DefragNanos += int64(now - d.begunAt)
		e.Log.Debug("Active defrag done in %dms, runs of %d bytes emptied, %d bytes could not "+
			"be, frag=%.0f%%",
			(now - d.begunAt).Milliseconds(), gain-stuck, stuck,
			100*ratio(e.KS.A.Fragmentation(), e.KS.A.Used()))
	}
	d.round, d.share = nil, 0
}

// defragWait returns how long a loop with nothing to do may sleep until the round goes on.
func (e *Engine) defragWait() time.Duration {
	d := &e.defrag
	if d.round == nil {
		return time.Second
	}
	return max((defragBudget-d.saved)*100/time.Duration(max(d.share, 1)), time.Millisecond)
}

// Defragging returns the percentage of the time that active defragmentation may take now, 0 while
// none runs.
func (e *Engine) Defragging() int64 { return e.defrag.share }

// DefragTime returns for how many ns active defragmentation has been running: in all, and now.
func (e *Engine) DefragTime() (total, current int64) {
	if e.defrag.round != nil {
		current = int64(e.uptime() - e.defrag.begunAt)
	}
	return e.Stats.DefragNanos + current, current
}
