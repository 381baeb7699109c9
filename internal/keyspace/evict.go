package keyspace

import (
	"godwit/internal/object"
)

// Policy is a maxmemory policy.
type Policy uint8

// The policies of maxmemory-policy.
const (
	NoEviction Policy = iota
	VolatileLRU
	VolatileLFU
	VolatileLRM // LRM: least recently modified.
	VolatileRandom
	VolatileTTL
	AllKeysLRU
	AllKeysLFU
	AllKeysLRM
	AllKeysRandom
)

// lfuInit is the counter that a new key starts with, so that it is not evicted at once.
const lfuInit = 5

func (p Policy) lfu() bool      { return p == VolatileLFU || p == AllKeysLFU }
func (p Policy) lru() bool      { return p == VolatileLRU || p == AllKeysLRU }
func (p Policy) lrm() bool      { return p == VolatileLRM || p == AllKeysLRM }
func (p Policy) volatile() bool { return p >= VolatileLRU && p <= VolatileTTL }

// LFU reports whether the policy keeps frequencies of access.
func (p Policy) LFU() bool { return p.lfu() }

// Idle reports whether the policy keeps times of access, or of changes, and chooses by them.
func (p Policy) Idle() bool { return p.lru() || p.lrm() }

func (p Policy) random() bool { return p == VolatileRandom || p == AllKeysRandom }

// LFU reports whether access fields hold LFU counters under the current policy.
func (ks *Keyspace) LFU() bool { return ks.P.Policy.lfu() }

// freshLRU returns the access field of a key written now.
func (ks *Keyspace) freshLRU() uint32 {
	if ks.P.Policy.lfu() {
		return ks.minutes()<<8 | lfuInit
	}
	return ks.lru
}

// minutes returns the 16-bit clock of the LFU field.
func (ks *Keyspace) minutes() uint32 { return uint32(ks.steady/60000) & 0xffff }

// touch updates the access field of an entry that a command uses. Under LRM only changes count.
func (ks *Keyspace) touch(e object.Entry) {
	if ks.NoTouch || ks.P.Policy.lrm() {
		return
	}
	if ks.P.Policy.lfu() {
		e.SetLRU(ks.minutes()<<8 | uint32(ks.lfuIncr(ks.lfuDecay(e.LRU()))))
		return
	}
	e.SetLRU(ks.lru)
}

// Modified notes, under an LRM policy, that a command has changed the key.
func (db *DB) Modified(key []byte) {
	if db.ks.P.Policy.lrm() {
		db.modified(key)
	}
}

func (db *DB) modified(key []byte) {
	if _, e := db.find(key); e.Exists() {
		e.SetLRU(db.ks.lru)
	}
}

// lfuDecay returns the counter of an LFU field after the time since its last decrement.
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

// Freq returns the access counter that OBJECT FREQ shows.
func (ks *Keyspace) Freq(e object.Entry) int { return int(ks.lfuDecay(e.LRU())) }

// IdleSeconds returns how long the entry was not used (OBJECT IDLETIME), in whole seconds. Under
// LRM it is how long it was not changed.
func (ks *Keyspace) IdleSeconds(e object.Entry) int64 {
	return int64((ks.lru - e.LRU()) & 0xffffff)
}
