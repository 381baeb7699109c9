package replication

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/testseed"
	"godwit/internal/testserver"
)

// TestOutputLimit has a replica read nothing until the master gives it up. The master's memory
// stays within the limit, and the replica comes back.
func TestOutputLimit(t *testing.T) {
	seed := testseed.New(t)
	pairs := []pair{{godwit, godwit}, {godwit, redis8}, {redis8, godwit}}
	forPairs(t, pairs, func(t *testing.T, p pair) {
		master, replica := p.start(t, "--repl-backlog-size", "1mb",
			"--client-output-buffer-limit", "replica 4mb 2mb 60")
		fill(t, master, seed, 300, p.master, p.replica)
		proxy := testserver.RunProxy(t, master, seed)
		link(t, replica, proxy.Addr)
		require.NoError(t, master.WaitSame(replica))
		proxy.Stall(true)
		c := master.Client(t)
		value := strings.Repeat("x", 1<<20)
		for range 100 { // sockets and the proxy hold some of it
			_, err := c.Do("SET", "big", value)
			require.NoError(t, err)
			if n, err := master.InfoInt("replication", "connected_slaves"); err == nil && n == 0 {
				break
			}
		}
		require.NoError(t, master.WaitInfo("replication", "without the slow replica",
			func(info map[string]string) bool { return info["connected_slaves"] == "0" }))
		proxy.Cut()
		proxy.Stall(false)
		require.NoError(t, replica.WaitLink())
		fill(t, master, seed+1, 300, p.master, p.replica)
		require.NoError(t, master.WaitSame(replica))
		require.EqualValues(t, 2, stat(t, master, "sync_full"), "the backlog is too small")
	})
}
