package engine

import (
	"godwit/internal/config"
	"godwit/internal/slot"
)

// SlotStats is what is counted of the commands that use keys of a slot (CLUSTER SLOT-STATS).
type SlotStats struct {
	Nanos   int64 // for which they ran
	In, Out int64 // bytes of requests and replies
}

// multiBytes is the length of MULTI in the protocol's form: it counts for the slot of the
// transaction, as in Valkey. queuedBytes is that of its reply to each command.
const (
	multiBytes  = int64(len("*1\r\n$5\r\nMULTI\r\n"))
	queuedBytes = int64(len("+QUEUED\r\n"))
)

// slotCounters is nil unless statistics of slots are kept that commands count. Then a command with
// keys pays for a few additions.
type slotCounters *[slot.Count]SlotStats

// configureSlotStats applies cluster-slot-stats-enabled. What was counted is lost when nothing is
// counted any more.
func (e *Engine) configureSlotStats() {
	v := e.Cfg.Cluster.SlotStats
	if !e.cluster.on {
		v = 0
	}
	switch counts := v&(config.SlotStatsCPU|config.SlotStatsNet) != 0; {
	case !counts:
		e.slotStats = nil
	case e.slotStats == nil:
		e.slotStats = new([slot.Count]SlotStats)
	}
	e.KS.KeepSizes(v&config.SlotStatsMem != 0)
}

// SlotStats returns what is counted for a slot.
func (e *Engine) SlotStats(i int) SlotStats {
	if e.slotStats == nil {
		return SlotStats{}
	}
	return e.slotStats[i]
}

// resetSlotStats begins to count anew.
func (e *Engine) resetSlotStats() {
	if e.slotStats != nil {
		*e.slotStats = [slot.Count]SlotStats{}
	}
}

// forgetSlotStats begins to count anew for slots that have left.
func (e *Engine) forgetSlotStats(lost *slot.Set) {
	if e.slotStats == nil {
		return
	}
	lost.Each(func(i int) bool {
		e.slotStats[i] = SlotStats{}
		return true
	})
}

// noteSlot counts a command, which took ns and replied so many bytes, for the slot of its keys. A
// transaction and a script count as a whole.
func (e *Engine) noteSlot(c *Ctx, ns, reply int64) {
	if e.depth > 0 || e.script.run != nil {
		return
	}
	s := &e.slotStats[c.slot.slot()]
	s.Nanos += ns
	s.In += requestBytes(c.Args)
	s.Out += reply
	if e.table.routes[c.Cmd.ID()] == routeQueue {
		s.In += multiBytes
	}
}

// noteQueued counts a command that waits for EXEC.
func (e *Engine) noteQueued(c *Ctx) {
	if e.slotStats != nil && c.slot != 0 {
		s := &e.slotStats[c.slot.slot()]
		s.In += requestBytes(c.Args)
		s.Out += queuedBytes
	}
}
