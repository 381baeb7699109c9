package engine

import (
	"fmt"

	"godwit/internal/cluster/topology"
	"godwit/internal/resp"
)

const (
	// markBytes and markMs are how much may be in the stream of a migration, and how old it may be,
	// without a mark behind it.
	markBytes = 128 << 10
	markMs    = 20
	// beatMs is the time between two marks when nothing changes.
	beatMs = 1000
)

// feedMigrations has the connections of migrations write what the batch has sent. It is called at
// the end of each batch.
func (e *Engine) feedMigrations() {
	g := &e.migrations
	for i := 0; i < len(g.exports); i++ {
		e.feedExport(g.exports[i])
	}
	for _, m := range g.imports {
		e.ackMarks(m)
		e.ackEnd(m)
	}
}

func (e *Engine) feedExport(x *export) {
	if x.stream == nil || x.client == nil || x.client.CloseASAP {
		return
	}
	if x.step != exportSnapshots && !e.Feed.InUnit() {
		e.markExport(x)
	}
	x.stream.EndBatch()
	if x.stream.Refused() {
		e.failExport(x, "the system has no memory for the stream")
		return
	}
	if why := e.exportLags(x); why != "" {
		e.failExport(x, why)
		return
	}
	if x.step != exportSnapshots {
		x.conn.Fed()
	}
}

// markExport puts a mark into the stream if it is time for one. The destination acknowledges it.
func (e *Engine) markExport(x *export) {
	end := x.streamEnd()
	since := e.Steady() - x.markedAt
	if n := end - x.marked; n < markBytes && (n == 0 || since < markMs) && since < beatMs {
		return
	}
	e.sendExport(x, "MARK", end)
	x.said, x.marked, x.markedAt = end, x.streamEnd(), e.Steady()
}

// exportLags returns why the destination is too slow, "" if it is not.
func (e *Engine) exportLags(x *export) string {
	n, lim := x.reader.Lag(), e.Cfg.OutputLimits[ClassReplica]
	switch {
	case lim.Hard > 0 && n >= lim.Hard:
		return fmt.Sprintf("%d bytes of changes wait for the destination "+
			"(client-output-buffer-limit replica: hard limit %d)", n, lim.Hard)
	case lim.Soft == 0 || n < lim.Soft:
		x.soft = 0
	case x.soft == 0:
		x.soft = e.Steady()
	case e.Steady()-x.soft > lim.SoftSeconds*1000:
		return fmt.Sprintf("%d bytes of changes wait for the destination "+
			"(client-output-buffer-limit replica: soft limit %d for more than %d s)", n, lim.Soft,
			lim.SoftSeconds)
	}
	return ""
}

// syncWaitMs bounds for how many ms a migration waits until its snapshot is on disk.
const syncWaitMs = 5000

// ackMarks acknowledges marks if what is in front of them is on disk, and confirmed by replicas.
func (e *Engine) ackMarks(m *slotImport) {
	if len(m.marks) == 0 || m.client == nil {
		return
	}
	if log := e.persist.aof; m.logged != 0 && e.LogOn() && log.Synced() < m.logged &&
		e.Steady()-m.since <= syncWaitMs {
		return
	}
	m.logged = 0
	for len(m.marks) > 0 {
		if next := &m.marks[0]; e.confirm.on {
			if e.noteConfirmed(); e.confirm.upto < next.at {
				e.askConfirmed(m, next)
				return
			}
		}
		m.say("ACK", m.marks[0].says)
		m.marks = m.marks[1:]
	}
}

// askConfirmed asks replicas for what they have. If they do not confirm a mark for long, the
// migration ends.
func (e *Engine) askConfirmed(m *slotImport, next *seenMark) {
	now := e.Steady()
	if now-next.came > e.Cfg.ReplTimeout*1000/2 {
		e.failImport(m, "the destination's replicas do not confirm (min-replicas-to-ack)")
		return
	}
	if now-m.askedAt >= markMs {
		m.askedAt, e.repl.replicas.ask = now, true
	}
}

// ackEnd acknowledges END if it has come and all before it is safe.
func (e *Engine) ackEnd(m *slotImport) {
	if !m.ends || m.client == nil {
		return
	}
	if !e.kept(m) {
		if now := e.Steady(); now-m.askedAt >= markMs {
			m.askedAt, e.repl.replicas.ask = now, true
		}
		return
	}
	m.ends, m.step = false, importHas
	e.Log.Notice("Migration %.40s: this node has all of slots %s", m.ID, m.slots.String())
	m.say("ENDED", m.end)
	e.askPhase(m.Migration, topology.Done, "")
}

// replicaWaitMs bounds for how many ms a migration waits for replicas of the destination that need
// not confirm anything.
const replicaWaitMs = 2000

// kept reports whether all of a migration is as safe as it was on the source: replicas have it that
// must, and also those that follow and need not, unless they are slow.
func (e *Engine) kept(m *slotImport) bool {
	if e.confirm.on {
		e.noteConfirmed()
		return e.confirm.upto >= m.endAt
	}
	if e.Steady()-m.endedAt > min(replicaWaitMs, e.Cfg.Cluster.WritePause/4) {
		return true
	}
	return e.onlineHave(m.endAt)
}

// onlineHave reports whether all replicas that follow have what is in front of an offset of this
// node's stream.
func (e *Engine) onlineHave(offset int64) bool {
	for _, r := range e.repl.replicas.list {
		if r.State == ReplicaOnline && !r.legacy && r.acked < offset {
			return false
		}
	}
	return true
}

// say sends the source a message.
func (m *slotImport) say(what string, n int64) {
	c := m.client
	c.W.Buf = resp.AppendCommand(c.W.Buf, "CLUSTER", "SYNCSLOTS", what, fmt.Sprint(n))
	c.Conn.Flush()
}
