package keyspace

import (
	"godwit/internal/arena"
	"godwit/internal/object"
)

// Open gives access to the value of an entry that a lookup returned. The Edit is valid until the command ends or the key is changed or
// removed by another way than through it; at most eight are open at once.
func (db *DB) Open(e object.Entry) *object.Edit {
	ks := db.ks
	x := &ks.edits[ks.nextEd&7]
	ks.nextEd++
	x.Reset(ks.Heap, e, db)
	return x
}

// Create stores a packed collection under an absent key (a lookup said so) and opens it. The caller adds elements to what it made
// empty before the command ends.
func (db *DB) Create(key []byte, t object.Type, kind object.Encoding, packed []byte) *object.Edit {
	return db.Open(db.insert(db.ks.Hash(key), key, object.PackedValue(db.ks.A, t, kind, packed), 0))
}

// CreateOver is Create for a key in whose place there may be another value, which is dropped: then the key is not a new one.
func (db *DB) CreateOver(key []byte, t object.Type, kind object.Encoding, packed []byte) *object.Edit {
	if !db.Delete(key) {
		return db.Create(key, t, kind, packed)
	}
	return db.Open(db.place(db.ks.Hash(key), key, object.PackedValue(db.ks.A, t, kind, packed), 0))
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

// Install stores a detached collection (object.NewDetached) under the key, in the place of whatever is there, without a deadline. The Edit
// must not be used again.
func (db *DB) Install(key []byte, x *object.Edit) {
	v := x.E.Value()
	replaced := db.Peek(key).Exists()
	db.Set(key, v, 0)
	if replaced { // else Set has done it
		db.announce(key, v.Type)
	}
	x.E.FreeBlock(db.ks.A)
	x.E = object.Entry{}
}

// CreateSketch stores a sketch under an absent key (a lookup said so) and opens it.
func (db *DB) CreateSketch(key []byte, t object.Type, s *object.Sketch) *object.Edit {
	return db.Open(db.insert(db.ks.Hash(key), key, s.Value(t), 0))
}
