package persist

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/vfs"
)

const setCommand = "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n"

// mend runs a checker that fixes without asking.
func mend(fsys vfs.FS, name string) (bool, string) {
	return check(fsys, true, name, func(c *Checker) { c.Fix, c.Yes = true, true })
}

// TestFixLeavesForeignFilesAlone checks that a file that is no log of commands is named and not
// changed, alone or in a folder, and that a start does not recommend to fix it.
func TestFixLeavesForeignFilesAlone(t *testing.T) {
	for text, want := range map[string]string{
		"VALKEY081\xfa\x05redis\x01a\xff":   "format version 81 of Valkey",
		"REDIS0099\xff\x00":                 "version 99; 1 to 15 are read",
		"REDISxxxx\xff\x00":                 "is no version",
		"VALKEY080\xfe\x00\x17\x01k\x01v":   "unknown record type",
		"REDIS0011\xfe\x00\xf0\x01k\x00":    "unknown record type",
		"\x1f\x8b\x08\x00gzip":              "gzip-compressed data",
		"\x28\xb5\x2f\xfdzstd":              "zstd-compressed data",
		"PK\x03\x04zip":                     "a zip archive",
		"SET k v\nGET k\n":                  "text",
		"\x00\x00\x00\x00\x00\x00\x00\x00":  "zeros",
		"\xde\xad\xbe\xef\x00\x01" + "text": "of no known format",
		"file a seq 1 type i\n":             "the manifest",
		setCommand[:12]:                     "Nothing of it would be left",
		"*x\r\n" + setCommand:               "Nothing of it would be left",
	} {
		for _, kind := range []string{"base.rdb", "base.aof", "incr.aof"} {
			m := vfs.NewMem()
			require.NoError(t, m.MkdirAll("/d/appendonlydir", 0o755))
			name := "/d/appendonlydir/appendonly.aof.1." + kind
			require.NoError(t, writeAll(m, name, []byte(text)))
			manifest := fmt.Sprintf("file appendonly.aof.1.%s seq 1 type %c\n", kind, kind[0])
			if kind != "incr.aof" {
				require.NoError(t,
					writeAll(m, "/d/appendonlydir/appendonly.aof.1.incr.aof", []byte(setCommand)))
				manifest += "file appendonly.aof.1.incr.aof seq 1 type i\n"
			}
			require.NoError(t,
				writeAll(m, "/d/appendonlydir/appendonly.aof.manifest", []byte(manifest)))
			if text[0] != 'f' { // alone it would be taken for a manifest, and be one
				ok, out := mend(m, name)
				require.False(t, ok, "%q", text)
				if kind == "incr.aof" {
					require.Contains(t, out, want, "%q", text)
				}
			}
			ok, out := mend(m, "/d/appendonlydir/appendonly.aof.manifest")
			require.False(t, ok, "%q", text)
			require.NotContains(t, out, "are valid")
			left, err := vfs.ReadFile(m, name)
			require.NoError(t, err)
			require.Equal(t, text, string(left), "unchanged")

			f := newFixture(t, m, usual)
			f.set.LoadTruncated = false
			err = f.start()
			require.Error(t, err, "%q", text)
			require.NotContains(t, err.Error(), "--fix", "%q as %s", text, kind)
		}
	}
}

// TestFixKeepsWhatItCuts checks that before anything is cut off there is a durable copy of the
// file as it was, and that nothing replaces the copy.
func TestFixKeepsWhatItCuts(t *testing.T) {
	torn := []byte(setCommand + setCommand[:10])
	for fail := int64(-1); fail < 6; fail++ {
		for _, op := range []vfs.Op{vfs.OpCreate, vfs.OpWrite, vfs.OpSync, vfs.OpSyncDir,
			vfs.OpTruncate} {
			disk := vfs.NewMem()
			require.NoError(t, disk.MkdirAll("/d", 0o755))
			require.NoError(t, writeAll(disk, "/d/x.aof", torn))
			require.NoError(t, writeAll(disk, "/d/x.aof.bak", []byte("older")))
			require.NoError(t, disk.SyncDir("/d"))
			require.NoError(t, disk.SyncDir("/"))
			plan := vfs.NewPlan()
			if fail >= 0 {
				plan.Add(vfs.Fault{Op: op, After: fail})
			}
			keeps := func(left *vfs.Mem, what string) {
				now, err := vfs.ReadFile(left, "/d/x.aof")
				require.NoError(t, err, what)
				if string(now) != string(torn) {
					kept, err := vfs.ReadFile(left, "/d/x.aof.bak.1")
					require.NoError(t, err, what)
					require.Equal(t, string(torn), string(kept), what)
				}
				older, err := vfs.ReadFile(left, "/d/x.aof.bak")
				require.NoError(t, err, what)
				require.Equal(t, "older", string(older), what)
			}
			disk.Observe(func(n int, name string, crash func(uint64) *vfs.Mem) {
				for s := range uint64(8) {
					keeps(crash(s),
						fmt.Sprintf("%v fails after %d, power loss after %s, seed %d", op, fail,
							name, s))
				}
			})
			ok, out := mend(vfs.Faulty(disk, plan), "/d/x.aof")
			require.Equal(t, plan.Fired() == 0, ok, out)
			keeps(disk.Crash(vfs.KeepAll), "at the end")
			if ok {
				require.Contains(t, out, "is kept as /d/x.aof.bak.1")
			}
		}
	}
}

// TestFixOfALogInUse checks that no checker changes what a server writes to.
func TestFixOfALogInUse(t *testing.T) {
	m := vfs.NewMem()
	f := newFixture(t, m, usual)
	f.mustStart()
	f.do(0, "SET a 1")
	dir := "/d/appendonlydir/"
	incr := dir + "appendonly.aof.1.incr.aof"
	require.NoError(t, writeAll(m, dir+"appendonly.aof.lock", nil)) // Mem's locks are no files
	sound := f.read("appendonly.aof.1.incr.aof")
	require.NoError(t, writeAll(m, incr, []byte(sound+setCommand[:9])))
	for _, name := range []string{incr, dir + "appendonly.aof.manifest"} {
		ok, out := mend(m, name)
		require.False(t, ok)
		require.Contains(t, out, "WARNING: a server is using this log")
		require.Contains(t, out, "nothing is changed")
		require.Equal(t, sound+setCommand[:9], f.read("appendonly.aof.1.incr.aof"))
	}
	require.NoError(t, f.a.Close())
	ok, out := mend(m, incr)
	require.True(t, ok, out)
	require.Equal(t, sound, f.read("appendonly.aof.1.incr.aof"))
}
