package engine

import (
	"errors"
	"fmt"

	"godwit/internal/object"
	"godwit/internal/slot"
	"godwit/internal/spec"
)

// A node that follows a shard of another cluster (CLUSTER FOLLOW) checks what it gets: all keys are
// of the shard's slots, no command fails, and the slots stay where they are. Whatever else comes
// ends it, because the copy would not be one.

// followed returns the shard of another cluster that this node follows, nil if it follows none.
func (e *Engine) followed() *Followed {
	if m := e.repl.master; m != nil {
		return m.followed
	}
	return nil
}

// copiesMember reports whether this node copies another one of its cluster.
func (e *Engine) copiesMember() bool { return e.repl.master != nil && e.followed() == nil }

// endFollowed gives up the link to the shard's master for good.
func (e *Engine) endFollowed(why string) {
	m := e.repl.master
	m.followed.fault, m.followed.over = why, true
	e.Log.Warning("Another cluster's shard is not followed any more: %s. End it with CLUSTER "+
		"FOLLOW NO ONE", why)
	if c := m.client; c != nil {
		e.distrustMaster(c)
		c.CloseASAP = true
	}
}

// endsFollowed ends it if a command of the stream must not be there, and reports that.
func (e *Engine) endsFollowed(c *Ctx) bool {
	f := e.followed()
	if f == nil {
		return false
	}
	name := c.Cmd.FullName()
	if c.Cmd.Is(spec.AwaitsCluster) {
		e.endFollowed("The other cluster changes its slots (" + name + ")")
		return true
	}
	if e.table.routes[c.Cmd.ID()] == routeNone {
		return false
	}
	refs, _ := c.Cmd.KeyRefs(e.cluster.refs[:0], c.Args)
	e.cluster.refs = refs[:0]
	for _, r := range refs {
		if key := c.Args[r.Pos]; !f.Slots.Has(slot.Of(key)) {
			e.endFollowed(foreignKey(key, name))
			return true
		}
	}
	return false
}

// shownKey is how much of a key faults show, in bytes.
const shownKey = 64

func foreignKey(key []byte, from string) string {
	return fmt.Sprintf("Key %q (%s) is in slot %d, which is not one of the shard's",
		head(key, shownKey), from, slot.Of(key))
}

// failedFollowed ends it if a command has failed here, and reports that.
func (e *Engine) failedFollowed() bool {
	f := e.followed()
	if f == nil || f.over || e.Stats.UnexpectedErrors == f.errors {
		return false
	}
	e.endFollowed("A command of the other cluster's master has failed here: " + e.masterErrors.last)
	return true
}

// foreignKeys looks for keys of other slots than the followed shard's in the data set that has just
// been loaded. If there is one, that ends it.
func (e *Engine) foreignKeys() error {
	f := e.followed()
	if f == nil {
		return nil
	}
	for d := range e.KS.Databases() {
		db := e.KS.DB(d)
		for i := range slot.Count {
			if f.Slots.Has(i) || db.SlotLen(i) == 0 {
				continue
			}
			var why string
			db.SlotKeys(i, 1, func(x object.Entry) { why = foreignKey(x.Key(), "snapshot") })
			e.endFollowed(why)
			return errors.New(why)
		}
	}
	return nil
}

// showsFollowed reports whether a client may read keys that it asks for from the followed shard:
// nobody owns their slot yet, and it has said READONLY.
func (e *Engine) showsFollowed(c *Ctx, cl *Client, s callSlots) bool {
	f := e.followed()
	return f != nil && cl.ReadOnly && !s.cross && !s.shards && f.Slots.Has(s.slot.slot()) &&
		e.table.callFlags(c)&spec.Write == 0
}
