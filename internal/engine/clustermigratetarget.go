package engine

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"

	"godwit/internal/cluster/topology"
	"godwit/internal/config"
	"godwit/internal/keyspace"
	"godwit/internal/slot"
)

// followImports makes this node do for migrations what the topology says of them as their
// destination.
func (e *Engine) followImports() {
	g, v := &e.migrations, &e.cluster
	g.imports = slices.DeleteFunc(g.imports, func(m *slotImport) bool {
		now := v.state.Migration(m.ID)
		if now != nil && !now.Over() {
			m.Migration = now
			return false
		}
		e.endImport(m, now)
		return true
	})
	for _, m := range v.state.Migrations {
		if m.Over() || v.self == nil || m.Target != v.self.ID || g.imported(m.ID) != nil {
			continue
		}
		e.Log.Notice("Migration %.40s: slots %s come from node %.40s", m.ID, m.Slots.String(),
			m.Source)
		im := &slotImport{Migration: m, slots: m.Slots}
		g.imports = append(g.imports, im)
		switch {
		case m.Phase != topology.Copying:
			e.failImport(im, "the destination has none of the keys")
		case e.Follows():
			e.failImport(im, "the destination follows a shard of another cluster")
		}
	}
}

// endImport follows the end of a migration on its destination.
func (e *Engine) endImport(m *slotImport, now *topology.Migration) {
	p := e.importProgress(m)
	if p.Step = "ended"; now != nil {
		e.Log.Notice("Migration %.40s of slots %s from node %.40s: %s%s", m.ID, m.slots.String(),
			m.Source, now.Phase, because(now.Message))
	}
	m.stop()
	e.keepProgress(m.ID, p)
}

// maxImports is how many migrations from one source a destination has under way. Each has a
// connection, and asks for entries of the log. The source makes one snapshot after the other
// anyway.
const maxImports = 16

// importCron goes on with migrations that this node is the destination of.
func (e *Engine) importCron() {
	from := map[topology.NodeID]int{}
	for _, m := range slices.Clone(e.migrations.imports) {
		if m.step != importEnds {
			from[m.Source]++
		}
		if m.clearing() && from[m.Source] <= maxImports {
			e.clearImport(m)
		}
		if m.step == importAsks && m.Ready {
			m.step = importConnects
		}
		heard := m.lastHeard()
		if silent := e.Steady() - heard; heard != 0 && silent > e.Cfg.ReplTimeout*1000 {
			e.failImport(m, fmt.Sprintf("the source has not been heard for %d s", silent/1000))
		}
		if m.step == importConnects && m.attempt == nil && e.Steady() >= m.retryAt {
			e.connectImport(m)
		}
	}
}

// lastHeard returns when something has come from the source, in steady ms, 0 as long as the source
// has nothing to say: other snapshots may run there, for however long, before that of the migration
// begins. Until then the log knows whether the source lives. Later it sends marks until it has sent
// END, and the log says soon what becomes of the migration.
func (m *slotImport) lastHeard() int64 {
	switch c := m.client; {
	case c == nil:
		return m.heardAt
	case c.NetIn == 0 && !m.marked:
		return 0
	default:
		return max(m.heardAt, c.LastUsed)
	}
}

// clearImport goes on when this node has no keys in the slots of a migration, and the log is to say
// that. What it has may be left of an earlier time, and is being deleted: at once, if nobody wants
// to hear of each key. Nobody has seen the keys of an earlier migration that came to nothing.
func (e *Engine) clearImport(m *slotImport) {
	half := m.slots.Common(&e.cluster.shard.Half)
	if e.mayDrop() {
		e.dropImported(&half)
		if e.strays.pending() && !e.hearsOfKeys() {
			strays := m.slots.Common(&e.strays.foreign)
			e.dropSlots(&strays)
		}
	}
	i := e.firstKeptSlot(&m.slots)
	switch {
	case i < 0:
		m.step = importAsks
		e.findStrays(&slot.Set{}) // it must not delete what comes
		e.ask(m.Migration, topology.Receive{ID: m.ID})
	case !e.strays.pending() && !half.Has(i):
		e.failImport(m, fmt.Sprintf("the destination has keys of its own in slot %d. They must be "+
			"deleted first (CLUSTER FLUSHSLOT)", i))
	}
}

// firstKeptSlot returns the first of the slots in which there are keys, -1 if there are none.
func (e *Engine) firstKeptSlot(slots *slot.Set) (found int) {
	found = -1
	slots.Each(func(i int) bool {
		empty := e.emptySlot(i)
		if !empty {
			found = i
		}
		return empty
	})
	return found
}

// connectImport begins to connect to the source.
func (e *Engine) connectImport(m *slotImport) {
	n := e.cluster.state.Nodes[m.Source]
	if n == nil || e.LinkImport == nil || e.loading.on || e.ended ||
		e.cluster.shard.Boot != e.Cluster.Boot() { // a replica may have to take its place
		return
	}
	host, port := e.replicationAddress(n)
	a := &ImportAttempt{
		Dial: DialOptions{Addr: net.JoinHostPort(host, strconv.Itoa(port)),
			TLS: e.Cfg.TLSReplication, Source: e.Cfg.BindSourceAddr, Timeout: importTimeout},
		User: e.Cfg.MasterUser, Password: e.Cfg.MasterAuth,
		Begin: []string{"CLUSTER", "SYNCSLOTS", "BEGIN", e.cluster.state.Cluster, m.ID,
			string(e.cluster.self.ID)},
		Close: func() {}, e: e, m: m,
	}
	m.attempt = a
	if m.tries++; m.began == 0 {
		m.began = e.Steady()
	}
	e.LinkImport(a)
}

const (
	// importTimeout bounds connecting to a source, and each of its answers.
	importTimeout = 5 * time.Second
	// importRetryMs is the time between two attempts at a source that is not ready.
	importRetryMs = 50
)

// Wanted reports whether the attempt is still the one that the engine waits for. If not, its
// goroutine must end.
func (a *ImportAttempt) Wanted() bool { return a.m.attempt == a && !a.e.ended }

// Failed ends the attempt. If the source will be ready soon, another one follows.
func (a *ImportAttempt) Failed(err error, later bool) {
	if !a.Wanted() {
		return
	}
	e, m := a.e, a.m
	m.attempt, m.retryAt = nil, e.Steady()+importRetryMs
	if !later || e.Steady()-m.began > e.connectLimit() {
		e.failImport(m, "the source cannot be had: "+err.Error())
	}
}

// Attach makes the client that applies what the source sends, for the connection that carries it.
// It returns nil if nobody waits for it any more.
func (a *ImportAttempt) Attach(conn Conn) *Client {
	if !a.Wanted() {
		return nil
	}
	e, m := a.e, a.m
	c := e.addSource(conn, OriginImport, 0)
	m.attempt, m.client, m.step, m.heardAt = nil, c, importApplies, e.Steady()
	e.Log.Notice("Migration %.40s: receiving slots %s", m.ID, m.slots.String())
	return c
}

// SlotsMark notes a mark of the source (CLUSTER SYNCSLOTS MARK): all before it has been applied.
// The first one stands behind the snapshot. It is acknowledged when that is on disk, if the log is
// synced, because it was on the source's, and clients do not wait yet. Likewise replicas must have
// confirmed what is acknowledged: if they do not, the migration fails before clients wait.
func (e *Engine) SlotsMark(c *Client, offset int64) {
	m := e.migrations.importOf(c)
	if m == nil {
		return
	}
	m.heardAt = e.Steady()
	if !m.marked && e.LogOn() && e.Cfg.AppendFsync != config.FsyncNo {
		m.logged, m.since = e.persist.aof.Offset(), e.Steady()
	}
	m.marked = true
	m.marks = append(m.marks[:min(1, len(m.marks))], seenMark{offset, e.Feed.Offset(), e.Steady()})
	e.ackMarks(m)
}

// SlotsEnd notes that nothing more will come of a migration (CLUSTER SYNCSLOTS END).
func (e *Engine) SlotsEnd(c *Client, offset int64) {
	if m := e.migrations.importOf(c); m != nil {
		m.heardAt = e.Steady()
		m.ends, m.end, m.endAt, m.endedAt = true, offset, e.Feed.Offset(), e.Steady()
		e.ackEnd(m)
	}
}

// SlotsFlush deletes the keys of the migration that the running command belongs to, because the
// source has emptied a database, or all of them for -1.
func (c *Ctx) SlotsFlush(db int64) {
	e := c.E
	m := e.migrations.importOf(c.Client)
	if m == nil {
		return
	}
	if db < -1 || db >= int64(e.KS.Databases()) {
		e.failImport(m, fmt.Sprintf("the source has emptied database %d, and there are %d here "+
			"(cluster-databases)", db, e.KS.Databases()))
		return
	}
	if c.flushSlots(&m.slots, int(db)); c.dirty == 0 {
		c.NoPropagate()
	}
}

// FlushOwn deletes the keys of databases without those that are on their way to this node by a
// migration: their clients have not asked for that. It reports false if there are no such keys.
func (c *Ctx) FlushOwn(dbs []*keyspace.DB) bool {
	if c.E.migrations.imports == nil {
		return false
	}
	coming := c.E.migrations.importing()
	if coming.Empty() {
		return false
	}
	own := slot.SetOf(slot.Range{First: 0, Last: slot.Count - 1})
	own.Subtract(&coming)
	if len(dbs) == c.E.KS.Databases() {
		c.flushSlots(&own, -1)
	} else {
		c.flushSlots(&own, dbs[0].ID())
	}
	if c.dirty == 0 {
		c.NoPropagate()
	}
	return true
}

// flushSlots deletes the keys of slots in a database, or in all of them for -1, and propagates that
// slot by slot. It takes no longer for many keys, unless somebody wants to hear of each.
func (c *Ctx) flushSlots(slots *slot.Set, db int) {
	e := c.E
	slots.Each(func(i int) bool {
		argv := append(make([][]byte, 0, 5), flushSlotWords[0], flushSlotWords[1],
			strconv.AppendInt(nil, int64(i), 10))
		n := 0
		if db < 0 || e.KS.Databases() == 1 {
			n = e.FlushSlot(i, true)
		} else {
			n = e.FlushSlotIn(e.KS.DB(db), i, true)
			argv = append(argv, []byte("DB"), strconv.AppendInt(nil, int64(db), 10))
		}
		if n > 0 {
			c.Dirty(n)
			c.PropagateIn(0, argv...)
		}
		return true
	})
}

// SlotMoves reports whether the keys of a slot are on their way to this node, or about to leave it:
// nobody may delete them then by the slot.
func (e *Engine) SlotMoves(i int) bool {
	coming := e.migrations.importing()
	sh := e.cluster.shard
	return coming.Has(i) || sh != nil && sh.Closing.Has(i)
}

// migrationCron is called several times a second.
func (e *Engine) migrationCron() {
	e.dropLone()
	if v := &e.cluster; v.shard != nil && !v.shard.Half.Empty() {
		e.dropHalf()
	}
	g := &e.migrations
	if len(g.exports)+len(g.imports)+len(g.asks) == 0 {
		return
	}
	e.repeatAsks()
	e.exportCron()
	e.startExports()
	e.importCron()
}
