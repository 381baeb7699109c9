package persist

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/arena"
	"godwit/internal/intset"
	"godwit/internal/keyspace"
	"godwit/internal/listpack"
	"godwit/internal/object"
	"godwit/internal/slot"
	"godwit/internal/testseed"
)

// chaos runs random changes.
type chaos struct {
	t    *testing.T
	ks   *keyspace.Keyspace
	rng  *rand.Rand
	keys int
	wide int                // elements that collections are drawn from
	long int                // Options.LongString
	only func(*keyspace.DB) // if set, all that changes

	still bool // the clock stands still
	old   bool // streams have nothing that is newer than Redis 8.0
	round *keyspace.Defrag
}

// defrag goes on with a round that moves all blocks, or begins one.
func (c *chaos) defrag() {
	if c.round == nil {
		c.round = c.ks.BeginDefrag(0)
		c.round.All = true
	}
	if c.round.Step(1 + c.rng.IntN(30)) {
		c.round = nil
	}
}

func newChaos(t *testing.T, keys, wide int) *chaos {
	rng := testseed.Rand(t)
	return &chaos{t: t, ks: newKeyspace(rng, tiny()), rng: rng, keys: keys, wide: wide}
}

func (c *chaos) key() []byte { return fmt.Appendf(nil, "key:%d", c.rng.IntN(c.keys)) }
func (c *chaos) elem() []byte {
	if c.rng.IntN(3) == 0 {
		return fmt.Appendf(nil, "%d", c.rng.IntN(c.wide))
	}
	return fmt.Appendf(nil, "element:%d", c.rng.IntN(c.wide))
}

func (c *chaos) val() []byte {
	switch c.rng.IntN(12) {
	case 0:
		return bytes.Repeat([]byte{'v'}, c.rng.IntN(2000))
	case 1:
		return bytes.Repeat([]byte{'l'}, 16<<10+c.rng.IntN(100)) // a block of its own
	}
	return fmt.Appendf(nil, "v%d", c.rng.IntN(1000))
}

func (c *chaos) deadline() int64 {
	if c.rng.IntN(2) == 0 {
		return 0
	}
	return c.ks.Now() + c.rng.Int64N(2000)
}

// open returns the key's collection of the type, made if there is none; nil if the key holds
// something else.
func (c *chaos) open(
	db *keyspace.DB, key []byte, t object.Type, kind object.Encoding, packed []byte,
) *object.Edit {
	e := db.Lookup(key)
	if !e.Exists() {
		return db.Create(key, t, kind, packed)
	}
	if e.Type() != t {
		return nil
	}
	return db.Open(e)
}

func (c *chaos) change() {
	c.defrag()
	db := c.ks.DB(c.rng.IntN(c.ks.Databases()))
	switch n := c.rng.IntN(100); {
	case c.only != nil:
		c.only(db)
	case n < 18:
		c.hash(db)
	case n < 30:
		c.set(db)
	case n < 47:
		c.zset(db)
	case n < 60:
		c.list(db)
	case n < 70:
		c.sketch(db)
	case n < 84:
		c.stream(db)
	case n < 90:
		c.str(db)
	default:
		c.whole(db)
	}
	if c.rng.IntN(20) == 0 {
		if !c.still {
			c.ks.SetNow(c.ks.Now() + c.rng.Int64N(100))
		}
		c.ks.ExpireSlice(1 + c.rng.IntN(20))
	}
	if c.rng.IntN(10) == 0 {
		c.ks.LazyFreeSlice(1 + c.rng.IntN(50))
		c.ks.RehashSlice(1 + c.rng.IntN(5))
	}
}

func (c *chaos) hash(db *keyspace.DB) {
	x := c.open(db, c.key(), object.Hash, object.EncPairs, listpack.PairsEmpty())
	if x == nil {
		return
	}
	h := object.AsHash(x)
	for range 1 + c.rng.IntN(4) {
		switch c.rng.IntN(6) {
		case 0, 1:
			h.Set(c.elem(), c.val())
		case 2:
			h.SetKeep(c.elem(), c.val())
		case 3:
			h.Delete(c.elem())
		default:
			f := c.elem()
			if c.rng.IntN(3) == 0 {
				h.Set(f, c.val())
			}
			if d := c.deadline(); h.Has(f) {
				h.SetDeadline(f, d)
				if d != 0 {
					db.ArmFields(x)
				}
			}
		}
	}
	if h.Empty() {
		db.Remove(x)
	}
}

func (c *chaos) set(db *keyspace.DB) {
	x := c.open(db, c.key(), object.Set, object.EncIntset, intset.Empty())
	if x == nil {
		return
	}
	s := object.AsSet(x)
	for range 1 + c.rng.IntN(4) {
		switch c.rng.IntN(4) {
		case 0:
			s.Remove(c.elem())
		case 1:
			s.Pop(c.rng.IntN(min(s.Len(), 3)+1), func(listpack.Value) {})
		default:
			s.Add(c.elem())
		}
	}
	if s.Len() == 0 {
		db.Remove(x)
	}
}

func (c *chaos) zset(db *keyspace.DB) {
	x := c.open(db, c.key(), object.ZSet, object.EncListpack, listpack.Empty())
	if x == nil {
		return
	}
	z := object.AsZSet(x)
	for range 1 + c.rng.IntN(4) {
		switch c.rng.IntN(8) {
		case 0:
			z.Remove(c.elem())
		case 1:
			z.Pop(c.rng.IntN(3), c.rng.IntN(2) == 0, func(listpack.Value, float64) {})
		case 2:
			from := c.rng.IntN(c.wide)
			z.RemoveByRank(from, from+c.rng.IntN(3))
		case 3:
			z.Add(float64(c.rng.IntN(5))/4, c.elem(), object.ZAddIncr)
		default:
			z.Add(float64(c.rng.IntN(20)), c.elem(), 0)
		}
	}
	if z.Len() == 0 {
		db.Remove(x)
	}
}

func (c *chaos) list(db *keyspace.DB) {
	x := c.open(db, c.key(), object.List, object.EncListpack, listpack.Empty())
	if x == nil {
		return
	}
	l := object.AsList(x)
	for range 1 + c.rng.IntN(4) {
		v := c.val()
		if n := l.Len(); n == 0 || n < c.wide && c.rng.IntN(2) == 0 {
			l.MakeRoomFor(v)
			l.Push(v, c.rng.IntN(2) == 0)
			continue
		}
		switch c.rng.IntN(6) {
		case 0:
			l.Drop(c.rng.IntN(2) == 0)
		case 1:
			l.DeleteRange(c.rng.IntN(l.Len()), c.rng.IntN(5))
		default:
			l.MakeRoomFor(v)
			it := l.Iter(c.rng.IntN(l.Len()), c.rng.IntN(2) == 0)
			_, ok := it.Next()
			require.True(c.t, ok)
			switch c.rng.IntN(3) {
			case 0:
				l.Insert(&it, v, c.rng.IntN(2) == 0)
			case 1:
				l.Replace(&it, v)
			default:
				for range 1 + c.rng.IntN(4) {
					l.Delete(&it)
					if _, ok := it.Next(); !ok {
						break
					}
				}
				it.Close()
			}
		}
	}
	if l.Len() == 0 {
		db.Remove(x)
		return
	}
	l.Shrunk()
}

func (c *chaos) str(db *keyspace.DB) {
	key := c.key()
	e := db.Lookup(key)
	switch n := c.rng.IntN(5); {
	case n == 0 && e.Exists() && e.Type() == object.String && e.Encoding() == object.EncInt:
		db.SetInt(e, c.rng.Int64N(1000))
	case n == 1 && e.Exists() && e.Type() == object.String:
		x := db.Mutable(e, e.StringLen()+c.rng.IntN(30))
		if n := len(x.Bytes()); n > 0 {
			at := c.rng.IntN(n)
			copy(x.Change(at, n), "mutable"[:1+c.rng.IntN(7)])
		}
	case n == 2 && !e.Exists():
		copy(db.NewMutable(key, 10).Change(0, 10), "newmutable")
	default:
		db.Set(key, object.StringValue(c.elem()), c.deadline())
		if c.rng.IntN(3) == 0 {
			db.Set(key, object.StringValue(c.val()), keyspace.KeepTTL)
		}
	}
}

// whole changes whole keys and databases.
func (c *chaos) whole(db *keyspace.DB) {
	key, dst := c.key(), c.key()
	to := c.ks.DB(c.rng.IntN(c.ks.Databases()))
	e := db.Lookup(key)
	switch c.rng.IntN(24) {
	case 0, 1:
		db.Delete(key)
	case 2:
		db.Unlink(key)
	case 3, 4, 5:
		if e.Exists() && !bytes.Equal(key, dst) {
			db.Rename(key, dst)
		}
	case 6, 7, 8:
		if e.Exists() && to != db && !to.Lookup(key).Exists() {
			db.MoveTo(key, to)
		}
	case 9, 10, 11:
		if e.Exists() && (to != db || !bytes.Equal(key, dst)) {
			db.Copy(e, to, dst)
		}
	case 12:
		c.ks.Swap(db.ID(), to.ID())
	case 13:
		if c.rng.IntN(6) == 0 {
			db.Flush(c.rng.IntN(2) == 0)
		}
	case 14:
		c.ks.EvictOne()
	case 15, 16, 17:
		x := object.NewDetached(c.ks.Heap, object.Set, object.EncIntset, intset.Empty())
		s := object.AsSet(x)
		for range 1 + c.rng.IntN(10) {
			s.Add(c.elem())
		}
		db.Install(key, x)
	default:
		if e.Exists() {
			db.SetDeadline(e, c.deadline())
		}
	}
}

// empty frees everything and checks that nothing is left: copies of nodes, orphans.
func (c *chaos) empty() {
	for i := range c.ks.Databases() {
		c.ks.DB(i).Flush(false)
	}
	for c.ks.LazyFreeSlice(1000) {
	}
	require.Zero(c.t, c.ks.A.UsedBy(arena.Values))
	require.Zero(c.t, c.ks.A.UsedBy(arena.Buffers))
	require.Zero(c.t, c.ks.Heap.FrozenBytes())
}

// run takes one snapshot among changes and compares it with the state at its beginning. It cancels
// the snapshot after cancelAt turns, if it gets that far.
func (c *chaos) run(turns, changes, cancelAt int) {
	want := contents(c.ks)
	dest := &memDest{pieces: make(chan struct{}, 1<<10)}
	q := NewQueue(dest, nil)
	s := Start(c.ks, &plainFormat{c.ks}, q, Options{LongString: c.long, Slots: c.someSlots(want)})
	for turn := 0; s.state == walking; turn++ {
		dest.feed(c.rng.IntN(4))
		s.thaw()
		if turn == cancelAt {
			s.Cancel()
			close(dest.pieces)
			require.ErrorIs(c.t, s.Wait(), ErrCancelled)
			require.False(c.t, c.ks.Snapshotting())
			require.True(c.t, dest.aborted)
			return
		}
		for range c.rng.IntN(changes + 1) {
			c.change()
		}
		s.inSlice = true
		if turn < turns {
			n := 1 + c.rng.IntN(3)
			switch {
			case s.open != nil && s.open.capture.Step(n):
				s.closeLarge()
			case s.open != nil:
			case s.step(n):
				s.finish()
			}
		} else if s.step(stride) {
			s.finish()
		}
		s.inSlice = false
	}
	c.writing(s, dest)
	if cancelAt >= 0 {
		s.Cancel()
	}
	close(dest.pieces)
	if err := s.Wait(); cancelAt >= 0 && err != nil {
		require.ErrorIs(c.t, err, ErrCancelled)
		return
	}
	require.NoError(c.t, s.err)
	require.True(c.t, dest.committed)
	got, err := decodePlain(dest.b.Bytes())
	require.NoError(c.t, err)
	for _, k := range sortedKeys(want) {
		require.Equal(c.t, want[k], got[k], "key %q", k)
	}
	require.Len(c.t, got, len(want))
	if c.rng.IntN(8) == 0 {
		require.NoError(c.t, c.ks.Check())
	}
}

// someSlots returns nil, or a set of slots if keys are kept by them. It takes the keys of all other
// slots out of want.
func (c *chaos) someSlots(want map[string]string) *slot.Set {
	if !c.ks.P.Slots || c.rng.IntN(2) == 0 {
		return nil
	}
	set := new(slot.Set)
	for id := range want {
		_, key, _ := strings.Cut(id, " ")
		if i := slot.Of([]byte(key)); i%2 == 0 {
			set.Add(i)
		} else {
			delete(want, id)
		}
	}
	return set
}

// writing goes on with changes while what the walk has handed over is written.
func (c *chaos) writing(s *SnapshotWriter, dest *memDest) {
	if len(s.frozen) == 0 {
		return
	}
	for range c.rng.IntN(50) {
		c.change()
		dest.feed(c.rng.IntN(20))
		s.poll()
	}
}
