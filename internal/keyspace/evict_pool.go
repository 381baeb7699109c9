package keyspace

import (
	"math"

	"godwit/internal/arena"
	"godwit/internal/object"
)

// poolSize is how many of the best eviction candidates seen so far are remembered.
const poolSize = 16

// candidate is a key that may be evicted. It is named by its hash, so that the pool holds no copy
// of a key, however long, and by its database's content, which it follows through SWAPDB.
type candidate struct {
	score   uint64
	hash    uint64
	content uint16 // content.wheelID
}

// evictionPool is sorted by rising score; the last is evicted first.
type evictionPool struct {
	c      [poolSize]candidate
	n      int
	policy Policy // that the scores are of
	refs   [64]arena.Ref
}

// add puts the entry at its place if it is better than the worst.
func (p *evictionPool) add(score uint64, db *DB, e object.Entry) {
	i := 0
	for i < p.n && p.c[i].score < score {
		i++
	}
	switch {
	case p.n < poolSize:
		copy(p.c[i+1:p.n+1], p.c[i:p.n])
		p.n++
	case i == 0:
		return
	default:
		copy(p.c[:i-1], p.c[1:i])
		i--
	}
	p.c[i] = candidate{score, db.ks.Hash(e.Key()), db.wheelID}
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

// evictPooled evicts the best candidate that is still one: it was neither deleted nor used since it
// was sampled.
func (ks *Keyspace) evictPooled() bool {
	for p := &ks.pool; p.n > 0; {
		p.n--
		c := p.c[p.n]
		db := ks.byWheel[c.content]
		e := db.byHash(seek{hash: c.hash})
		if e.Exists() && ks.score(e) >= c.score && ks.evictEntry(db, c.hash, e) {
			return true
		}
	}
	return false
}

// fillPool samples every database that has keys which the policy may evict.
func (ks *Keyspace) fillPool() {
	if ks.pool.policy != ks.P.Policy {
		ks.pool.policy, ks.pool.n = ks.P.Policy, 0
	}
	for _, db := range ks.dbs {
		if !db.evictable() {
			continue
		}
		n := ks.sample(db)
		if ks.P.Policy.volatile() && n < ks.samples() || ks.P.Policy == VolatileTTL {
			n += ks.sampleWheel(db, ks.samples())
		}
		if n == 0 {
			db.search(func(e object.Entry) { ks.pool.add(ks.score(e), db, e) })
		}
	}
}

// samples returns how many keys of each database are looked at for one that is evicted.
func (ks *Keyspace) samples() int { return min(max(ks.P.Samples, 1), len(ks.pool.refs)) }

// sample adds random keys of the database to the pool, as many as maxmemory-samples says if they
// turn up, and returns how many it saw.
func (ks *Keyspace) sample(db *DB) (used int) {
	refs := ks.pool.refs[:ks.samples()]
	for range db.sampleRounds() {
		for _, r := range refs[:db.store.sample(refs)] {
			e := object.View(ks.A, r)
			if ks.P.Policy.volatile() && e.Deadline() == 0 || ks.hides(e) {
				continue
			}
			used++
			ks.pool.add(ks.score(e), db, e)
		}
		if used >= len(refs) {
			break
		}
	}
	return used
}
