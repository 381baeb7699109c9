package persist

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/arena"
	"godwit/internal/keyspace"
	"godwit/internal/object"
	"godwit/internal/persist/rdb"
	"godwit/internal/testseed"
	"godwit/internal/testserver"
	"godwit/internal/vfs"
)

// loadInto reads an RDB file into a keyspace.
func loadInto(t *testing.T, ks *keyspace.Keyspace, file []byte) (version int) {
	r := rdb.NewReader(bytes.NewReader(file), rdb.ReadOptions{})
	defer r.Close()
	for {
		rec, err := r.Next()
		require.NoError(t, err)
		switch rec.Kind {
		case rdb.KindKey:
			err := rdb.Insert(ks.DB(rec.DB), rec.Key, &rec.Value, rec.Meta)
			if !errors.Is(err, rdb.ErrEmpty) {
				require.NoError(t, err, "key %q", rec.Key)
			}
		case rdb.KindEOF:
			return r.Version()
		}
	}
}

// startFile begins a snapshot to an RDB file.
func startFile(
	t *testing.T, ks *keyspace.Keyspace, fsys vfs.FS, o FileOptions, opt Options,
) *SnapshotWriter {
	return startTarget(t, ks, fsys, rdb.Auto, o, opt)
}

// startTarget begins one for a version of the format.
func startTarget(
	t *testing.T, ks *keyspace.Keyspace, fsys vfs.FS, target rdb.Target, o FileOptions, opt Options,
) *SnapshotWriter {
	f := NewRDBFormat(ks, RDBOptions{Compress: true, Target: target,
		Aux: [][2]string{{"redis-ver", "7.2.0"}}})
	o.RDB = f
	dest, err := NewFileDest(fsys, o)
	require.NoError(t, err)
	return Start(ks, f, NewQueue(dest, nil), opt)
}

// TestRDBModel reads files back that were written while keys changed.
func TestRDBModel(t *testing.T) {
	rng := testseed.Rand(t)
	versions := map[int]int{}
	for i := range 24 {
		target := rdb.Auto
		if i >= 12 {
			target = rdb.Target(i % 6)
		}
		lim := tiny()
		lim.ListCompressDepth = i % 2
		c := &chaos{t: t, ks: newKeyspace(rng, lim), rng: rng, keys: 5 + rng.IntN(60),
			wide: 4 + rng.IntN(40)}
		c.old = target.Fixed()
		for range 300 {
			c.change()
		}
		want := contents(c.ks)
		if !target.FieldDeadlines() {
			// What is due when its turn comes is left out.
			want, c.still = untimed(c.ks), true
		}
		fsys := vfs.NewMem()
		s := startTarget(t, c.ks, fsys, target,
			FileOptions{Temp: "temp.rdb", Final: "dump.rdb", Checksum: i%3 > 0,
				IncrementalSync: true},
			Options{LongString: rng.IntN(2) * 100})
		for s.state == walking {
			c.change()
			s.inSlice = true
			if s.step(1) {
				s.finish()
			}
			s.inSlice = false
		}
		require.NoError(t, s.Wait())
		_, err := fsys.Stat("temp.rdb")
		require.ErrorIs(t, err, fs.ErrNotExist)

		file, err := vfs.ReadFile(fsys.Crash(rng.Uint64()), "dump.rdb") // it is durable
		require.NoError(t, err)
		loaded := newKeyspace(rng, lim)
		loaded.SetNow(0) // nothing is due
		versions[loadInto(t, loaded, file)]++
		got := contents(loaded)
		if !target.FieldDeadlines() {
			got = untimed(loaded)
		}
		for _, k := range sortedKeys(want) {
			require.Equal(t, want[k], got[k], "key %q", k)
		}
		require.Len(t, got, len(want))
		c.empty()
	}
	t.Log("versions", versions)
}

// TestFileFaults checks that a save that fails leaves the old file and no temporary one.
func TestFileFaults(t *testing.T) {
	rng := testseed.Rand(t)
	ks := newKeyspace(rng, tiny())
	for i := range 1000 {
		ks.DB(0).Set(fmt.Appendf(nil, "key:%d", i),
			object.RawValue(bytes.Repeat([]byte{byte(i)}, 1000)), 0)
	}
	// The table is left out: it may keep a bucket that the key needed.
	used := func() int64 { return ks.A.UsedBy(arena.Keys) + ks.A.UsedBy(arena.Values) }
	before := used()
	ks.DB(0).Set([]byte("long"), object.RawValue(make([]byte, 100_000)), 0)
	for _, op := range []vfs.Op{vfs.OpWrite, vfs.OpSync, vfs.OpRename, vfs.OpSyncDir} {
		mem := vfs.NewMem()
		f, err := mem.Open("dump.rdb", os.O_CREATE|os.O_WRONLY, 0o644)
		require.NoError(t, err)
		_, err = f.Write([]byte("old"))
		require.NoError(t, err)
		fsys := vfs.Faulty(mem, vfs.NewPlan(vfs.Fault{Op: op, Err: syscall.ENOSPC}))
		s := startFile(t, ks, fsys,
			FileOptions{Temp: "temp.rdb", Final: "dump.rdb", Checksum: true},
			Options{LongString: 50_000})
		err = s.Run()
		require.Truef(t, errors.Is(err, syscall.ENOSPC), "%v: %v", op, err)
		require.False(t, ks.Snapshotting())
		require.Zero(t, ks.Heap.FrozenBytes())
		_, err = mem.Stat("temp.rdb")
		require.ErrorIs(t, err, fs.ErrNotExist)
		// then the new file is there, complete, and only its name may not last
		if op != vfs.OpSyncDir {
			b, err := vfs.ReadFile(mem, "dump.rdb")
			require.NoError(t, err)
			require.Equal(t, "old", string(b))
		}
	}
	ks.DB(0).Delete([]byte("long"))
	require.Equal(t, before, used())
}

// TestRedisCheckRDB has Redis's own checker look at a file.
func TestRedisCheckRDB(t *testing.T) {
	checker := testserver.Program(t, "redis-check-rdb")
	rng := testseed.Rand(t)
	c := &chaos{t: t, ks: newKeyspace(rng, tiny()), rng: rng, keys: 200, wide: 30}
	for range 3000 {
		db := c.ks.DB(0)
		[]func(*keyspace.DB){c.set, c.zset, c.list, c.str}[rng.IntN(4)](db)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "dump.rdb")
	s := startFile(t, c.ks, vfs.OS(),
		FileOptions{Temp: filepath.Join(dir, "temp.rdb"), Final: path, Checksum: true},
		Options{LongString: 100})
	for range 100 {
		c.change()
	}
	require.NoError(t, s.Run())
	out, err := exec.Command(checker, path).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "RDB looks OK")
	require.NotZero(t, c.ks.A.UsedBy(arena.Values))
}
