package engine

import (
	"fmt"
	"math/bits"
	"net"
	"slices"
	"time"

	"godwit/internal/acl"
	"godwit/internal/backlog"
	"godwit/internal/cluster/topology"
	"godwit/internal/propagation"
)

// exportKeep is how much of a migration's stream is kept at least, in bytes; see package backlog.
const exportKeep = 1 << 20

// SyncSlots carries out CLUSTER SYNCSLOTS BEGIN: the destination of a migration wants the keys. It
// says of which cluster and migration it knows, and who it is.
func (c *Ctx) SyncSlots(cluster, id string, node topology.NodeID) {
	e, cl := c.E, c.Client
	if !c.MayCopy(acl.Read) {
		return
	}
	if msg := e.exportRefusal(cluster, id, node); msg != "" {
		c.Err(msg)
		return
	}
	conn, ok := cl.Conn.(StreamConn)
	switch {
	case !ok || !c.MayBlock() || cl.replica != nil || cl.Class == ClassReplica:
		c.Err("ERR This connection cannot be that of a migration")
		return
	case len(cl.W.Buf) > 0 || cl.held != nil:
		c.Err(errPending)
		return
	}
	x := e.migrations.export(id)
	if x.client != nil || x.step != exportWaits {
		c.Err("ERR The migration has begun before")
		e.failExport(x, "the destination has begun anew")
		return
	}
	e.leaveMonitor(cl)
	e.leaveHub(cl)
	e.Untrack(cl)
	cl.Class = ClassReplica
	conn.NoDelay(true)
	x.client, x.conn, x.ackedAt = cl, conn, e.Steady()
	c.OK()
	cl.Reply = ReplyOff
	e.Log.Notice("Migration %.40s: node %.40s asks for slots %s", id, node, x.slots.String())
}

// exportRefusal returns why a node cannot have the keys of a migration, "" if it can.
func (e *Engine) exportRefusal(cluster, id string, node topology.NodeID) string {
	v := &e.cluster
	if v.self == nil || v.shard == nil {
		return errPeerLater + "This node is no member of a cluster yet"
	}
	if v.state.Cluster != cluster {
		return fmt.Sprintf("ERR This node is of another cluster than %.40s", cluster)
	}
	switch m := v.state.Migration(id); {
	case m == nil:
		return fmt.Sprintf("%sThe migration is not known here: %.40s", errPeerLater, id)
	case m.Over():
		return "ERR The migration has ended: " + string(m.Phase)
	case m.Source != v.self.ID || m.Target != node:
		return "ERR The migration is not one from this node to that one"
	case v.shard.Boot != e.Cluster.Boot():
		return errPeerLater + "This node has started anew and may lack what its replicas have"
	case e.migrations.export(id) == nil:
		return "ERR The migration has ended here"
	}
	return ""
}

// followExports makes this node do for migrations what the topology says of them as their source.
func (e *Engine) followExports() {
	g, v := &e.migrations, &e.cluster
	g.exports = slices.DeleteFunc(g.exports, func(x *export) bool {
		m := v.state.Migration(x.ID)
		if m != nil && !m.Over() {
			if m.Ready && !x.Ready {
				x.ackedAt = e.Steady()
			}
			x.Migration = m
			return false
		}
		e.endExport(x, m)
		return true
	})
	for _, m := range v.state.Migrations {
		if m.Over() || v.self == nil || m.Source != v.self.ID {
			continue
		}
		x := g.export(m.ID)
		if x == nil {
			x = &export{Migration: m, slots: m.Slots, ackedAt: e.Steady()}
			g.exports = append(g.exports, x)
			e.Log.Notice("Migration %.40s: slots %s go to node %.40s", m.ID, m.Slots.String(),
				m.Target)
		}
		if m.Phase == topology.Closed {
			e.drainExport(x)
		}
	}
	e.sumExported()
}

// endExport follows the end of a migration on its source.
func (e *Engine) endExport(x *export, m *topology.Migration) {
	p := e.exportProgress(x)
	if p.Step = "ended"; m != nil {
		e.Log.Notice("Migration %.40s of slots %s to node %.40s: %s%s", m.ID, m.Slots.String(),
			m.Target, m.Phase, because(m.Message))
	}
	e.stopExport(x)
	e.keepProgress(x.ID, p)
}

// because returns a reason behind a colon.
func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

// startExports begins the snapshots of migrations that wait for their turn.
func (e *Engine) startExports() {
	for _, x := range slices.Clone(e.migrations.exports) {
		if x.step == exportWaits && x.client != nil && !x.client.CloseASAP {
			e.startExport(x)
		}
	}
}

// startExport begins the snapshot of a migration, and the stream of what changes from its moment
// on. It does nothing as long as other snapshots run, the keyspace prepares for more of them, or
// there are too many migrations.
func (e *Engine) startExport(x *export) {
	free := ^e.Feed.Attached() &^ propagation.All
	if free == 0 || e.Feed.InUnit() || e.loading.on || !e.mayStartJob() || e.KS.RenewPending() ||
		e.ended {
		return
	}
	x.stream = backlog.New(e.Buffers, 0, exportKeep)
	x.pipe = backlog.NewPipe(e.Buffers, pipeLimit, time.Hour, 1)
	if x.stream == nil || x.pipe == nil {
		if x.stream != nil {
			x.stream.Drop()
		}
		if x.pipe != nil {
			x.pipe.Reader(0).Close()
			x.pipe.End(errNoSnapshot)
		}
		x.stream, x.pipe = nil, nil
		e.failExport(x, "the system has no memory for the stream")
		return
	}
	x.reader, _ = x.stream.Open(0)
	x.bit = 1 << bits.TrailingZeros8(uint8(free))
	e.Feed.Attach(x.bit, x.stream)
	x.step, x.began = exportSnapshots, e.Steady()
	e.sumExported()
	if e.persist.store == nil {
		x.made = true
		e.failExport(x, ErrNoPersistence.Error())
		return
	}
	pipe := x.pipe
	e.persist.saveStart = e.Steady()
	err := e.persist.store.StartSlots(&x.slots, pipeDest{pipe},
		func(err error) { e.exportMade(x, pipe, err) })
	if err != nil {
		x.made = true
		e.failExport(x, err.Error())
		return
	}
	sent := int64(0)
	x.conn.Transfer(func(w net.Conn) error {
		return rawTransfer(pipe, e.replTimeout())(w, &sent)
	}, func(err error) {
		pipe.Reader(0).Close()
		e.exportSent(x, pipe, sent, err)
	})
	e.pushed(x.client)
}

// rawTransfer returns what sends a snapshot as it is.
func rawTransfer(p *backlog.Pipe, within time.Duration) func(net.Conn, *int64) error {
	return func(w net.Conn, sent *int64) error {
		r := p.Reader(0)
		r.OnClose(func() { _ = w.SetWriteDeadline(time.Now()) }) // its write fails then
		return sendPipe(w, r, within, sent)
	}
}

// exportMade follows the end of a snapshot: all bytes are in the pipe.
func (e *Engine) exportMade(x *export, pipe *backlog.Pipe, err error) {
	if x.pipe != pipe {
		return
	}
	if x.made = true; err != nil {
		e.failExport(x, "the snapshot has failed: "+err.Error())
	}
}

// exportSent follows the transfer of a snapshot. The stream comes behind it.
func (e *Engine) exportSent(x *export, pipe *backlog.Pipe, sent int64, err error) {
	e.Stats.NetOut += sent
	if x.pipe != pipe || x.client == nil {
		return
	}
	if err != nil {
		e.failExport(x, "the snapshot could not be sent: "+err.Error())
		return
	}
	e.Log.Notice("Migration %.40s: a snapshot of %d bytes is sent, %d bytes of changes follow",
		x.ID, sent, x.streamEnd())
	x.step = exportStreams
	x.ackedAt = e.Steady()
	x.markedAt = e.Steady() - beatMs // a mark follows at once
	x.conn.Stream(x.reader)
	e.pushed(x.client)
}

// SlotsApplied notes that the destination has applied a migration's stream up to an offset. It
// reports whether the client is that of a destination.
func (e *Engine) SlotsApplied(c *Client, offset int64) bool {
	for _, x := range e.migrations.exports {
		if x.client != c {
			continue
		}
		if x.stream == nil || offset > x.streamEnd() {
			return true
		}
		x.acked, x.ackedAt = max(x.acked, offset), e.Steady()
		if x.step == exportStreams && x.lag() <= e.Cfg.Cluster.HandoffLag {
			x.step = exportCloses
			e.Log.Notice("Migration %.40s: %d bytes are on their way, closing slots %s", x.ID,
				x.lag(), x.slots.String())
			e.askPhase(x.Migration, topology.Closed, "")
		}
		return true
	}
	return false
}

// drainExport is called while the slots are closed: clients wait. What is before END is all that
// has been changed in the slots.
func (e *Engine) drainExport(x *export) {
	if x.closedAt == 0 {
		x.closedAt = e.Steady()
	}
	switch x.step {
	case exportDrains, exportGrants, exportEnds:
		return
	case exportCloses:
	default:
		e.failExport(x, "the slots are closed, but their keys are not under way")
		return
	}
	x.step, x.end = exportDrains, x.streamEnd()
	e.sendExport(x, "END", x.end)
	x.marked, x.markedAt = x.streamEnd(), e.Steady()
	e.pushed(x.client) // the batch ends soon
}

// SlotsComplete notes that the destination says that it has all of a migration. It reports whether
// the client is that of a destination. The destination itself has the log say Done: it may be
// somebody else who says so here.
func (e *Engine) SlotsComplete(c *Client, offset int64) bool {
	for _, x := range e.migrations.exports {
		if x.client != c {
			continue
		}
		if x.step == exportDrains && offset == x.end {
			x.acked, x.ackedAt = max(x.acked, offset), e.Steady()
			x.step = exportGrants
		}
		return true
	}
	return false
}

// exportCron looks after the time that migrations take on their source.
func (e *Engine) exportCron() {
	for _, x := range slices.Clone(e.migrations.exports) {
		silent := e.Steady() - x.ackedAt
		switch {
		case x.step == exportEnds:
		case x.closedAt != 0 && e.Steady()-x.closedAt > e.Cfg.Cluster.WritePause:
			e.failExport(x, fmt.Sprintf("clients have waited for %d ms "+
				"(cluster-slot-migration-write-pause-timeout)", e.Steady()-x.closedAt))
		case e.exportTrickles(x):
			e.failExport(x, fmt.Sprintf("the destination has taken less than %d bytes of the "+
				"snapshot in %d s, and other snapshots wait for it", pipeLimit, e.Cfg.ReplTimeout))
		// Until the destination is ready, which may take long, the log knows whether it lives.
		case x.step == exportWaits && x.Ready && x.client == nil && silent > e.connectLimit(),
			x.step >= exportStreams && silent > e.Cfg.ReplTimeout*1000:
			e.failExport(x, fmt.Sprintf("the destination has not been heard for %d s",
				silent/1000))
		}
	}
}

// exportTrickles reports whether a destination takes its snapshot so slowly that others must not
// wait any longer: only one snapshot is made at a time.
func (e *Engine) exportTrickles(x *export) bool {
	if x.step != exportSnapshots || x.made {
		return false
	}
	r, now := x.pipe.Reader(0), e.Steady()
	if at := r.Offset(); at-x.took >= pipeLimit || r.Lag() < pipeLimit/2 || x.tookAt == 0 {
		x.took, x.tookAt = at, now
	}
	return now-x.tookAt > e.Cfg.ReplTimeout*1000
}

// connectLimit returns for how many ms a destination may fail to connect to its source.
func (e *Engine) connectLimit() int64 { return max(2*e.cluster.nodeTimeout(), 10_000) }
