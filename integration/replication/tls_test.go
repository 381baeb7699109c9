package replication

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/testseed"
	"godwit/internal/testserver"
)

// TestTLS links servers by TLS, and cuts the link.
func TestTLS(t *testing.T) {
	seed := testseed.New(t)
	pairs := []pair{{redis7, godwit}, {godwit, godwit}, {godwit, redis7}, {godwit, redis8}}
	forPairs(t, pairs, func(t *testing.T, p pair) {
		port, err := testserver.Port()
		require.NoError(t, err)
		tls := append(testserver.Certificate(t), "--tls-replication", "yes")
		tls = append(tls, bigBacklog...)
		master := p.run(t, p.master, append(tls, "--tls-port", strconv.Itoa(port))...)
		replica := p.run(t, p.replica, tls...)
		fill(t, master, seed, 300, p.master, p.replica)
		proxy, err := testserver.StartProxy("127.0.0.1:"+strconv.Itoa(port), seed)
		require.NoError(t, err)
		t.Cleanup(proxy.Close)
		link(t, replica, proxy.Addr)
		writers := startLoad(t, master, seed+1, 2, p.master, p.replica)
		for range 3 {
			before := syncs(t, master)
			proxy.CutWithin(20_000)
			require.Eventually(t, func() bool { return syncs(t, master) > before },
				testserver.Patience, time.Millisecond)
		}
		writers.stop(t)
		require.NoError(t, master.WaitSame(replica))
		if p.replica != redis8 { // see TestCuts
			require.EqualValues(t, 1, stat(t, master, "sync_full"))
		}
	})
}
