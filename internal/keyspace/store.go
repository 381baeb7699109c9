package keyspace

import (
	"slices"

	"godwit/internal/arena"
	"godwit/internal/dict"
	"godwit/internal/object"
	"godwit/internal/slot"
)

// store holds the keys of one database and counts their deadlines. It alone knows how the keys are
// spread over dictionaries: all are in one, or each slot of a cluster has one (slots.go). No file
// names one but this and slots*.go. Everything else reaches a key by its hash, or by a walk with a
// cursor.
//
// The zero store is of no use; newStore makes one.
type store struct {
	ks    *Keyspace
	slots *slotTable // instead of dict, nil without them or before the first key
	dict  dict.Dict
	funcs dict.Funcs

	listed bool // in Keyspace.rehash
	tally
}

// tally is what a store counts of the deadlines of its keys.
type tally struct {
	expires int   // keys with a deadline
	armed   int   // records of fields that hashes count on
	timed   int   // hashes that count on any
	ttlSum  int64 // sum of the deadlines of keys, for INFO's avg_ttl
}

// BucketBytes is how much of a table RehashSlice moves at each step, in bytes.
const BucketBytes = dict.BucketBytes

func (ks *Keyspace) newStore() *store {
	s := &store{ks: ks} // it may come to another keyspace
	s.funcs = dict.Funcs{
		Hash:    func(r arena.Ref) uint64 { return s.ks.plainHash(object.View(s.ks.A, r).Key()) },
		Match:   func(r arena.Ref, key []byte) bool { return s.ks.match(r, key) },
		MayGrow: func(bytes int) bool { return s.ks.tableFits(bytes) },
		Fixed:   func() bool { return s.ks.KeepTables },
		Far:     64, // the value, behind header and key
	}
	s.dict.Init(ks.A, &s.funcs)
	return s
}

// tableFits reports whether a table of so many bytes fits into what maxmemory leaves, with a little
// for what is in use outside the arena. A full cache would evict for a larger table, and be over
// its limit until the old one is gone.
func (ks *Keyspace) tableFits(bytes int) bool {
	limit := ks.P.MaxMemory
	return limit == 0 || ks.A.Used()-ks.Heap.FrozenBytes()+int64(bytes) <= limit-limit/16
}

// of returns the dict that holds the keys with the hash. It may be one that stays empty: insert
// knows better.
func (s *store) of(h uint64) *dict.Dict {
	if s.slots != nil {
		return s.slots.Of(h)
	}
	return &s.dict
}

// find returns the entry with the key, 0 if there is none. A nil key stands for the entry that a
// lookup by hash seeks.
func (s *store) find(h uint64, key []byte) arena.Ref { return s.of(h).Find(h, key) }

// insert adds an entry whose key must be absent.
func (s *store) insert(h uint64, r arena.Ref) {
	if s.ks.slots {
		s.insertSlot(h, r)
		return
	}
	s.dict.Insert(h, r)
	if s.dict.Rehashing() {
		s.resized()
	}
}

// replace puts the entry now in the place of old: the same key in another block.
func (s *store) replace(h uint64, old, now arena.Ref) {
	s.of(h).Replace(h, old, now)
	if z := s.ks.sizes; z != nil {
		z.moved(old, now)
	}
}

// remove takes the entry out. The caller owns its block.
func (s *store) remove(h uint64, r arena.Ref) {
	if s.slots != nil {
		s.removeSlot(h, r)
		return
	}
	s.dict.Delete(h, r)
	if s.dict.Rehashing() {
		s.resized()
	}
}

// prefetch starts to bring the place of a key with the hash into the cache.
func (s *store) prefetch(h uint64) { s.of(h).Prefetch(h) }

// prefetchEntry starts to bring the entry into the cache, some time after prefetch.
func (s *store) prefetchEntry(h uint64) { s.of(h).PrefetchEntry(h) }

// prefetchEntries starts to bring entries into the cache, up to 64, some time after prefetch.
func (s *store) prefetchEntries(hashes []uint64) {
	if s.slots != nil {
		dict.PrefetchEntriesOf(s.slots, hashes)
		return
	}
	s.dict.PrefetchEntries(hashes)
}

// prefetchWorth reports whether lookups wait for memory.
func (s *store) prefetchWorth() bool { return dict.PrefetchWorth(s.len()) }

// glance is find that changes nothing at all.
func (s *store) glance(h uint64, key []byte) arena.Ref { return s.of(h).Glance(h, key) }

// Lookahead returns what prefetches for a command that looks up the first of each step of keys.
func (db *DB) Lookahead(keys [][]byte, step int) dict.Lookahead {
	if t := db.store.slots; t != nil {
		return dict.LookaheadOf(t, t.keys, db.ks, keys, step)
	}
	return db.store.dict.Lookahead(db.ks, keys, step)
}

// len returns the number of keys.
func (s *store) len() int {
	if s.slots != nil {
		return s.slots.keys
	}
	return s.dict.Len()
}

// lenIn returns the number of keys of some slots, or of all if in is nil, and how many of them have
// a deadline.
func (s *store) lenIn(in *slot.Set) (keys, expires int) {
	if in == nil || s.slots == nil {
		return s.len(), s.expires
	}
	return s.slots.lenIn(in)
}

// tableBytes returns the bytes of the tables, without entries. With slots it is O(slots in use).
func (s *store) tableBytes() int64 {
	if s.slots != nil {
		return s.slots.tableBytes()
	}
	return s.dict.TableBytes()
}

// rehashingBytes returns the part of tableBytes that running resizes will free.
func (s *store) rehashingBytes() int64 {
	if s.slots != nil {
		return s.slots.rehashingBytes()
	}
	return s.dict.RehashingBytes()
}

// rehashing reports whether a table is being resized.
func (s *store) rehashing() bool {
	if s.slots != nil {
		return len(s.slots.resizing) > 0
	}
	return s.dict.Rehashing()
}

// rehash moves about n buckets of tables that are being resized, and reports whether more can be
// moved now.
func (s *store) rehash(n int) bool {
	if s.slots != nil {
		return s.slots.rehash(n)
	}
	return s.dict.RehashSlice(n)
}

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

// RehashSlice moves about n buckets of tables that are being resized, in each database, and reports
// whether more are to be moved.
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

// expect sizes the tables for so many keys. It does nothing if there are keys. Nobody knows how
// many go into each slot, and small tables grow at little cost, so with slots it does nothing.
func (s *store) expect(keys int) {
	if s.ks.slots {
		return
	}
	s.dict.Expand(keys)
	s.resized()
}

// scan emits the entries of one step and returns the next cursor; 0 begins and ends a walk. A key
// that is there throughout the walk is emitted at least once, whatever is resized meanwhile.
func (s *store) scan(cursor uint64, emit func(r arena.Ref)) uint64 {
	return s.scanIn(cursor, nil, emit)
}

// scanIn is scan for the keys of some slots, or of all if in is nil.
func (s *store) scanIn(cursor uint64, in *slot.Set, emit func(r arena.Ref)) uint64 {
	if s.slots != nil {
		cursor = s.slots.scan(cursor, in, emit)
	} else {
		cursor = s.dict.Scan(cursor, emit)
	}
	s.resized()
	return cursor
}

// each visits every entry once. visit must not change the keyspace. O(n).
func (s *store) each(visit func(r arena.Ref)) { s.eachIn(nil, visit) }

// eachIn is each for the keys of some slots, or of all if in is nil.
func (s *store) eachIn(in *slot.Set, visit func(r arena.Ref)) {
	if s.slots != nil {
		s.slots.each(in, visit)
	} else {
		eachOf(&s.dict, visit)
	}
	s.resized()
}

// eachOf visits every entry of a dict once.
func eachOf(d *dict.Dict, visit func(r arena.Ref)) {
	d.Pause++
	for cursor := d.Scan(0, visit); cursor != 0; {
		cursor = d.Scan(cursor, visit)
	}
	d.Unpause()
}

// defrag is scan for moving blocks: move returns where the entry is from now on.
func (s *store) defrag(cursor uint64, move func(r arena.Ref) arena.Ref) uint64 {
	if s.slots != nil {
		return s.slots.defrag(cursor, move)
	}
	return s.dict.Defrag(cursor, move)
}

// drain takes about n entries out, giving each to free. It reports true when the store is empty and
// its tables are freed. It is for a store that no database has any more.
func (s *store) drain(n int, free func(r arena.Ref)) (done bool) {
	if s.slots != nil {
		return s.slots.drain(n, free)
	}
	return s.dict.Drain(n, free)
}

// randomIn returns a random entry of some slots, or of all if in is nil, 0 if there is none.
func (s *store) randomIn(in *slot.Set) arena.Ref {
	var r arena.Ref
	if s.slots != nil {
		r = s.slots.random(s.ks.rng.Uint64, in)
	} else {
		r = s.dict.Random(s.ks.rng.Uint64)
	}
	s.resized()
	return r
}

// sample fills dst with random entries that are near each other and returns how many it found;
// see dict.Dict.Sample.
func (s *store) sample(dst []arena.Ref) int {
	if s.slots != nil {
		return s.slots.sample(s.ks.rng.Uint64, dst)
	}
	return s.dict.Sample(s.ks.rng.Uint64, dst)
}

// check verifies the tables. O(n).
func (s *store) check() error {
	if s.slots != nil {
		return s.slots.check(&s.tally)
	}
	return s.dict.Check()
}
