package keyspace

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/object"
)

// modeModel knows what is there, due or not, and what time may do to it.
type modeModel struct {
	t      *testing.T
	rng    *rand.Rand
	ks     *Keyspace
	db     *DB
	now    int64
	keys   map[string]int64            // deadlines of strings, 0 for none
	hashes map[string]map[string]int64 // of fields
}

func (m *modeModel) due(deadline int64) bool {
	return m.ks.ExpireMode() != ExpireIgnore && deadline != 0 && deadline < m.now
}

// expire takes away what is due: what a lookup does where time may delete, and a write where it
// hides.
func (m *modeModel) expire(key string) {
	if d, ok := m.keys[key]; ok && m.due(d) {
		delete(m.keys, key)
	}
	if fields, ok := m.hashes[key]; ok {
		maps.DeleteFunc(fields, func(_ string, d int64) bool { return m.due(d) })
		if len(fields) == 0 {
			delete(m.hashes, key)
		}
	}
}

// there reports whether a reader finds the key. A hash without visible fields is there.
func (m *modeModel) there(key string) bool {
	d, ok := m.keys[key]
	_, hash := m.hashes[key]
	return ok && !m.due(d) || hash
}

func (m *modeModel) deadline() int64 {
	if m.rng.IntN(3) == 0 {
		return 0
	}
	return m.now + m.rng.Int64N(200) - 50
}

// write does something that begins with the lookup of a writer.
func (m *modeModel) write(key string) {
	hash := key[0] == 'h'
	switch n := m.rng.IntN(4); {
	case n == 0:
		var want bool
		if m.ks.ExpireMode() == ExpireDelete {
			m.expire(key)
		}
		if _, want = m.keys[key]; !want {
			_, want = m.hashes[key]
		}
		require.Equal(m.t, want, m.db.Delete([]byte(key)), "Delete of %s", key)
		delete(m.keys, key)
		delete(m.hashes, key)
	case n == 1 && !hash:
		m.expire(key)
		deadline := m.deadline()
		_, ok := m.db.Load([]byte(key), object.StringValue([]byte("v")), deadline,
			Access{Idle: -1, Freq: -1})
		require.Equal(m.t, !m.there(key), ok, "Load of %s", key)
		if ok {
			m.keys[key] = deadline
		}
	case hash:
		m.expire(key)
		field, deadline := fmt.Sprint("f", m.rng.IntN(20)), m.deadline()
		setField(m.db, key, field, deadline)
		if m.hashes[key] == nil {
			m.hashes[key] = map[string]int64{}
		}
		m.hashes[key][field] = deadline
	case n == 2:
		m.keys[key] = m.deadline()
		m.db.Set([]byte(key), object.StringValue([]byte("v")), m.keys[key])
	default:
		m.expire(key)
		require.Equal(m.t, m.there(key), m.db.Lookup([]byte(key)).Exists(), "Lookup of %s", key)
	}
}

// read looks a key up as reading commands do.
func (m *modeModel) read(key string) {
	if m.ks.ExpireMode() == ExpireDelete {
		m.expire(key)
	}
	lookups := []func([]byte) object.Entry{m.db.LookupRead, m.db.Query, m.db.Inspect, m.db.Peek}
	e := lookups[m.rng.IntN(len(lookups))]([]byte(key))
	require.Equal(m.t, m.there(key), e.Exists(), "%s", key)
	if e.Exists() && e.Type() == object.Hash {
		m.readHash(key, object.AsHash(m.db.Open(e)))
	}
}

// readHash compares what a hash shows of itself with the model.
func (m *modeModel) readHash(key string, h object.Fields) {
	visible := 0
	for field, d := range m.hashes[key] {
		if !m.due(d) {
			visible++
		}
		require.Equal(m.t, !m.due(d), h.Has([]byte(field)), "%s of %s", field, key)
		_, ok := h.Deadline([]byte(field))
		require.Equal(m.t, !m.due(d), ok)
	}
	require.Equal(m.t, visible, h.Len(), "fields of %s", key)
	require.False(m.t, h.Empty(), "%s", key)
}

// walk compares all keys together with the model.
func (m *modeModel) walk() {
	require.Equal(m.t, len(m.keys)+len(m.hashes), m.db.Len(), "all keys, due ones included")
	live, deadlines := 0, 0
	for key, d := range m.keys {
		if m.there(key) {
			live++
		}
		if d != 0 {
			deadlines++
		}
	}
	require.Equal(m.t, deadlines, m.db.Expires())
	seen := 0
	for cursor := uint64(0); ; {
		if cursor = m.db.Scan(cursor, func(e object.Entry, due bool) {
			require.Equal(m.t, !due, m.there(string(e.Key())), "%s", e.Key())
			seen++
		}); cursor == 0 {
			break
		}
	}
	require.GreaterOrEqual(m.t, seen, live+len(m.hashes))
	if m.ks.ExpireMode() == ExpireDelete || m.db.Len() == 0 {
		return
	}
	e := m.db.Random()
	require.True(m.t, e.Exists())
	mayBeDue := deadlines == m.db.Len()
	require.True(m.t, mayBeDue || m.there(string(e.Key())), "%s is due", e.Key())
	require.Equal(m.t, len(m.keys)+len(m.hashes), m.db.Len(), "nothing has gone by that")
}

// slices has expiry do all it may.
func (m *modeModel) slices() {
	for m.ks.ExpireSlice(1000) {
	}
	if m.ks.ExpireMode() != ExpireDelete {
		require.False(m.t, m.ks.ExpiryDue())
		_, ok := m.ks.NextDeadline()
		require.False(m.t, ok)
		return
	}
	for key := range m.keys {
		m.expire(key)
	}
	for key := range m.hashes {
		m.expire(key)
	}
	require.Equal(m.t, len(m.keys)+len(m.hashes), m.db.Len())
}

// TestExpireModes reads and writes at random while time goes on, and may do now this, now that. (A
// clock that is set back is TestClockJumpsModel's.)
func TestExpireModes(t *testing.T) { bothLayouts(t, testExpireModes) }

func testExpireModes(t *testing.T) {
	for _, limits := range []object.Limits{{HashMaxListpackEntries: 100, HashMaxListpackValue: 100},
		{}} {
		ks, _, rng := newFieldKeyspace(t, limits)
		m := &modeModel{
			t: t, rng: rng, ks: ks, db: ks.DB(0), now: 1_000_000,
			keys: map[string]int64{}, hashes: map[string]map[string]int64{},
		}
		for range 20_000 {
			key := fmt.Sprint("k", rng.IntN(30))
			if rng.IntN(4) == 0 {
				key = fmt.Sprint("h", rng.IntN(4))
			}
			switch n := rng.IntN(40); {
			case n == 0:
				was, next := ks.ExpireMode(), ExpireMode(rng.IntN(3))
				require.Equal(t, was, ks.SetExpireMode(next))
			case n < 4:
				m.now += rng.Int64N(60)
				ks.SetNow(m.now)
			case n == 4:
				m.slices()
			case n < 8:
				m.walk()
			case n < 20:
				m.write(key)
			default:
				m.read(key)
			}
		}
		require.NoError(t, ks.CheckRecords())
	}
}
