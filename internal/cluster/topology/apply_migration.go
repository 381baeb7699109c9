package topology

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"godwit/internal/slot"
)

func (a Begin) apply(e *entry) string {
	from, to := e.Shards[a.From], e.Shards[a.To]
	switch {
	case !ValidID(a.ID):
		return "ERR Invalid id of a migration"
	case from == nil || from.Master == "" || to == nil || to.Master == "":
		return errNoMaster
	case a.From == a.To:
		return "ERR The source and the destination are the same shard"
	case a.Slots.Empty():
		return errSlot
	}
	if r := e.unequal(from.Master, to.Master); r != "" {
		return r
	}
	foreign := a.Slots
	if foreign.Subtract(&from.Slots); !foreign.Empty() {
		return "ERR The source does not own hash slot " + strconv.Itoa(first(&foreign))
	}
	for _, m := range e.Migrations {
		if m.ID == a.ID {
			return "ERR Migration " + a.ID + " exists already"
		}
		if common := m.Slots.Common(&a.Slots); !m.Over() && !common.Empty() {
			return "ERR Slot " + strconv.Itoa(first(&common)) + " is being migrated already"
		}
	}
	if closing := from.Closing.Common(&a.Slots); !closing.Empty() {
		return "ERR Slot " + strconv.Itoa(first(&closing)) + " is being moved already"
	}
	for i := range e.Marks {
		if a.Slots.Has(i) {
			return "ERR Slots are migrating or importing key by key (CLUSTER SETSLOT)"
		}
	}
	e.Migrations = append(e.Migrations, &Migration{
		ID: a.ID, Slots: a.Slots, Asked: a.Asked, From: a.From, To: a.To, SourceTerm: from.Term,
		TargetTerm: to.Term, Source: from.Master, Target: to.Master, Phase: Copying,
		Created: a.Created,
	})
	return ""
}

// unequal returns why keys cannot move from one node to another, whatever they are. It returns ""
// if they can, as far as the nodes have told.
func (e *entry) unequal(from, to NodeID) string {
	a, b := e.Nodes[from].About.Databases, e.Nodes[to].About.Databases
	if a == 0 || b == 0 || a == b {
		return ""
	}
	return fmt.Sprintf("ERR The source has %d databases and the destination %d: "+
		"cluster-databases must be the same on all nodes", a, b)
}

func (a BeginAll) apply(e *entry) string {
	before := e.Migrations
	for _, b := range a.List {
		if r := b.apply(e); r != "" {
			e.Migrations = before
			return r
		}
	}
	return ""
}

// Ranges returns the slots as CLUSTER MIGRATION STATUS writes them: "0-9 12-12".
func (m *Migration) Ranges() string { return Ranges(m.Slots.Ranges()) }

// Ranges writes ranges as Migration.Ranges does.
func Ranges(list []slot.Range) string {
	var b strings.Builder
	for i, r := range list {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%d-%d", r.First, r.Last)
	}
	return b.String()
}

// Over reports whether the migration has ended.
func (m *Migration) Over() bool { return m.Phase != Copying && m.Phase != Closed }

// Migration returns the migration with the id, nil if there is none.
func (s *State) Migration(id string) *Migration {
	_, m := s.migration(id)
	return m
}

// migration returns the migration with the id and its place in the list, nil if there is none.
func (s *State) migration(id string) (int, *Migration) {
	for i, m := range s.Migrations {
		if m.ID == id {
			return i, m
		}
	}
	return 0, nil
}

// SlotMigrates returns the refusal of CLUSTER SETSLOT for a slot that a migration moves: into the
// node's shard, or out of it.
func SlotMigrates(in bool) string {
	if in {
		return "ERR Slot import in progress."
	}
	return "ERR Slot export in progress."
}

// migrating reports whether a migration is under way that moves the slot.
func (s *State) migrating(i int) bool {
	return slices.ContainsFunc(s.Migrations, func(m *Migration) bool {
		return !m.Over() && m.Slots.Has(i)
	})
}

// Refusals of Advance when there is nothing left to advance.
const (
	errUnknownMigration = "ERR Unknown migration"
	errMigrationOver    = "ERR The migration has ended: "
)

// MigrationOver reports whether the refusal of an Advance says that the migration has ended before.
func MigrationOver(refusal string) bool {
	return refusal == errUnknownMigration || strings.HasPrefix(refusal, errMigrationOver)
}

func (a Receive) apply(e *entry) string {
	i, m := e.migration(a.ID)
	switch {
	case m == nil:
		return errUnknownMigration
	case m.Over():
		return errMigrationOver + string(m.Phase)
	case e.by != m.Target:
		return "ERR Only the destination knows which keys it has"
	case m.Ready:
		return ""
	case m.Phase != Copying:
		return "ERR The migration is in phase " + string(m.Phase)
	}
	e.editMigration(i).Ready = true
	to := e.editShard(m.To)
	to.Half.Union(&m.Slots)
	to.HalfAt = e.index
	to.Kept.Subtract(&m.Slots)
	to.Before = nil // it leads, for it asks for this
	return ""
}

func (a Dropped) apply(e *entry) string {
	sh := e.current(a.Shard, a.Term)
	switch {
	case sh == nil || e.foreign(sh) || sh.Before != nil: // the one before may be the last again
		return errNoMaster
	case a.Seen < sh.HalfAt:
		return "ERR Keys of another migration may have come meanwhile"
	}
	slots := a.Slots
	comes := e.Coming(a.Shard)
	slots.Subtract(&comes)
	e.editShard(a.Shard).Half.Subtract(&slots)
	return ""
}

// Coming returns the slots that migrations under way bring to a shard.
func (s *State) Coming(id ShardID) (slots slot.Set) {
	for _, m := range s.Migrations {
		if m.To == id && !m.Over() {
			slots.Union(&m.Slots)
		}
	}
	return slots
}

func (a Advance) apply(e *entry) string {
	i, m := e.migration(a.ID)
	switch {
	case m == nil:
		return errUnknownMigration
	case m.Phase == a.Phase:
		return ""
	case m.Over():
		return errMigrationOver + string(m.Phase)
	case a.Phase == Closed && m.Phase == Copying && m.Ready:
		m = e.editMigration(i)
		m.Phase, m.Paused = Closed, a.At
		e.editShard(m.From).Closing.Union(&m.Slots)
	case a.Phase == Done && e.by != m.Target:
		return "ERR Only the destination knows that it has all keys"
	case a.Phase == Done && m.Phase == Closed:
		e.finish(i, a.At)
	case a.Phase == Failed || a.Phase == Cancelled:
		e.end(i, a.Phase, a.Message, a.At)
		e.trimMigrations()
	default:
		return "ERR The migration is in phase " + string(m.Phase)
	}
	return ""
}

// finish gives the slots of a closed migration to its destination.
func (e *entry) finish(i int, at int64) {
	m := e.editMigration(i)
	m.Phase, m.Ended = Done, at
	from := e.editShard(m.From)
	from.Slots.Subtract(&m.Slots)
	from.Closing.Subtract(&m.Slots)
	e.give(m.To, &m.Slots)
	to := e.editShard(m.To)
	to.Half.Subtract(&m.Slots)
	e.raise(to)
	for s, mark := range e.Marks {
		if m.Slots.Has(s) {
			e.keep(mark)
			delete(e.Marks, s)
		}
	}
	e.trimMigrations()
}

// end ends a migration under way without having moved anything.
func (e *entry) end(i int, phase Phase, why string, at int64) {
	m := e.editMigration(i)
	if m.Phase == Closed {
		e.editShard(m.From).Closing.Subtract(&m.Slots)
	}
	m.Phase, m.Message, m.Ended = phase, why, at
}

// endMigrations lets those migrations fail that are under way and chosen.
func (e *entry) endMigrations(choose func(*Migration) bool, why string) {
	for i, m := range e.Migrations {
		if !m.Over() && choose(m) {
			e.end(i, Failed, why, 0)
		}
	}
	e.trimMigrations()
}

// trimMigrations drops the oldest that have ended.
func (e *entry) trimMigrations() {
	over := 0
	for _, m := range e.Migrations {
		if m.Over() {
			over++
		}
	}
	var kept []*Migration
	for _, m := range e.Migrations {
		if m.Over() && over > keepMigrations {
			over--
			continue
		}
		kept = append(kept, m)
	}
	e.Migrations = kept
}
