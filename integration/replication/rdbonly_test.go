package replication

import (
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/testseed"
)

// TestRDBOnly has a replica ask for an RDB only and take hardly any of it, while more is written
// than the output limit allows. It is not cut, and nothing of the stream is kept for it.
func TestRDBOnly(t *testing.T) {
	pairs := []pair{{godwit, godwit}, {redis8, redis8}}
	forPairs(t, pairs, func(t *testing.T, p pair) {
		master := p.run(t, p.master, "--repl-backlog-size", "16kb",
			"--client-output-buffer-limit", "replica 1mb 1mb 60")
		noise(t, master, testseed.Rand(t), 9000) // more than sockets hold
		r := rawReplicaOf(t, master.Addr, nil)
		require.NoError(t, r.conn.(*net.TCPConn).SetReadBuffer(256<<10))
		require.Equal(t, "+OK", r.ask("REPLCONF rdb-only 1 capa eof"))
		require.True(t, strings.HasPrefix(r.ask("PSYNC ? -1"), "+FULLRESYNC "))
		c := master.Client(t)
		value := strings.Repeat("x", 1<<20)
		for range 8 {
			v, err := c.Do("SET", "big", value)
			require.NoError(t, err)
			require.False(t, v.IsError())
		}
		info, err := master.Info("replication")
		require.NoError(t, err)
		require.Equal(t, "1", info["connected_slaves"])
		pinned, err := master.InfoInt("memory", "mem_clients_slaves")
		require.NoError(t, err)
		require.Less(t, pinned, int64(1<<20))
	})
}
