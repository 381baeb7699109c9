package engine

import (
	"godwit/internal/cluster/topology"
	"godwit/internal/slot"
	"godwit/internal/spec"
)

// slotsChanged makes the gates and the clients follow a new view of the cluster, in which this
// node's shard has lost slots. Commands that were held back come again. Who waits for keys of slots
// that this node does not serve any more is redirected, and who has subscribed to shard channels of
// lost slots has not any more.
func (e *Engine) slotsChanged(lost *slot.Set) {
	e.stateChanged()
	e.redirectWaiters()
	if !lost.Empty() {
		e.dropShardChannels(lost)
	}
	e.resumeHeld()
}

// clusterCron notices whether the node hears of a majority, what CONFIG SET has changed, and when
// commands have been held back for too long.
func (e *Engine) clusterCron() {
	if !e.cluster.on {
		return
	}
	c := &e.cluster
	was := c.down
	changed := e.stateChanged() != was
	if changed {
		e.redirectWaiters()
		e.resumePostponed()
	}
	late := c.refuseAt != 0 && e.Steady() >= c.refuseAt
	if late {
		e.Log.Warning("%d clients wait for slots that are about to move, or for a master of "+
			"their shard. Those that have waited for too long are refused.", len(c.held))
	}
	if changed || late {
		e.resumeHeld()
	}
}

// resumeHeld lets the commands come again that the gate holds back.
func (e *Engine) resumeHeld() {
	e.cluster.refuseAt = 0
	e.resume(&e.cluster.held)
}

// stateChanged finds out whether the cluster is down, and which slots need no second look.
func (e *Engine) stateChanged() (down bool) {
	c := &e.cluster
	c.cut = e.Cluster != nil && !e.Cluster.Hears()
	down = c.self == nil || c.cut || e.Cfg.Cluster.FullCoverage && !c.covered()
	if down != c.down {
		c.down = down
		if down {
			e.Log.Notice("Cluster state changed: fail")
		} else {
			e.Log.Notice("Cluster state changed: ok")
		}
	}
	c.plain = slot.Set{}
	if down || c.role != topology.Master || e.declines() {
		return down
	}
	c.plain = c.shard.Slots
	c.plain.Subtract(&c.shard.Closing)
	c.plain.Subtract(&c.halfOwn)
	for i := range c.state.Marks {
		c.plain.Remove(i)
	}
	return down
}

// covered reports whether every slot has an owner that is there.
func (c *clustering) covered() bool {
	assigned, ok := c.coverage()
	return assigned == slot.Count && ok == slot.Count
}

// coverage returns how many slots have an owner, and how many of these have one that is there.
func (c *clustering) coverage() (assigned, ok int) {
	if c.view == nil {
		return 0, 0
	}
	for _, p := range c.view.Parts {
		n := p.Slots.Len()
		if assigned += n; p.Head != nil && !p.Head.Failed {
			ok += n
		}
	}
	return assigned, ok
}

// SlotCounts returns how many slots have an owner, and how many of these have one that has not
// failed.
func (e *Engine) SlotCounts() (assigned, ok int) { return e.cluster.coverage() }

// redirectWaiters answers clients that wait for keys of slots that this node does not serve.
func (e *Engine) redirectWaiters() {
	if e.blocking.n == 0 {
		return
	}
	e.Clients(func(cl *Client) bool {
		w := cl.wait
		if w == nil || len(w.nodes) == 0 || !cl.Origin.heldByPause() {
			return true
		}
		n := slot.Of(w.nodes[0].l.q.key)
		if v, to := e.judgeWaiter(cl, n); v != serves {
			e.abandon(w, func(c *Ctx) { c.Err(string(e.redirection(cl, v, n, to))) })
		}
		return true
	})
}

// judgeWaiter returns what becomes of a client that waits for keys of a slot. What it waits for may
// take a write, so it does not wait while the cluster is down.
func (e *Engine) judgeWaiter(cl *Client, n int) (verdict, *topology.Node) {
	if e.cluster.down {
		return downAll, nil
	}
	owner := e.cluster.part(n)
	to := headOf(owner)
	m := e.cluster.state.Marks[n]
	switch {
	case to == e.cluster.self && to != nil:
		return serves, nil
	case m != nil && m.Importing != "" && m.To == e.cluster.self.Shard &&
		e.cluster.role == topology.Master:
		return serves, nil
	case to == nil:
		return unserved, nil
	case owner.Shard == e.cluster.shard && e.mayRead(cl) && !cl.wait.cmd.Is(spec.Write):
		return serves, nil
	}
	return e.elsewhere(owner), to
}
