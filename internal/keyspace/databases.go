package keyspace

import (
	"math"
	"slices"

	"godwit/internal/wheel"
)

// DB returns database i.
func (ks *Keyspace) DB(i int) *DB { return ks.dbs[i] }

// Databases returns how many there are.
func (ks *Keyspace) Databases() int { return len(ks.dbs) }

// begin makes the databases and the wheels.
func (ks *Keyspace) begin(nowMs int64) {
	ks.dueAt = math.MaxInt64
	ks.wheel = records{Wheel: wheel.New(ks.A, nowMs), judge: ks.judge}
	ks.fields = records{Wheel: wheel.New(ks.A, nowMs), judge: ks.judgeFields}
	ks.dbs = make([]*DB, ks.P.Databases)
	for i := range ks.dbs {
		ks.dbs[i] = &DB{ks: ks, id: i, content: content{store: ks.newStore(), wheelID: uint16(i)}}
	}
	ks.byWheel = slices.Clone(ks.dbs)
}

// keys returns the number of keys in all databases.
func (ks *Keyspace) keys() (n int) {
	for _, db := range ks.dbs {
		n += db.store.len()
	}
	return n
}
