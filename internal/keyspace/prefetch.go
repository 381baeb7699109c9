package keyspace

// Prefetching brings what lookups will read into the cache ahead of them. It changes no key and no
// counter. Package dict says how.

// Prefetch starts to bring the place of a key into the cache.
func (db *DB) Prefetch(key []byte) { db.PrefetchBucket(db.ks.Hash(key)) }

// PrefetchBucket is Prefetch for the hash of a key.
func (db *DB) PrefetchBucket(h uint64) { db.store.prefetch(h) }

// PrefetchEntry starts to bring the entry into the cache, some time after PrefetchBucket. It
// reports whether it has not found the entry, so that PrefetchChain should follow.
func (db *DB) PrefetchEntry(h uint64) (chain bool) { return db.store.prefetchEntry(h) }

// PrefetchChain goes on where PrefetchEntry has not found the entry.
func (db *DB) PrefetchChain(h uint64) { db.store.prefetchChain(h) }
