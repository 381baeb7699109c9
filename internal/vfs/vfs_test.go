package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"godwit/internal/testseed"

	"github.com/stretchr/testify/require"
)

func write(t testing.TB, fsys FS, name, data string) File {
	t.Helper()
	f, err := fsys.Open(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
	require.NoError(t, err)
	_, err = io.WriteString(f, data)
	require.NoError(t, err)
	return f
}

// tree returns every file's content by name, and every folder with a slash.
func tree(t testing.TB, fsys FS, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	entries, err := fsys.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if e.IsDir() {
			out[name+"/"] = ""
			maps.Copy(out, tree(t, fsys, name))
			continue
		}
		data, err := ReadFile(fsys, name)
		require.NoError(t, err)
		out[name] = string(data)
		info, err := fsys.Stat(name)
		require.NoError(t, err)
		require.EqualValues(t, len(data), info.Size())
		require.Equal(t, e.Name(), info.Name())
	}
	return out
}

// TestSameAsOS runs the same random operations on the system's file system and on Mem. Results,
// error classes and contents must be equal.
func TestSameAsOS(t *testing.T) {
	rnd := testseed.Rand(t)
	mem, dir := NewMem(), t.TempDir()
	require.NoError(t, mem.MkdirAll(dir, 0o755))
	w := &twins{t: t, rnd: rnd, pair: [2]FS{OS(), mem}, dir: dir}
	for step := range 3000 {
		var f [2]File
		if len(w.open) > 0 {
			f = w.open[rnd.IntN(len(w.open))]
		}
		w.what = fmt.Sprint("step ", step)
		if op := rnd.IntN(12); op <= 5 {
			w.onNames(op)
		} else if len(w.open) > 0 {
			w.onFile(op, f)
		}
		require.Equal(t, tree(t, OS(), dir), tree(t, mem, dir), w.what)
	}
}

// twins are two file systems that do the same operations.
type twins struct {
	t    *testing.T
	rnd  *rand.Rand
	pair [2]FS
	dir  string
	open [][2]File
	what string // the step, for messages
}

// same does an operation on both file systems and compares the results.
func (w *twins) same(op string, do func(i int) (any, error)) {
	w.t.Helper()
	want, werr := do(0)
	got, gerr := do(1)
	require.Equal(w.t, want, got, w.what+op)
	require.Equal(w.t, class(werr), class(gerr), "%s%s: %v, %v", w.what, op, werr, gerr)
}

// name returns one of a few paths.
func (w *twins) name() string {
	return filepath.Join(w.dir, []string{"a", "b", "d/a", "d/b", "none/x"}[w.rnd.IntN(5)])
}

// onNames does an operation on names.
func (w *twins) onNames(op int) {
	flags := []int{os.O_RDONLY, os.O_RDWR, os.O_WRONLY | os.O_APPEND, os.O_RDWR | os.O_CREATE,
		os.O_WRONLY | os.O_CREATE | os.O_TRUNC, os.O_WRONLY | os.O_CREATE | os.O_EXCL}
	pair := w.pair
	switch op {
	case 0:
		d := filepath.Join(w.dir, "d")
		w.same(" mkdir", func(i int) (any, error) { return nil, pair[i].MkdirAll(d, 0o755) })
	case 1, 2:
		n, flag := w.name(), flags[w.rnd.IntN(len(flags))]
		var files [2]File
		w.same(" open "+n, func(i int) (any, error) {
			var err error
			files[i], err = pair[i].Open(n, flag, 0o644)
			return nil, err
		})
		if files[0] != nil {
			w.open = append(w.open, files)
		}
	case 3:
		from, to := w.name(), w.name()
		w.same(" rename "+from+" "+to, func(i int) (any, error) {
			return nil, pair[i].Rename(from, to)
		})
	case 4:
		n := w.name()
		w.same(" remove "+n, func(i int) (any, error) { return nil, pair[i].Remove(n) })
	case 5:
		w.same(" syncdir", func(i int) (any, error) { return nil, pair[i].SyncDir(w.dir) })
	}
}

// onFile does an operation on an open file.
func (w *twins) onFile(op int, f [2]File) {
	rnd := w.rnd
	switch {
	case op <= 7:
		data := []byte(strings.Repeat(string(rune('a'+rnd.IntN(26))), rnd.IntN(20)))
		w.same(" write", func(i int) (any, error) { return f[i].Write(data) })
	case op == 8:
		n := rnd.IntN(30)
		w.same(" read", func(i int) (any, error) {
			b := make([]byte, n)
			got, err := f[i].Read(b)
			return string(b[:got]), err
		})
	case op == 9:
		at, whence := int64(rnd.IntN(40)-10), rnd.IntN(3)
		w.same(" seek", func(i int) (any, error) { return f[i].Seek(at, whence) })
	case op == 10:
		size := int64(rnd.IntN(60))
		w.same(" truncate", func(i int) (any, error) { return nil, f[i].Truncate(size) })
	case rnd.IntN(2) == 0:
		w.same(" sync", func(i int) (any, error) { return nil, f[i].Sync() })
	default:
		w.same(" close", func(i int) (any, error) { return nil, f[i].Close() })
		w.open = slices.DeleteFunc(w.open, func(o [2]File) bool { return o == f })
	}
}

func class(err error) string {
	for _, e := range []error{nil, io.EOF, fs.ErrNotExist, fs.ErrExist, fs.ErrClosed, syscall.EBADF,
		syscall.EINVAL, syscall.ENOTEMPTY} {
		if errors.Is(err, e) || err == e {
			return fmt.Sprint(e)
		}
	}
	return err.Error()
}

// TestFixedCrashes checks what survives for the seeds with a fixed meaning.
func TestFixedCrashes(t *testing.T) {
	m := NewMem()
	require.NoError(t, write(t, m, "a", "old").Sync())
	require.NoError(t, m.SyncDir("."))
	write(t, m, "tmp", "new")
	require.NoError(t, m.Rename("tmp", "a"))
	want := map[uint64]map[string]string{
		LoseAll: {"a": "old"}, KeepAll: {"a": "new"}, KeepNames: {"a": ""}, KeepData: {"a": "old"},
	}
	for seed, files := range want {
		require.Equal(t, files, tree(t, m.Crash(seed), "."), "seed %d", seed)
	}
	require.Equal(t, map[string]string{"a": "new"}, tree(t, m, "."), "the crashed one goes on")
}

// TestReplace checks that the sequence in the package comment leaves the old or the new file at
// every point, whatever survives, and that leaving out any step does not.
func TestReplace(t *testing.T) {
	for _, leave := range []string{"", "sync", "syncdir"} {
		m := NewMem()
		require.NoError(t, write(t, m, "a", "old").Sync())
		require.NoError(t, m.SyncDir("."))
		bad := 0
		m.Observe(func(n int, op string, crash func(uint64) *Mem) {
			for seed := range uint64(50) {
				if got := tree(t, crash(seed), ".")["a"]; got != "old" && got != "new" {
					bad++
				}
			}
		})
		f := write(t, m, "tmp", "new")
		if leave != "sync" {
			require.NoError(t, f.Sync())
		}
		require.NoError(t, m.Rename("tmp", "a"))
		if leave != "syncdir" {
			require.NoError(t, m.SyncDir("."))
		}
		require.Equal(t, leave == "sync", bad > 0, "without %q: %d bad states", leave, bad)
		if lost := tree(t, m.Crash(LoseAll), ".")["a"] == "old"; lost != (leave == "syncdir") {
			t.Errorf("without %q: durable at the end: %v", leave, !lost)
		}
	}
}

// TestTornWrites checks that every length of the unsynced tail turns up, and that only a tail is
// lost.
func TestTornWrites(t *testing.T) {
	m := NewMem()
	f := write(t, m, "log", "synced ")
	require.NoError(t, f.Sync())
	require.NoError(t, m.SyncDir("."))
	for _, part := range []string{"one ", "two ", "three"} {
		_, err := io.WriteString(f, part)
		require.NoError(t, err)
	}
	whole := "synced one two three"
	seen := map[int]bool{}
	for seed := range uint64(2000) {
		got := tree(t, m.Crash(seed), ".")["log"]
		require.True(t, strings.HasPrefix(whole, got), "seed %d: %q", seed, got)
		require.Equal(t, got, tree(t, m.Crash(seed), ".")["log"],
			"the same seed gives the same result")
		seen[len(got)] = true
	}
	for n := len("synced "); n <= len(whole); n++ {
		require.True(t, seen[n], "length %d", n)
	}
	require.Len(t, seen, len(whole)-len("synced ")+1, "what was synced is never lost")
}

// TestNames checks that each unsynced change of names is lost or kept as a whole, in any
// combination, and that those of a synced folder are kept.
func TestNames(t *testing.T) {
	m := NewMem()
	require.NoError(t, m.MkdirAll("d", 0o755))
	require.NoError(t, m.SyncDir("."))
	for _, name := range []string{"a", "b"} {
		require.NoError(t, write(t, m, name, name).Sync())
	}
	require.NoError(t, m.Rename("a", "d/a"))
	seen := map[string]bool{}
	for seed := range uint64(200) {
		seen[fmt.Sprint(tree(t, m.Crash(seed), "."))] = true
	}
	for _, want := range []map[string]string{{}, {"a": "a"}, {"b": "b"}, {"a": "a", "b": "b"},
		{"d/a": "a"}, {"d/a": "a", "b": "b"}} {
		want["d/"] = ""
		require.True(t, seen[fmt.Sprint(want)], "%v", want)
	}
	require.Len(t, seen, 6)

	require.NoError(t, m.SyncDir("d"))
	seen = map[string]bool{}
	for seed := range uint64(200) {
		seen[fmt.Sprint(tree(t, m.Crash(seed), "."))] = true
	}
	require.Equal(t,
		map[string]bool{fmt.Sprint(map[string]string{"d/": "", "d/a": "a"}): true,
			fmt.Sprint(map[string]string{"d/": "", "d/a": "a", "b": "b"}): true}, seen)
}

func TestFolderLost(t *testing.T) {
	m := NewMem()
	require.NoError(t, m.MkdirAll("x/y", 0o755))
	require.NoError(t, write(t, m, "x/y/f", "1").Sync())
	require.NoError(t, m.SyncDir("x/y"))
	require.Empty(t, tree(t, m.Crash(LoseAll), "."))
	require.NoError(t, m.SyncDir("."))
	require.Equal(t, map[string]string{"x/": ""}, tree(t, m.Crash(LoseAll), "."))
	require.NoError(t, m.SyncDir("x"))
	require.Equal(t, map[string]string{"x/": "", "x/y/": "", "x/y/f": "1"},
		tree(t, m.Crash(LoseAll), "."))
}

func TestPowerOff(t *testing.T) {
	m := NewMem()
	m.PowerOffAfter(2)
	f := write(t, m, "a", "1")
	require.Equal(t, 2, m.Ops())
	require.ErrorIs(t, f.Sync(), ErrPowerOff)
	_, err := f.Write([]byte("2"))
	require.ErrorIs(t, err, ErrPowerOff)
	_, err = m.Open("a", os.O_RDONLY, 0)
	require.ErrorIs(t, err, ErrPowerOff)
	require.ErrorIs(t, m.Rename("a", "b"), ErrPowerOff)
	require.NoError(t, f.Close())
	require.Equal(t, 2, m.Ops())
	require.Equal(t, map[string]string{"a": "1"}, tree(t, m.Crash(KeepAll), "."),
		"what is left has power")
}

func TestFaults(t *testing.T) {
	m := NewMem()
	plan := NewPlan(Fault{Op: OpWrite, Name: "full", After: 5, Bytes: true})
	fsys := Faulty(m, plan)
	f := write(t, fsys, "full", "abc")
	n, err := f.Write([]byte("defg"))
	require.Equal(t, 2, n)
	require.ErrorIs(t, err, syscall.ENOSPC)
	n, err = f.Write([]byte("x"))
	require.Zero(t, n)
	require.ErrorIs(t, err, syscall.ENOSPC)
	write(t, fsys, "other", "long enough for the fault")
	require.Equal(t, "abcde", tree(t, fsys, ".")["full"])
	require.Equal(t, 2, plan.Fired())
	plan.Clear()
	_, err = f.Write([]byte("x"))
	require.NoError(t, err)

	plan.Add(Fault{Op: OpRename, Name: "to", After: 1, Once: true}, Fault{Op: OpSyncDir},
		Fault{Op: OpCreate}, Fault{Op: OpRead, Err: syscall.EAGAIN})
	require.NoError(t, fsys.Rename("full", "to"))
	require.NoError(t, fsys.Rename("other", "from"))
	require.ErrorIs(t, fsys.Rename("from", "to"), syscall.EIO)
	require.NoError(t, fsys.Rename("from", "to"))
	require.ErrorIs(t, fsys.SyncDir("."), syscall.EIO)
	_, err = fsys.Open("new", os.O_CREATE|os.O_RDWR, 0o644)
	require.ErrorIs(t, err, syscall.ENOSPC)
	_, err = fsys.Open("to", os.O_CREATE|os.O_RDWR, 0o644)
	require.NoError(t, err, "it exists")
	_, err = ReadFile(fsys, "to")
	require.ErrorIs(t, err, syscall.EAGAIN)
	require.EqualValues(t, 4, plan.Seen(OpRename))
}

// TestFailedSync checks that data that an fsync did not bring to the disk is not brought there by
// the next one.
func TestFailedSync(t *testing.T) {
	m := NewMem()
	fsys := Faulty(m, NewPlan(Fault{Op: OpSync, After: 1, Once: true}))
	f := write(t, fsys, "a", "1")
	require.NoError(t, f.Sync())
	require.NoError(t, fsys.SyncDir("."))
	_, err := f.Write([]byte("2"))
	require.NoError(t, err)
	require.ErrorIs(t, f.Sync(), syscall.EIO)
	require.NoError(t, f.Sync())
	require.Equal(t, "12", tree(t, m, ".")["a"])
	for seed := range uint64(20) {
		require.Equal(t, "1", tree(t, m.Crash(seed), ".")["a"])
	}
}
