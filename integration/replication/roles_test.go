package replication

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
	"godwit/internal/testserver"
)

// TestClientsOfNewReplica compares with Redis what clients hear when their server becomes a
// replica, and when its data is replaced: clients that wait, transactions, those that watch, cache
// or have subscribed.
func TestClientsOfNewReplica(t *testing.T) {
	t.Parallel()
	master := redis8.Run(t)
	do(t, master, "SET", "k", "v")
	var heard []string
	for _, kind := range []testserver.Kind{redis8, godwit} {
		heard = append(heard, clientsHear(t, kind.Run(t), master))
	}
	require.Equal(t, heard[0], heard[1])
}

func clientsHear(t *testing.T, s, master *testserver.Server) (heard string) {
	t.Helper()
	do(t, s, "SET", "k", "old")
	open := func(commands ...[]any) *client.Client {
		c := s.Client(t)
		for _, args := range commands {
			_, err := c.Do(args...)
			require.NoError(t, err)
		}
		return c
	}
	note := func(v client.Value, err error) { heard += fmt.Sprintln(v, err) }
	waiting := []*client.Client{open(), open()}
	waiting[0].Queue("BLPOP", "l", 0)
	waiting[1].Queue("XREAD", "BLOCK", 0, "STREAMS", "s", "$")
	for _, c := range waiting {
		require.NoError(t, c.Flush())
	}
	require.NoError(t, s.WaitInfo("clients", "with two that wait", func(i map[string]string) bool {
		return i["blocked_clients"] == "2"
	}))
	writes := open([]any{"MULTI"}, []any{"SET", "k", "2"})
	reads := open([]any{"MULTI"}, []any{"GET", "k"})
	watches := open([]any{"WATCH", "k"})
	caches := open([]any{"HELLO", 3}, []any{"CLIENT", "TRACKING", "ON"}, []any{"GET", "k"})
	subscribed := open([]any{"SUBSCRIBE", "c"})
	link(t, s, master.Addr)
	for _, c := range waiting {
		note(c.Receive())
		_, err := c.Receive()
		require.Error(t, err, "the connection is closed")
	}
	note(writes.Do("EXEC"))
	note(reads.Do("EXEC"))
	_, err := watches.Do("MULTI")
	require.NoError(t, err)
	note(watches.Do("EXEC"))
	note(caches.Receive())
	require.Eventually(t, func() bool { // a replica online hears what its master's clients publish
		do(t, master, "PUBLISH", "c", "hello")
		v, err := s.Do("GET", "k")
		return err == nil && v.Text() == "v"
	}, testserver.Patience, time.Millisecond)
	note(subscribed.Receive())
	return heard
}
