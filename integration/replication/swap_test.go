package replication

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/testseed"
	"godwit/internal/testserver"
)

// TestSwap has a replica load a full sync beside its old data (repl-diskless-load swapdb). The old
// data answers until the new is whole, also while syncs are cut halfway.
func TestSwap(t *testing.T) {
	seed := testseed.New(t)
	pairs := []pair{{godwit, godwit}, {redis8, godwit}}
	forPairs(t, pairs, func(t *testing.T, p pair) {
		const keys = 1000
		master, replica := p.start(t, "--repl-diskless-load", "swapdb", "--repl-backlog-size",
			"16kb", "--client-output-buffer-limit", "replica 0 0 0")
		noise(t, master, rand.New(rand.NewPCG(seed, 1)), keys)
		do(t, master, "SET", "generation", 1)
		proxy := testserver.RunProxy(t, master, seed)
		link(t, replica, proxy.Addr)
		require.NoError(t, master.WaitSame(replica))

		reads := startReads(t, replica, keys)
		proxy.Refuse(true)
		proxy.Cut()
		require.NoError(t, replica.WaitNoLink())
		noise(t, master, rand.New(rand.NewPCG(seed, 2)), keys)
		do(t, master, "SET", "generation", 2)
		before := proxy.Cuts()
		proxy.Throttle(8 << 20)
		proxy.CutWithin(500_000)
		proxy.Refuse(false)
		require.Eventually(t, func() bool { return proxy.Cuts() > before }, testserver.Patience,
			time.Millisecond)
		proxy.Throttle(0)
		require.NoError(t, replica.WaitLink())
		require.NoError(t, master.WaitSame(replica))
		reads()
		require.Equal(t, "2", do(t, replica, "GET", "generation"))
	})
}

// startReads reads from a server until the returned function is called, which fails the test if
// anything was refused or missing.
func startReads(t *testing.T, s *testserver.Server, keys int) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	c := s.Client(t)
	done := make(chan error, 1)
	go func() {
		for ctx.Err() == nil {
			c.Queue("DBSIZE")
			c.Queue("GET", "generation")
			c.Queue("STRLEN", "noise:7")
			v, err := c.Pipeline()
			if err != nil || v[0].Int != int64(keys+1) || v[2].Int != 1000 ||
				v[1].Text() != "1" && v[1].Text() != "2" {
				done <- fmt.Errorf("a replica answers %v %w", v, err)
				return
			}
		}
		done <- nil
	}()
	return func() {
		cancel()
		require.NoError(t, <-done)
	}
}
