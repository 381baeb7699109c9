package engine

import (
	"godwit/internal/cluster/topology"
	"godwit/internal/keyspace"
	"godwit/internal/script"
	"godwit/internal/slot"
	"godwit/internal/spec"
)

// # Redirections
//
// A command runs on the node that serves the slot of its keys. All keys of a command, and all
// commands of a transaction, must be of one slot. clusterView.plain has the slots for which nothing
// more is to be said: this node is the master of their owner, they are not about to move, and the
// cluster is up. For all others judge decides, in the order in which Redis does.

// clusterGate returns why the client's command does not run on this node, or passed. It notes the
// slot of the command.
func (e *Engine) clusterGate(c *Ctx) refusal {
	if e.table.routes[c.Cmd.ID()] == routeOne { // in nearly all cases this is all
		i := keyspace.SlotOf(e.knowHash(c.Args[c.Cmd.FirstKey()]))
		if c.slot = refTo(i); e.cluster.plain.Has(i) {
			return passed
		}
	}
	s := e.callSlots(c.Client, c.Cmd, c.Args)
	if c.slot = s.slot; s.slot != 0 && (s.cross || !e.cluster.plain.Has(s.slot.slot())) {
		if v, to := e.judge(c, c.Client, s); v != serves {
			return e.gateRefuses(c, v, to)
		}
	}
	if e.cluster.closing && e.closingHolds(c) {
		return e.gateRefuses(c, waits, e.cluster.self)
	}
	return passed
}

// gateRefuses returns why a command does not run for which there is a verdict.
func (e *Engine) gateRefuses(c *Ctx, v verdict, to *topology.Node) refusal {
	if v == waits {
		if e.holdBack(c) {
			return held
		}
		if v = movedAway; to == e.cluster.self {
			v = downAll
		}
	}
	c.moved = true
	return e.redirection(c.Client, v, c.slot.slot(), to)
}

// holdBack holds the client's command back until there is another topology, or the cluster is down.
// It reports false if the command has waited for too long.
func (e *Engine) holdBack(c *Ctx) bool {
	cl, k := c.Client, &e.cluster
	if c.rerun {
		return true // it waits already
	}
	now := e.Steady()
	if n := cl.Commands + 1; cl.heldCommand != n {
		cl.heldCommand, cl.refuseAt = n, now+e.longestHold()
	}
	if now >= cl.refuseAt {
		return false
	}
	if k.refuseAt == 0 || cl.refuseAt < k.refuseAt {
		k.refuseAt = cl.refuseAt
	}
	k.held.add(cl)
	return true
}

// longestHold returns for how long commands wait at most for slots to move or for a new master, in
// ms. What they wait for has failed by then, or is given up: for a migration that takes an entry of
// the log more than its pause.
func (e *Engine) longestHold() int64 {
	cfg := &e.Cfg.Cluster
	return max(cfg.FailoverTimeout, cfg.WritePause+e.cluster.nodeTimeout())
}

// closingHolds reports whether a command changes keys that it does not name, while slots are about
// to move from this node. Nothing may change in these.
func (e *Engine) closingHolds(c *Ctx) bool {
	k := &e.cluster
	wide := c.Cmd.WritesUnnamed()
	if m := c.Client.multi; m != nil && c.Cmd.Is(spec.RunsQueue) {
		wide = m.wide
	}
	return wide && k.closing && k.leads()
}

// judge returns what becomes of a command of the client, and the other node for asks and movedAway.
// There are keys.
func (e *Engine) judge(c *Ctx, cl *Client, s callSlots) (verdict, *topology.Node) {
	n := s.slot.slot()
	owner := e.cluster.part(n)
	to := headOf(owner)
	switch {
	case to == nil && e.showsFollowed(c, cl, s):
		return serves, nil
	case to == nil:
		return unserved, nil
	case s.cross:
		return crossSlot, nil
	}
	flags := e.table.callFlags(c)
	if e.cluster.down {
		if v := e.judgeDown(flags, s); v != serves {
			return v, nil
		}
	}
	self := e.cluster.self
	mine := to == self
	if mark := e.cluster.state.Marks[n]; mark != nil {
		if v, to, ok := e.judgeMarked(c, cl, mark, mine); ok {
			return v, to
		}
	}
	switch {
	case mine && s.keys && (owner.Closing.Has(n) || e.cluster.halfOwn.Has(n) &&
		(flags&(spec.Write|spec.MayReplicate) != 0 || !e.emptySlot(n))):
		return waits, to
	// A replica serves the readers of its shard, and who has subscribed there.
	case owner.Shard == e.cluster.shard && (s.shards || e.mayRead(cl)) &&
		flags&spec.Write == 0 && !e.cluster.halfOwn.Has(n):
		return serves, nil
	case mine && s.keys && e.copiesMember(): // another one may have written
		return waits, to
	case mine:
		return serves, nil
	case s.keys && e.changesHands(owner, n):
		return waits, to
	}
	return e.elsewhere(owner), to
}

// mayRead reports whether a client may read the shard's keys from a replica.
func (e *Engine) mayRead(cl *Client) bool { return cl.ReadOnly || e.Cfg.Cluster.SentinelClients }

// elsewhere returns what becomes of a command that another node serves. Clients of Sentinel follow
// no redirections: READONLY tells them to ask who is the master.
func (e *Engine) elsewhere(owner *topology.Part) verdict {
	if owner.Shard == e.cluster.shard && e.Cfg.Cluster.SentinelClients {
		return readOnly
	}
	return movedAway
}

// changesHands reports whether the slot is about to have another master, which may be this node.
// The old one redirects as soon as it knows that, and this node may know later: who would be sent
// back by it waits here instead, or it would go to and fro.
func (e *Engine) changesHands(owner *topology.Part, n int) bool {
	if e.cluster.role == topology.Master {
		return owner.Closing.Has(n) && e.mayGet(n)
	}
	return owner.Shard == e.cluster.shard && owner.Master == "" && !owner.Head.Failed
}

// mayGet reports whether this node's shard may get a slot that is closed: nothing says that it goes
// to another one.
func (e *Engine) mayGet(n int) bool {
	k := &e.cluster
	for _, m := range k.state.Migrations {
		if m.Phase == topology.Closed && m.Slots.Has(n) {
			return m.Target == k.self.ID
		}
	}
	mark := k.state.Marks[n]
	return mark == nil || mark.To == "" || mark.To == k.self.Shard
}

// judgeDown judges a command while the cluster is down.
func (e *Engine) judgeDown(flags spec.Flag, s callSlots) verdict {
	cfg := &e.Cfg.Cluster
	switch {
	case s.shards && !cfg.ShardsWhenDown, !s.shards && !cfg.ReadsWhenDown:
		return downAll
	case !s.shards && flags&spec.Write != 0:
		return downWrites
	}
	return serves
}

// judgeMarked judges a command whose slot is being moved key by key. It reports false if the mark
// is nothing to this node.
func (e *Engine) judgeMarked(
	c *Ctx, cl *Client, m *topology.Mark, mine bool,
) (v verdict, to *topology.Node, ok bool) {
	migrating := mine && m.Migrating != ""
	importing := !mine && m.Importing != "" && e.cluster.role == topology.Master &&
		m.To == e.cluster.self.Shard
	if !migrating && !importing {
		return 0, nil, false
	}
	if c.Cmd.Is(spec.TakesLocalKeys) {
		return serves, nil, true
	}
	if importing && cl.asking == notAsking && !c.Cmd.Is(spec.Asking) {
		return 0, nil, false
	}
	switch p := e.presence(c); {
	case importing && p.several && p.missing > 0, migrating && p.missing > 0 && p.here > 0:
		return tryAgain, nil, true
	case importing:
		return serves, nil, true
	case p.missing > 0:
		return asks, e.cluster.headOfShard(m.Migrating), true
	}
	return 0, nil, false
}

// headOf returns the master of a shard, or its last one while it has none. It returns nil if there
// is no such node.
func headOf(p *topology.Part) *topology.Node {
	if p == nil {
		return nil
	}
	return p.Head
}

// headOfShard is headOf for a shard's id.
func (c *clustering) headOfShard(id topology.ShardID) *topology.Node {
	if s := c.state.Shards[id]; s != nil {
		return c.state.Nodes[s.Last]
	}
	return nil
}

// slotCloses reports whether commands that use the key are held back because its slot is about to
// move.
func (e *Engine) slotCloses(key []byte) bool {
	return e.cluster.closing && e.cluster.shard.Closing.Has(slot.Of(key))
}

// ClusterUp reports whether the cluster serves commands, as this node sees it.
func (e *Engine) ClusterUp() bool { return !e.cluster.down }

// scriptSlotGate returns why a command that the running script calls does not run on this node, or
// passed. All keys that a script uses must be of one slot, unless it declares otherwise.
func (e *Engine) scriptSlotGate(c *Ctx) refusal {
	r := e.script.run
	s := e.callSlots(c.Client, c.Cmd, c.Args)
	if c.slot = s.slot; s.slot == 0 {
		return passed
	}
	if s.cross || !e.cluster.plain.Has(s.slot.slot()) {
		if v, _ := e.judge(c, r.caller, s); v != serves {
			return scriptRedirection(v, c.Cmd)
		}
	}
	if r.Declared && r.Flags&script.AllowCrossSlotKeys == 0 {
		if r.slot == 0 {
			r.slot = s.slot
		}
		if r.slot != s.slot {
			return errScriptCrossSlot
		}
	}
	return passed
}

// endAsking is called when a command of the client has been replied to. ASKING is for the next
// command, or for the whole transaction that it begins.
func (c *Client) endAsking() {
	if c.asking == asksNext {
		c.asking = asksNow
	} else if c.multi == nil {
		c.asking = notAsking
	}
}

// Ask carries out ASKING. Within EXEC it is for nothing that follows.
func (c *Client) Ask() {
	if c.multi == nil {
		c.asking = asksNext
	}
}
