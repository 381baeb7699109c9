package engine

import (
	"godwit/internal/slot"
	"godwit/internal/spec"
)

// callSlots is where the keys of a call are.
type callSlots struct {
	slot   slotRef // of the first key or channel, 0 if there is none
	cross  bool    // there are others of other slots
	keys   bool    // some are keys
	shards bool    // some are shard channels, which have no values
}

// callSlots returns where the keys of a call are. Arguments that are no valid call have none: the
// handler refuses them.
func (e *Engine) callSlots(cl *Client, cmd *spec.Command, argv [][]byte) (s callSlots) {
	switch e.table.routes[cmd.ID()] {
	case routeNone:
		return s
	case routeOne:
		return callSlots{slot: refTo(slot.Of(argv[cmd.FirstKey()])), keys: true}
	case routeQueue:
		m := cl.multi
		if m == nil {
			return s
		}
		s = callSlots{m.slot, m.slots, m.keys, m.shards}
		if len(argv) == 1 {
			return s
		}
		// Its conditions have keys too.
	}
	refs, _ := cmd.KeyRefs(e.cluster.refs[:0], argv)
	if len(refs) > 0 {
		s.shards = s.shards || cmd.UsesShardChannels()
		s.keys = s.keys || !cmd.UsesShardChannels()
	}
	for _, r := range refs {
		switch at := refTo(slot.Of(argv[r.Pos])); {
		case s.slot == 0:
			s.slot = at
		case s.slot != at:
			s.cross = true
		}
	}
	e.cluster.refs = refs[:0]
	return s
}

// route notes where the keys of a command are that is being queued.
func (m *multi) route(c *Ctx) {
	m.shards = m.shards || c.Cmd.UsesShardChannels()
	m.keys = m.keys || !c.Cmd.UsesShardChannels()
	if m.slot == 0 {
		m.slot = c.slot
	}
	m.slots = m.slots || m.slot != c.slot
}

// presence is which keys of a call are here.
type presence struct {
	here, missing int
	several       bool // there are different keys
	first         []byte
}

// presence looks for the keys of a call, and of all commands that it runs.
func (e *Engine) presence(c *Ctx) (p presence) {
	p.add(e, c, c.Cmd, c.Args)
	if e.table.routes[c.Cmd.ID()] != routeQueue {
		return p
	}
	args := c.Client.multi.args
	for _, q := range c.Client.multi.cmds {
		p.add(e, c, q.cmd, args[:q.argc])
		args = args[q.argc:]
	}
	return p
}

// add looks for the keys of a call. Channels are nowhere, and missing nowhere.
func (p *presence) add(e *Engine, c *Ctx, cmd *spec.Command, argv [][]byte) {
	if cmd.UsesShardChannels() {
		return
	}
	refs, _ := cmd.KeyRefs(e.cluster.refs[:0], argv)
	for _, r := range refs {
		key := argv[r.Pos]
		if p.first == nil {
			p.first = key
		}
		p.several = p.several || string(p.first) != string(key)
		if c.Client.db.Holds(key) {
			p.here++
		} else {
			p.missing++
		}
	}
	e.cluster.refs = refs[:0]
}
