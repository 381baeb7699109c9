package persist

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/keyspace"
	"godwit/internal/testseed"
)

// wire is a SyncDest in memory.
type wire struct {
	b         []byte
	fail      error
	committed bool
	aborted   bool
}

func (w *wire) Write(p []byte) error { w.b = append(w.b, p...); return w.fail }
func (w *wire) Commit() error        { w.committed = true; return nil }
func (w *wire) Abort()               { w.aborted = true }

// sync begins a snapshot as StartSync does.
func (w *wire) sync(ks *keyspace.Keyspace, o RDBOptions, opt Options) *SnapshotWriter {
	o.Fixed = true
	f := NewRDBFormat(ks, o)
	return Start(ks, f, NewQueue(&syncDest{to: w, rdb: f, checksum: true}, nil), opt)
}

// TestSyncModel reads snapshots for replicas back that were made while keys changed. Their version
// is known at the start, and it is enough.
func TestSyncModel(t *testing.T) {
	rng := testseed.Rand(t)
	versions := map[int]int{}
	for i := range 16 {
		lim := tiny()
		c := &chaos{t: t, ks: newKeyspace(rng, lim), rng: rng, keys: 5 + rng.IntN(60),
			wide: 4 + rng.IntN(40), old: i%4 == 0}
		for range rng.IntN(300) {
			c.change()
		}
		want := contents(c.ks)
		w := &wire{}
		s := w.sync(c.ks, RDBOptions{Compress: i%2 > 0}, Options{LongString: rng.IntN(2) * 100})
		for s.state == walking {
			c.change()
			s.inSlice = true
			if s.step(1) {
				s.finish()
			}
			s.inSlice = false
		}
		require.NoError(t, s.Wait())
		require.True(t, w.committed)
		loaded := newKeyspace(rng, lim)
		loaded.SetNow(0) // nothing is due
		versions[loadInto(t, loaded, w.b)]++
		require.Equal(t, want, contents(loaded))
		require.NoError(t, c.ks.Check())
		c.empty()
	}
	t.Log("versions", versions)
}

// TestSyncFaults ends snapshots for replicas before their time.
func TestSyncFaults(t *testing.T) {
	rng := testseed.Rand(t)
	ks := newKeyspace(rng, tiny())
	for i := range 100 {
		ks.DB(i%3).SetString([]byte{byte(i)}, bytes.Repeat([]byte("v"), 100), 0)
	}
	broken := errors.New("gone")
	w := &wire{fail: broken}
	require.ErrorIs(t, w.sync(ks, RDBOptions{}, Options{}).Run(), broken)
	require.True(t, w.aborted && !w.committed)

	w = &wire{}
	s := w.sync(ks, RDBOptions{}, Options{})
	s.Cancel()
	require.ErrorIs(t, s.Wait(), ErrCancelled)
	require.True(t, w.aborted && !w.committed)

	w = &wire{}
	s = w.sync(ks, RDBOptions{Functions: [][]byte{[]byte("code")}}, Options{NoKeys: true})
	ks.DB(0).SetString([]byte("a"), []byte("b"), 0)
	require.NoError(t, s.Wait())
	require.Contains(t, string(w.b), "code")
	back := newKeyspace(rng, tiny())
	loadInto(t, back, w.b)
	require.Empty(t, contents(back))
}
