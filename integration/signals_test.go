package integration

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
	"godwit/internal/testserver"
)

// TestSignalsAsRedis8 checks that a command that changes nothing signals nobody, and that one that
// changes something signals everybody: WATCH, subscribers to events, trackers, and the count of
// changes for save points.
func TestSignalsAsRedis8(t *testing.T) {
	t.Parallel()
	godwitOnly(t)
	text, err := os.ReadFile("testdata/signals.txt")
	require.NoError(t, err)
	p := testserver.Redis
	theirs := p.Start(t, "")
	ours := startServer(t)
	tb := p.TB(t)
	cases := 0
	for line := range strings.Lines(string(text)) {
		before, command, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "|")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		cases++
		want := signals(t, "unix", theirs.Socket, before, command)
		if got := signals(t, "tcp", ours.Addr, before, command); got != want {
			tb.Errorf("%s\n got %s\nwant %s", line, got, want)
		}
	}
	require.Greater(t, cases, 150)
}

// signals runs a command on a data set of its own and returns everything that it signals.
func signals(t *testing.T, network, addr, before, command string) string {
	dial := func() *client.Client {
		c, err := client.Dial(network, addr)
		require.NoError(t, err)
		return c
	}
	do := func(c *client.Client, line string) client.Value {
		var args []any
		for _, w := range strings.Split(line, " ") {
			args = append(args, strings.Trim(w, `"`))
		}
		v, err := c.Do(args...)
		require.NoError(t, err)
		return v
	}
	c, watcher, listener, tracker := dial(), dial(), dial(), dial()
	for _, conn := range []*client.Client{c, watcher, listener, tracker} {
		defer conn.Close()
	}
	do(c, "FLUSHALL")
	do(c, "CONFIG SET notify-keyspace-events KEA")
	for _, line := range strings.Split(before, ";") {
		if line != "" {
			do(c, line)
		}
	}
	do(watcher, "WATCH k j")
	id := do(listener, "CLIENT ID").Int
	do(tracker, fmt.Sprint("CLIENT TRACKING ON BCAST REDIRECT ", id))
	do(listener, "PSUBSCRIBE __keyevent@* __redis__:invalidate end")
	for range 2 {
		_, err := listener.Receive()
		require.NoError(t, err)
	}
	changes := func() int64 {
		return infoNumber(do(c, "INFO persistence").Text(), "rdb_changes_since_last_save")
	}
	dirty := changes()
	reply := do(c, command)
	do(c, "SELECT 0")
	dirty = changes() - dirty
	do(c, "PUBLISH end x")
	do(watcher, "MULTI")
	touched := do(watcher, "EXEC").IsNull()
	var heard []string
	for {
		v, err := listener.Receive()
		require.NoError(t, err)
		if m := fmt.Sprint(v); strings.Contains(m, "__") {
			heard = append(heard, m)
		} else {
			break
		}
	}
	slices.Sort(heard) // trackers and subscribers may hear in any order
	return fmt.Sprintf("%v, %d changes, touched: %t, %v", reply, dirty, touched, heard)
}

func infoNumber(info, field string) (n int64) {
	_, rest, _ := strings.Cut(info, field+":")
	_, _ = fmt.Sscan(rest, &n)
	return n
}
