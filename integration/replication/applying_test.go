package replication

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/testserver"
)

// TestBusyReplica has a script of the replica's clients run on while the master's writes come. They
// wait for its end.
func TestBusyReplica(t *testing.T) {
	pairs := []pair{{redis8, godwit}, {godwit, godwit}}
	forPairs(t, pairs, func(t *testing.T, p pair) {
		for _, threads := range []string{"1", "2"} {
			master := p.run(t, p.master)
			replica := p.run(t, p.replica, "--busy-reply-threshold", "20", "--io-threads", threads)
			link(t, replica, master.Addr)
			busy := replica.Client(t)
			busy.Queue("EVAL", "redis.call('get', 'n') while true do end", 0)
			require.NoError(t, busy.Flush())
			for range 100 {
				do(t, master, "INCR", "n")
			}
			require.Eventually(t, func() bool { // others are answered
				v, err := replica.Do("GET", "n")
				return err == nil && v.IsError()
			}, testserver.Patience, time.Millisecond)
			require.Eventually(t, func() bool {
				v, err := replica.Do("SCRIPT", "KILL")
				return err == nil && !v.IsError()
			}, testserver.Patience, time.Millisecond)
			require.NoError(t, master.WaitCaughtUp(replica))
			require.Equal(t, "100", do(t, replica, "GET", "n"))
			// A script that is a master's command may be busy too: its effects come as a unit.
			do(t, master, "EVAL", "for i = 1, 1000 do redis.call('incr', 'n') end", 0)
			require.NoError(t, master.WaitCaughtUp(replica))
			require.Equal(t, "1100", do(t, replica, "GET", "n"))
		}
	})
}

// TestPausedReplica holds the master's writes back by CLIENT PAUSE on the replica.
func TestPausedReplica(t *testing.T) {
	pairs := []pair{{redis8, godwit}, {godwit, godwit}}
	forPairs(t, pairs, func(t *testing.T, p pair) {
		master, replica := p.start(t)
		link(t, replica, master.Addr)
		do(t, replica, "CLIENT", "PAUSE", 100_000, "WRITE")
		do(t, master, "SET", "k", "v")
		do(t, master, "EVAL", "redis.call('set', 'l', 'w') redis.call('set', 'm', 'x')", 0)
		v, err := replica.Do("GET", "k")
		require.NoError(t, err)
		require.True(t, v.IsNull(), "%s", v)
		do(t, replica, "CLIENT", "UNPAUSE")
		require.NoError(t, master.WaitSame(replica))
		require.EqualValues(t, 1, stat(t, master, "sync_full"))
	})
}

// TestAcknowledged waits until replicas have writes in memory and on disk.
func TestAcknowledged(t *testing.T) {
	pairs := []pair{{redis7, godwit}, {redis8, godwit}, {valkey9, godwit}, {godwit, godwit}}
	forPairs(t, pairs, func(t *testing.T, p pair) {
		master := p.run(t, p.master)
		replica := p.run(t, p.replica, "--appendonly", "yes")
		link(t, replica, master.Addr)
		waitBase(t, replica)
		c := master.Client(t)
		for i := range 3 {
			_, err := c.Do("SET", "k", i)
			require.NoError(t, err)
			v, err := c.Do("WAIT", 1, 0)
			require.NoError(t, err)
			require.Equal(t, "1", v.Text())
			if p.master == redis7 {
				continue
			}
			v, err = c.Do("WAITAOF", 0, 1, 0)
			require.NoError(t, err)
			require.Equal(t, "1", v.Elems[1].Text())
		}
	})
}

// TestExpiryOfReplica checks that a replica hides keys that are due and never deletes them, but for
// those that its own clients have given a deadline.
func TestExpiryOfReplica(t *testing.T) {
	pairs := []pair{{redis8, godwit}, {godwit, godwit}}
	forPairs(t, pairs, func(t *testing.T, p pair) {
		master := p.run(t, p.master)
		replica := p.run(t, p.replica, "--replica-read-only", "no")
		do(t, master, "DEBUG", "SET-ACTIVE-EXPIRE", 0)
		link(t, replica, master.Addr)
		for i := range 5 {
			do(t, master, "SET", "due"+strconv.Itoa(i), "v", "PX", 1)
		}
		do(t, replica, "SET", "local", "v", "PX", 1)
		do(t, replica, "HSET", "hash", "f", "v", "g", "w")
		do(t, replica, "HPEXPIRE", "hash", 1, "FIELDS", 1, "f")
		require.NoError(t, master.WaitCaughtUp(replica))
		require.Eventually(t, func() bool {
			return do(t, replica, "DBSIZE") == "6" && do(t, replica, "HLEN", "hash") == "1"
		}, testserver.Patience, time.Millisecond)
		v, err := replica.Do("GET", "due1")
		require.NoError(t, err)
		require.True(t, v.IsNull())
		do(t, master, "DEBUG", "SET-ACTIVE-EXPIRE", 1)
		require.Eventually(t, func() bool { return do(t, replica, "DBSIZE") == "1" },
			testserver.Patience, time.Millisecond)
	})
}

// TestReplicaWithoutDisk has the snapshots of a replica fail. What it cannot keep it does not take
// from its master, unless it is told to.
func TestReplicaWithoutDisk(t *testing.T) {
	t.Parallel()
	for _, ignore := range []string{"no", "yes"} {
		master := redis8.Run(t)
		replica := godwit.Run(t, "--save", "3600 1000000", "--enable-protected-configs", "yes",
			"--replica-ignore-disk-write-errors", ignore)
		link(t, replica, master.Addr)
		require.NoError(t, os.MkdirAll(filepath.Join(replica.Dir, "folder", "in it"), 0o755))
		do(t, replica, "CONFIG", "SET", "dbfilename", "folder")
		do(t, replica, "BGSAVE")
		require.NoError(t, replica.WaitInfo("persistence", "in trouble",
			func(i map[string]string) bool { return i["rdb_last_bgsave_status"] == "err" }))
		do(t, master, "SET", "k", "v")
		if ignore == "yes" {
			require.NoError(t, replica.WaitLog("command it is unable to write to disk"))
			require.NoError(t, master.WaitSame(replica))
			do(t, replica, "CONFIG", "SET", "save", "") // or it would not end
			continue
		}
		require.NoError(t, replica.WaitLog("The link to the master is given up"))
		require.NoError(t, replica.WaitNoLink())
		do(t, replica, "CONFIG", "SET", "dbfilename", "file")
		do(t, replica, "BGSAVE")
		require.NoError(t, replica.WaitLink())
		require.NoError(t, master.WaitSame(replica))
		require.EqualValues(t, 1, stat(t, master, "sync_full"))
	}
}

// TestPanicOnReplicas has a master send what its replica refuses, which ends the replica if that is
// read-only and told to. Clients' errors never do.
func TestPanicOnReplicas(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		behavior, readOnly string
		ends               bool
	}{
		{"panic-on-replicas", "yes", true}, {"panic", "yes", true}, {"ignore", "yes", false},
		{"panic-on-replicas", "no", false}, {"panic", "no", false},
	} {
		t.Run(c.behavior+" "+c.readOnly, func(t *testing.T) {
			t.Parallel()
			o, err := godwit.Options(testserver.Dir(t), "--replica-read-only", "no",
				"--propagation-error-behavior", c.behavior)
			require.NoError(t, err)
			replica, err := testserver.Start(o)
			require.NoError(t, err)
			defer replica.Kill()
			master := godwit.Run(t, "--propagation-error-behavior", c.behavior)
			link(t, replica, master.Addr)
			do(t, replica, "SET", "k", "string")
			do(t, replica, "CONFIG", "SET", "replica-read-only", c.readOnly)
			for _, s := range []*testserver.Server{master, replica} {
				v, err := s.Do("INCR", "k", "x")
				require.NoError(t, err)
				require.True(t, v.IsError())
			}
			do(t, master, "RPUSH", "k", "a")
			require.NoError(t, replica.WaitLog("== CRITICAL == This replica is sending an error"))
			if c.ends {
				require.NotZero(t, replica.Exited(t))
				require.Contains(t, replica.Output(), "This replica panicked sending an error to "+
					"its master after processing the command 'rpush'")
				return
			}
			require.NoError(t, master.WaitCaughtUp(replica))
		})
	}
}

// TestFailingCommand has a master send what its replica refuses. That is counted and logged.
func TestFailingCommand(t *testing.T) {
	t.Parallel()
	master, replica := redis8.Run(t), godwit.Run(t, "--replica-read-only", "no")
	link(t, replica, master.Addr)
	do(t, replica, "SET", "k", "string")
	do(t, master, "RPUSH", "k", "a")
	require.NoError(t, replica.WaitLog("== CRITICAL == This replica is sending an error to its "+
		"master: 'WRONGTYPE"))
	require.EqualValues(t, 1, stat(t, replica, "unexpected_error_replies"))
	do(t, master, "SET", "k", "v")
	require.NoError(t, master.WaitSame(replica))
}
