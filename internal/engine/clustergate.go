package engine

import (
	"godwit/internal/cluster/topology"
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
	if e.table.routes[c.Cmd.ID()] == routeNone {
		return e.closingGate(c)
	}
	s := e.callSlots(c.Client, c.Cmd, c.Args)
	if c.Cmd.Is(spec.RunsQueue) {
		if msg := e.closingGate(c); msg != passed {
			return msg
		}
	}
	if c.slot = s.slot; s.slot == 0 || !s.cross && e.cluster.plain.Has(s.slot.slot()) {
		return passed
	}
	v, to := e.judge(c, c.Client, s)
	switch v {
	case serves:
		return passed
	case waits:
		if !c.rerun {
			e.postponeClient(c.Client)
		}
		return held
	}
	c.moved = true
	return e.redirection(c.Client, v, s.slot.slot(), to)
}

// closingGate returns held for a command that names no keys and may change some in slots that are
// about to move, or passed.
func (e *Engine) closingGate(c *Ctx) refusal {
	if !e.closingHolds(c) {
		return passed
	}
	if !c.rerun {
		e.postponeClient(c.Client)
	}
	return held
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
		if v, to, ok := e.judgeMarked(c, cl, mark, mine, s.shards); ok {
			return v, to
		}
	}
	switch {
	case mine && owner.Closing.Has(n) && !s.shards:
		return waits, nil
	case mine:
		return serves, nil
	// A replica serves the readers of its shard, and who has subscribed there.
	case owner.Shard == e.cluster.shard && (s.shards || cl.ReadOnly && flags&spec.Write == 0):
		return serves, nil
	case !s.shards && e.changesHands(owner, n):
		return waits, nil
	}
	return movedAway, to
}

// changesHands reports whether the slot is about to have another master, which may be this node.
// The old one redirects as soon as it knows that, and this node may know later: who would be sent
// back by it waits here instead, or it would go to and fro.
func (e *Engine) changesHands(owner *topology.Part, n int) bool {
	if e.cluster.role == topology.Master {
		return owner.Closing.Has(n)
	}
	return owner.Shard == e.cluster.shard && owner.Master == "" && !owner.Head.Failed
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
	c *Ctx, cl *Client, m *topology.Mark, mine, shards bool,
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
	var p presence // channels are nowhere, and missing nowhere
	if !shards {
		p = e.presence(c)
	}
	switch {
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
	s := e.cluster.shard
	return s != nil && s.Closing != (slot.Set{}) && s.Closing.Has(slot.Of(key))
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

// Ask carries out ASKING.
func (c *Client) Ask() { c.asking = asksNext }
