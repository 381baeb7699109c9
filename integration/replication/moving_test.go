package replication

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
	"godwit/internal/testseed"
	"godwit/internal/testserver"
)

// TestMoving moves clients from one server to its replica of another kind and back, as
// docs/migrating.md says, while they write. Every write that was acknowledged is there at the end.
func TestMoving(t *testing.T) {
	seed := testseed.New(t)
	pairs := []pair{{redis7, godwit}, {redis8, godwit}, {valkey9, godwit}}
	forPairs(t, pairs, func(t *testing.T, p pair) {
		old, next := p.start(t, bigBacklog...)
		fill(t, old, seed, 300, p.master, p.replica)
		var at atomic.Pointer[testserver.Server] // where clients write
		at.Store(old)
		stop := startCounting(t, &at, 3)
		link(t, next, old.Addr)
		hand(t, old, next, &at)
		fill(t, next, seed+1, 300, p.master, p.replica)
		hand(t, next, old, &at)
		fill(t, old, seed+2, 300, p.master, p.replica)
		c, err := countingClient(old)
		require.NoError(t, err)
		defer c.Close()
		for key, n := range stop() {
			v, err := c.Do("GET", key)
			require.NoError(t, err)
			require.Equal(t, fmt.Sprint(n), v.Text())
		}
		require.NoError(t, old.WaitSame(next))
	})
}

// hand makes a replica the master of its master, and has clients write to it. For a moment writers
// are kept waiting; then the old master sends them away, because it is a replica.
func hand(t *testing.T, from, to *testserver.Server, at *atomic.Pointer[testserver.Server]) {
	t.Helper()
	do(t, from, "CLIENT", "PAUSE", 60_000, "WRITE")
	require.NoError(t, from.WaitCaughtUp(to))
	require.NoError(t, to.Promote())
	require.NoError(t, from.Follow(to))
	at.Store(to)
	do(t, from, "CLIENT", "UNPAUSE")
	require.NoError(t, from.WaitLink())
}

// startCounting starts clients that increment a counter of their own, until the returned function
// is called. It returns what each has come to.
func startCounting(t *testing.T, at *atomic.Pointer[testserver.Server], clients int,
) (stop func() map[string]int64) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	type count struct {
		key string
		n   int64
		err error
	}
	counts := make(chan count)
	for i := range clients {
		go func() {
			c := count{key: fmt.Sprintf("counted:%d", i)}
			c.n, c.err = increment(ctx, at, c.key)
			counts <- c
		}()
	}
	return func() map[string]int64 {
		cancel()
		all := map[string]int64{}
		for range clients {
			c := <-counts
			require.NoError(t, c.err)
			require.Positive(t, c.n)
			all[c.key] = c.n
		}
		return all
	}
}

// countingClient connects to the database of the counters, which nobody else writes to.
func countingClient(s *testserver.Server) (*client.Client, error) {
	c, err := s.Dial()
	if err == nil {
		_, err = c.Do("SELECT", 5)
	}
	return c, err
}

var errLost = errors.New("a counter goes back")

// increment increments a counter where clients write. When it is sent away, it goes to where they
// write then. It returns how often that succeeded.
func increment(ctx context.Context, at *atomic.Pointer[testserver.Server], key string) (n int64,
	err error) {
	var server *testserver.Server
	var c *client.Client
	defer func() {
		if c != nil {
			c.Close()
		}
	}()
	for ctx.Err() == nil {
		if now := at.Load(); now != server {
			if c != nil {
				c.Close()
			}
			if c, err = countingClient(now); err != nil {
				return n, err
			}
			server = now
		}
		v, err := c.Do("INCR", key)
		switch {
		case err != nil:
			return n, err
		case strings.HasPrefix(v.Text(), "READONLY"), strings.HasPrefix(v.Text(), "UNBLOCKED"):
			continue
		case v.IsError():
			return n, errors.New(v.Text())
		case v.Int != n+1:
			return n, fmt.Errorf("%w: %s is %d, not %d", errLost, key, v.Int, n+1)
		}
		n++
	}
	return n, nil
}
