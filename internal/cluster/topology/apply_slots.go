package topology

import (
	"strconv"

	"godwit/internal/slot"
)

func (a AddSlots) apply(e *entry) string {
	sh := e.mastered(a.Node)
	switch {
	case e.Nodes[a.Node] == nil:
		return unknownNode(a.Node)
	case sh == nil:
		return "ERR Please use ADDSLOTS only with masters."
	}
	all := e.owned()
	if busy := a.Slots.Common(&all); !busy.Empty() {
		return busySlot(first(&busy))
	}
	e.give(sh.ID, &a.Slots)
	e.tidyMarks()
	return ""
}

func (a DelSlots) apply(e *entry) string {
	sh := e.mastered(a.Node)
	switch {
	case e.Nodes[a.Node] == nil:
		return unknownNode(a.Node)
	case sh == nil:
		return "ERR Please use DELSLOTS only with masters."
	}
	if a.All {
		a.Slots = sh.Slots
	}
	all := e.owned()
	free := a.Slots
	if free.Subtract(&all); !free.Empty() {
		return "ERR Slot " + strconv.Itoa(first(&free)) + " is already unassigned"
	}
	mine := sh.Slots
	for _, o := range e.Shards {
		if o.Master == "" || e.lost(o) {
			mine.Union(&o.Slots)
		}
	}
	// Slots of others are not this node's, so nothing is to be done: redis-cli asks for that when
	// it repairs a move that was given up.
	a.Slots = a.Slots.Common(&mine)
	for _, id := range e.ShardIDs() {
		if common := a.Slots.Common(&e.Shards[id].Slots); !common.Empty() {
			e.take(id, &common)
		}
	}
	return ""
}

// lost reports whether all nodes of a shard have failed.
func (s *State) lost(sh *Shard) bool {
	for _, n := range s.Nodes {
		if n.Shard == sh.ID && !n.Failed {
			return false
		}
	}
	return true
}

// notMine refuses slots that are not among those of the own shard.
func notMine(slots, mine *slot.Set) string {
	foreign := *slots
	if foreign.Subtract(mine); foreign.Empty() {
		return ""
	}
	return "ERR I'm not the owner of hash slot " + strconv.Itoa(first(&foreign))
}

// give gives slots that nobody owns to a shard.
func (e *entry) give(id ShardID, slots *slot.Set) {
	sh := e.editShard(id)
	sh.Slots.Union(slots)
	sh.Kept.Subtract(slots)
	sh.Copy = false
}

// keep notes what a mark leaves behind that is about to go: the shard that imported the slot keeps
// the keys, unless it has become the owner.
func (e *entry) keep(m *Mark) {
	if sh := e.Shards[m.To]; sh != nil && !sh.Slots.Has(m.Slot) {
		e.editShard(m.To).Kept.Add(m.Slot)
	}
}

// take takes slots from the shard that owns them. Their migrations fail.
func (e *entry) take(id ShardID, slots *slot.Set) {
	e.endMigrations(func(m *Migration) bool {
		common := m.Slots.Common(slots)
		return m.From == id && !common.Empty()
	}, "The source does not own the slots any more")
	sh := e.editShard(id)
	sh.Slots.Subtract(slots)
	sh.Closing.Subtract(slots)
	e.tidyMarks()
}

func (a SetMark) apply(e *entry) string {
	sh := e.mastered(a.Node)
	other := a.Migrating + a.Importing
	switch {
	case e.Nodes[a.Node] == nil:
		return unknownNode(a.Node)
	case sh == nil:
		return errOnlyMasters
	case (a.Migrating == "") == (a.Importing == "") || a.Slot < 0 || a.Slot >= slot.Count:
		return errSlot
	case a.Migrating != "" && !sh.Slots.Has(a.Slot):
		return "ERR I'm not the owner of hash slot " + strconv.Itoa(a.Slot)
	case a.Importing != "" && sh.Slots.Has(a.Slot):
		return "ERR I'm already the owner of hash slot " + strconv.Itoa(a.Slot)
	case e.migrating(a.Slot):
		return SlotMigrates(a.Importing != "")
	case a.Importing != "" && sh.Half.Has(a.Slot):
		return "ERR Slot " + strconv.Itoa(a.Slot) + " still has keys of a migration that has " +
			"failed. They are being deleted. Try again"
	case e.Nodes[other] == nil:
		return "ERR I don't know about node " + string(other)
	case e.mastered(other) == nil:
		return "ERR Target node is not a master"
	case other == a.Node:
		return "ERR Target node is myself"
	}
	return a.set(e, sh.ID, e.Nodes[other].Shard)
}

func (a SetMark) set(e *entry, mine, other ShardID) string {
	var m Mark
	if old := e.Marks[a.Slot]; old != nil {
		m = *old
	}
	m.Slot = a.Slot
	if a.Migrating != "" {
		m.Migrating = other
	} else {
		if m.To != "" && m.To != mine {
			return "ERR Slot " + strconv.Itoa(a.Slot) + " is being imported by another shard"
		}
		m.Importing, m.To = other, mine
	}
	e.Marks[a.Slot] = &m
	return ""
}

const (
	errOnlyMasters = "ERR Please use SETSLOT only with masters."
	errSlot        = "ERR Invalid or out of range slot"
)

func (a Unmark) apply(e *entry) string {
	sh := e.mastered(a.Node)
	switch {
	case e.Nodes[a.Node] == nil:
		return unknownNode(a.Node)
	case sh == nil:
		return errOnlyMasters
	case a.Slot < 0 || a.Slot >= slot.Count:
		return errSlot
	}
	if old := e.Marks[a.Slot]; old != nil {
		m := *old
		if sh.Slots.Has(a.Slot) {
			m.Migrating = ""
		}
		if m.To == sh.ID {
			e.keep(&m)
			m.Importing, m.To = "", ""
		}
		e.Marks[a.Slot] = &m
		e.tidyMarks()
	}
	return ""
}

// tidyMarks removes what marks say that has no meaning any more: a slot migrates from its owner to
// another shard, and is imported by one that is not its owner.
func (e *entry) tidyMarks() {
	for i, old := range e.Marks {
		m := *old
		owner := e.Owner(i)
		if owner == nil || owner.ID == m.Migrating || e.Shards[m.Migrating] == nil {
			m.Migrating = ""
		}
		if e.Shards[m.Importing] == nil || e.Shards[m.To] == nil || owner == e.Shards[m.To] {
			e.keep(&m)
			m.Importing, m.To = "", ""
		}
		if m.Migrating == "" && m.To == "" {
			delete(e.Marks, i)
		} else if m != *old {
			e.Marks[i] = &m
		}
	}
}

func (a Close) apply(e *entry) string {
	sh := e.current(a.Shard, a.Term)
	if sh == nil || e.foreign(sh) {
		return errNoMaster
	}
	if r := notMine(&a.Slots, &sh.Slots); r != "" {
		return r
	}
	e.editShard(a.Shard).Closing.Union(&a.Slots)
	return ""
}

// foreign reports whether a node other than the shard's master wants something of the shard. The
// leader may.
func (e *entry) foreign(sh *Shard) bool { return e.by != "" && e.by != sh.Master }

func (a Open) apply(e *entry) string {
	if sh := e.Shards[a.Shard]; sh == nil || e.foreign(sh) {
		return errNoMaster
	}
	loose := e.Loose(a.Shard)
	slots := a.Slots.Common(&loose)
	e.editShard(a.Shard).Closing.Subtract(&slots)
	return ""
}

func (a Move) apply(e *entry) string {
	to := e.mastered(a.To)
	switch {
	case e.Nodes[a.To] == nil:
		return unknownNode(a.To)
	case to == nil:
		return "ERR Target node is not a master"
	case a.Slots.Empty():
		return errSlot
	}
	moved := a.Slots
	moved.Subtract(&to.Slots)
	for _, id := range e.ShardIDs() {
		loose, from := e.Loose(id), e.Shards[id]
		open := moved.Common(&from.Slots)
		if open.Subtract(&loose); from.Master != "" && !open.Empty() {
			return "ERR Slot " + strconv.Itoa(first(&open)) + " is not ready to be moved. Try again"
		}
	}
	raise := false
	for i, m := range e.Marks {
		if a.Slots.Has(i) {
			raise = raise || m.To == to.ID
			e.keep(m)
			delete(e.Marks, i)
		}
	}
	for _, id := range e.ShardIDs() {
		if common := moved.Common(&e.Shards[id].Slots); !common.Empty() {
			e.take(id, &common)
			if a.Keep {
				sh := e.editShard(id)
				common.Subtract(&sh.Half) // these keys go
				sh.Kept.Union(&common)
			}
			raise = true
		}
	}
	e.give(to.ID, &moved)
	if raise {
		e.raise(e.editShard(to.ID))
	}
	return ""
}
