package keyspace

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/invariant"
	"godwit/internal/object"
	"godwit/internal/slot"
)

// inSlots makes the keyspaces of tests keep a dict for each slot.
var inSlots bool

// bothLayouts runs a test with all keys in one dict, and with a dict for each slot.
func bothLayouts(t *testing.T, test func(t *testing.T)) {
	defer func() { inSlots = false }()
	for _, inSlots = range []bool{false, true} {
		t.Run(map[bool]string{false: "one dict", true: "slots"}[inSlots], test)
	}
}

// TestSlotSizes holds what is said of sizes against what they are.
func TestSlotSizes(t *testing.T) {
	require.EqualValues(t, slotDictBytes, reflect.TypeFor[slotDict]().Size())
	require.EqualValues(t, talliesBytes, reflect.TypeFor[[pageSlots]tally]().Size())
	require.InDelta(t, slotTableBytes, float64(reflect.TypeFor[slotTable]().Size()), 2<<10)
}

// slotModel is a model that knows slots, with some of them hidden.
type slotModel struct {
	model
	hidden slot.Set
	snap   *Snapshot
	saved  map[string]string // what the running snapshot has saved of the slots it is of
	want   map[string]string
	of     slot.Set
	// renewed counts renewals of marks that have come to their end.
	renewed int
}

// TestSlotModel counts, walks, measures, hides, flushes and saves slots while keys change.
func TestSlotModel(t *testing.T) {
	inSlots = true
	defer func() { inSlots = false }()
	ks, _, rng := newKeyspace(t, Params{Databases: 2})
	m := &slotModel{model: model{t, ks, rng, emptyDBs(ks)}}
	ks.cancelled = renewAt - 5 // as after so many snapshots
	steps := 30000
	if invariant.Enabled {
		steps = 8000
	}
	round := ks.BeginDefrag(0)
	for range steps {
		if round.All = true; rng.IntN(4) == 0 && round.Step(1+rng.IntN(20)) {
			round = ks.BeginDefrag(0)
		}
		m.step()
		m.stepSlots()
		if rng.IntN(500) == 0 {
			require.NoError(t, ks.Check())
		}
	}
	if m.snap != nil {
		m.snap.End()
	}
	require.NoError(t, ks.Check())
	require.True(t, invariant.Enabled || m.renewed > 0)
	ks.Hide(nil)
	drain(t, ks)
	require.Zero(t, ks.SlotBytes())
}

// randomSlots returns a set of some of the slots that keys are in.
func (m *slotModel) randomSlots() (s slot.Set) {
	for i := range 7 {
		if m.rng.IntN(2) == 0 {
			s.Add(slot.Of(fmt.Append(nil, i)))
		}
	}
	return s
}

// stepSlots makes one random call about slots.
func (m *slotModel) stepSlots() {
	d, i := m.rng.IntN(len(m.dbs)), slot.Of(fmt.Append(nil, m.rng.IntN(7)))
	switch m.rng.IntN(400) {
	case 0, 1:
		m.expireAll()
		require.Equal(m.t, len(m.keysOf(d, i)), m.ks.DB(d).FlushSlot(i, m.rng.IntN(2) == 0))
		for key := range m.keysOf(d, i) {
			delete(m.dbs[d], key)
		}
	case 2, 3:
		m.expireAll()
		m.compareSlot(d, i)
	case 4:
		m.hidden = m.randomSlots()
		m.ks.Hide(&m.hidden)
	case 5, 6:
		m.expireAll()
		m.compareShown(d)
	case 7:
		m.ks.KeepSizes(m.rng.IntN(3) > 0)
	case 12, 13, 14:
		m.ks.MeasureSlots(1 + m.rng.IntN(slot.Count/2))
	case 8, 9, 10, 11:
		m.save()
	case 15, 16, 17, 18:
		n := 40
		if m.rng.IntN(10) == 0 { // else hardly any renewal comes to its end before a snapshot does
			n = 10_000
		}
		if pending := m.ks.RenewPending(); !m.ks.RenewSlice(1+m.rng.IntN(n)) && pending {
			m.renewed++
		}
	}
}

// expireAll deletes what is due. As long as keys are hidden that must leave them alone.
func (m *slotModel) expireAll() {
	before := m.hiddenKeys()
	for m.ks.ExpiryDue() {
		m.ks.ExpireSlice(100)
	}
	require.Equal(m.t, before, m.hiddenKeys())
	m.ks.Hide(nil)
	for m.ks.ExpiryDue() {
		m.ks.ExpireSlice(100)
	}
	m.ks.Hide(&m.hidden)
	for d := range m.dbs {
		for key := range m.dbs[d] {
			m.get(d, key)
		}
	}
}

// hiddenKeys returns how many keys are hidden, those included that are due.
func (m *slotModel) hiddenKeys() (n int) {
	for d := range m.dbs {
		n += m.ks.DB(d).Len() - m.ks.DB(d).Shown()
	}
	return n
}

// keysOf returns the keys that should be in a slot.
func (m *slotModel) keysOf(d, i int) map[string]bool {
	keys := map[string]bool{}
	for key := range m.dbs[d] {
		if slot.Of([]byte(key)) == i {
			keys[key] = true
		}
	}
	return keys
}

// compareSlot compares a slot with what should be in it.
func (m *slotModel) compareSlot(d, i int) {
	db, want := m.ks.DB(d), m.keysOf(d, i)
	require.Equal(m.t, len(want), db.SlotLen(i))
	size := int64(0)
	for key := range want {
		size += db.Footprint([]byte(key))
	}
	if z := m.ks.sizes; z != nil && i < z.measured {
		require.Equal(m.t, size, db.SlotSize(i))
	}
	n := m.rng.IntN(len(want) + 2)
	found := map[string]bool{}
	db.SlotKeys(i, n, func(e object.Entry) {
		require.True(m.t, want[string(e.Key())])
		found[string(e.Key())] = true
	})
	require.Len(m.t, found, min(n, len(want)))
}

// compareShown compares what walks show of a database with what is not hidden.
func (m *slotModel) compareShown(d int) {
	db, want := m.ks.DB(d), map[string]bool{}
	for key := range m.dbs[d] {
		if !m.hidden.Has(slot.Of([]byte(key))) {
			want[key] = true
		}
	}
	require.Equal(m.t, len(want), db.Shown())
	each, scanned := map[string]bool{}, map[string]bool{}
	db.Each(func(e object.Entry) { each[string(e.Key())] = true })
	for cursor, steps := uint64(0), 0; ; steps++ {
		cursor = db.Scan(cursor, func(e object.Entry, _ bool) { scanned[string(e.Key())] = true })
		if cursor == 0 {
			break
		}
		require.Less(m.t, steps, 200, "one step for each empty slot")
	}
	require.Equal(m.t, want, each)
	require.Equal(m.t, want, scanned)
	e := db.Random()
	require.Equal(m.t, len(want) > 0, e.Exists())
	if e.Exists() {
		require.True(m.t, want[string(e.Key())])
	}
}

// save begins a snapshot of some slots, or goes on with it and compares what it has saved.
func (m *slotModel) save() {
	if m.snap == nil {
		m.expireAll()
		m.of = m.randomSlots()
		m.saved, m.want = map[string]string{}, map[string]string{}
		keys := 0
		for d := range m.dbs {
			for key, r := range m.dbs[d] {
				if m.of.Has(slot.Of([]byte(key))) {
					m.want[fmt.Sprint(d, key)] = r.val
				}
			}
		}
		m.snap = m.ks.BeginSnapshot(m, &m.of)
		for _, db := range m.snap.DBs {
			keys += db.Keys
		}
		require.Equal(m.t, len(m.want), keys)
		return
	}
	if m.snap.Walk(1 + m.rng.IntN(100)) {
		require.Equal(m.t, m.want, m.saved)
		m.snap.End()
		m.snap = nil
	} else if m.rng.IntN(20) == 0 {
		m.snap.End()
		m.snap = nil
	}
}

// Preserve implements Saver.
func (m *slotModel) Preserve(d int, e object.Entry) {
	var scratch [24]byte
	id := fmt.Sprint(d, string(e.Key()))
	require.NotContains(m.t, m.saved, id)
	m.saved[id] = string(e.StringBytes(m.ks.A, &scratch))
}
