package keyspace

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/invariant"
	"godwit/internal/listpack"
	"godwit/internal/object"
)

// shadowModel is a keyspace, its shadow, and what both should hold.
type shadowModel struct {
	model
	shadow *Shadow
	filled []map[string]record
}

// TestShadowModel loads shadows while the first set of databases changes, and adopts or drops them.
func TestShadowModel(t *testing.T) { bothLayouts(t, testShadowModel) }

func testShadowModel(t *testing.T) {
	ks, _, rng := newKeyspace(t, Params{Limits: testLimits()})
	m := &shadowModel{model: model{t, ks, rng, emptyDBs(ks)}}
	steps := 40000
	if invariant.Enabled {
		steps = 10000
	}
	round := ks.BeginDefrag(0)
	for range steps {
		if round.All = true; rng.IntN(4) == 0 && round.Step(1+rng.IntN(20)) {
			round = ks.BeginDefrag(0)
		}
		m.step()
		m.stepShadow()
		if rng.IntN(500) == 0 {
			require.NoError(t, ks.Check())
			checkQueue(t, ks)
		}
	}
	if m.shadow != nil {
		m.shadow.Drop()
	}
	for ks.LazyFreeSlice(100) {
	}
	for ks.ExpiryDue() {
		ks.ExpireSlice(100)
	}
	require.NoError(t, ks.Check())
	for i := range m.dbs {
		m.compare(i, m.dbs[i], ks)
	}
	drain(t, ks)
	require.NoError(t, ks.A.Check())
}

func emptyDBs(ks *Keyspace) []map[string]record {
	dbs := make([]map[string]record, ks.Databases())
	for i := range dbs {
		dbs[i] = map[string]record{}
	}
	return dbs
}

// stepShadow makes one random call about the shadow.
func (m *shadowModel) stepShadow() {
	switch {
	case m.rng.IntN(400) == 0:
		m.ks.KeepSizes(m.rng.IntN(3) > 0)
	case m.shadow == nil:
		if m.rng.IntN(20) == 0 {
			m.shadow, m.filled = m.ks.NewShadow(), emptyDBs(m.ks)
		}
	case m.rng.IntN(300) == 0:
		for i := range m.filled {
			m.compare(i, m.filled[i], m.shadow.ks)
		}
		require.NoError(m.t, m.shadow.ks.checkSizes())
		m.shadow.Adopt()
		m.shadow, m.dbs = nil, m.filled
		require.NoError(m.t, m.ks.checkSizes())
	case m.rng.IntN(600) == 0:
		m.shadow.Drop()
		m.shadow = nil
	case m.rng.IntN(2) == 0:
		m.shadow.RehashSlice(1)
	default:
		m.shadow.Fill(m.load)
	}
}

// load loads a string.
func (m *shadowModel) load(ks *Keyspace) {
	d, key := m.rng.IntN(ks.Databases()), m.randomKey()
	r := record{val: randomValue(m.rng)}
	if m.rng.IntN(2) == 0 {
		r.deadline = max(m.ks.Now()+int64(m.rng.IntN(2000))-1000, 1) // it may have passed
	}
	_, ok := ks.DB(d).Load([]byte(key), object.StringValue([]byte(r.val)), r.deadline,
		Access{Idle: -1, Freq: -1})
	_, taken := m.filled[d][key]
	require.Equal(m.t, !taken, ok)
	if ok {
		m.filled[d][key] = r
	}
}

// compare holds a database against what it should be. What has expired may be there or not.
func (m *shadowModel) compare(d int, want map[string]record, ks *Keyspace) {
	for key, r := range want {
		_, e := ks.DB(d).find([]byte(key))
		if !e.Exists() {
			require.True(m.t, r.deadline != 0 && r.deadline < m.ks.Now(), key)
			continue
		}
		var scratch [24]byte
		require.Equal(m.t, r.val, string(ks.DB(d).StringBytes(e, &scratch)))
		require.Equal(m.t, r.deadline, e.Deadline())
	}
}

// TestShadowCollections adopts and drops shadows with collections of all types and hashes whose
// fields have deadlines. Those of the set that is there expire at their time.
func TestShadowCollections(t *testing.T) { bothLayouts(t, testShadowCollections) }

func testShadowCollections(t *testing.T) {
	ks, _, rng := newKeyspace(t, Params{Limits: testLimits()})
	put := func(ks *Keyspace) {
		for i := range 40 {
			db := ks.DB(i % ks.Databases())
			for _, typ := range collectionTypes {
				fill(db, fmt.Sprint(typ, i), typ, rng.IntN(300), "")
			}
			timed(db, fmt.Sprint("timed", i), rng)
		}
	}
	put(ks)
	for i := range 8 {
		s := ks.NewShadow()
		require.Panics(t, func() { ks.NewShadow() })
		require.Panics(t, func() { ks.BeginSnapshot(nil, nil) })
		s.Fill(put)
		require.NoError(t, ks.Check())
		require.Equal(t, 40*5, s.Len())
		before := ks.keys()
		if i%2 == 0 {
			s.Adopt()
			require.Equal(t, 40*5, ks.keys())
		} else {
			s.Drop()
			require.Equal(t, before, ks.keys())
		}
		require.NoError(t, ks.Check())
		ks.SetNow(ks.Now() + 1000)
		for ks.ExpireSlice(100) {
		}
		require.Equal(t, 40*4, ks.keys(), "all timed hashes have lost their fields")
		for ks.LazyFreeSlice(rng.IntN(1000) + 1) {
		}
		require.NoError(t, ks.Check())
	}
	ks.BeginSnapshot(nil, nil).End()
	drain(t, ks)
	require.NoError(t, ks.A.Check())
}

// timed makes a hash all of whose fields have deadlines within a second.
func timed(db *DB, key string, rng *rand.Rand) {
	x := db.Create([]byte(key), object.Hash, object.EncPairs, listpack.PairsEmpty())
	for i := range 1 + rng.IntN(20) {
		f := []byte(fmt.Sprint("field", i))
		object.AsHash(x).Set(f, f)
		object.AsHash(x).SetDeadline(f, db.ks.now+1+rng.Int64N(900))
	}
	db.ArmFields(x)
}
