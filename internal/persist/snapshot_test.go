package persist

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/arena"
	"godwit/internal/bloom"
	"godwit/internal/intset"
	"godwit/internal/keyspace"
	"godwit/internal/listpack"
	"godwit/internal/object"
)

// quietHooks is told of everything and does nothing.
type quietHooks struct{}

func (quietHooks) KeyEvent(keyspace.EventClass, string, []byte, int) {}
func (quietHooks) FieldExpired(_, _ []byte, _ int)                   {}
func (quietHooks) KeyChanged([]byte, int)                            {}
func (quietHooks) Ready([]byte, int, object.Type)                    {}
func (quietHooks) Removed([]byte, int, bool)                         {}

func newRand(t testing.TB) *rand.Rand {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 4))
}

// tiny makes large collections of what is over four elements, and nodes of two.
func tiny() object.Limits {
	return object.Limits{
		HashMaxListpackEntries: 4, HashMaxListpackValue: 64, SetMaxIntsetEntries: 4, SetMaxListpackEntries: 4, SetMaxListpackValue: 64,
		ZSetMaxListpackEntries: 4, ZSetMaxListpackValue: 64, ListMaxListpackSize: 3,
	}
}

func newKeyspace(rng *rand.Rand, lim object.Limits) *keyspace.Keyspace {
	p := keyspace.Params{Databases: 3, Samples: 5, ActiveExpire: true, Policy: keyspace.AllKeysRandom, Limits: lim}
	return keyspace.New(arena.New(), p, rng, 1_000_000, quietHooks{})
}

var textSeed = maphash.MakeSeed()

// text is a value for people and for comparing: sets and hashes sorted, lists in order.
func text(ks *keyspace.Keyspace, e object.Entry) string {
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
		ks.Heap.Now = math.MinInt64 // fields that are due count as long as they are there
		object.AsHash(&x).EachDeadline(func(f, v listpack.Value, deadline int64) bool {
			add("%s=%s@%d", str(f), str(v), deadline)
			return true
		})
		ks.Heap.Now = now
		sort.Strings(parts)
	case object.Set:
		object.AsSet(&x).Each(func(v listpack.Value) bool { add("%s", str(v)); return true })
		sort.Strings(parts)
	case object.ZSet:
		object.AsZSet(&x).Each(func(m listpack.Value, score float64) bool { add("%s:%g", str(m), score); return true })
		sort.Strings(parts)
	case object.List:
		it := object.AsList(&x).Iter(0, false)
		for v, ok := it.Next(); ok; v, ok = it.Next() {
			add("%s", str(v))
		}
	case object.TypeBloom:
		s := x.Sketch()
		all := maphash.Bytes(textSeed, s.Head())
		for i := range s.Blocks() {
			all = all*31 + maphash.Bytes(textSeed, s.Block(i))
		}
		add("%x", all)
	}
	return e.Type().String() + " " + strings.Join(parts, " ")
}

// contents is all keys: what a snapshot has to show.
func contents(ks *keyspace.Keyspace) map[string]string {
	m := map[string]string{}
	now := ks.Now()
	ks.SetNow(0) // what is due is still there
	for i := range ks.Databases() {
		db := ks.DB(i)
		for cursor := uint64(0); ; {
			cursor = db.Scan(cursor, func(e object.Entry) {
				m[fmt.Sprintf("%d %s", i, e.Key())] = fmt.Sprintf("%d %s", e.Deadline(), text(ks, e))
			})
			if cursor == 0 {
				break
			}
		}
	}
	ks.SetNow(now)
	return m
}

// plainFormat is a Format that is easy to read back: frames of a tag and a length.
type plainFormat struct {
	ks *keyspace.Keyspace
}

func frame(dst []byte, tag byte, format string, args ...any) []byte {
	s := fmt.Sprintf(format, args...)
	dst = append(dst, tag)
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}

func (f *plainFormat) Head(dst []byte) []byte { return frame(dst, 'H', "") }
func (f *plainFormat) Tail(dst []byte) []byte { return frame(dst, 'T', "") }

func (f *plainFormat) Database(dst []byte, db keyspace.SavedDB) []byte {
	return frame(dst, 'D', "%d", db.ID)
}

func (f *plainFormat) Key(dst []byte, e object.Entry) []byte {
	dst = frame(dst, 'K', "%s", e.Key())
	return frame(dst, 'V', "%d %s", e.Deadline(), text(f.ks, e))
}

func (f *plainFormat) Large(dst []byte, e object.Entry, tr *object.Track) ([]byte, Record) {
	dst = frame(dst, 'L', "%s", e.Key())
	r := &plainRecord{tr: tr, hashes: make([]maphash.Hash, len(tr.Blocks))}
	for i := range r.hashes {
		r.hashes[i].SetSeed(textSeed)
	}
	return frame(dst, 'V', "%d %s", e.Deadline(), e.Type()), r
}

type plainRecord struct {
	tr     *object.Track
	n      int
	hashes []maphash.Hash // of a sketch's blocks
}

func (r *plainRecord) Element(dst []byte, el *object.Element) []byte {
	r.n++
	switch r.tr.Type {
	case object.Hash:
		return frame(dst, 'E', "%s=%s@%d", el.Name, el.Value, el.Deadline)
	case object.Set:
		return frame(dst, 'E', "%s", el.Name)
	case object.ZSet:
		return frame(dst, 'E', "%s:%g", el.Name, el.Score)
	case object.TypeBloom:
		r.hashes[el.Block].Write(el.Value)
		return dst
	}
	b := el.Node.Unpacked(nil)
	if el.Node.Plain {
		return frame(dst, 'E', "%s", b)
	}
	n := 0
	for p := listpack.First(b); p != 0; p = listpack.Next(b, p) {
		dst = frame(dst, 'E', "%s", listpack.Get(b, p).Append(nil))
		n++
	}
	if n != el.Node.Count {
		panic("a node of another length")
	}
	return dst
}

func (r *plainRecord) End(dst []byte) []byte {
	if r.tr.Type == object.TypeBloom {
		all := maphash.Bytes(textSeed, r.tr.Header)
		for i := range r.hashes {
			all = all*31 + r.hashes[i].Sum64()
		}
		dst = frame(dst, 'E', "%x", all)
	}
	return frame(dst, 'X', "%s %d %d", r.tr.Type, r.n, r.tr.Len)
}

// decodePlain is the state that a stream of plainFormat holds.
func decodePlain(b []byte) (map[string]string, error) {
	m := map[string]string{}
	db, key, val, large := "", "", "", false
	var els []string
	done := false
	for len(b) > 0 {
		tag := b[0]
		n, w := binary.Uvarint(b[1:])
		s := string(b[1+w : 1+w+int(n)])
		b = b[1+w+int(n):]
		switch tag {
		case 'D':
			db = s
		case 'K', 'L':
			if large {
				return nil, fmt.Errorf("key %q inside a large one", s)
			}
			key, large, els = s, tag == 'L', nil
		case 'V':
			val = s
			if !large {
				m[db+" "+key] = val
			}
		case 'E':
			els = append(els, s)
		case 'X':
			f := strings.Fields(s)
			if f[1] != f[2] {
				return nil, fmt.Errorf("key %q: %s", key, s)
			}
			if f[0] != "list" {
				sort.Strings(els)
			}
			if _, dup := m[db+" "+key]; dup {
				return nil, fmt.Errorf("key %q twice", key)
			}
			m[db+" "+key] = val + " " + strings.Join(els, " ")
			large = false
		case 'T':
			done = true
		}
	}
	if !done {
		return nil, errors.New("no end")
	}
	return m, nil
}

// memDest keeps what is written; it may be told to wait or to fail.
type memDest struct {
	mu        sync.Mutex
	b         bytes.Buffer
	committed bool
	aborted   bool
	fail      error
	gate      chan struct{} // if set, each Write waits for it
}

func (d *memDest) Write(p []byte) error {
	if d.gate != nil {
		<-d.gate
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail != nil {
		return d.fail
	}
	d.b.Write(p)
	return nil
}

func (d *memDest) Commit() error { d.committed = true; return nil }
func (d *memDest) Abort()        { d.aborted = true }

// chaos runs random changes.
type chaos struct {
	t    *testing.T
	ks   *keyspace.Keyspace
	rng  *rand.Rand
	keys int
	wide int // elements that collections are drawn from
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

// open is the key's collection of the type, made if there is none; nil if the key holds something else.
func (c *chaos) open(db *keyspace.DB, key []byte, t object.Type, kind object.Encoding, packed []byte) *object.Edit {
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
	db := c.ks.DB(c.rng.IntN(c.ks.Databases()))
	switch n := c.rng.IntN(100); {
	case n < 20:
		c.hash(db)
	case n < 35:
		c.set(db)
	case n < 55:
		c.zset(db)
	case n < 75:
		c.list(db)
	case n < 82:
		c.bloom(db)
	case n < 90:
		c.str(db)
	default:
		c.whole(db)
	}
	if c.rng.IntN(20) == 0 {
		c.ks.SetNow(c.ks.Now() + c.rng.Int64N(100))
		c.ks.ExpireSlice(1 + c.rng.IntN(20))
	}
	if c.rng.IntN(10) == 0 {
		c.ks.LazyFreeSlice(1 + c.rng.IntN(50))
		c.ks.RehashSlice(1 + c.rng.IntN(5))
	}
}

func (c *chaos) hash(db *keyspace.DB) {
	x := c.open(db, c.key(), object.Hash, object.EncListpack, listpack.Empty())
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

// bloom adds to a filter that grows, or puts a chunk in place.
func (c *chaos) bloom(db *keyspace.DB) {
	key := c.key()
	e := db.Lookup(key)
	if !e.Exists() {
		head, err := bloom.NewHeader(bloom.Params{Error: 0.01, Capacity: uint64(1 + c.rng.IntN(20000)), Growth: 2, Murmur64A: c.rng.IntN(2) == 0})
		require.NoError(c.t, err)
		s := object.NewSketch(c.ks.Heap, len(head))
		copy(s.Head(), head)
		bloom.Init(s)
		e = db.CreateSketch(key, object.TypeBloom, s).E
	}
	if e.Type() != object.TypeBloom {
		return
	}
	x := db.Open(e)
	for range 1 + c.rng.IntN(40) {
		s := x.ChangingSketch()
		if b := c.rng.IntN(s.Blocks()); c.rng.IntN(10) == 0 && s.BlockLen(b) > 0 {
			off := c.rng.IntN(s.BlockLen(b))
			part := s.Change(b, off, c.rng.IntN(min(s.BlockLen(b)-off, 3000)))
			for i := range part {
				part[i] ^= byte(c.rng.Uint32())
			}
		} else if bloom.Add(s, c.elem()) == bloom.Full {
			grown, _, err := bloom.NextLink(s.Head())
			require.NoError(c.t, err)
			bloom.Grow(s, grown)
		}
	}
}

func (c *chaos) str(db *keyspace.DB) {
	key := c.key()
	e := db.Lookup(key)
	switch n := c.rng.IntN(5); {
	case n == 0 && e.Exists() && e.Type() == object.String && e.Encoding() == object.EncInt:
		db.SetInt(e, c.rng.Int64N(1000))
	case n == 1 && e.Exists() && e.Type() == object.String:
		b := db.Mutable(e, e.StringLen()+c.rng.IntN(30))
		if len(b) > 0 {
			b[c.rng.IntN(len(b))] = 'm'
		}
	case n == 2 && !e.Exists():
		copy(db.NewMutable(key, 10), "newmutable")
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
}

// run takes one snapshot among changes and holds it against the state at its beginning; cancelAt is after how many turns it is cancelled, if it gets
// that far.
func (c *chaos) run(turns, changes, cancelAt int) {
	want := contents(c.ks)
	dest := &memDest{}
	q := NewQueue(dest, nil)
	s := Start(c.ks, &plainFormat{c.ks}, q, Options{})
	for turn := 0; s.state == walking; turn++ {
		if turn == cancelAt {
			s.Cancel()
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
			case s.open != nil && s.open.tr.Step(n):
				s.closeRecord()
			case s.open != nil:
			case s.step(n):
				s.finish()
			}
		} else if s.step(stride) {
			s.finish()
		}
		s.inSlice = false
	}
	require.NoError(c.t, s.Wait())
	require.True(c.t, dest.committed)
	got, err := decodePlain(dest.b.Bytes())
	require.NoError(c.t, err)
	for _, k := range sortedKeys(want) {
		require.Equal(c.t, want[k], got[k], "key %q", k)
	}
	require.Len(c.t, got, len(want))
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
	rng := newRand(t)
	for _, depth := range []int{0, 1} {
		lim := tiny()
		lim.ListCompressDepth = depth
		for range 12 {
			c := &chaos{t: t, ks: newKeyspace(rng, lim), rng: rng, keys: 5 + rng.IntN(60), wide: 4 + rng.IntN(40)}
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

// TestModelOneKey takes snapshots of single large collections.
func TestModelOneKey(t *testing.T) {
	rng := newRand(t)
	for i := range 8 {
		lim := tiny()
		lim.ListCompressDepth = i % 2
		c := &chaos{t: t, ks: newKeyspace(rng, lim), rng: rng, keys: 1, wide: 300}
		one := []func(*keyspace.DB){c.hash, c.set, c.zset, c.list}[i%4]
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
				case s.open.tr.Step(1 + rng.IntN(20)):
					s.closeRecord()
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

// TestEpochsComeRound: more snapshots are cancelled in a row than there are epochs.
func TestEpochsComeRound(t *testing.T) {
	rng := newRand(t)
	c := &chaos{t: t, ks: newKeyspace(rng, tiny()), rng: rng, keys: 30, wide: 12}
	for range 300 {
		c.change()
	}
	for range 2 * object.EpochEnd {
		c.run(1000, 2, rng.IntN(8))
		if rng.IntN(100) == 0 {
			c.run(1000, 2, -1)
		}
	}
	c.run(1000, 2, -1)
	c.empty()
}

// TestSlice takes snapshots by Slice and by Run, with a destination that is slow or fails.
func TestSlice(t *testing.T) {
	rng := newRand(t)
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
		if !s.Slice(100 * time.Microsecond) {
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

// TestGrowth: what a snapshot holds while all of a large collection is changed is a small part of it.
func TestGrowth(t *testing.T) {
	rng := newRand(t)
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
		object.AsZSet(db.Open(db.Lookup([]byte("zset")))).Add(rng.Float64(), fmt.Appendf(nil, "%d", i), 0)
	}
	require.Zero(t, s.Progress().Buffered) // all went out at once
	require.NoError(t, s.Run())
	got, err = decodePlain(dest.b.Bytes())
	require.NoError(t, err)
	require.Equal(t, want, got)
}

// TestFull: while the destination does not take anything the walk waits, and commands do not.
func TestFull(t *testing.T) {
	rng := newRand(t)
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
	for s.Slice(time.Second) {
	}
	require.True(t, s.q.Full())
	at := s.Progress()
	require.False(t, s.Slice(time.Second))
	require.Equal(t, at.Keys, s.Progress().Keys)
	require.Less(t, at.Bytes, int64(2*queueBytes))
	for i := range 2000 {
		db.Set(fmt.Appendf(nil, "key:%d", i), object.IntValue(1), 0)
	}
	require.Equal(t, 2000, s.Progress().Keys)
	close(dest.gate)
	for done := false; !done; done, _ = s.Over() {
		<-woken
		for s.Slice(time.Second) {
		}
	}
	got, err := decodePlain(dest.b.Bytes())
	require.NoError(t, err)
	require.Equal(t, want, got)
}
