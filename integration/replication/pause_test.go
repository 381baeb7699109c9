package replication

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/testserver"
)

// kept is the place before a replica runs what came of the stream during the synchronization.
const kept = "on-streaming-repl-buf"

// TestReplPause stops servers in the middle of a full synchronization (DEBUG REPL-PAUSE), which
// goes on when they do.
func TestReplPause(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("a stopped process cannot be told")
	}
	forPairs(t, []pair{{godwit, godwit}}, func(t *testing.T, p pair) {
		for _, place := range []string{"after-fork", "before-rdb-channel", kept} {
			t.Run(place, func(t *testing.T) {
				t.Parallel()
				testReplPause(t, p, place)
			})
		}
	})
}

func testReplPause(t *testing.T, p pair, place string) {
	master, replica := p.start(t, "--repl-rdb-channel", "yes")
	for i := range 50 {
		do(t, master, "SET", i, "v")
	}
	stops := replica
	if place == "after-fork" {
		stops = master
	}
	do(t, stops, "DEBUG", "REPL-PAUSE", place)
	endWrites := func() {}
	if place == kept {
		do(t, master, "CONFIG", "SET", "rdb-key-save-delay", 20_000)
		c := master.Client(t)
		endWrites = repeat(func() { _, _ = c.Do("SET", "k", "v") }) // WaitSame sees to it
	}
	require.NoError(t, replica.FollowAddr(master.Addr))
	require.Eventually(t, func() bool { return stopped(stops) }, testserver.Patience,
		5*time.Millisecond)
	endWrites()
	// With -pairs: Redis stops more than once.
	defer repeat(func() { _ = stops.Signal(syscall.SIGCONT) })()
	require.NoError(t, stops.WaitLog("Process has been continued."))
	require.NoError(t, replica.WaitLink())
	require.NoError(t, master.WaitSame(replica))
}

// repeat calls fn again and again, until what it returns is called.
func repeat(fn func()) (end func()) {
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-over:
				return
			case <-time.After(time.Millisecond):
				fn()
			}
		}
	}()
	return func() {
		close(over)
		<-done
	}
}

// stopped reports whether the server's process is stopped.
func stopped(s *testserver.Server) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.Pid))
	return err == nil && strings.Contains(string(stat), ") T ")
}
