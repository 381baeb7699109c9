package replication

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
	"godwit/internal/testseed"
	"godwit/internal/testserver"
)

// TestRoleChangesInATransaction has a master write and become a replica in one transaction. What it
// has written is behind the place that the new master knows, so it must not go on from there.
func TestRoleChangesInATransaction(t *testing.T) {
	seed := testseed.New(t)
	forPairs(t, []pair{{godwit, godwit}, {godwit, redis8}}, func(t *testing.T, p pair) {
		master, replica := p.start(t, append(bigBacklog, "--repl-ping-replica-period", "3600")...)
		link(t, replica, master.Addr)
		fill(t, master, seed, 200, p.master, p.replica)
		swapped := master.Client(t)
		do(t, master, "DEBUG", "SET-ACTIVE-EXPIRE", 0)
		require.NoError(t, master.WaitCaughtUp(replica))
		require.NoError(t, replica.Promote())
		host, port := replica.HostPort()
		swapped.Queue("MULTI")
		swapped.Queue("SET", "of the old master", 1)
		swapped.Queue("REPLICAOF", host, port)
		swapped.Queue("EXEC")
		replies, err := swapped.Pipeline()
		require.NoError(t, err)
		require.Equal(t, `array[simple:OK simple:OK]`, replies[3].String())
		require.NoError(t, master.WaitLink())
		fill(t, replica, seed+1, 200, p.master, p.replica)
		require.NoError(t, replica.WaitSame(master))
		require.Equal(t, "0", do(t, master, "EXISTS", "of the old master"))
	})
}

// TestOverlappingFullSyncs has a second replica ask while the first one is still being sent a file.
// Neither gets anything but its own file.
func TestOverlappingFullSyncs(t *testing.T) {
	t.Parallel()
	seed := testseed.New(t)
	p := pair{godwit, godwit}
	master, first := p.start(t, "--repl-diskless-sync", "no")
	second := p.run(t, godwit)
	value := strings.Repeat("0123456789abcdef", 1<<14)
	for i := range 32 {
		do(t, master, "SET", fmt.Sprint("k", i), value+fmt.Sprint(i))
	}
	do(t, master, "CONFIG", "SET", "rdbcompression", "no")
	proxy := testserver.RunProxy(t, master, seed)
	proxy.Throttle(4 << 20)
	require.NoError(t, first.FollowAddr(proxy.Addr))
	require.NoError(t, master.WaitInfo("replication", "a file on its way",
		func(info map[string]string) bool {
			return strings.Contains(info["slave0"], "state=send_bulk") && proxy.Passed() > 1<<20
		}))
	do(t, master, "CONFIG", "SET", "rdb-key-save-delay", 50_000) // 1.6 s for all keys
	require.NoError(t, second.FollowAddr(master.Addr))
	require.NoError(t, first.WaitLink())
	require.NoError(t, second.WaitLink())
	require.NoError(t, master.WaitSame(first, second))
	require.EqualValues(t, 2, stat(t, master, "sync_full"))
}

// TestHeldReadsAreReleased has clients read and write the same few keys in pipelines, while reads
// wait for the writes before them. Everybody gets every reply.
func TestHeldReadsAreReleased(t *testing.T) {
	t.Parallel()
	master, replica := pair{godwit, godwit}.start(t)
	link(t, replica, master.Addr)
	do(t, master, "CONFIG", "SET", "min-replicas-ack-timeout", testserver.Patience.Milliseconds())
	do(t, master, "CONFIG", "SET", "min-replicas-ack-reads", "yes")
	do(t, master, "CONFIG", "SET", "min-replicas-to-ack", 1)
	const clients = 6
	errs := make(chan error, clients)
	end := time.Now().Add(time.Second)
	for i := range clients {
		c := master.Client(t)
		go func() { errs <- mixed(c, i, end) }()
	}
	for range clients {
		require.NoError(t, <-errs)
	}
}

// mixed reads and writes a few keys in pipelines until the end. An error reply is an error.
func mixed(c *client.Client, i int, end time.Time) error {
	for n := 0; time.Now().Before(end); n++ {
		for j := range 1 + (n+i)%4 {
			key := fmt.Sprint("k", (n+j)%5)
			if (n+i+j)%3 == 0 {
				c.Queue("SET", key, n)
			} else {
				c.Queue("GET", key)
			}
		}
		replies, err := c.Pipeline()
		if err != nil {
			return err
		}
		for _, v := range replies {
			if v.IsError() {
				return errors.New(v.Text())
			}
		}
	}
	return nil
}
