// Package keyspace holds the numbered databases: lookups, writes, expiry and eviction.
//
// A DB is a store of entries (package object), which hides the dictionaries that they are in: see
// store.go. Everything runs on the executor, one call at a time; nothing here locks.
//
// # Time
//
// The engine sets the clock once for each command (SetNow). A key whose deadline is before that
// time is gone for the whole command. Lookups delete such a key (lazy expiry); ExpireSlice deletes
// the rest from the timing wheel's records. ExpireMode says what time may do.
//
// # Ownership
//
// An entry that a lookup returns is valid until the next call that changes the keyspace. Bytes
// handed out alias off-heap memory and must be copied (into a reply, usually) before that.
//
// # Big frees
//
// A large collection is not freed by the command that drops it, but in slices: see lazyfree.go.
package keyspace

import (
	"hash/maphash"
	"math/rand/v2"

	"godwit/internal/arena"
	"godwit/internal/object"
	"godwit/internal/slot"
)

// EventClass is a class of keyspace events, one bit for each letter of notify-keyspace-events.
type EventClass uint32

// The classes.
const (
	EvGeneric     EventClass = 1 << iota // g
	EvString                             // $
	EvList                               // l
	EvSet                                // s
	EvHash                               // h
	EvZSet                               // z
	EvExpired                            // x
	EvEvicted                            // e
	EvStream                             // t
	EvMiss                               // m
	EvModule                             // d
	EvNew                                // n
	EvOverwritten                        // o
	EvTypeChanged                        // c
)

// Hooks is told of changes. The engine implements it.
type Hooks interface {
	// KeyEvent is a keyspace notification. Its class is one of those in Params.Events.
	KeyEvent(event string, key []byte, db int)
	// FieldEvent follows KeyEvent for the event of a hash, and tells its fields, if
	// Params.FieldEvents asks for that.
	FieldEvent(event string, key []byte, fields FieldNames, db int)
	// KeyChanged is called for every key whose value or existence changed: for WATCH, client-side
	// caching, and clients that wait for it.
	KeyChanged(key []byte, db int)
	// Ready is called when a key appears whose value clients can wait for: a list, a sorted set or
	// a stream. The value may still be empty; look at it after the command.
	Ready(key []byte, db int, t object.Type)
	// Removed is called after a key was deleted by expiry or eviction, to propagate a DEL.
	Removed(key []byte, db int, evicted bool)
	// FieldExpired is called for a field of a hash that expiry takes away, to propagate an HDEL.
	// field is valid until it returns.
	FieldExpired(key, field []byte, db int)
}

// NoHooks are hooks that nobody listens to.
type NoHooks struct{}

// The methods of Hooks do nothing.

func (NoHooks) KeyEvent(string, []byte, int)               {}
func (NoHooks) FieldEvent(string, []byte, FieldNames, int) {}
func (NoHooks) KeyChanged([]byte, int)                     {}
func (NoHooks) Ready([]byte, int, object.Type)             {}
func (NoHooks) Removed([]byte, int, bool)                  {}
func (NoHooks) FieldExpired(key, field []byte, db int)     {}

// Params are the settings of the keyspace. The engine updates them when the configuration changes.
type Params struct {
	Databases     int
	Slots         bool // keys are kept by their slots in a cluster; New reads it
	MaxMemory     int64
	Policy        Policy
	Samples       int
	LFULogFactor  int
	LFUDecayTime  int // minutes
	ActiveExpire  bool
	LazyExpire    bool // lazyfree-lazy-expire and its siblings: queue even medium-sized values
	LazyEviction  bool
	LazyServerDel bool
	LazyUserDel   bool
	LazyUserFlush bool
	Events        EventClass // classes of events that somebody wants to hear of
	FieldEvents   bool       // FieldEvent is called
	Limits        object.Limits
}

// Stats are the counters that INFO shows.
type Stats struct {
	Hits, Misses     int64
	Expired, Evicted int64
	ExpiredFields    int64
	LazyFreed        int64
	ExpireCapReached int64 // slices that ended with keys still due

	// Keys and large collections from which defragmentation moved something, and those it left.
	DefragKeyHits, DefragKeyMisses int64
}

// Keyspace is all databases over one arena.
type Keyspace struct {
	A     *arena.Arena
	Heap  *object.Heap
	P     Params
	Stats Stats

	// NoTouch makes lookups leave access times alone (CLIENT NO-TOUCH). The engine sets it for each
	// command.
	NoTouch bool
	// KeepTables stops the tables of all databases from growing and shrinking.
	KeepTables bool

	slots bool      // Params.Slots
	known KnownHash // see Know
	// slotBytes is what slotTables take of Go's heap, those of a shadow included.
	slotBytes *int64
	dbs       []*DB
	byWheel   []*DB   // where the content with a wheelID is now
	wheel     records // keys by their deadlines
	fields    records // hashes by the deadlines of their fields
	gens      uint64  // where newGen goes on

	timedEver int64 // see TimedFields

	seed   maphash.Seed
	rng    *rand.Rand
	now    int64
	steady int64 // never goes back
	// past is the time before which deadlines have passed: now, or the beginning of time under
	// ExpireIgnore.
	past   int64
	mode   ExpireMode
	lru    uint32 // what lookups store under an LRU policy: seconds, 24 bits
	dueAt  int64  // lower bound of when ExpireSlice has something to do, MaxInt64: never
	seek   seek   // the lookup by hash that is under way
	hooks  Hooks
	lazy   lazyQueue
	rehash []*store // those with tables that are being resized, and some that had
	pool   evictionPool
	edits  [8]object.Edit // handed out in turn
	nextEd uint8

	fieldEdit object.Edit // of the hash that loses fields
	nextDB    int         // where eviction goes on
	keyBuf    []byte      // a key that must outlive its entry

	watching  bool      // there is a snap, or sizes
	sizes     *sizes    // nil unless they are kept
	hidden    *slot.Set // nil if none are
	visible   *slot.Set // all others, nil if none are hidden
	parked    parked    // records of hidden keys
	snap      *Snapshot // while one runs
	shadow    *Shadow   // while there is one
	cancelled int       // snapshots in a row that did not mark everything
	renewal   *renewal  // that runs
}

// DB is one numbered database.
type DB struct {
	ks          *Keyspace
	id          int
	evictCursor uint64 // where search goes on
	content
}

// content is what SWAPDB exchanges.
type content struct {
	store   *store
	home    int    // number of the database that it was in when the running snapshot began
	wheelID uint16 // what timing-wheel records call this content
}

// New returns an empty keyspace. The random source drives RANDOMKEY, eviction sampling and LFU.
func New(a *arena.Arena, p Params, rng *rand.Rand, nowMs int64, hooks Hooks) *Keyspace {
	ks := &Keyspace{A: a, P: p, rng: rng, hooks: hooks, slots: p.Slots, slotBytes: new(int64)}
	ks.seed = maphash.MakeSeed()
	a.Growing = ks.pay
	ks.Heap = object.NewHeap(a, ks.seed, rng, &ks.P.Limits)
	ks.gens = rng.Uint64()
	ks.begin(nowMs)
	ks.SetNow(nowMs)
	return ks
}

// match compares keys for the store. A nil key stands for the one that a lookup by hash seeks.
func (ks *Keyspace) match(r arena.Ref, key []byte) bool {
	e := object.View(ks.A, r)
	if key == nil {
		return ks.sought(e)
	}
	return string(e.Key()) == string(key)
}

// SetNow sets the clock for those who have only one.
func (ks *Keyspace) SetNow(ms int64) { ks.SetClocks(ms, ms) }

// SetClocks sets the clocks, both in unix ms. now is the wall clock, which may be set back:
// deadlines go by it. Access times go by steady, which never goes back.
func (ks *Keyspace) SetClocks(now, steady int64) {
	if now < ks.now {
		ks.turnBack(now)
	}
	ks.now, ks.steady = now, steady
	if ks.mode != ExpireIgnore {
		ks.past, ks.Heap.Now = now, now
	}
	ks.lru = uint32(steady/1000) & 0xffffff
}

// Now returns the clock, in unix ms.
func (ks *Keyspace) Now() int64 { return ks.now }

// Notify announces a keyspace event.
func (ks *Keyspace) Notify(class EventClass, event string, key []byte, db int) {
	if ks.P.Events&class != 0 {
		ks.hooks.KeyEvent(event, key, db)
	}
}

// ID returns the database's number.
func (db *DB) ID() int { return db.id }

// Len returns the number of keys, those included that are due but not yet deleted, or hidden.
func (db *DB) Len() int { return db.store.len() }

// Expires returns the number of keys with a deadline.
func (db *DB) Expires() int { return db.store.expires }

// AvgTTL returns the mean time to live of the keys that have one, in ms.
func (db *DB) AvgTTL() int64 {
	if db.store.expires == 0 {
		return 0
	}
	return max(db.store.ttlSum/int64(db.store.expires)-db.ks.now, 0)
}

// TableBytes returns the bytes of the hash tables, without entries.
func (db *DB) TableBytes() int64 { return db.store.tableBytes() }

// Rehashing reports whether a table is being resized.
func (db *DB) Rehashing() bool { return db.store.rehashing() }

// RehashingBytes returns the bytes of the tables that running resizes replace.
func (db *DB) RehashingBytes() int64 { return db.store.rehashingBytes() }

// find looks the key up without expiry, statistics or access times.
func (db *DB) find(key []byte) (uint64, object.Entry) {
	h := db.ks.Hash(key)
	if key == nil {
		key = []byte{}
	}
	r := db.store.find(h, key)
	if r == 0 {
		return h, object.Entry{}
	}
	return h, object.View(db.ks.A, r)
}

// Footprint returns the bytes that the key and its value take, 0 if there is none. It changes
// nothing.
func (db *DB) Footprint(key []byte) int64 {
	if _, e := db.find(key); e.Exists() {
		return db.ks.Heap.Size(e)
	}
	return 0
}

// Lookup finds a key that a write command is about to use. It expires lazily and touches the access
// time.
func (db *DB) Lookup(key []byte) object.Entry {
	_, e := db.liveToWrite(key)
	if e.Exists() {
		db.ks.touch(e)
	}
	return e
}

// LookupRead is Lookup for reading commands: it also counts a hit or a miss, and announces the
// miss.
func (db *DB) LookupRead(key []byte) object.Entry {
	_, e := db.live(key)
	if !e.Exists() {
		db.ks.Stats.Misses++
		db.ks.Notify(EvMiss, "keymiss", key, db.id)
		return e
	}
	db.ks.Stats.Hits++
	db.ks.touch(e)
	return e
}

// Query is LookupRead without touching the access time (EXISTS, TYPE, TTL, OBJECT).
func (db *DB) Query(key []byte) object.Entry {
	e := db.Inspect(key)
	if !e.Exists() {
		db.ks.Notify(EvMiss, "keymiss", key, db.id)
	}
	return e
}

// Inspect is Query for looking at the key itself (OBJECT): a miss is counted but not announced.
func (db *DB) Inspect(key []byte) object.Entry {
	e := db.Peek(key)
	if e.Exists() {
		db.ks.Stats.Hits++
	} else {
		db.ks.Stats.Misses++
	}
	return e
}

// Peek is Lookup without touching the access time or counting (DEBUG, internal checks).
func (db *DB) Peek(key []byte) object.Entry {
	_, e := db.live(key)
	return e
}

// StringBytes returns the string value of e; see object.Entry.StringBytes.
func (db *DB) StringBytes(e object.Entry, scratch *[24]byte) []byte {
	return e.StringBytes(db.ks.A, scratch)
}

// Scan walks the table from cursor. It calls emit for every entry of one bucket chain, with whether
// it is due, and returns the next cursor, 0 at the end. emit must not change the keyspace. Keys of
// hidden slots are left out.
func (db *DB) Scan(cursor uint64, emit func(e object.Entry, due bool)) uint64 {
	return db.store.scanIn(cursor, db.ks.visible, func(r arena.Ref) {
		e := object.View(db.ks.A, r)
		emit(e, db.due(e))
	})
}

// Each calls emit for every live entry that is not hidden, once each. emit must not change the
// keyspace. O(n).
func (db *DB) Each(emit func(e object.Entry)) {
	db.store.eachIn(db.ks.visible, func(r arena.Ref) {
		if e := object.View(db.ks.A, r); !db.due(e) {
			emit(e)
		}
	})
}

// randomTries is how many keys Random looks at before it gives up finding a live one.
const randomTries = 100

// Random returns the entry of a live key that is not hidden, chosen at random, the zero Entry if it
// finds none. Where time only hides and all keys have a deadline, the entry may be a due one, as on
// a replica of Redis: they may all be due, and nothing makes them fewer.
func (db *DB) Random() object.Entry {
	for tries := 1; ; tries++ {
		r := db.store.randomIn(db.ks.visible)
		if r == 0 {
			return object.Entry{}
		}
		e := object.View(db.ks.A, r)
		hides := db.ks.mode == ExpireHide
		switch {
		case !db.due(e):
			return e
		case hides && tries >= randomTries && db.store.expires == db.Len():
			return e
		case !hides && tries > randomTries:
			return object.Entry{}
		case !hides:
			db.expire(db.ks.Hash(e.Key()), e)
		}
	}
}
