package keyspace

import (
	"godwit/internal/object"
	"godwit/internal/wheel"
)

// Lookups by hash: records of the timing wheels and candidates for eviction name a key by its hash.
// The store compares only a part of the hash. So the comparison asks for all 48 bits that a record
// keeps, and for what the caller wants of the entry beside them. The hash is seeded, so nobody can
// make two keys that agree in them. Among ten million keys with deadlines such a pair exists by
// chance in one server of six. If their generations agree too, one in 64, a record can count for
// the wrong key; the right one expires when it is looked up.

// seekKind says what an entry is wanted for.
type seekKind uint8

const (
	seekAny    seekKind = iota
	seekDue             // its deadline is before seek.at
	seekRecord          // it counts on the record with generation seek.gen that fires at seek.at
	seekFields          // its fields count on the record seek.at, see armedAt
)

// seek is a lookup by hash.
type seek struct {
	kind seekKind
	gen  byte
	hash uint64
	at   int64
}

// byHash returns the entry that the seek wants, the zero Entry if there is none.
func (db *DB) byHash(s seek) object.Entry {
	db.ks.seek = s
	r := db.store.find(s.hash, nil)
	if r == 0 {
		return object.Entry{}
	}
	return object.View(db.ks.A, r)
}

// sought compares an entry with the seek that is under way.
func (ks *Keyspace) sought(e object.Entry) bool {
	s := &ks.seek
	switch s.kind {
	case seekDue:
		if d := e.Deadline(); d == 0 || d >= s.at {
			return false
		}
	case seekRecord:
		// A record that fires too late is an old one, whatever its generation.
		if d := e.Deadline(); d == 0 || wakeAt(d) < s.at || ks.generations() && e.Gen() != s.gen {
			return false
		}
	case seekFields:
		if a := ks.Heap.Armed(e); s.at == 0 || a[0] != s.at && a[1] != s.at {
			return false
		}
	}
	return (ks.Hash(e.Key())^s.hash)<<(64-wheel.HashBits) == 0
}
