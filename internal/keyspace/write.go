package keyspace

import (
	"godwit/internal/object"
)

// KeepTTL as a deadline makes Set keep the deadline that the key has.
const KeepTTL int64 = -1

// Set stores v under key in the place of whatever is there, with a deadline in unix ms, 0 for none
// or KeepTTL. v must not alias the entry that is replaced. A key whose deadline has passed is
// expired first.
func (db *DB) Set(key []byte, v object.Value, deadline int64) object.Entry {
	h, old := db.liveToWrite(key)
	return db.set(h, old, key, &v, deadline)
}

// Overwrite is Set, and announces that a key which is there has another value altogether.
func (db *DB) Overwrite(key []byte, v object.Value, deadline int64) object.Entry {
	if db.ks.tellsOverwritten() {
		return db.overwrite(key, v, deadline)
	}
	return db.Set(key, v, deadline)
}

// OverwriteString is Overwrite for the bytes of a string.
func (db *DB) OverwriteString(key, b []byte, deadline int64) object.Entry {
	if db.ks.tellsOverwritten() {
		return db.overwrite(key, object.StringValue(b), deadline)
	}
	return db.SetString(key, b, deadline)
}

func (db *DB) overwrite(key []byte, v object.Value, deadline int64) object.Entry {
	h, old := db.liveToWrite(key)
	was := typeOf(old)
	e := db.set(h, old, key, &v, deadline)
	db.Overwritten(key, was, v.Type)
	return e
}

// NoType stands for the type of a missing key.
const NoType object.Type = 0xff

// tellsOverwritten reports whether Overwritten has something to announce.
func (ks *Keyspace) tellsOverwritten() bool {
	return ks.P.Events&(EvOverwritten|EvTypeChanged) != 0
}

func typeOf(e object.Entry) object.Type {
	if e.Exists() {
		return e.Type()
	}
	return NoType
}

// TypeAt returns the type of the key's value for Overwritten. It returns NoType if there is no
// value, or if Overwritten has nothing to announce.
func (db *DB) TypeAt(key []byte) object.Type {
	if !db.ks.tellsOverwritten() {
		return NoType
	}
	return typeOf(db.Peek(key))
}

// Overwritten announces that a key has another value altogether. was is what TypeAt said before.
func (db *DB) Overwritten(key []byte, was, is object.Type) {
	if was == NoType {
		return
	}
	db.ks.Notify(EvOverwritten, "overwritten", key, db.id)
	if was != is {
		db.ks.Notify(EvTypeChanged, "type_changed", key, db.id)
	}
}

// SetString is Set for the bytes of a string.
func (db *DB) SetString(key, b []byte, deadline int64) object.Entry {
	var v object.Value
	v.SetString(b)
	h, old := db.liveToWrite(key)
	return db.set(h, old, key, &v, deadline)
}

// set stores v in the place of old, which may be missing. Values come by pointer from here on: they
// are large, and a copy that reads what was just written waits for the write.
func (db *DB) set(h uint64, old object.Entry, key []byte, v *object.Value,
	deadline int64) object.Entry {
	ks := db.ks
	if !old.Exists() {
		return db.insert(h, key, v, deadline)
	}
	db.preserve(old)
	db.disarm(h, old)
	was := old.Deadline()
	if deadline == KeepTTL {
		deadline = was
	}
	var owned object.Owned
	owns := old.Owns()
	if owns {
		owned = ks.Heap.Take(old)
	}
	ne := old
	if !old.Overwrite(v, deadline) {
		m := old.Meta()
		m.Deadline = deadline
		ne = object.Build(ks.A, key, v, m)
		db.store.replace(h, old.Ref, ne.Ref)
		old.FreeBlock(ks.A)
	}
	if owns {
		ks.freeOwned(owned, ks.P.LazyServerDel)
	}
	ne.SetLRU(ks.freshLRU())
	ne.SetEpoch(ks.Heap.Epoch)
	db.deadlineChanged(h, ne, was, deadline)
	return ne
}

// insert adds a key that is known to be absent, and announces it as new.
func (db *DB) insert(h uint64, key []byte, v *object.Value, deadline int64) object.Entry {
	e := db.place(h, key, v, deadline)
	db.ks.Notify(EvNew, "new", key, db.id)
	return e
}

// place is insert without the announcement.
func (db *DB) place(h uint64, key []byte, v *object.Value, deadline int64) object.Entry {
	ks := db.ks
	if deadline == KeepTTL {
		deadline = 0
	}
	m := object.Meta{Deadline: deadline, LRU: ks.freshLRU(), Epoch: ks.Heap.Epoch}
	e := object.Build(ks.A, key, v, m)
	db.store.insert(h, e.Ref)
	db.deadlineChanged(h, e, 0, deadline)
	db.announce(key, v.Type)
	return e
}

// announce tells the hooks of a new key that clients may wait for.
func (db *DB) announce(key []byte, t object.Type) {
	if t.Description().Awaited {
		db.ks.hooks.Ready(key, db.id, t)
	}
}

// deadlineChanged keeps counts and the timing wheel in step with an entry whose deadline went from
// was to is (0: none).
func (db *DB) deadlineChanged(h uint64, e object.Entry, was, is int64) {
	switch {
	case was == is:
		return
	case is == 0:
		db.countDeadline(h, -1, was)
		return
	case was == 0:
		db.countDeadline(h, 1, is)
	default:
		db.countTTL(h, is-was)
		if was <= is { // the record of the earlier deadline is put back when it fires
			return
		}
	}
	db.arm(h, e, is)
}

// countDeadline counts a key with a deadline that comes (n is 1) or goes (-1).
func (db *DB) countDeadline(h uint64, n int, deadline int64) {
	db.store.expires += n
	db.ks.wheel.live += n
	if t := db.store.slots; t != nil {
		t.tally(slotOf(h)).expires += n
	}
	db.countTTL(h, int64(n)*deadline)
}

// countTTL counts deadlines that have changed by ms in all.
func (db *DB) countTTL(h uint64, ms int64) {
	db.store.ttlSum += ms
	if t := db.store.slots; t != nil {
		t.tally(slotOf(h)).ttlSum += ms
	}
}

// SetInt overwrites the integer of e, whose encoding is EncInt, in place.
func (db *DB) SetInt(e object.Entry, n int64) {
	db.preserve(e)
	e.SetInt(n)
}

// SetDeadline gives the key of e a new deadline (unix ms) or, with 0, takes it away. It returns the
// entry, which may have moved.
func (db *DB) SetDeadline(e object.Entry, deadline int64) object.Entry {
	was := e.Deadline()
	if was == deadline {
		return e
	}
	db.preserve(e)
	h := db.ks.Hash(e.Key())
	if !e.SetDeadline(deadline) {
		m := e.Meta()
		m.Deadline = deadline
		e = db.move(h, e, m)
	}
	db.deadlineChanged(h, e, was, deadline)
	return e
}

// move rebuilds the entry with other metadata in the same slot.
func (db *DB) move(h uint64, e object.Entry, m object.Meta) object.Entry {
	old := e.Ref
	v := e.Value()
	ne := object.Build(db.ks.A, e.Key(), &v, m)
	db.store.replace(h, old, ne.Ref)
	e.FreeBlock(db.ks.A)
	return ne
}

// Mutable makes the string value of e growable, at least n bytes long (new bytes are zero), and
// returns it for changes. The encoding becomes raw, as Redis's does for APPEND, SETRANGE and
// SETBIT.
func (db *DB) Mutable(e object.Entry, n int) object.StringEdit {
	return db.ks.Heap.Grow(db.growing(e, n), n)
}

// Resize is Mutable for a string that may also get shorter: it makes it n bytes long (n not 0, new
// bytes undefined). It returns the entry, which may have moved, and its bytes to write to, with
// capacity for room more.
func (db *DB) Resize(e object.Entry, n, room int) (object.Entry, []byte) {
	e = db.growing(e, 0)
	return e, db.ks.Heap.Resize(e, n, room)
}

// growing returns the entry with its string growable, with room for n bytes. It may have moved.
func (db *DB) growing(e object.Entry, n int) object.Entry {
	db.preserve(e)
	if e.Encoding() == object.EncSDS {
		return e
	}
	h, old := db.ks.Hash(e.Key()), e.Ref
	e = e.ToSDS(db.ks.A, n)
	db.store.replace(h, old, e.Ref)
	return e
}

// NewMutable creates a key with a growable string of n zero bytes. A lookup must have found the key
// absent.
func (db *DB) NewMutable(key []byte, n int) object.StringEdit {
	v := object.RawValue(nil)
	e := db.insert(db.ks.Hash(key), key, &v, 0)
	return db.Mutable(e, n)
}

// Delete removes the key and reports whether it was there. Big values are freed in slices. A key
// that has expired counts as absent, unless time only hides it: then it is deleted like any other,
// as on a replica of Redis.
func (db *DB) Delete(key []byte) bool { return db.remove(key, db.ks.P.LazyUserDel) }

// Unlink deletes like Delete, but never frees more than a small value at once.
func (db *DB) Unlink(key []byte) bool { return db.remove(key, true) }

func (db *DB) remove(key []byte, lazy bool) bool {
	h, e := db.live(key)
	if db.ks.mode == ExpireHide {
		h, e = db.find(key)
	}
	if !e.Exists() {
		return false
	}
	db.drop(h, e, lazy)
	return true
}

// drop takes the entry out of the table and frees it.
func (db *DB) drop(h uint64, e object.Entry, lazy bool) {
	db.preserve(e)
	db.store.remove(h, e.Ref)
	db.forget(h, e)
	db.ks.freeEntry(e, lazy)
}

// forget undoes the counts of an entry that leaves the database.
func (db *DB) forget(h uint64, e object.Entry) {
	if d := e.Deadline(); d != 0 {
		db.countDeadline(h, -1, d)
	}
	db.disarm(h, e)
}

func (ks *Keyspace) freeEntry(e object.Entry, lazy bool) {
	if e.Owns() {
		ks.freeOwned(ks.Heap.Take(e), lazy)
	}
	e.FreeBlock(ks.A)
}

// Rename moves the value of src to dst in the same database and replaces dst; the deadline goes
// along. Both must be different and src must exist.
func (db *DB) Rename(src, dst []byte) { db.transfer(src, db, dst) }

// MoveTo moves the key to another database, where it must be absent.
func (db *DB) MoveTo(key []byte, to *DB) { db.transfer(key, to, key) }

func (db *DB) transfer(src []byte, to *DB, dst []byte) {
	ks := db.ks
	h, e := db.find(src)
	db.preserve(e)
	m := e.Meta()
	v := e.Value()
	to.remove(dst, ks.P.LazyServerDel)
	h2 := ks.Hash(dst)
	ne := object.Build(ks.A, dst, &v, m)
	to.store.insert(h2, ne.Ref)
	to.deadlineChanged(h2, ne, 0, m.Deadline)
	db.store.remove(h, e.Ref)
	db.forget(h, e)
	e.FreeBlock(ks.A)
	to.rearmFields(ne)
	to.announce(dst, v.Type)
	ks.Notify(EvNew, "new", dst, to.id)
}

// Copy makes a deep copy of the entry under dst in the database to, replacing what is there.
func (db *DB) Copy(e object.Entry, to *DB, dst []byte) {
	ks := db.ks
	v := e.Value().Clone(ks.Heap)
	deadline := e.Deadline()
	to.remove(dst, ks.P.LazyServerDel)
	to.rearmFields(to.insert(ks.Hash(dst), dst, &v, deadline))
}

// Swap exchanges the contents of two databases.
func (ks *Keyspace) Swap(i, j int) {
	a, b := ks.dbs[i], ks.dbs[j]
	a.content, b.content = b.content, a.content
	ks.byWheel[a.wheelID], ks.byWheel[b.wheelID] = a, b
}

// Flush empties the database and returns the number of its keys. async queues them to be freed in
// slices, else they are freed now. Keys that a snapshot has still to walk are left to that, which
// frees them.
func (db *DB) Flush(async bool) int {
	ks, old := db.ks, db.store
	n := old.len()
	if n == 0 && old.slots == nil {
		ks.resetWheels(async)
		return 0
	}
	ks.settleSizes()
	db.store = ks.newStore()
	old.unlist()
	ks.dropStore(old, ks.snap.keeps(old), async)
	return n
}

// dropStore frees what a database has dropped, unless it is kept for the snapshot.
func (ks *Keyspace) dropStore(old *store, kept, async bool) {
	ks.wheel.live -= old.expires
	ks.fields.live -= old.armed
	switch {
	case kept:
	case async && old.len() > 0:
		ks.queueStore(old, ks.keys())
	default:
		for !old.drain(1<<20, ks.freeRef) {
		}
	}
	ks.resetWheels(async)
}
