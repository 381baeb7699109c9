package engine

import (
	"bytes"
	"strconv"

	"godwit/internal/keyspace"
	"godwit/internal/object"
	"godwit/internal/slot"
)

// strayKeys are keys of slots that another shard owns: they stay behind when a slot moves, or come
// with files of before. The master deletes them in slices, and its replicas follow. Keys in a slot
// that was imported but never owned stay (topology.Shard.Kept).
type strayKeys struct {
	foreign slot.Set // slots whose keys must go
	next    int      // slots before it are done with; slot.Count: all are
	begun   bool     // foreign is known
	keys    int      // deleted so far
}

// pending reports whether slots are left to be looked at.
func (s *strayKeys) pending() bool { return s.begun && s.next < slot.Count }

// findStrays is called with each new topology and the slots that this node's shard has lost by it.
// A node that begins to lead looks at all slots. Keys of slots that nobody owned stay when another
// shard gets these: tools that repair a cluster give such a slot to the node that has most of its
// keys, and then move the others' keys to it.
func (e *Engine) findStrays(lost *slot.Set) {
	s, v := &e.strays, &e.cluster
	if !v.leads() {
		*s = strayKeys{}
		return
	}
	var others slot.Set
	for _, sh := range v.state.Shards {
		if sh != v.shard {
			others.Union(&sh.Slots)
		}
	}
	foreign := s.foreign
	foreign.Union(lost)
	if !s.begun {
		foreign = others
	}
	foreign = foreign.Common(&others)
	foreign.Subtract(&v.shard.Kept)
	for i, m := range v.state.Marks {
		if m.Importing != "" && m.To == v.shard.ID {
			foreign.Remove(i)
		}
	}
	for _, m := range e.migrations.imports {
		if !m.clearing() {
			foreign.Subtract(&m.slots)
		}
	}
	if !s.begun || foreign != s.foreign {
		*s = strayKeys{foreign: foreign, begun: true}
	}
}

// hideSlots hides the keys that are in no slot of this node's shard: those that a migration brings,
// and those that will be deleted. Keys that are imported one by one, or were, are shown.
func (e *Engine) hideSlots() {
	s, v := &e.strays, &e.cluster
	hidden := e.migrations.importing()
	hidden.Union(&v.lone)
	switch {
	case v.shard == nil:
		e.KS.Hide(&hidden)
		return
	case !v.leads():
		for _, sh := range v.state.Shards {
			if sh != v.shard {
				hidden.Union(&sh.Slots)
			}
		}
		for i, m := range v.state.Marks {
			if m.Importing != "" && m.To == v.shard.ID {
				hidden.Remove(i)
			}
		}
		hidden.Subtract(&v.shard.Kept)
	case s.pending():
		hidden.Union(&s.foreign)
	}
	hidden.Union(&v.shard.Half)
	e.KS.Hide(&hidden)
}

// dropStrays deletes some keys of foreign slots. It reports whether there is more to do.
func (e *Engine) dropStrays() (more bool) {
	s := &e.strays
	if !e.mayDrop() {
		return false // later
	}
	for looked := 0; s.next < slot.Count; looked++ {
		if looked == slotStride {
			return true
		}
		if n := s.next; s.foreign.Has(n) && e.dropFromSlot(n, lazyStride) {
			return true
		}
		s.next++
	}
	e.hideSlots()
	if s.keys > 0 {
		e.Log.Notice("Deleted %d keys in slots that are assigned to other nodes", s.keys)
	}
	return false
}

// mayDrop reports whether keys of slots may be deleted now that nobody here uses.
func (e *Engine) mayDrop() bool {
	return e.cluster.leads() && !e.loading.on && !e.pause.active && e.leaseLasts()
}

// dropSlots deletes the keys of slots, which clients have not seen, in a time that does not depend
// on their number, which it returns.
func (e *Engine) dropSlots(slots *slot.Set) (keys int) {
	slots.Each(func(i int) bool {
		n := 0
		for d := range e.KS.Databases() {
			n += e.KS.DB(d).FlushSlot(i, true)
		}
		if n == 0 {
			return true
		}
		keys += n
		e.Stats.Dirty += int64(n)
		if e.Feed.Attached() != 0 {
			e.Feed.Send(e.ownTargets(), 0, [][]byte{flushSlotWords[0], flushSlotWords[1],
				strconv.AppendInt(nil, int64(i), 10)})
		}
		return true
	})
	return keys
}

var flushSlotWords = [2][]byte{[]byte("CLUSTER"), []byte("FLUSHSLOT")}

// slotStride is how many slots are looked at between two looks at the clock.
const slotStride = 1024

// dropFromSlot deletes up to n keys of a slot, and reports whether it has deleted any.
func (e *Engine) dropFromSlot(i, n int) bool {
	for d := range e.KS.Databases() {
		db := e.KS.DB(d)
		before := db.SlotLen(i)
		if before == 0 {
			continue
		}
		if e.strays.keys == 0 {
			e.Log.Notice("I have keys for slot %d, but the slot is assigned to another node. "+
				"Deleting keys in the slot, and in others of which that is true.", i)
		}
		var keys [][]byte
		db.SlotKeys(i, n, func(x object.Entry) { keys = append(keys, bytes.Clone(x.Key())) })
		for _, key := range keys {
			if !db.Unlink(key) {
				continue // it was due, and is gone
			}
			e.Stats.Dirty++
			if e.Feed.Attached() != 0 {
				e.Feed.Send(e.ownTargets(), d, [][]byte{[]byte("UNLINK"), key})
			}
			e.changed(key, d, nil)
			e.KS.Notify(keyspace.EvGeneric, "del", key, d)
		}
		e.strays.keys += before - db.SlotLen(i)
		return db.SlotLen(i) < before
	}
	return false
}
