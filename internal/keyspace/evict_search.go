package keyspace

import (
	"godwit/internal/arena"
	"godwit/internal/object"
	"godwit/internal/wheel"
)

// Eviction has to find keys wherever they are: a few in a large table that a flood of evictions has
// left behind, a few with a deadline among millions without. No step of it depends on finding one.
// A sample that comes back empty is followed by a search of bounded length, which goes on from
// where the last one ended: each step comes nearer to a key, and the caller looks at the clock
// between them.

const (
	// searchBuckets and searchEntries bound one step of a search.
	searchBuckets = 512
	searchEntries = 64
	// sampleRoundsMax bounds how often a table is sampled for keys with a deadline.
	sampleRoundsMax = 16
)

// EvictOne deletes one key as the policy chooses, or comes nearer to it by a bounded step. It
// reports false when there is no key that the policy may evict.
func (ks *Keyspace) EvictOne() bool {
	if ks.P.Policy == NoEviction || !ks.evictable() {
		return false
	}
	if ks.P.Policy.random() {
		ks.evictRandom()
		return true
	}
	ks.fillPool()
	ks.evictPooled()
	return true
}

// evictable reports whether there is a key that the policy may evict.
func (ks *Keyspace) evictable() bool {
	if ks.P.Policy.volatile() && ks.wheel.live == 0 {
		return false
	}
	for _, db := range ks.dbs {
		if db.evictable() {
			return true
		}
	}
	return false
}

// evictable reports whether the database has a key that the policy may evict.
func (db *DB) evictable() bool {
	volatile := db.ks.P.Policy.volatile()
	if db.ks.hidden != nil && db.store.slots != nil {
		return db.store.slots.evictable(db.ks.visible, volatile)
	}
	if volatile {
		return db.store.expires > 0
	}
	return db.store.len() > 0
}

// sampleRounds returns how often the table is sampled until enough keys turn up that may be
// evicted: those with a deadline share it with the others. It is 0 where they are so rare that the
// wheel is the place to look.
func (db *DB) sampleRounds() int {
	switch {
	case !db.ks.P.Policy.volatile():
		return 1
	case db.store.len()/sampleRoundsMax > db.store.expires:
		return 0
	}
	return sampleRoundsMax
}

// sampleWheel adds keys to the pool that records of the timing wheel lead to, and returns how many.
// A record may be dead or of another database.
func (ks *Keyspace) sampleWheel(db *DB, n int) (used int) {
	add := func(e object.Entry) {
		if e.Exists() && !ks.hides(e) {
			ks.pool.add(ks.score(e), db, e)
			used++
		}
	}
	if ks.P.Policy == VolatileTTL {
		ks.wheel.Near(2*n, func(r wheel.Expiry) { add(db.named(r)) })
	}
	for tries := 2 * n; tries > 0 && used < n; tries-- {
		add(db.pick())
	}
	return used
}

// pick returns a key with a deadline that a random record of the wheel leads to, the zero Entry if
// that fails.
func (db *DB) pick() object.Entry {
	r, ok := db.ks.wheel.Pick(db.ks.rng.Uint64())
	if !ok {
		return object.Entry{}
	}
	return db.named(r)
}

// named returns the key that counts on the record, the zero Entry if it is dead or of another
// database.
func (db *DB) named(r wheel.Expiry) object.Entry {
	of, gen := db.ks.untag(r.DB)
	if of != db {
		return object.Entry{}
	}
	return db.byHash(seek{kind: seekRecord, hash: r.Hash, at: r.Deadline, gen: gen})
}

// search walks on through the table, for a bounded number of buckets and entries, to a bucket with
// keys that may be evicted, and emits them.
func (db *DB) search(emit func(e object.Entry)) {
	found, seen := false, 0
	for n := 0; n < searchBuckets && seen < searchEntries && !found; n++ {
		db.evictCursor = db.store.scanIn(db.evictCursor, db.ks.visible, func(r arena.Ref) {
			seen++
			e := object.View(db.ks.A, r)
			if db.ks.P.Policy.volatile() && e.Deadline() == 0 {
				return
			}
			found = true
			emit(e)
		})
	}
}

// evictRandom deletes a random key of the next database that has one to offer.
func (ks *Keyspace) evictRandom() {
	for range ks.dbs {
		ks.nextDB = (ks.nextDB + 1) % len(ks.dbs)
		if db := ks.dbs[ks.nextDB]; db.evictable() {
			if e := db.randomEvictable(); e.Exists() {
				ks.evictEntry(db, ks.Hash(e.Key()), e)
			}
			return
		}
	}
}

// randomEvictable returns a random key that may be evicted, the zero Entry if none was found for
// now.
func (db *DB) randomEvictable() (found object.Entry) {
	ks := db.ks
	volatile := ks.P.Policy.volatile()
	tries := 1
	if volatile {
		tries = ks.samples() * db.sampleRounds()
	}
	one := ks.pool.refs[:1]
	for range tries {
		if db.store.sample(one) == 0 {
			break
		}
		e := object.View(ks.A, one[0])
		if (!volatile || e.Deadline() != 0) && !ks.hides(e) {
			return e
		}
	}
	if volatile {
		for range ks.samples() {
			if e := db.pick(); e.Exists() && !ks.hides(e) {
				return e
			}
		}
	}
	db.search(func(e object.Entry) { found = e })
	return found
}

// evictEntry deletes the key if it is what the policy may evict.
func (ks *Keyspace) evictEntry(db *DB, h uint64, e object.Entry) bool {
	if ks.P.Policy.volatile() && e.Deadline() == 0 || ks.hides(e) {
		return false
	}
	ks.Stats.Evicted++
	key := ks.keep(e.Key())
	db.drop(h, e, ks.P.LazyEviction)
	ks.hooks.Removed(key, db.id, true)
	ks.Notify(EvEvicted, "evicted", key, db.id)
	ks.hooks.KeyChanged(key, db.id)
	return true
}
