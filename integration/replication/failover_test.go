package replication

import (
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
	"godwit/internal/testseed"
	"godwit/internal/testserver"
)

// TestFailover hands the master's role over to a replica and back, while clients write. Nothing
// that was acknowledged is lost, and no full sync is needed.
func TestFailover(t *testing.T) {
	pairs := []pair{{godwit, godwit}, {godwit, redis8}, {redis8, godwit}, {valkey9, godwit},
		{godwit, redis7}}
	forPairs(t, pairs, func(t *testing.T, p pair) {
		master, replica := p.start(t, bigBacklog...)
		link(t, replica, master.Addr)
		require.NoError(t, master.WaitCaughtUp(replica))
		var acked int64
		for round := range 2 {
			host, port := replica.HostPort()
			var wg sync.WaitGroup
			c := master.Client(t)
			wg.Go(func() {
				for {
					v, err := c.Do("INCR", "n")
					if err != nil || v.IsError() {
						return // the master is a replica now
					}
					acked = v.Int
				}
			})
			require.NoError(t, master.WaitInfo("replication", "a replica that is online",
				func(info map[string]string) bool {
					return strings.Contains(info["slave0"], "state=online")
				}))
			do(t, master, "FAILOVER", "TO", host, port, "TIMEOUT", 60_000)
			wg.Wait()
			require.NoError(t, replica.WaitInfo("replication", "the role of the master",
				func(info map[string]string) bool { return info["role"] == "master" }))
			require.NoError(t, master.WaitLink())
			require.NoError(t, master.WaitInfo("replication", "the end of the failover",
				func(info map[string]string) bool {
					return info["master_failover_state"] == "no-failover"
				}))
			acked++ // by the next line, should the client of the next round have no time for any
			require.Equal(t, acked, must(t, replica, "INCR", "n").Int, "round %d", round)
			require.EqualValues(t, 1-round, stat(t, master, "sync_full"), "round %d", round)
			require.NoError(t, replica.WaitSame(master))
			master, replica = replica, master
		}
	})
}

// must sends a command that must succeed.
func must(t *testing.T, s *testserver.Server, args ...any) client.Value {
	t.Helper()
	v, err := s.Do(args...)
	require.NoError(t, err)
	require.False(t, v.IsError(), "%v: %s", args, v.Text())
	return v
}

// TestFailoverThatFails checks that a failover which cannot be is refused, or comes to an end after
// which the master goes on.
func TestFailoverThatFails(t *testing.T) {
	pairs := []pair{{godwit, godwit}, {redis8, redis8}}
	forPairs(t, pairs, func(t *testing.T, p pair) {
		master, replica := p.start(t)
		refused := func(want string, args ...any) {
			t.Helper()
			v, err := master.Do(args...)
			require.NoError(t, err)
			require.Equal(t, want, v.Text())
		}
		refused("ERR FAILOVER requires connected replicas.", "FAILOVER")
		refused("ERR No failover in progress.", "FAILOVER", "ABORT")
		proxy := testserver.RunProxy(t, master, testseed.New(t))
		link(t, replica, proxy.Addr)
		require.NoError(t, master.WaitCaughtUp(replica))
		refused("ERR FAILOVER target HOST and PORT is not a replica.", "FAILOVER", "TO",
			"127.0.0.1", 1)
		refused("ERR FAILOVER with force option requires both a timeout and target HOST and IP.",
			"FAILOVER", "FORCE")
		v, err := replica.Do("FAILOVER")
		require.NoError(t, err)
		require.Equal(t, "ERR FAILOVER is not valid when server is a replica.", v.Text())

		proxy.Stall(true)
		do(t, master, "SET", "a", 1) // the replica does not get it
		do(t, master, "FAILOVER", "TIMEOUT", 60_000)
		refused("ERR FAILOVER already in progress.", "FAILOVER")
		refused("ERR REPLICAOF not allowed while failing over.", "REPLICAOF", "NO", "ONE")
		state, err := master.Info("replication")
		require.NoError(t, err)
		require.Equal(t, "waiting-for-sync", state["master_failover_state"])
		do(t, master, "FAILOVER", "ABORT")
		do(t, master, "FAILOVER", "TIMEOUT", 100)
		do(t, master, "SET", "a", 2) // is held back until the time is up
		do(t, master, "FAILOVER")
		do(t, master, "FAILOVER", "ABORT")
		do(t, master, "SET", "a", 3)
		proxy.Stall(false)
		require.NoError(t, master.WaitSame(replica))
	})
}

// TestShutdownWaits stops a master whose replica lags: it ends when the replica has everything, and
// not before. SHUTDOWN ABORT has it go on.
func TestShutdownWaits(t *testing.T) {
	pairs := []pair{{godwit, godwit}, {godwit, redis8}}
	forPairs(t, pairs, func(t *testing.T, p pair) {
		master, replica := p.start(t)
		proxy := testserver.RunProxy(t, master, testseed.New(t))
		link(t, replica, proxy.Addr)
		require.NoError(t, master.WaitCaughtUp(replica))
		proxy.Stall(true)
		do(t, master, "SET", "a", 1)
		ended := make(chan string, 1)
		c := master.Client(t)
		go func() {
			v, _ := c.Do("SHUTDOWN", "NOSAVE") // an error is the end of the server
			ended <- v.Text()
		}()
		paused := func() bool {
			info, err := master.Info("clients")
			return err == nil && info["paused_reason"] == "shutdown_in_progress"
		}
		require.Eventually(t, paused, testserver.Patience, time.Millisecond)
		info, err := master.Info("server")
		require.NoError(t, err)
		require.NotEmpty(t, info["shutdown_in_milliseconds"])
		do(t, master, "SHUTDOWN", "ABORT")
		require.Equal(t, "ERR Errors trying to SHUTDOWN. Check logs.", <-ended)
		do(t, master, "SET", "a", 2)

		require.NoError(t, master.Signal(syscall.SIGTERM))
		require.Eventually(t, paused, testserver.Patience, time.Millisecond)
		require.Equal(t, "2", do(t, master, "GET", "a"))
		proxy.Stall(false)
		require.Zero(t, master.Exited(t))
		require.Equal(t, "2", do(t, replica, "GET", "a"))
	})
}
