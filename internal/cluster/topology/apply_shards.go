package topology

import (
	"math"
	"slices"

	"godwit/internal/slot"
)

// current returns the shard if it has a master and that term.
func (e *entry) current(id ShardID, term uint64) *Shard {
	if sh := e.Shards[id]; sh != nil && sh.Term == term && sh.Master != "" {
		return sh
	}
	return nil
}

func (a Vacate) apply(e *entry) string {
	if e.current(a.Shard, a.Term) == nil {
		return errNoMaster
	}
	if a.Hold < 0 {
		return "ERR A time cannot be negative"
	}
	e.vacate(a.Shard)
	e.editShard(a.Shard).Hold = a.Hold
	return ""
}

// vacate takes the shard from its master. Nothing moves from a shard without one, so its slots are
// open. A master that has not taken its promotion up counts for nothing: it may have been dead when
// it was promoted, and no write of its counts as confirmed by replicas.
func (e *entry) vacate(id ShardID) {
	e.endMigrations(func(m *Migration) bool { return m.From == id || m.To == id },
		"The master of the shard has changed")
	sh := e.editShard(id)
	sh.Last, sh.Master, sh.Hold, sh.Closing = sh.Master, "", 0, slot.Set{}
	if b := sh.Before; b != nil {
		sh.Last, sh.Boot, sh.Before = b.Last, b.Boot, nil
		e.setInSync(sh, b.InSync)
	}
}

func (a Promote) apply(e *entry) string {
	sh, n := e.Shards[a.Shard], e.Nodes[a.Node]
	switch {
	case sh == nil || sh.Term != a.Term || sh.Master != "":
		return errNoMaster
	case n == nil:
		return unknownNode(a.Node)
	case n.Shard != a.Shard:
		return "ERR Node " + string(a.Node) + " is not in the shard"
	case n.Boot != a.Boot:
		return "ERR Node " + string(a.Node) + " has started anew"
	case !a.Force && sh.Confirm > 0 && a.Node != sh.Last && !slices.Contains(sh.InSync, a.Node):
		return "ERR Node " + string(a.Node) + " may lack writes that were acknowledged"
	}
	sh = e.editShard(a.Shard)
	sh.Bare, sh.Before = a.Bare, &Before{sh.Last, sh.Boot, sh.InSync}
	sh.Master, sh.Last, sh.Boot, sh.Hold = a.Node, a.Node, n.Boot, 0
	e.setInSync(sh, without(sh.InSync, a.Node))
	sh.Term++
	e.Epoch++
	sh.Epoch = e.Epoch
	return ""
}

func (a Decline) apply(e *entry) string {
	sh := e.current(a.Shard, a.Term)
	if sh == nil || sh.Before == nil {
		return errNoMaster
	}
	master := sh.Master
	e.vacate(a.Shard)
	sh = e.editShard(a.Shard)
	e.setInSync(sh, without(sh.InSync, master))
	return ""
}

func (a SetInSync) apply(e *entry) string {
	switch sh := e.current(a.Shard, a.Term); {
	case sh == nil || sh.Boot != a.Boot:
		return errNoMaster
	case a.Seen < sh.SyncAt:
		return errSyncChanged
	}
	list := slices.Clone(a.InSync)
	slices.Sort(list)
	list = slices.Compact(list)
	for _, id := range list {
		n := e.Nodes[id]
		switch {
		case n == nil:
			return unknownNode(id)
		case n.Shard != a.Shard || id == e.Shards[a.Shard].Master:
			return "ERR Node " + string(id) + " is not a replica of the shard"
		}
	}
	if a.Confirm < 0 {
		return "ERR Invalid number of replicas"
	}
	sh := e.editShard(a.Shard)
	sh.Confirm, sh.Before = a.Confirm, nil
	e.setInSync(sh, list)
	return ""
}

// setInSync gives the shard, which may be changed, another set.
func (e *entry) setInSync(sh *Shard, list []NodeID) { sh.InSync, sh.SyncAt = list, e.index }

func (a SetEpoch) apply(e *entry) string {
	sh := e.ShardOf(a.Node)
	switch {
	case sh == nil:
		return unknownNode(a.Node)
	case len(e.Nodes) > 1:
		return "ERR The user can assign a config epoch only when the node does not know any other" +
			" node."
	case sh.Epoch != 0:
		return "ERR Node config epoch is already non-zero"
	case a.Epoch > math.MaxInt64:
		return invalidEpoch(a.Epoch)
	}
	e.editShard(sh.ID).Epoch = a.Epoch
	e.Epoch = max(e.Epoch, a.Epoch)
	return ""
}

func (a Bump) apply(e *entry) string {
	sh := e.ShardOf(a.Node)
	if sh == nil {
		return unknownNode(a.Node)
	}
	e.raise(e.editShard(sh.ID))
	return ""
}
