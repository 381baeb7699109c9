package keyspace

import "godwit/internal/object"

// Access is what a file says of a key's last use, -1 where it says nothing.
type Access struct {
	Idle int64 // seconds
	Freq int   // the logarithmic counter
}

// Load stores a value that a file or a payload brings, with a deadline in unix ms (0 for none) that
// may have passed. If the key exists, ok is false and nothing has changed. v must not alias the
// keyspace.
func (db *DB) Load(key []byte, v object.Value, deadline int64, a Access) (e object.Entry, ok bool) {
	h, old := db.liveToWrite(key)
	if old.Exists() {
		return old, false
	}
	e = db.insert(h, key, &v, deadline)
	db.ks.setAccess(e, a)
	if v.Type == object.Hash {
		db.rearmFields(e)
	}
	return e, true
}

// setAccess sets the access field from a file, if the file tells what the current policy keeps.
func (ks *Keyspace) setAccess(e object.Entry, a Access) {
	switch {
	case ks.LFU() && a.Freq >= 0:
		e.SetLRU(ks.minutes()<<8 | uint32(min(a.Freq, 255)))
	case !ks.LFU() && a.Idle >= 0:
		// The clock has 24 bits: what was idle longer than that was idle for all of it.
		e.SetLRU((ks.lru - uint32(min(a.Idle, 0xffffff))) & 0xffffff)
	}
}

// Heap returns what the collections of all databases share.
func (db *DB) Heap() *object.Heap { return db.ks.Heap }

// Expect sizes the tables of an empty database for so many keys, so that they need not grow key by
// key. It does nothing if there are keys.
func (db *DB) Expect(keys int) { db.store.expect(keys) }
