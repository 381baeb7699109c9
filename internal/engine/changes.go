package engine

import (
	"bytes"
	"slices"

	"godwit/internal/keyspace"
	"godwit/internal/object"
)

// hooks implements keyspace.Hooks: what the keyspace reports to the engine.
type hooks struct{ e *Engine }

// KeyEvent implements keyspace.Hooks.
func (h hooks) KeyEvent(event string, key []byte, db int) { h.e.keyEvent(event, key, db) }

// FieldEvent implements keyspace.Hooks.
func (h hooks) FieldEvent(event string, key []byte, fields keyspace.FieldNames, db int) {
	h.e.fieldEvent(event, key, fields, db)
}

// KeyChanged implements keyspace.Hooks: expiry or eviction has changed the key.
func (h hooks) KeyChanged(key []byte, db int) {
	h.e.changed(key, db, nil)
}

// Ready implements keyspace.Hooks.
func (h hooks) Ready(key []byte, db int, t object.Type) { h.e.blocking.keyReady(key, db, t) }

// FieldExpired implements keyspace.Hooks: like a key's, the end of a field is explicit for all
// targets.
func (h hooks) FieldExpired(key, field []byte, db int) {
	h.e.Stats.Dirty++
	if h.e.Feed.Attached() != 0 {
		h.e.Feed.Send(h.e.ownTargets(), db, [][]byte{[]byte("HDEL"), key, field})
	}
}

// Removed implements keyspace.Hooks: an expired or evicted key is propagated as an explicit DEL, so
// that AOF and replicas never look at a clock. All targets get it, whatever a script has chosen for
// its own commands.
func (h hooks) Removed(key []byte, db int, _ bool) {
	h.e.Stats.Dirty++
	if h.e.Feed.Attached() != 0 {
		h.e.Feed.Send(h.e.ownTargets(), db, [][]byte{[]byte("DEL"), key})
	}
}

// changed tells WATCH, client-side caching and waiting clients that a key has changed. by is the
// client whose command did it, nil for expiry and eviction.
func (e *Engine) changed(key []byte, db int, by *Client) {
	if e.confirm.written != nil {
		e.confirm.keyWritten(key)
	}
	if e.repl.master != nil {
		e.noteLocal(key, db, by)
	}
	e.keyChanged(key, db)
	e.keyInvalid(key, by)
	e.blocking.keyChanged(key, db)
}

// Changed announces that a key of the client's database has another value, or none any more. WATCH,
// client-side caching and waiting clients hear of it.
func (c *Ctx) Changed(key []byte) { c.ChangedIn(c.DB, key) }

// ChangedIn does what Changed does, for a key of another database.
func (c *Ctx) ChangedIn(db *keyspace.DB, key []byte) {
	db.Modified(key)
	c.E.changed(key, db.ID(), c.E.current)
}

// databaseChanging marks those who watch a key of the database that exists in one of dbs, and notes
// the key for those who wait for its changes. The database is about to be emptied, or exchanged
// with the other.
func (e *Engine) databaseChanging(db int, dbs ...int) {
	t, b := &e.watching, &e.blocking
	e.confirm.all = e.confirm.written != nil
	exists := func(key []byte) bool {
		return slices.ContainsFunc(dbs, func(d int) bool {
			db := e.KS.DB(d)
			return db.Len() > 0 && db.Peek(key).Exists()
		})
	}
	if b.wide > 0 {
		for _, q := range b.queuesOf(db) {
			if q.wide > 0 && exists(q.key) {
				b.note(q, WaitChange)
			}
		}
	}
	if t.clients == 0 {
		return
	}
	for _, k := range t.dbs[db] { // entries may be removed on the way
		if exists([]byte(k.key)) {
			t.touch(k)
		}
	}
}

// FlushDB empties a database as keyspace.DB.Flush does, and tells those who watch its keys. It
// returns the number of keys that there were.
func (e *Engine) FlushDB(db *keyspace.DB, async bool) int {
	e.databaseChanging(db.ID(), db.ID())
	return db.Flush(async)
}

// FlushSlot deletes all keys of a slot in all databases and returns their number. Unlike FlushDB it
// announces each key, as Valkey does, if anybody may want to hear of it; that is O(keys).
func (e *Engine) FlushSlot(i int, async bool) (n int) {
	for d := range e.KS.Databases() {
		n += e.FlushSlotIn(e.KS.DB(d), i, async)
	}
	return n
}

// FlushSlotIn is FlushSlot for one database.
func (e *Engine) FlushSlotIn(db *keyspace.DB, i int, async bool) (n int) {
	var keys [][]byte
	if e.hearsOfKeys() {
		db.SlotKeys(i, db.SlotLen(i), func(x object.Entry) {
			keys = append(keys, bytes.Clone(x.Key()))
		})
	}
	n = db.FlushSlot(i, async)
	for _, key := range keys {
		e.changed(key, db.ID(), e.current)
		e.KS.Notify(keyspace.EvGeneric, "del", key, db.ID())
	}
	return n
}

// hearsOfKeys reports whether anybody may want to hear of single keys that change.
func (e *Engine) hearsOfKeys() bool {
	m := e.repl.master
	return e.confirm.written != nil || m != nil && len(m.local) > 0 || e.watching.clients > 0 ||
		e.tracking.clients > 0 || e.blocking.wide > 0 || e.KS.P.Events != 0
}

// SwapDBs exchanges two databases. Clients keep the number of theirs, so what they wait for may be
// there now.
func (e *Engine) SwapDBs(i, j int) {
	if i != j {
		e.databaseChanging(i, i, j)
		e.databaseChanging(j, i, j)
	}
	e.KS.Swap(i, j)
	e.swapLocal(i, j)
	e.databaseChanged(i)
	e.databaseChanged(j)
}

// databaseChanged notes keys for those who wait for them, in a database that has another content
// now.
func (e *Engine) databaseChanged(db int) {
	b := &e.blocking
	for _, q := range b.queuesOf(db) {
		if key := e.KS.DB(db).Peek(q.key); key.Exists() && b.types[key.Type()] > 0 {
			b.note(q, WaitArrival)
		}
	}
}
