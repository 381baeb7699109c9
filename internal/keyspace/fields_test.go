package keyspace

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/arena"
	"godwit/internal/listpack"
	"godwit/internal/object"
	"godwit/internal/testseed"
)

// fieldHooks counts fields that expired.
type fieldHooks struct {
	recorder
	fields map[string]int // "key field"
	events map[string]int // "event key"

	announced map[string]int // "key field", by events
}

func (r *fieldHooks) FieldExpired(key, field []byte, _ int) {
	r.fields[string(key)+" "+string(field)]++
}

func (r *fieldHooks) KeyEvent(event string, key []byte, _ int) {
	r.events[event+" "+string(key)]++
}

func (r *fieldHooks) FieldEvent(_ string, key []byte, fields FieldNames, _ int) {
	for i := 0; i < len(fields.List); i += fields.Step {
		r.announced[string(key)+" "+string(fields.List[i])]++
	}
}

func newFieldKeyspace(t *testing.T, lim object.Limits) (*Keyspace, *fieldHooks, *rand.Rand) {
	rng := testseed.Rand(t)
	r := &fieldHooks{fields: map[string]int{}, events: map[string]int{},
		announced: map[string]int{}}
	p := Params{Databases: 4, ActiveExpire: true, Limits: lim, Events: EvHash | EvGeneric,
		FieldEvents: true}
	p.Slots = inSlots
	ks := New(arena.New(), p, rng, 1_000_000, r)
	t.Cleanup(func() { drain(t, ks) })
	return ks, r, rng
}

// setField gives a field of the key a value and a deadline (0: none).
func setField(db *DB, key, field string, deadline int64) {
	e := db.Lookup([]byte(key))
	var x *object.Edit
	if e.Exists() {
		x = db.Open(e)
	} else {
		x = db.Create([]byte(key), object.Hash, object.EncPairs, listpack.PairsEmpty())
	}
	h := object.AsHash(x)
	h.Set([]byte(field), []byte("value"))
	h.SetDeadline([]byte(field), deadline)
	db.ArmFields(x)
}

// fieldsLeft counts the fields of a key that are there, due or not, without a lookup: a lookup
// would expire them.
func fieldsLeft(db *DB, key string) (n int) {
	_, e := db.find([]byte(key))
	if !e.Exists() {
		return 0
	}
	now := db.ks.now
	db.ks.Heap.Now = 0
	n = object.AsHash(db.Open(e)).Len()
	db.ks.Heap.Now = now
	return n
}

var fieldLimits = []object.Limits{
	{HashMaxListpackEntries: 128, HashMaxListpackValue: 64},
	{HashMaxListpackEntries: 5, HashMaxListpackValue: 64},
	{},
}

// TestFieldsExpireByThemselves gives fields of many hashes deadlines, moves them, and lets the
// clock run: nothing looks a key up, and after each slice exactly the fields whose time has come
// are gone.
func TestFieldsExpireByThemselves(t *testing.T) { bothLayouts(t, testFieldsExpireByThemselves) }

func testFieldsExpireByThemselves(t *testing.T) {
	for _, lim := range fieldLimits {
		ks, hooks, rng := newFieldKeyspace(t, lim)
		db := ks.DB(0)
		model := map[string]map[string]int64{}
		for range 60 {
			for range 40 {
				key, field := fmt.Sprintf("k%d", rng.IntN(20)), fmt.Sprintf("f%d", rng.IntN(12))
				deadline := int64(0)
				if rng.IntN(3) > 0 {
					deadline = ks.Now() + int64(rng.IntN(1<<rng.IntN(16)))
				}
				setField(db, key, field, deadline)
				if model[key] == nil {
					model[key] = map[string]int64{}
				}
				model[key][field] = deadline
			}
			ks.SetNow(ks.Now() + int64(rng.IntN(1000)))
			for ks.ExpireSlice(1 + rng.IntN(100)) {
			}
			for key, fields := range model {
				for f, d := range fields {
					if d != 0 && d < ks.Now() {
						delete(fields, f)
						require.Positive(t, hooks.fields[key+" "+f])
					}
				}
				require.Equal(t, len(fields), fieldsLeft(db, key), "key %s at %d", key, ks.Now())
				if _, e := db.find([]byte(key)); e.Exists() == (len(fields) == 0) {
					t.Fatalf("key %s of %d fields: there %v", key, len(fields), e.Exists())
				}
			}
			require.Equal(t, hooks.fields, hooks.announced)
		}
	}
}

// TestFieldsFollowTheKey renames, copies and moves hashes and swaps databases: the fields expire
// where they have come to.
func TestFieldsFollowTheKey(t *testing.T) { bothLayouts(t, testFieldsFollowTheKey) }

func testFieldsFollowTheKey(t *testing.T) {
	for _, lim := range fieldLimits {
		ks, hooks, _ := newFieldKeyspace(t, lim)
		a, b := ks.DB(0), ks.DB(1)
		far := ks.Now() + 1000
		for i := range 10 {
			setField(a, "k", fmt.Sprint(i), far+int64(i%2))
		}
		setField(a, "k", "stays", 0)
		a.Copy(a.Lookup([]byte("k")), a, []byte("copy"))
		a.Copy(a.Lookup([]byte("k")), b, []byte("other"))
		a.Rename([]byte("k"), []byte("renamed"))
		b.MoveTo([]byte("other"), ks.DB(2))
		ks.Swap(2, 3)
		ks.SetNow(far + 1)
		for ks.ExpireSlice(3) {
		}
		require.Equal(t, 6, fieldsLeft(a, "renamed"))
		require.Equal(t, 6, fieldsLeft(a, "copy"))
		require.Equal(t, 6, fieldsLeft(ks.DB(3), "other"))
		require.Len(t, hooks.fields, 15)
		require.Equal(t, 1, min(hooks.events["hexpired copy"], 1))
		ks.SetNow(far + 2)
		for ks.ExpireSlice(3) {
		}
		require.Equal(t, 1, fieldsLeft(ks.DB(3), "other"))
	}
}

// TestFieldsLazily checks that without active expiry a lookup takes due fields away, and the key
// with the last one.
func TestFieldsLazily(t *testing.T) { bothLayouts(t, testFieldsLazily) }

func testFieldsLazily(t *testing.T) {
	for _, lim := range fieldLimits {
		ks, hooks, _ := newFieldKeyspace(t, lim)
		ks.P.ActiveExpire = false
		db := ks.DB(0)
		soon := ks.Now() + 10
		setField(db, "k", "a", soon)
		setField(db, "k", "b", soon+10)
		ks.SetNow(soon)
		fields := func() int { return object.AsHash(db.Open(db.Lookup([]byte("k")))).Len() }
		require.Equal(t, 2, fields(), "still there in the ms of the deadline")
		ks.SetNow(soon + 1)
		require.Equal(t, 1, fields())
		require.Equal(t, 1, hooks.events["hexpired k"])
		ks.SetNow(soon + 11)
		require.False(t, db.Lookup([]byte("k")).Exists())
		require.Equal(t, 2, hooks.events["hexpired k"])
		require.Equal(t, 1, hooks.events["del k"])
		require.Equal(t, map[string]int{"k a": 1, "k b": 1}, hooks.fields)
	}
}

// TestManyFieldsAtOnce checks that a lookup takes away only some of very many due fields; the
// others are invisible until slices have taken them.
func TestManyFieldsAtOnce(t *testing.T) { bothLayouts(t, testManyFieldsAtOnce) }

func testManyFieldsAtOnce(t *testing.T) {
	const n = 5000
	ks, _, _ := newFieldKeyspace(t, object.Limits{})
	db := ks.DB(0)
	due := ks.Now() + 10
	for i := range n {
		setField(db, "k", fmt.Sprint(i), due)
	}
	setField(db, "k", "stays", 0)
	ks.SetNow(due + 1)
	h := object.AsHash(db.Open(db.Lookup([]byte("k"))))
	require.Equal(t, 1, h.Len())
	seen := 0
	h.Each(func(f, _ listpack.Value) bool { seen++; return true })
	require.Equal(t, 1, seen)
	require.False(t, h.Has([]byte("4000")))
	require.Greater(t, fieldsLeft(db, "k"), n/2)
	slices := 0
	for ks.ExpireSlice(64) {
		slices++
	}
	require.Greater(t, slices, 10)
	require.Equal(t, 1, fieldsLeft(db, "k"))
	require.EqualValues(t, n, ks.Stats.ExpiredFields)
}

// TestFieldWheelStaysSmall sets a near deadline again and again on a hash that has a far one too.
func TestFieldWheelStaysSmall(t *testing.T) { bothLayouts(t, testFieldWheelStaysSmall) }

func testFieldWheelStaysSmall(t *testing.T) {
	for _, lim := range fieldLimits {
		ks, _, _ := newFieldKeyspace(t, lim)
		db := ks.DB(0)
		setField(db, "k", "far", ks.Now()+1_000_000_000)
		for range 1000 {
			setField(db, "k", "near", ks.Now()+5)
			ks.SetNow(ks.Now() + 10)
			for ks.ExpireSlice(100) {
			}
		}
		require.LessOrEqual(t, ks.fields.Len(), 3)
		require.Equal(t, 1, fieldsLeft(db, "k"))
	}
}
