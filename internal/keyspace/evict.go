package keyspace

import (
	"math"

	"godwit/internal/arena"
	"godwit/internal/object"
)

// Policy is a maxmemory policy.
type Policy uint8

// The policies of maxmemory-policy.
const (
	NoEviction Policy = iota
	VolatileLRU
	VolatileLFU
	VolatileRandom
	VolatileTTL
	AllKeysLRU
	AllKeysLFU
	AllKeysRandom
)

// lfuInit is the counter that a new key starts with, so that it is not evicted at once.
const lfuInit = 5

func (p Policy) lfu() bool      { return p == VolatileLFU || p == AllKeysLFU }
func (p Policy) lru() bool      { return p == VolatileLRU || p == AllKeysLRU }
func (p Policy) volatile() bool { return p >= VolatileLRU && p <= VolatileTTL }

// LFU reports whether the policy keeps frequencies of access.
func (p Policy) LFU() bool { return p.lfu() }

// LRU reports whether the policy keeps times of access and chooses by them.
func (p Policy) LRU() bool { return p.lru() }

func (p Policy) random() bool { return p == VolatileRandom || p == AllKeysRandom }

// LFU reports whether access fields hold LFU counters under the current policy.
func (ks *Keyspace) LFU() bool { return ks.P.Policy.lfu() }

// freshLRU is the access field of a key written now.
func (ks *Keyspace) freshLRU() uint32 {
	if ks.P.Policy.lfu() {
		return ks.minutes()<<8 | lfuInit
	}
	return ks.lru
}

// minutes is the 16-bit clock of the LFU field.
func (ks *Keyspace) minutes() uint32 { return uint32(ks.now/60000) & 0xffff }

// touch updates the access field of an entry that a command uses.
func (ks *Keyspace) touch(e object.Entry) {
	if ks.NoTouch {
		return
	}
	if ks.P.Policy.lfu() {
		e.SetLRU(ks.minutes()<<8 | uint32(ks.lfuIncr(ks.lfuDecay(e.LRU()))))
		return
	}
	e.SetLRU(ks.lru)
}

// lfuDecay is the counter of an LFU field after the time since its last decrement.
func (ks *Keyspace) lfuDecay(f uint32) uint8 {
	counter := uint8(f)
	if ks.P.LFUDecayTime == 0 {
		return counter
	}
	elapsed := (ks.minutes() - f>>8) & 0xffff
	if periods := elapsed / uint32(ks.P.LFUDecayTime); periods < uint32(counter) {
		return counter - uint8(periods)
	}
	return 0
}

// lfuIncr raises the counter with a probability that falls as it grows.
func (ks *Keyspace) lfuIncr(counter uint8) uint8 {
	if counter == 255 {
		return 255
	}
	base := max(float64(counter)-lfuInit, 0)
	if ks.rng.Float64() < 1/(base*float64(ks.P.LFULogFactor)+1) {
		counter++
	}
	return counter
}

// Freq is the access counter that OBJECT FREQ shows.
func (ks *Keyspace) Freq(e object.Entry) int { return int(ks.lfuDecay(e.LRU())) }

// IdleSeconds is how long the entry was not used (OBJECT IDLETIME), in whole seconds.
func (ks *Keyspace) IdleSeconds(e object.Entry) int64 {
	return int64((ks.lru - e.LRU()) & 0xffffff)
}

// poolSize is how many of the best eviction candidates seen so far are remembered.
const poolSize = 16

type candidate struct {
	score uint64
	key   []byte
	db    int
}

// evictionPool is sorted by rising score; the last is evicted first. Key buffers are reused.
type evictionPool struct {
	c    [poolSize]candidate
	n    int
	refs [64]arena.Ref
}

// add puts a candidate at its place if it is better than the worst.
func (p *evictionPool) add(score uint64, key []byte, db int) {
	i := 0
	for i < p.n && p.c[i].score < score {
		i++
	}
	var spare []byte
	switch {
	case p.n < poolSize:
		spare = p.c[p.n].key
		copy(p.c[i+1:p.n+1], p.c[i:p.n])
		p.n++
	case i == 0:
		return
	default:
		spare = p.c[0].key
		copy(p.c[:i-1], p.c[1:i])
		i--
	}
	p.c[i] = candidate{score, append(spare[:0], key...), db}
}

// score says how good it is to evict the entry: the higher, the sooner.
func (ks *Keyspace) score(e object.Entry) uint64 {
	switch {
	case ks.P.Policy.lfu():
		return uint64(255 - ks.lfuDecay(e.LRU()))
	case ks.P.Policy == VolatileTTL:
		return math.MaxUint64 - uint64(e.Deadline())
	default:
		return uint64(ks.IdleSeconds(e))
	}
}

// EvictOne deletes one key as the policy chooses and reports whether it could.
func (ks *Keyspace) EvictOne() bool {
	if ks.P.Policy == NoEviction {
		return false
	}
	if ks.P.Policy.random() {
		return ks.evictRandom()
	}
	for range 32 {
		if !ks.fillPool() {
			return false
		}
		p := &ks.pool
		for p.n > 0 {
			p.n--
			c := &p.c[p.n]
			if ks.evictKey(ks.dbs[c.db], c.key) {
				return true
			}
		}
	}
	return false
}

// fillPool samples every database and reports whether there is a key that the policy may evict.
func (ks *Keyspace) fillPool() bool {
	found := false
	for _, db := range ks.dbs {
		if db.dict.Len() == 0 || ks.P.Policy.volatile() && db.expires == 0 {
			continue
		}
		found = true
		if ks.sample(db) == 0 {
			db.scanVolatile(func(e object.Entry) { ks.pool.add(ks.score(e), e.Key(), db.id) })
		}
	}
	return found
}

// sample adds random candidates of the database to the pool, as many as maxmemory-samples says if they turn up, and returns how many
// it saw.
func (ks *Keyspace) sample(db *DB) (used int) {
	refs := ks.pool.refs[:min(max(ks.P.Samples, 1), len(ks.pool.refs))]
	for range db.sampleRounds() {
		for _, r := range refs[:db.dict.Sample(ks.rng.Uint64, refs)] {
			e := object.View(ks.A, r)
			if ks.P.Policy.volatile() && e.Deadline() == 0 {
				continue
			}
			used++
			ks.pool.add(ks.score(e), e.Key(), db.id)
		}
		if used >= len(refs) {
			break
		}
	}
	return used
}

// scanVolatile walks the table, from where the last walk ended, to a bucket with keys that have a deadline: when they are too rare for
// samples to find one, each bucket is passed once for many evictions. There must be such a key.
func (db *DB) scanVolatile(emit func(e object.Entry)) {
	for found := false; !found; {
		db.evictCursor = db.dict.Scan(db.evictCursor, func(r arena.Ref) {
			if e := object.View(db.ks.A, r); e.Deadline() != 0 {
				found = true
				emit(e)
			}
		})
	}
}

// sampleRounds bounds how often a database is sampled until a key with a deadline turns up: they share one table with the others.
func (db *DB) sampleRounds() int {
	if !db.ks.P.Policy.volatile() {
		return 1
	}
	return min(1+8*db.dict.Len()/(db.expires*max(db.ks.P.Samples, 1)), 64)
}

// evictRandom deletes a random key of the next database that has one to offer.
func (ks *Keyspace) evictRandom() bool {
	for range ks.dbs {
		ks.nextDB = (ks.nextDB + 1) % len(ks.dbs)
		db := ks.dbs[ks.nextDB]
		if db.dict.Len() == 0 || ks.P.Policy.volatile() && db.expires == 0 {
			continue
		}
		for range 16 * db.sampleRounds() {
			r := db.dict.Random(ks.rng.Uint64)
			e := object.View(ks.A, r)
			if ks.P.Policy.volatile() && e.Deadline() == 0 {
				continue
			}
			ks.keyBuf = append(ks.keyBuf[:0], e.Key()...)
			return ks.evictKey(db, ks.keyBuf)
		}
		db.scanVolatile(func(e object.Entry) { ks.keyBuf = append(ks.keyBuf[:0], e.Key()...) })
		return ks.evictKey(db, ks.keyBuf)
	}
	return false
}

// evictKey deletes the key if it still is what the policy may evict.
func (ks *Keyspace) evictKey(db *DB, key []byte) bool {
	h, e := db.find(key)
	if !e.Exists() || ks.P.Policy.volatile() && e.Deadline() == 0 {
		return false
	}
	ks.Stats.Evicted++
	db.drop(h, e, ks.P.LazyEviction)
	ks.hooks.Removed(key, db.id, true)
	ks.Notify(EvEvicted, "evicted", key, db.id)
	ks.hooks.KeyChanged(key, db.id)
	return true
}
