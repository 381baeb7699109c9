package keyspace

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/invariant"
	"godwit/internal/object"
)

// model is a keyspace and what it should hold.
type model struct {
	t   *testing.T
	ks  *Keyspace
	rng *rand.Rand
	dbs []map[string]record
}

// TestModel drives every write against a Go map, with the clock moving and active expiry running.
func TestModel(t *testing.T) { bothLayouts(t, testModel) }

func testModel(t *testing.T) {
	ks, _, rng := newKeyspace(t, Params{})
	m := &model{t, ks, rng, make([]map[string]record, ks.Databases())}
	for i := range m.dbs {
		m.dbs[i] = map[string]record{}
	}
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
		if rng.IntN(8) == 0 {
			requirePending(t, ks)
		}
	}
	for ks.ExpiryDue() {
		ks.ExpireSlice(100)
	}
	for i, db := range m.dbs {
		n, ttls := 0, 0
		for k := range db {
			if r, ok := m.get(i, k); ok {
				n++
				if r.deadline != 0 {
					ttls++
				}
			}
		}
		require.Equal(t, n, ks.DB(i).Len())
		require.Equal(t, ttls, ks.DB(i).Expires())
		require.NoError(t, ks.DB(i).store.check())
	}
	require.Greater(t, ks.A.Moves.Hits, int64(steps/4))
	drain(t, ks)
}

// get returns the record of a key whose deadline has not passed.
func (m *model) get(d int, key string) (record, bool) {
	r, ok := m.dbs[d][key]
	if ok && r.deadline != 0 && r.deadline < m.ks.Now() {
		delete(m.dbs[d], key)
		return record{}, false
	}
	return r, ok
}

// randomKey returns a name. With slots some of them share one.
func (m *model) randomKey() string { return fmt.Sprintf("{%d}k%d", m.rng.IntN(7), m.rng.IntN(10)) }

// step makes one random call.
func (m *model) step() {
	d := m.rng.IntN(m.ks.Databases())
	key := m.randomKey()
	switch m.rng.IntN(16) {
	case 0, 1, 2:
		m.set(d, key)
	case 3, 4:
		m.delete(d, key)
	case 5, 6:
		m.setDeadline(d, key)
	case 7:
		m.rename(d, key, m.randomKey())
	case 8:
		m.move(d, key, m.rng.IntN(m.ks.Databases()))
	case 9:
		m.copy(d, key, m.rng.IntN(m.ks.Databases()), m.randomKey())
	case 10:
		if m.rng.IntN(50) == 0 {
			j := m.rng.IntN(m.ks.Databases())
			m.ks.Swap(d, j)
			m.dbs[d], m.dbs[j] = m.dbs[j], m.dbs[d]
		}
	case 11:
		if m.rng.IntN(300) == 0 {
			m.ks.DB(d).Flush(m.rng.IntN(2) == 0)
			clear(m.dbs[d])
		}
	case 12:
		m.ks.SetNow(m.ks.Now() + int64(m.rng.IntN(40)))
		if m.ks.ExpiryDue() {
			m.ks.ExpireSlice(m.rng.IntN(20))
		}
		m.ks.LazyFreeSlice(10)
		m.ks.RehashSlice(1)
	case 13:
		m.edit(d, key, m.rng.IntN(300))
	default:
		m.read(d, key)
	}
}

func (m *model) set(d int, key string) {
	v, dl := randomValue(m.rng), int64(0)
	switch m.rng.IntN(3) {
	case 0:
		dl = m.ks.Now() + int64(m.rng.IntN(3000))
	case 1:
		dl = KeepTTL
	}
	old, _ := m.get(d, key)
	db := m.ks.DB(d)
	db.Lookup([]byte(key))
	db.Set([]byte(key), object.StringValue([]byte(v)), dl)
	if dl == KeepTTL {
		dl = old.deadline
	}
	m.dbs[d][key] = record{v, dl}
}

func (m *model) delete(d int, key string) {
	_, ok := m.get(d, key)
	delete(m.dbs[d], key)
	if m.rng.IntN(2) == 0 {
		require.Equal(m.t, ok, m.ks.DB(d).Delete([]byte(key)))
	} else {
		require.Equal(m.t, ok, m.ks.DB(d).Unlink([]byte(key)))
	}
}

func (m *model) setDeadline(d int, key string) {
	r, ok := m.get(d, key)
	if !ok {
		return
	}
	r.deadline = 0
	if m.rng.IntN(3) > 0 {
		r.deadline = m.ks.Now() + int64(m.rng.IntN(5000)) + 1
	}
	db := m.ks.DB(d)
	db.SetDeadline(db.Lookup([]byte(key)), r.deadline)
	m.dbs[d][key] = r
}

func (m *model) rename(d int, key, dst string) {
	if r, ok := m.get(d, key); ok && dst != key {
		m.ks.DB(d).Rename([]byte(key), []byte(dst))
		delete(m.dbs[d], key)
		m.dbs[d][dst] = r
	}
}

func (m *model) move(d int, key string, to int) {
	r, ok := m.get(d, key)
	if !ok {
		return
	}
	if _, taken := m.get(to, key); !taken && to != d {
		m.ks.DB(d).MoveTo([]byte(key), m.ks.DB(to))
		delete(m.dbs[d], key)
		m.dbs[to][key] = r
	}
}

func (m *model) copy(d int, key string, to int, dst string) {
	if r, ok := m.get(d, key); ok && (to != d || dst != key) {
		db := m.ks.DB(d)
		db.Copy(db.Peek([]byte(key)), m.ks.DB(to), []byte(dst))
		m.dbs[to][dst] = r
	}
}

// edit makes the string at least n bytes long and changes its last byte.
func (m *model) edit(d int, key string, n int) {
	r, ok := m.get(d, key)
	db := m.ks.DB(d)
	var x object.StringEdit
	if e := db.Lookup([]byte(key)); e.Exists() {
		require.True(m.t, ok)
		x = db.Mutable(e, n)
	} else {
		require.False(m.t, ok)
		x = db.NewMutable([]byte(key), n)
	}
	want := make([]byte, max(n, len(r.val)))
	copy(want, r.val)
	require.Equal(m.t, string(want), string(x.Bytes()))
	if len(want) > 0 {
		x.Change(len(want)-1, len(want))[0] ^= 7
		want[len(want)-1] ^= 7
	}
	r.val = string(want)
	m.dbs[d][key] = r
}

func (m *model) read(d int, key string) {
	r, ok := m.get(d, key)
	db := m.ks.DB(d)
	e := db.LookupRead([]byte(key))
	require.Equal(m.t, ok, e.Exists(), key)
	if ok {
		var scratch [24]byte
		require.Equal(m.t, r.val, string(db.StringBytes(e, &scratch)))
		require.Equal(m.t, len(r.val), e.StringLen())
		require.Equal(m.t, r.deadline, e.Deadline())
	}
}
