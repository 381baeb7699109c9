package persist

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/keyspace"
	"godwit/internal/object"
	"godwit/internal/testseed"
)

func newStrings(t *testing.T, rng *rand.Rand) *chaos {
	return &chaos{t: t, ks: newKeyspace(rng, tiny()), rng: rng, keys: 1 + rng.IntN(12), wide: 4,
		long: 1 + rng.IntN(300)}
}

// longString changes a string in one of the ways that commands have.
func (c *chaos) longString(db *keyspace.DB) {
	key := c.key()
	e := db.Lookup(key)
	part := make([]byte, 1+c.rng.IntN(60))
	for i := range part {
		part[i] = byte('a' + c.rng.IntN(26))
	}
	if c.rng.IntN(4) == 0 {
		part = bytes.Repeat(part, 1+c.rng.IntN(60))
	}
	n := 0
	if e.Exists() {
		n = e.StringLen()
	}
	switch {
	case c.rng.IntN(8) == 0:
		c.whole(db)
	case !e.Exists() || e.Type() != object.String:
		at := c.rng.IntN(5000)
		db.Delete(key)
		copy(db.NewMutable(key, at+len(part)).Change(at, at+len(part)), part)
	case n > 60_000:
		db.Set(key, object.RawValue(part), c.deadline())
	default:
		c.edit(db, e, n, part)
	}
	c.defrag()
	if c.rng.IntN(10) == 0 {
		c.ks.LazyFreeSlice(1 + c.rng.IntN(50))
	}
}

func (c *chaos) edit(db *keyspace.DB, e object.Entry, n int, part []byte) {
	switch c.rng.IntN(10) {
	case 0, 1: // APPEND
		copy(db.Mutable(e, n+len(part)).Change(n, n+len(part)), part)
	case 2: // SETRANGE far behind the end
		at := n + c.rng.IntN(3*n+10)
		copy(db.Mutable(e, at+len(part)).Change(at, at+len(part)), part)
	case 3: // a HyperLogLog that gets shorter or longer
		to := 1 + c.rng.IntN(n+100)
		_, b := db.Resize(e, to, c.rng.IntN(30))
		copy(b[min(n, to):], bytes.Repeat([]byte{'r'}, to))
		b[c.rng.IntN(to)] = 'R'
	case 4: // SETBIT
		if n > 0 {
			at := c.rng.IntN(n)
			db.Mutable(e, n).Change(at, at+1)[0] ^= 1
		}
	default: // SETRANGE
		at := c.rng.IntN(n + 1)
		x := db.Mutable(e, max(n, at+len(part)))
		copy(x.Change(at, at+len(part)), part)
	}
}

// TestLongStrings compares what a snapshot writes of long strings with what they were. Meanwhile
// they are changed, grow, are renamed, moved and dropped, before it is their turn and while they
// are read.
func TestLongStrings(t *testing.T) {
	rng := testseed.Rand(t)
	for range 20 {
		c := newStrings(t, rng)
		c.only = c.longString
		for range 60 {
			c.change()
		}
		for range 10 {
			cancelAt := -1
			if rng.IntN(3) == 0 {
				cancelAt = rng.IntN(30)
			}
			c.run(100, 1+rng.IntN(10), cancelAt)
			require.Zero(t, c.ks.Heap.FrozenBytes())
		}
		c.empty()
	}
}

// longStringDrops returns ways to drop or change the long string at key k.
func longStringDrops(t *testing.T, value []byte) map[string]func(db *keyspace.DB) {
	return map[string]func(db *keyspace.DB){
		"DEL":      func(db *keyspace.DB) { db.Delete([]byte("k")) },
		"SET":      func(db *keyspace.DB) { db.Set([]byte("k"), object.IntValue(1), 0) },
		"RENAME":   func(db *keyspace.DB) { db.Rename([]byte("other"), []byte("k")) },
		"FLUSHALL": func(db *keyspace.DB) { db.Flush(false) },
		"async":    func(db *keyspace.DB) { db.Flush(true) },
		"changed": func(db *keyspace.DB) {
			x, places := db.Lookup([]byte("k")), 0
			bound := func(n int) int64 { return db.Heap().CopyBound(x, n) }
			kept := db.Heap().FrozenBytes()
			for at := 0; at < len(value); at += 7 {
				clear(db.Mutable(x, 0).Change(at, at+1))
				places++
				require.LessOrEqual(t, db.Heap().FrozenBytes()-kept, bound(places))
			}
		},
		"grown": func(db *keyspace.DB) {
			kept := db.Heap().FrozenBytes()
			for n := len(value); n < 10*len(value); n += len(value) / 10 {
				clear(db.Mutable(db.Lookup([]byte("k")), n).Change(n-100, n))
			}
			db.Delete([]byte("k"))
			require.Less(t, db.Heap().FrozenBytes()-kept, int64(4*len(value)))
		},
		"nothing": func(*keyspace.DB) {},
	}
}

// TestLongStringOrphans checks that what a snapshot still reads is not freed with its key, but with
// the end of the reading, however that comes about.
func TestLongStringOrphans(t *testing.T) {
	rng := testseed.Rand(t)
	broken := errors.New("disk full")
	value := make([]byte, 100_000)
	for i := range value {
		value[i] = byte(rng.Uint32())
	}
	end := map[string]func(s *SnapshotWriter, d *memDest) error{
		"written": func(*SnapshotWriter, *memDest) error { return nil },
		"failed": func(_ *SnapshotWriter, d *memDest) error {
			d.failPiece = broken
			return broken
		},
		"cancelled": func(s *SnapshotWriter, _ *memDest) error { s.Cancel(); return ErrCancelled },
	}
	for name, drop := range longStringDrops(t, value) {
		for ending, end := range end {
			for _, walked := range []bool{false, true} {
				ks := newKeyspace(rng, tiny())
				db := ks.DB(0)
				db.Set([]byte("k"), object.RawValue(value), 0)
				db.Set([]byte("other"), object.IntValue(7), 0)
				want, used := contents(ks), ks.A.Used()
				dest := &memDest{pieces: make(chan struct{})}
				s := Start(ks, &plainFormat{ks}, NewQueue(dest, nil), Options{LongString: 1000})
				if walked {
					for s.state == walking {
						s.Slice(1, false)
					}
				}
				drop(db)
				for ks.LazyFreeSlice(100) {
				}
				if name != "nothing" {
					require.Less(t, used-ks.A.Used(), int64(len(value)),
						"%s: freed while it is read", name)
				}
				wantErr := end(s, dest)
				close(dest.pieces)
				for s.state == walking {
					s.Slice(1, false)
				}
				require.ErrorIs(t, s.Wait(), wantErr, "%s, %s", name, ending)
				if wantErr == nil {
					got, err := decodePlain(dest.b.Bytes())
					require.NoError(t, err)
					require.Equal(t, want, got, "%s, %s", name, ending)
				}
				require.Zero(t, ks.Heap.FrozenBytes(), "%s, %s", name, ending)
				db.Flush(false)
				for ks.LazyFreeSlice(100) {
				}
				require.NoError(t, ks.A.Check())
				ks.A.Close() // panics about blocks that are left, under invariants
			}
		}
	}
}
