package keyspace

import (
	"hash/maphash"

	"godwit/internal/invariant"
	"godwit/internal/slot"
)

// Hash returns the hash of a key under this keyspace's seed. With slots it holds the key's.
func (ks *Keyspace) Hash(key []byte) uint64 {
	if ks.known.Is(key) {
		if invariant.Enabled {
			h := withSlot(ks.plainHash(key), key)
			invariant.Check(h == ks.known.Hash, "the key %q has changed since its hash", key)
		}
		return ks.known.Hash
	}
	h := ks.plainHash(key)
	if ks.slots {
		h = withSlot(h, key)
	}
	return h
}

// plainHash is Hash without the slot, which no dict looks at.
func (ks *Keyspace) plainHash(key []byte) uint64 { return maphash.Bytes(ks.seed, key) }

// slotOf returns the slot that a hash holds.
func slotOf(h uint64) int { return int(h >> slotShift & slotMask) }

// SlotOf returns the slot that a hash holds, if the keyspace has slots.
func SlotOf(hash uint64) int { return slotOf(hash) }

// KnownHash is a key and its hash, for who has computed it already. The key is borrowed.
type KnownHash struct {
	Key  []byte
	Hash uint64
}

// Is reports whether the key is this one: the same memory, not only the same bytes. That is all
// that it looks at, so the bytes must be what they were.
func (k *KnownHash) Is(key []byte) bool {
	return len(k.Key) == len(key) && len(key) > 0 && &k.Key[0] == &key[0]
}

// Know has Hash return k for its key, until it is called again. A zero k ends that. Until then
// nothing may change the bytes of the key.
func (ks *Keyspace) Know(k KnownHash) { ks.known = k }

// withSlot puts the slot of a key into its hash.
func withSlot(h uint64, key []byte) uint64 {
	return h&^(slotMask<<slotShift) | uint64(slot.Of(key))<<slotShift
}
