package keyspace

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/object"
)

// sketch stores a sketch with blocks of the given length.
func sketch(db *DB, blocks, length int) {
	s := object.NewSketch(db.ks.Heap, 100)
	for range blocks {
		s.Append(length)
	}
	db.Install([]byte("k"), s.Detach(object.TypeBloom))
}

// largeKinds are the ways to make two dozen MiB wait: make fills the database, drop empties it.
var largeKinds = []struct {
	name string
	make func(db *DB)
	drop func(db *DB)
}{
	{"string", func(db *DB) {
		db.Set([]byte("k"), object.StringValue(make([]byte, 24<<20)), 0)
	}, unlink},
	{"sketch of one block", func(db *DB) { sketch(db, 1, 24<<20) }, unlink},
	{"sketch of many blocks", func(db *DB) { sketch(db, 3000, 8<<10) }, unlink},
	{"list", func(db *DB) { fill(db, "k", object.List, 30_000, strings.Repeat("x", 600)) }, unlink},
	{"list of big elements", func(db *DB) {
		fill(db, "k", object.List, 24, strings.Repeat("x", 1<<20))
	}, unlink},
	{"set", func(db *DB) { fill(db, "k", object.Set, 30_000, strings.Repeat("x", 600)) }, unlink},
	{"hash", func(db *DB) { fill(db, "k", object.Hash, 30_000, strings.Repeat("x", 600)) }, unlink},
	{"sorted set", func(db *DB) {
		fill(db, "k", object.ZSet, 30_000, strings.Repeat("x", 600))
	}, unlink},
	{"keys", func(db *DB) { setAll(db, 30_000, 600) }, flush},
	{"keys with big values", func(db *DB) { setAll(db, 50, 500_000) }, flush},
	{"keys with collections", func(db *DB) {
		for i := range 20 {
			fill(db, fmt.Sprint("k", i), object.Set, 1500, strings.Repeat("x", 800))
		}
	}, flush},
	{"table that shrank", func(db *DB) {
		setAll(db, 200_000, 0)
		for i := range 199_000 {
			db.Delete(fmt.Append(nil, "k", i))
		}
		sketch(db, 1, 16<<20)
	}, flush},
}

func unlink(db *DB) { db.Unlink([]byte("k")) }

func flush(db *DB) { db.Flush(true) }

func setAll(db *DB, n, size int) {
	for i := range n {
		db.Set(fmt.Append(nil, "k", i), object.StringValue(make([]byte, size)), 0)
	}
}

// TestPaymentsAreBounded has small blocks pay for large ones that wait: each payment frees twice
// what is taken and one slice more at the most, and they come to an end.
func TestPaymentsAreBounded(t *testing.T) {
	const (
		n     = 64 << 10
		slice = chunkSlack + 64*1024
	)
	for _, kind := range largeKinds {
		t.Run(kind.name, func(t *testing.T) {
			ks, _, _ := newKeyspace(t, Params{Limits: testLimits()})
			kind.make(ks.DB(0))
			kind.drop(ks.DB(0))
			a := ks.A
			waiting, pays := ks.Waiting(), int64(0)
			require.Greater(t, waiting, int64(14<<20))
			used, held := a.Used()+a.WaitingBig(), a.Held()
			for ks.Waiting() > ks.WaitingBound() {
				ks.pay(n)
				pays++
				due := 2*n*pays + slice
				require.LessOrEqual(t, used-a.Used()-a.WaitingBig(), due, "payment %d", pays)
				require.LessOrEqual(t, held-a.Held(), due, "payment %d", pays)
				require.LessOrEqual(t, pays, 2*waiting/n,
					"%d of %d bytes still wait", ks.Waiting(), waiting)
				checkQueue(t, ks)
			}
			drain(t, ks)
		})
	}
}

// TestEachSliceFreesSomething checks that each slice leaves less to free than there was, and that
// only freed blocks can make the arena wait for more.
func TestEachSliceFreesSomething(t *testing.T) {
	for _, kind := range largeKinds[:8] {
		t.Run(kind.name, func(t *testing.T) {
			ks, _, _ := newKeyspace(t, Params{Limits: testLimits()})
			kind.make(ks.DB(0))
			kind.drop(ks.DB(0))
			type state struct {
				queued, held int64
				pending      int
			}
			for more := true; more; {
				before := state{ks.lazy.bytes, ks.A.Held(), ks.LazyFreePending()}
				more = ks.FreeSlice()
				after := state{ks.lazy.bytes, ks.A.Held(), ks.LazyFreePending()}
				require.LessOrEqual(t, after.queued, before.queued)
				require.LessOrEqual(t, after.held, before.held)
				if more { // the last chunk may be the one that the arena keeps
					require.NotEqual(t, before, after)
				}
			}
			require.Zero(t, ks.Waiting())
			drain(t, ks)
		})
	}
}
