package keyspace

import "godwit/internal/object"

// Prefetching brings what lookups will read into the cache ahead of them. It changes no key and no
// counter. Package dict says how.

// Prefetch starts to bring the place of a key into the cache.
func (db *DB) Prefetch(key []byte) { db.PrefetchBucket(db.ks.Hash(key)) }

// PrefetchBucket is Prefetch for the hash of a key.
func (db *DB) PrefetchBucket(h uint64) { db.store.prefetch(h) }

// PrefetchEntries starts to bring the entries of up to 64 keys into the cache, some time after
// PrefetchBucket.
func (db *DB) PrefetchEntries(hashes []uint64) { db.store.prefetchEntries(hashes) }

// PrefetchWorth reports whether there are so many keys that lookups wait for memory.
func (db *DB) PrefetchWorth() bool { return db.store.prefetchWorth() }

// Glance returns the entry of a key, due or not. Unlike Peek it leaves all as it is. It is for
// prefetching what the entry leads to, and nothing else.
func (db *DB) Glance(key []byte) object.Entry {
	if key == nil {
		key = []byte{}
	}
	if r := db.store.glance(db.ks.Hash(key), key); r != 0 {
		return object.View(db.ks.A, r)
	}
	return object.Entry{}
}
