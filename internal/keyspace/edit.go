package keyspace

import (
	"godwit/internal/arena"
	"godwit/internal/object"
)

// Open returns an Edit for the value of an entry that a lookup returned. It is valid until the
// command ends, or the key is changed or removed in another way. At most eight are open at once.
func (db *DB) Open(e object.Entry) *object.Edit {
	ks := db.ks
	x := &ks.edits[ks.nextEd&7]
	ks.nextEd++
	x.Reset(ks.Heap, e, db)
	return x
}

// Create stores a packed collection under a key that a lookup has found absent, and opens it. If it
// is empty, the caller adds elements before the command ends.
func (db *DB) Create(key []byte, t object.Type, enc object.Encoding, packed []byte) *object.Edit {
	v := object.PackedValue(db.ks.A, t, enc, packed)
	return db.Open(db.insert(db.ks.Hash(key), key, &v, 0))
}

// CreateOver is Create for a key that may hold another value. That is dropped, and the key does not
// count as a new one.
func (db *DB) CreateOver(key []byte, t object.Type, enc object.Encoding, b []byte) *object.Edit {
	was := db.TypeAt(key)
	if !db.Delete(key) {
		return db.Create(key, t, enc, b)
	}
	v := object.PackedValue(db.ks.A, t, enc, b)
	x := db.Open(db.place(db.ks.Hash(key), key, &v, 0))
	db.Overwritten(key, was, t)
	return x
}

// Remove deletes the key of x. The Edit must not be used again.
func (db *DB) Remove(x *object.Edit) {
	e := x.E
	x.E = object.Entry{}
	db.drop(db.ks.Hash(e.Key()), e, db.ks.P.LazyServerDel)
}

// Moved implements object.Slot.
func (db *DB) Moved(from, to arena.Ref) {
	db.store.replace(db.ks.Hash(object.View(db.ks.A, to).Key()), from, to)
}

// Changing implements object.Slot.
func (db *DB) Changing(e object.Entry) { db.preserve(e) }

// Install stores a detached collection (object.NewDetached) under the key, without a deadline, and
// drops what was there. The Edit must not be used again.
func (db *DB) Install(key []byte, x *object.Edit) {
	v := x.E.Value()
	replaced := db.Peek(key).Exists()
	db.Overwrite(key, v, 0)
	if replaced { // else Set has done it
		db.announce(key, v.Type)
	}
	x.E.FreeBlock(db.ks.A)
	x.E = object.Entry{}
}

// CreateStream stores an empty stream under a key that a lookup has found absent, and opens it.
func (db *DB) CreateStream(key []byte) *object.Edit {
	v := object.StreamValue(db.ks.Heap)
	return db.Open(db.insert(db.ks.Hash(key), key, &v, 0))
}

// CreateSketch stores a sketch under a key that a lookup has found absent, and opens it.
func (db *DB) CreateSketch(key []byte, t object.Type, s *object.Sketch) *object.Edit {
	v := s.Value(t)
	return db.Open(db.insert(db.ks.Hash(key), key, &v, 0))
}
