package keyspace

import (
	"slices"

	"godwit/internal/arena"
	"godwit/internal/dict"
	"godwit/internal/object"
)

// store holds the keys of one database and counts their deadlines. It alone knows how the keys are
// spread over dictionaries, and no other file of this package names one: today there is one dict.
// Everything else reaches a key by its hash, or by a walk with a cursor.
//
// # A second layout
//
// A layout with one dict for each of the 16384 cluster slots is an addition to this file:
//
//   - of chooses the dict. Keyspace.Hash puts the slot into the bits 33 to 46 of a hash. A dict
//     looks only at those below. So a hash still is all that a lookup, a record of the timing wheel
//     or a candidate for eviction has to carry.
//   - Cursors of scan and defrag hold the slot below the cursor of its dict.
//   - random and sample choose a dict by its share of the keys, then a key in it.
//   - Lookahead and prefetchEntries ask of for each key.
//   - len, tableBytes, rehashingBytes, drain, each and check go over all dicts, rehash over those
//     that are being resized.
//
// The zero store is of no use; newStore makes one.
type store struct {
	ks   *Keyspace
	dict dict.Dict

	listed  bool  // in Keyspace.rehash
	expires int   // keys with a deadline
	armed   int   // records of fields that hashes count on
	timed   int   // hashes that count on any
	ttlSum  int64 // sum of the deadlines of keys, for INFO's avg_ttl
}

// BucketBytes is how much of a table RehashSlice moves at each step, in bytes.
const BucketBytes = dict.BucketBytes

func (ks *Keyspace) newStore() *store {
	s := &store{ks: ks} // it may come to another keyspace
	s.dict = *dict.New(ks.A, dict.Funcs{
		Hash:    func(r arena.Ref) uint64 { return s.ks.Hash(object.View(s.ks.A, r).Key()) },
		Match:   func(r arena.Ref, key []byte) bool { return s.ks.match(r, key) },
		MayGrow: func(bytes int) bool { return s.ks.tableFits(bytes) },
		Fixed:   func() bool { return s.ks.KeepTables },
		Far:     64, // the value, behind header and key
	})
	return s
}

// of returns the dict that holds the keys with the hash.
func (s *store) of(uint64) *dict.Dict { return &s.dict }

// find returns the entry with the key, 0 if there is none. A nil key stands for the entry that a
// lookup by hash seeks.
func (s *store) find(h uint64, key []byte) arena.Ref { return s.of(h).Find(h, key) }

// insert adds an entry whose key must be absent.
func (s *store) insert(h uint64, r arena.Ref) {
	s.of(h).Insert(h, r)
	s.resized()
}

// replace puts the entry now in the place of old: the same key in another block.
func (s *store) replace(h uint64, old, now arena.Ref) { s.of(h).Replace(h, old, now) }

// remove takes the entry out. The caller owns its block.
func (s *store) remove(h uint64, r arena.Ref) {
	s.of(h).Delete(h, r)
	s.resized()
}

// prefetch starts to bring the place of a key with the hash into the cache.
func (s *store) prefetch(h uint64) { s.of(h).Prefetch(h) }

// prefetchEntry starts to bring the entry into the cache, some time after prefetch.
func (s *store) prefetchEntry(h uint64) { s.of(h).PrefetchEntry(h) }

// prefetchEntries starts to bring entries into the cache, up to 64, some time after prefetch.
func (s *store) prefetchEntries(hashes []uint64) { s.dict.PrefetchEntries(hashes) }

// prefetchWorth reports whether lookups wait for memory.
func (s *store) prefetchWorth() bool { return s.dict.PrefetchWorth() }

// glance is find that changes nothing at all.
func (s *store) glance(h uint64, key []byte) arena.Ref { return s.of(h).Glance(h, key) }

// Lookahead returns what prefetches for a command that looks up the first of each step of keys.
func (db *DB) Lookahead(keys [][]byte, step int) dict.Lookahead {
	return db.store.dict.Lookahead(db.ks, keys, step)
}

// len returns the number of keys.
func (s *store) len() int { return s.dict.Len() }

// tableBytes returns the bytes of the tables, without entries.
func (s *store) tableBytes() int64 { return s.dict.TableBytes() }

// rehashingBytes returns the part of tableBytes that running resizes will free.
func (s *store) rehashingBytes() int64 { return s.dict.RehashingBytes() }

// rehashing reports whether a table is being resized.
func (s *store) rehashing() bool { return s.dict.Rehashing() }

// rehash moves about n buckets of each table that is being resized, and reports whether more can
// be moved now.
func (s *store) rehash(n int) bool { return s.dict.RehashSlice(n) }

// resized lists the store if a table is being resized. Every call that may have begun a resize is
// followed by this one, so that a slice without work need not look at every database.
func (s *store) resized() {
	if !s.listed && s.rehashing() {
		s.listed = true
		s.ks.rehash = append(s.ks.rehash, s)
	}
}

// unlist takes a store off the list that no database has any more.
func (s *store) unlist() {
	if s.listed {
		ks := s.ks
		ks.rehash = slices.DeleteFunc(ks.rehash, func(o *store) bool { return o == s })
		s.listed = false
	}
}

// RehashPending reports whether RehashSlice may have something to do.
func (ks *Keyspace) RehashPending() bool { return len(ks.rehash) > 0 }

// RehashSlice moves about n buckets of each table that is being resized, and reports whether more
// are to be moved.
func (ks *Keyspace) RehashSlice(n int) (more bool) {
	keep := ks.rehash[:0]
	for _, s := range ks.rehash {
		if s.rehash(n) {
			more = true
		}
		// A table that is scanned may not be moved now: it stays on the list.
		if s.listed = s.rehashing(); s.listed {
			keep = append(keep, s)
		}
	}
	clear(ks.rehash[len(keep):])
	ks.rehash = keep
	return more
}

// expect sizes the tables for so many keys. It does nothing if there are keys.
func (s *store) expect(keys int) {
	s.dict.Expand(keys)
	s.resized()
}

// scan emits the entries of one step and returns the next cursor; 0 begins and ends a walk. A key
// that is there throughout the walk is emitted at least once, whatever is resized meanwhile.
func (s *store) scan(cursor uint64, emit func(r arena.Ref)) uint64 {
	cursor = s.dict.Scan(cursor, emit)
	s.resized()
	return cursor
}

// each visits every entry once. visit must not change the keyspace. O(n).
func (s *store) each(visit func(r arena.Ref)) {
	s.dict.Pause++
	for cursor := s.dict.Scan(0, visit); cursor != 0; {
		cursor = s.dict.Scan(cursor, visit)
	}
	s.dict.Unpause()
	s.resized()
}

// defrag is scan for moving blocks: move returns where the entry is from now on.
func (s *store) defrag(cursor uint64, move func(r arena.Ref) arena.Ref) uint64 {
	return s.dict.Defrag(cursor, move)
}

// drain takes about n entries out, giving each to free. It reports true when the store is empty and
// its tables are freed. It is for a store that no database has any more.
func (s *store) drain(n int, free func(r arena.Ref)) (done bool) { return s.dict.Drain(n, free) }

// random returns a random entry, 0 if there is none.
func (s *store) random() arena.Ref {
	r := s.dict.Random(s.ks.rng.Uint64)
	s.resized()
	return r
}

// sample fills dst with random entries that are near each other and returns how many it found;
// see dict.Dict.Sample.
func (s *store) sample(dst []arena.Ref) int { return s.dict.Sample(s.ks.rng.Uint64, dst) }

// check verifies the tables. O(n).
func (s *store) check() error { return s.dict.Check() }
