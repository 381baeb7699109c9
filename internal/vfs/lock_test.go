package vfs

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLock checks that the holder of a lock is found, and that a released lock can be taken.
func TestLock(t *testing.T) {
	dir := t.TempDir()
	mem := NewMem()
	require.NoError(t, mem.MkdirAll(dir, 0o755))
	for _, fsys := range []FS{OS(), mem, Faulty(mem, NewPlan())} {
		for _, name := range []string{dir, filepath.Join(dir, "lock")} {
			l, err := fsys.Lock(name)
			require.NoError(t, err)
			_, err = fsys.Lock(name)
			var other *LockedError
			require.ErrorAs(t, err, &other)
			if other.PID != 0 || name != dir { // of a folder's, not every system tells
				require.Equal(t, os.Getpid(), other.PID)
			}
			require.ErrorContains(t, err, name)
			require.NoError(t, l.Close())
			require.Error(t, l.Close())
			l, err = fsys.Lock(name)
			require.NoError(t, err)
			require.NoError(t, l.Close())
		}
		_, err := fsys.Lock(filepath.Join(dir, "none", "lock"))
		require.ErrorIs(t, err, os.ErrNotExist)
	}
	plan := NewPlan(Fault{Op: OpLock})
	_, err := Faulty(mem, plan).Lock(dir)
	var other *LockedError
	require.Error(t, err)
	require.False(t, errors.As(err, &other), "a failure, and nobody else's lock")
}

// TestLockWithoutWriting locks a file that can only be read.
func TestLockWithoutWriting(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	require.NoError(t, os.WriteFile(name, nil, 0o444))
	l, err := OS().Lock(name)
	require.NoError(t, err)
	_, err = OS().Lock(name)
	var other *LockedError
	require.ErrorAs(t, err, &other)
	require.NoError(t, l.Close())
}
