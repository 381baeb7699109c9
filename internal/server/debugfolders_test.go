package server

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/logging"
	"godwit/internal/logging/loggingtest"
)

// TestDebugFolders checks that the folder of a session whose server runs stays, and only that.
func TestDebugFolders(t *testing.T) {
	t.Chdir(t.TempDir())
	log, err := logging.New(logging.Options{Out: &loggingtest.Buffer{}})
	require.NoError(t, err)
	lives, err := newFolder()
	require.NoError(t, err)
	dead, err := newFolder()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(dead.file(debugConfig), nil, 0o600))
	require.NoError(t, dead.lock.Close())
	removeDeadFolders(log)
	found, err := filepath.Glob("*")
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Base(lives.dir)}, found)
	lives.remove()
	require.NoDirExists(t, lives.dir)
}
