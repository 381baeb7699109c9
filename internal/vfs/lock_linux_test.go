package vfs

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestEnding checks that a killed process is ending, and that this one is not.
func TestEnding(t *testing.T) {
	c := exec.Command("sleep", "3600")
	require.NoError(t, c.Start())
	require.False(t, ending(os.Getpid()))
	require.NoError(t, c.Process.Kill())
	require.Eventually(t, func() bool {
		return ending(c.Process.Pid)
	}, time.Minute, time.Millisecond)
	require.Error(t, c.Wait(), "it was killed")
	require.False(t, ending(c.Process.Pid), "there is no such process")
}
