package replication

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/testseed"
)

// TestEviction has a master that evicts while it is written to, and a replica with the same limit.
// Only the master decides what goes.
func TestEviction(t *testing.T) {
	seed := testseed.New(t)
	pairs := []pair{{godwit, godwit}, {godwit, redis8}, {redis8, godwit}, {valkey9, godwit}}
	forPairs(t, pairs, func(t *testing.T, p pair) {
		master, replica := p.start(t, "--maxmemory-policy", "allkeys-lru", "--repl-backlog-size",
			"1mb")
		link(t, replica, master.Addr)
		noise(t, master, rand.New(rand.NewPCG(seed, 3)), 500)
		used, err := master.InfoInt("memory", "used_memory")
		require.NoError(t, err)
		used += 3 << 20 // of which the backlog takes one
		do(t, master, "CONFIG", "SET", "maxmemory", used)
		do(t, replica, "CONFIG", "SET", "maxmemory", used)
		noise(t, master, rand.New(rand.NewPCG(seed, 4)), 6000)
		require.NotZero(t, stat(t, master, "evicted_keys"))
		require.NoError(t, master.WaitSame(replica))
		require.Zero(t, stat(t, replica, "evicted_keys"))
	})
}
