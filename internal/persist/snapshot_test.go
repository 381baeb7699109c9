package persist

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/arena"
	"godwit/internal/keyspace"
	"godwit/internal/listpack"
	"godwit/internal/object"
	streams "godwit/internal/stream"
	"godwit/internal/testseed"
)

// tiny makes large collections of what is over four elements, and nodes of two.
func tiny() object.Limits {
	return object.Limits{
		HashMaxListpackEntries: 4, HashMaxListpackValue: 64, SetMaxIntsetEntries: 4,
		SetMaxListpackEntries: 4, SetMaxListpackValue: 64, ZSetMaxListpackEntries: 4,
		ZSetMaxListpackValue: 64, ListMaxListpackSize: 3,
	}
}

// newKeyspace makes an empty keyspace. Every other one is that of a cluster's node, with the sizes
// of its slots.
func newKeyspace(rng *rand.Rand, lim object.Limits) *keyspace.Keyspace {
	p := keyspace.Params{Databases: 3, Samples: 5, ActiveExpire: true,
		Policy: keyspace.AllKeysRandom, Limits: lim, Slots: rng.IntN(2) == 0}
	ks := keyspace.New(arena.New(), p, rng, 1_000_000, keyspace.NoHooks{})
	ks.KeepSizes(true)
	return ks
}

var textSeed = maphash.MakeSeed()

// text returns a value for people and for comparing: sets and hashes sorted, lists in order.
func text(ks *keyspace.Keyspace, e object.Entry) string {
	return textAt(ks, e, math.MinInt64, true)
}

// textAt does it at a time: fields that are due then are not there. timed shows their deadlines,
// and what streams have that old versions of RDB cannot tell.
func textAt(ks *keyspace.Keyspace, e object.Entry, at int64, timed bool) string {
	var x object.Edit
	x.Reset(ks.Heap, e, nil)
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	str := func(v listpack.Value) string { return string(v.Append(nil)) }
	switch e.Type() {
	case object.String:
		var scratch [24]byte
		return "string " + string(e.StringBytes(ks.A, &scratch))
	case object.Hash:
		now := ks.Heap.Now
		ks.Heap.Now = at // text: fields that are due count as long as they are there
		object.AsHash(&x).EachDeadline(func(f, v listpack.Value, deadline int64) bool {
			if !timed {
				deadline = 0
			}
			add("%s=%s@%d", str(f), str(v), deadline)
			return true
		})
		ks.Heap.Now = now
		sort.Strings(parts)
	case object.Set:
		object.AsSet(&x).Each(func(v listpack.Value) bool { add("%s", str(v)); return true })
		sort.Strings(parts)
	case object.ZSet:
		object.AsZSet(&x).Each(func(m listpack.Value, score float64) bool {
			add("%s:%g", str(m), score)
			return true
		})
		sort.Strings(parts)
	case object.List:
		it := object.AsList(&x).Iter(0, false)
		for v, ok := it.Next(); ok; v, ok = it.Next() {
			add("%s", str(v))
		}
	case object.Stream:
		x.Stream().EachPart(func(p *streams.Part) bool {
			streamRows(p, timed, add)
			return true
		})
	}
	if e.Encoding() == object.EncSketch {
		add("%s", flatten(x.Sketch()).text(e.Type()))
	}
	return e.Type().String() + " " + strings.Join(parts, " ")
}

// contents returns all keys: what a snapshot has to show.
func contents(ks *keyspace.Keyspace) map[string]string {
	return contentsBy(ks, func(e object.Entry) string { return text(ks, e) })
}

// untimed returns all keys as a snapshot shows them that cannot tell the deadlines of fields.
func untimed(ks *keyspace.Keyspace) map[string]string {
	now := ks.Now()
	m := contentsBy(ks, func(e object.Entry) string { return textAt(ks, e, now, false) })
	maps.DeleteFunc(m, func(_, v string) bool { return strings.HasSuffix(v, " hash ") })
	return m
}

func contentsBy(ks *keyspace.Keyspace, text func(e object.Entry) string) map[string]string {
	m := map[string]string{}
	now := ks.Now()
	ks.SetNow(0) // what is due is still there
	for i := range ks.Databases() {
		db := ks.DB(i)
		for cursor := uint64(0); ; {
			cursor = db.Scan(cursor, func(e object.Entry, _ bool) {
				m[fmt.Sprintf("%d %s", i, e.Key())] = fmt.Sprintf("%d %s", e.Deadline(), text(e))
			})
			if cursor == 0 {
				break
			}
		}
	}
	ks.SetNow(now)
	return m
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// TestModel takes snapshots of small keyspaces whose keys are changed in every way meanwhile.
func TestModel(t *testing.T) {
	rng := testseed.Rand(t)
	for _, depth := range []int{0, 1} {
		lim := tiny()
		lim.ListCompressDepth = depth
		for range 12 {
			c := &chaos{t: t, ks: newKeyspace(rng, lim), rng: rng, keys: 5 + rng.IntN(60),
				wide: 4 + rng.IntN(40)}
			c.long = rng.IntN(2) * (1 + rng.IntN(500))
			for range 300 {
				c.change()
			}
			for range 6 {
				cancelAt := -1
				if rng.IntN(3) == 0 {
					cancelAt = rng.IntN(40)
				}
				c.run(200, 1+rng.IntN(6), cancelAt)
				for range rng.IntN(50) {
					c.change()
				}
			}
			c.empty()
		}
	}
}

// TestModelOneKey takes snapshots of single large collections.
func TestModelOneKey(t *testing.T) {
	rng := testseed.Rand(t)
	for i := range 18 {
		lim := tiny()
		lim.ListCompressDepth = i % 2
		c := &chaos{t: t, ks: newKeyspace(rng, lim), rng: rng, keys: 1, wide: 300}
		changes := []func(*keyspace.DB){c.hash, c.set, c.zset, c.list}
		for _, kind := range sketchKinds() {
			changes = append(changes, func(db *keyspace.DB) { c.sketchOf(kind, db) })
		}
		one := changes[i%len(changes)]
		db := c.ks.DB(0)
		for range 4 {
			for range 200 {
				one(db)
			}
			want := contents(c.ks)
			dest := &memDest{}
			s := Start(c.ks, &plainFormat{c.ks}, NewQueue(dest, nil), Options{})
			s.inSlice = true
			for s.state == walking {
				c.defrag()
				for range rng.IntN(4) {
					one(db)
				}
				if rng.IntN(40) == 0 {
					c.moveKey(db)
				}
				switch {
				case s.open == nil:
					if s.step(1) {
						s.finish()
					}
				case s.open.capture.Step(1 + rng.IntN(20)):
					s.closeLarge()
				}
			}
			require.NoError(t, s.Wait())
			got, err := decodePlain(dest.b.Bytes())
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
		c.empty()
	}
}

// moveKey does something to the key as a whole, and makes it grow again if it is gone.
func (c *chaos) moveKey(db *keyspace.DB) {
	key, other := []byte("key:0"), []byte("other")
	e := db.Lookup(key)
	if !e.Exists() {
		return
	}
	switch c.rng.IntN(7) {
	case 0:
		db.Unlink(key)
	case 1:
		db.Rename(key, other)
	case 2:
		db.Set(key, object.IntValue(1), 0)
		db.Delete(key)
	case 3:
		db.Flush(c.rng.IntN(2) == 0)
	case 4:
		c.ks.Swap(0, 1)
	case 5:
		db.Copy(e, db, other)
	case 6:
		db.SetDeadline(e, c.ks.Now()+1)
		c.ks.SetNow(c.ks.Now() + 2)
	}
	c.ks.LazyFreeSlice(20)
}

// TestEpochsComeRound cancels more snapshots in a row than there are epochs. Marks are renewed in
// slices between them, now and then as far as to the end.
func TestEpochsComeRound(t *testing.T) {
	rng := testseed.Rand(t)
	c := &chaos{t: t, ks: newKeyspace(rng, tiny()), rng: rng, keys: 30, wide: 12}
	for range 300 {
		c.change()
	}
	for range 2 * object.EpochEnd {
		c.run(1000, 2, rng.IntN(8))
		if rng.IntN(100) == 0 {
			c.run(1000, 2, -1)
		}
		for range rng.IntN(30) {
			c.ks.RenewSlice(1 + rng.IntN(4))
			c.change()
		}
	}
	c.run(1000, 2, -1)
	c.empty()
}

// TestSlice takes snapshots by Slice and by Run, with a destination that is slow or fails.
func TestSlice(t *testing.T) {
	rng := testseed.Rand(t)
	c := &chaos{t: t, ks: newKeyspace(rng, tiny()), rng: rng, keys: 3000, wide: 12}
	for range 10000 {
		c.change()
	}
	want := contents(c.ks)

	dest := &memDest{}
	require.NoError(t, Start(c.ks, &plainFormat{c.ks}, NewQueue(dest, nil), Options{}).Run())
	got, err := decodePlain(dest.b.Bytes())
	require.NoError(t, err)
	require.Equal(t, want, got)

	woken := make(chan struct{}, 1000)
	dest = &memDest{}
	s := Start(c.ks, &plainFormat{c.ks}, NewQueue(dest, func() { woken <- struct{}{} }), Options{})
	p := s.Progress()
	require.Equal(t, len(want), p.Total)
	for {
		if !s.Slice(100*time.Microsecond, c.rng.IntN(2) == 0) {
			if done, err := s.Over(); done {
				require.NoError(t, err)
				break
			}
			<-woken
		}
		c.change()
	}
	require.Equal(t, len(want), s.Progress().Keys)
	require.EqualValues(t, dest.b.Len(), s.Progress().Bytes)
	got, err = decodePlain(dest.b.Bytes())
	require.NoError(t, err)
	require.Equal(t, want, got)

	broken := errors.New("disk full")
	dest = &memDest{fail: broken}
	s = Start(c.ks, &plainFormat{c.ks}, NewQueue(dest, nil), Options{})
	require.ErrorIs(t, s.Run(), broken)
	require.False(t, c.ks.Snapshotting())
	require.True(t, dest.aborted)
	c.empty()
}

// TestGrowth checks that a snapshot holds only a small part of a large collection while all of it
// is changed.
func TestGrowth(t *testing.T) {
	rng := testseed.Rand(t)
	const n = 50000
	ks := newKeyspace(rng, redisLimits())
	db := ks.DB(0)
	x := db.Create([]byte("list"), object.List, object.EncListpack, listpack.Empty())
	for i := range n {
		v := fmt.Appendf(nil, "element:%d", i)
		object.AsList(x).MakeRoomFor(v)
		object.AsList(x).Push(v, false)
	}
	want := contents(ks)
	dest := &memDest{}
	s := Start(ks, &plainFormat{ks}, NewQueue(dest, nil), Options{})
	size := ks.A.Used()
	for range 2000 {
		l := object.AsList(db.Open(db.Lookup([]byte("list"))))
		it := l.Iter(rng.IntN(n), false)
		_, ok := it.Next()
		require.True(t, ok)
		l.Replace(&it, []byte("changed"))
		require.Less(t, s.Progress().Buffered, size/8)
	}
	require.NoError(t, s.Run())
	got, err := decodePlain(dest.b.Bytes())
	require.NoError(t, err)
	require.Equal(t, want, got)
	db.Delete([]byte("list"))

	x = db.Create([]byte("zset"), object.ZSet, object.EncListpack, listpack.Empty())
	for i := range n {
		object.AsZSet(x).Add(float64(i), fmt.Appendf(nil, "%d", i), 0)
	}
	want = contents(ks)
	dest = &memDest{}
	s = Start(ks, &plainFormat{ks}, NewQueue(dest, nil), Options{})
	for i := range n {
		object.AsZSet(db.Open(db.Lookup([]byte("zset")))).Add(rng.Float64(),
			fmt.Appendf(nil, "%d", i), 0)
	}
	require.Zero(t, s.Progress().Buffered) // all went out at once
	require.NoError(t, s.Run())
	got, err = decodePlain(dest.b.Bytes())
	require.NoError(t, err)
	require.Equal(t, want, got)
}

// TestFull checks that while the destination does not take anything the walk waits, and commands do
// not.
func TestFull(t *testing.T) {
	rng := testseed.Rand(t)
	ks := newKeyspace(rng, tiny())
	db := ks.DB(0)
	big := bytes.Repeat([]byte{'x'}, 10000)
	for i := range 2000 {
		db.Set(fmt.Appendf(nil, "key:%d", i), object.StringValue(big), 0)
	}
	want := contents(ks)
	dest := &memDest{gate: make(chan struct{})}
	woken := make(chan struct{}, 1000)
	s := Start(ks, &plainFormat{ks}, NewQueue(dest, func() { woken <- struct{}{} }), Options{})
	for s.Slice(time.Second, false) {
	}
	require.True(t, s.q.Full())
	at := s.Progress()
	require.False(t, s.Slice(time.Second, false))
	require.Equal(t, at.Keys, s.Progress().Keys)
	require.Less(t, at.Bytes, int64(2*queueBytes))
	for i := range 2000 {
		db.Set(fmt.Appendf(nil, "key:%d", i), object.IntValue(1), 0)
	}
	require.Equal(t, 2000, s.Progress().Keys)
	close(dest.gate)
	for done := false; !done; done, _ = s.Over() {
		<-woken
		for s.Slice(time.Second, false) {
		}
	}
	got, err := decodePlain(dest.b.Bytes())
	require.NoError(t, err)
	require.Equal(t, want, got)
}
