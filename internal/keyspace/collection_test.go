package keyspace

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/arena"
	"godwit/internal/listpack"
	"godwit/internal/object"
)

// testLimits returns small thresholds, so that little data is a large collection.
func testLimits() object.Limits {
	return object.Limits{HashMaxListpackEntries: 8, HashMaxListpackValue: 64,
		SetMaxIntsetEntries: 8, SetMaxListpackEntries: 8, SetMaxListpackValue: 64,
		ZSetMaxListpackEntries: 8, ZSetMaxListpackValue: 64, ListMaxListpackSize: 8}
}

var collectionTypes = []object.Type{object.List, object.Set, object.ZSet, object.Hash}

// fill makes a collection of n elements, each followed by pad.
func fill(db *DB, key string, t object.Type, n int, pad string) {
	enc, packed := object.EncListpack, listpack.Empty()
	if t == object.Hash {
		enc, packed = object.EncPairs, listpack.PairsEmpty()
	}
	x := db.Create([]byte(key), t, enc, packed)
	for i := range n {
		b := []byte(fmt.Sprint("element ", i, pad))
		switch t {
		case object.List:
			l := object.AsList(x)
			l.MakeRoomFor(b)
			l.Push(b, false)
		case object.Set:
			object.AsSet(x).Add(b)
		case object.ZSet:
			object.AsZSet(x).Add(float64(i%7), b, 0)
		case object.Hash:
			object.AsHash(x).Set(b, b)
		}
	}
}

// digestOf returns the elements of a collection, in a form to compare.
func digestOf(db *DB, key string) string {
	x := db.Open(db.Peek([]byte(key)))
	var b []byte
	add := func(v listpack.Value) bool { b = append(v.Append(b), ' '); return true }
	switch x.E.Type() {
	case object.List:
		l := object.AsList(x)
		it := l.Iter(0, false)
		for v, ok := it.Next(); ok; v, ok = it.Next() {
			add(v)
		}
	case object.Set:
		n := 0
		object.AsSet(x).Each(func(v listpack.Value) bool { n += v.Len(); return true })
		b = fmt.Append(b, object.AsSet(x).Len(), n)
	case object.ZSet:
		object.AsZSet(x).Each(func(m listpack.Value, score float64) bool {
			b = fmt.Append(b, score)
			return add(m)
		})
	case object.Hash:
		h := object.AsHash(x)
		n := 0
		h.Each(func(f, v listpack.Value) bool {
			got, ok := h.Get(f.Append(nil))
			if ok && string(got.Append(nil)) == string(v.Append(nil)) {
				n += v.Len()
			}
			return true
		})
		b = fmt.Append(b, h.Len(), n)
	}
	return fmt.Sprint(x.E.Type(), " ", string(b))
}

// TestLargeCollectionsAreFreedInSlices drops large collections in every way that keys are dropped:
// what is left to do is in the queue, however the caller wanted it, and each slice does a bounded
// part of it.
func TestLargeCollectionsAreFreedInSlices(t *testing.T) {
	const n = lazyItemsMax + 1000
	drops := map[string]func(db *DB, other *DB){
		"delete":    func(db, _ *DB) { db.Delete([]byte("k")) },
		"unlink":    func(db, _ *DB) { db.Unlink([]byte("k")) },
		"overwrite": func(db, _ *DB) { db.Set([]byte("k"), object.StringValue([]byte("v")), 0) },
		"rename": func(db, _ *DB) {
			db.Set([]byte("s"), object.IntValue(1), 0)
			db.Rename([]byte("s"), []byte("k"))
		},
		"copy": func(db, other *DB) {
			other.Copy(other.Set([]byte("s"), object.IntValue(1), 0), db, []byte("k"))
		},
		"remove": func(db, _ *DB) { db.Remove(db.Open(db.Peek([]byte("k")))) },
		"expire": func(db, _ *DB) {
			db.SetDeadline(db.Peek([]byte("k")), 1_000_001)
			db.ks.SetNow(1_000_003)
			require.False(t, db.Peek([]byte("k")).Exists())
		},
		"flush": func(db, _ *DB) { db.Flush(false) },
	}
	for name, drop := range drops {
		for _, typ := range collectionTypes {
			t.Run(name+" "+typ.String(), func(t *testing.T) {
				ks, _, _ := newKeyspace(t, Params{Limits: testLimits()})
				db := ks.DB(0)
				fill(db, "k", typ, n, "")
				require.True(t, db.Peek([]byte("k")).Encoding().Large())
				used := ks.A.UsedBy(arena.Values)
				drop(db, ks.DB(1))
				require.Equal(t, 1, ks.LazyFreePending(), "the collection waits to be freed")
				require.Greater(t, ks.A.UsedBy(arena.Values), used/2, "it was freed at once")
				slices := 0
				for ks.LazyFreeSlice(64) {
					slices++
				}
				require.GreaterOrEqual(t, slices, n/200, "a slice is a small part")
				require.Equal(t, int64(1), ks.Stats.LazyFreed-int64(boolInt(name == "flush")))
				drain(t, ks)
			})
		}
	}
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestHugeElementsAreFreedInSlices frees collections of few elements of a MiB: a slice hands them
// to the arena, which unmaps them bit by bit.
func TestHugeElementsAreFreedInSlices(t *testing.T) {
	for _, typ := range collectionTypes {
		ks, _, _ := newKeyspace(t, Params{Limits: testLimits()})
		fill(ks.DB(0), "k", typ, 40, strings.Repeat("x", 1<<20))
		mapped := ks.A.Mapped()
		require.Greater(t, mapped, int64(40<<20))
		ks.DB(0).Delete([]byte("k"))
		for ks.LazyFreeSlice(64) {
		}
		require.Greater(t, ks.A.Mapped(), mapped-mapped/4, "%s: freed in one go", typ)
		releases := 0
		for ks.A.Release() {
			releases++
		}
		require.GreaterOrEqual(t, releases, 30, "%s: some mappings are kept", typ)
		drain(t, ks)
	}
}

// TestCollectionsTravel copies, renames and moves collections of every type, packed and large.
func TestCollectionsTravel(t *testing.T) { bothLayouts(t, testCollectionsTravel) }

func testCollectionsTravel(t *testing.T) {
	for _, typ := range collectionTypes {
		for _, n := range []int{3, 40, 500} {
			t.Run(fmt.Sprint(typ, " ", n), func(t *testing.T) {
				ks, _, _ := newKeyspace(t, Params{Limits: testLimits()})
				db, other := ks.DB(0), ks.DB(1)
				fill(db, "k", typ, n, "")
				want, large := digestOf(db, "k"), db.Peek([]byte("k")).Encoding()
				db.SetDeadline(db.Peek([]byte("k")), 2_000_000)
				db.Copy(db.Peek([]byte("k")), other, []byte("copy"))
				require.Equal(t, want, digestOf(other, "copy"))
				db.Rename([]byte("k"), []byte("renamed"))
				db.MoveTo([]byte("renamed"), other)
				require.Equal(t, want, digestOf(other, "renamed"))
				e := other.Peek([]byte("renamed"))
				require.Equal(t, large, e.Encoding())
				require.Equal(t, int64(2_000_000), e.Deadline())
				other.Delete([]byte("renamed"))
				for ks.LazyFreeSlice(100) {
				}
				require.Equal(t, want, digestOf(other, "copy"), "the copy shares nothing")
				require.Equal(t, 0, db.Len())
				ks.Swap(0, 1)
				require.Equal(t, want, digestOf(db, "copy"))
				drain(t, ks)
			})
		}
	}
}
