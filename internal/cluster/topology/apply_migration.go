package topology

import "strconv"

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
	if r := notMine(&a.Slots, &from.Slots); r != "" {
		return r
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
		ID: a.ID, Slots: a.Slots, From: a.From, To: a.To, SourceTerm: from.Term,
		TargetTerm: to.Term, Source: from.Master, Target: to.Master, Phase: Copying,
		Created: a.Created,
	})
	return ""
}

// Over reports whether the migration has ended.
func (m *Migration) Over() bool { return m.Phase != Copying && m.Phase != Closed }

// Migration returns the migration with the id, nil if there is none.
func (s *State) Migration(id string) *Migration {
	for _, m := range s.Migrations {
		if m.ID == id {
			return m
		}
	}
	return nil
}

func (a Advance) apply(e *entry) string {
	i, m := 0, (*Migration)(nil)
	for i, m = range e.Migrations {
		if m.ID == a.ID {
			break
		}
	}
	switch {
	case m == nil || m.ID != a.ID:
		return "ERR Unknown migration"
	case m.Phase == a.Phase:
		return ""
	case m.Over():
		return "ERR The migration has ended: " + string(m.Phase)
	case a.Phase == Closed && m.Phase == Copying:
		e.editMigration(i).Phase = Closed
		e.editShard(m.From).Closing.Union(&m.Slots)
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
	e.raise(e.editShard(m.To))
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
