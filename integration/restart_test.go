package integration

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDebugRestart has the server start itself again: after a save, and in the middle of things.
func TestDebugRestart(t *testing.T) {
	t.Parallel()
	godwitOnly(t)
	s := startServer(t, "--enable-debug-command", "yes", "--save", "3600 1")
	again := func(words ...any) {
		t.Helper()
		run := fieldOf(t, s.Client(t), "run_id")
		_, err := s.Client(t).Do(words...)
		require.Error(t, err, "the connection ends with the server")
		eventually(t, "the server is back", func() bool {
			c, err := s.Dial()
			if err != nil {
				return false
			}
			defer c.Close()
			v, err := c.Do("PING")
			return err == nil && v.Text() == "PONG"
		})
		require.NotEqual(t, run, fieldOf(t, s.Client(t), "run_id"))
	}
	do(t, s.Client(t), "SET", "k", "saved")
	again("DEBUG", "RESTART", "1")
	require.Equal(t, "saved", do(t, s.Client(t), "GET", "k").Text())
	do(t, s.Client(t), "SET", "k", "lost")
	again("DEBUG", "CRASH-AND-RECOVER")
	require.Equal(t, "saved", do(t, s.Client(t), "GET", "k").Text())
}
