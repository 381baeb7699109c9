package engine

import (
	"slices"

	"godwit/internal/cluster/topology"
	"godwit/internal/slot"
)

// phaseRetryMs is the time between two attempts to have the log say something of a migration.
const phaseRetryMs = 100

// askPhase has the log say that a migration is in another phase.
func (e *Engine) askPhase(m *topology.Migration, phase topology.Phase, why string) {
	e.ask(m, topology.Advance{ID: m.ID, Phase: phase, Message: why, At: e.now})
}

// ask has the log say something of a migration. As long as it does not, and the migration has not
// ended, the request is repeated. A later request takes the place of one before.
func (e *Engine) ask(m *topology.Migration, do topology.Action) {
	g := &e.migrations
	g.asks = slices.DeleteFunc(g.asks, func(a *phaseAsk) bool { return a.id == m.ID })
	a := &phaseAsk{id: m.ID, do: do}
	g.asks = append(g.asks, a)
	e.propose(a)
}

// propose hands the request to the log.
func (e *Engine) propose(a *phaseAsk) {
	if e.Cluster == nil {
		return
	}
	a.asking = true
	e.Cluster.Propose(topology.Op{Do: a.do}, func(refusal string) {
		a.asking, a.retryAt = false, e.Steady()+phaseRetryMs
		if refusal != "" {
			e.Log.Verbose("Migration %.40s: the log refuses %+v: %s", a.id, a.do, refusal)
		}
	})
}

// repeatAsks repeats requests that have not come true, and forgets those that are of no use.
func (e *Engine) repeatAsks() {
	g := &e.migrations
	g.asks = slices.DeleteFunc(g.asks, func(a *phaseAsk) bool {
		m := e.cluster.state.Migration(a.id)
		return m == nil || m.Over() || a.done(m)
	})
	for _, a := range slices.Clone(g.asks) {
		if !a.asking && e.Steady() >= a.retryAt {
			e.propose(a)
		}
	}
}

// done reports whether the log says of the migration what it was asked for.
func (a *phaseAsk) done(m *topology.Migration) bool {
	if do, ok := a.do.(topology.Advance); ok {
		return m.Phase == do.Phase
	}
	return m.Ready
}

// failExport ends a migration on its source. Clients go on when the log says so.
func (e *Engine) failExport(x *export, why string) {
	if x.step == exportEnds {
		return
	}
	e.Log.Warning("Migration %.40s of slots %s fails: %s", x.ID, x.slots.String(), why)
	x.step = exportEnds
	e.stopExport(x)
	e.askPhase(x.Migration, topology.Failed, why)
}

// stopExport frees what a migration needs on its source. The destination is cut off.
func (e *Engine) stopExport(x *export) {
	if x.client != nil {
		c := x.client
		x.client = nil
		c.closeSoon()
	}
	if x.stream == nil {
		return
	}
	if !x.made && e.persist.store != nil {
		e.persist.store.CancelSync()
	}
	x.pipe.Reader(0).Close()
	x.pipe.End(errNoSnapshot)
	e.Feed.Detach(x.bit)
	x.reader.Close()
	x.stream.Drop()
	x.bit, x.stream, x.reader, x.pipe, x.made = 0, nil, nil, nil, true
	e.sumExported()
}

// sumExported notes which slots have exports.
func (e *Engine) sumExported() {
	g := &e.migrations
	g.exported = slot.Set{}
	for _, x := range g.exports {
		if x.bit != 0 {
			g.exported.Union(&x.slots)
		}
	}
	if e.Feed.Route = nil; !g.exported.Empty() {
		e.Feed.Route, e.Feed.Head = e.routeExport, e.routeHead
	}
}

// failImport ends a migration on its destination. What has come is deleted when the log says so.
func (e *Engine) failImport(m *slotImport, why string) {
	if m.step == importEnds {
		return
	}
	e.Log.Warning("Migration %.40s of slots %s fails: %s", m.ID, m.slots.String(), why)
	m.step = importEnds
	m.stop()
	e.askPhase(m.Migration, topology.Failed, why)
}

// failMigrations ends all migrations whose keys are under way, because something happens to the
// data set that the stream does not tell. A destination that has asked the log for Receive has said
// that there is nothing in the slots.
func (e *Engine) failMigrations(why string) {
	for _, x := range slices.Clone(e.migrations.exports) {
		if x.step != exportWaits {
			e.failExport(x, why)
		}
	}
	for _, m := range slices.Clone(e.migrations.imports) {
		if !m.clearing() {
			e.failImport(m, why)
		}
	}
}

// stop ends the connection to the source.
func (m *slotImport) stop() {
	if a := m.attempt; a != nil {
		m.attempt = nil
		a.Close()
	}
	if c := m.client; c != nil {
		m.client = nil
		c.closeSoon()
	}
}

// forgetMigration notes that a connection is gone which a migration may have used.
func (e *Engine) forgetMigration(c *Client) {
	g := &e.migrations
	for _, x := range g.exports {
		if x.client == c {
			x.client = nil
			e.exportCut(x)
		}
	}
	if m := g.importOf(c); m != nil {
		m.client = nil
		if m.step != importHas { // else the log is to decide: the source may have heard
			e.failImport(m, "the connection to the source is lost")
		}
	}
}

// exportCut follows the loss of the connection to the destination.
func (e *Engine) exportCut(x *export) {
	if x.step != exportGrants { // nothing more was to be sent
		e.failExport(x, "the connection to the destination is lost")
	}
}
