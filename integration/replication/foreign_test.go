package replication

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestForeign checks that a replica gets nothing that it cannot hold: it is disconnected when the
// first such value comes, and synchronized when there are none any more. A Godwit gets them all.
func TestForeign(t *testing.T) {
	pairs := []pair{{godwit, redis7}, {godwit, redis8}, {godwit, valkey9}}
	forPairs(t, pairs, func(t *testing.T, p pair) {
		create, what := []any{"BF.ADD", "key", "a"}, "1 sketches (BF.*"
		switch p.replica {
		case redis7:
			create = []any{"HSETEX", "key", "EX", 1000, "FIELDS", 1, "a", "b"}
			what = "1 hashes whose fields have deadlines"
		case valkey9:
			create = []any{"XADD", "key", "IDMP", "p", "i", "*", "a", "b"}
			what = "1 streams with producers"
		}
		master, replica := p.start(t)
		second := p.run(t, godwit)
		link(t, replica, master.Addr)
		link(t, second, master.Addr)
		do(t, master, "SET", "before", 1)
		require.NoError(t, master.WaitCaughtUp(replica, second))
		do(t, master, create...)
		do(t, master, "SET", "after", 1)
		require.NoError(t, replica.WaitNoLink())
		require.NoError(t, master.WaitSame(second))
		require.NoError(t, master.WaitLog("Disconnecting replica "))
		require.NoError(t, master.WaitLog("gets no synchronization, because it cannot hold "+what))
		require.Equal(t, "0", do(t, replica, "EXISTS", "key", "after"))
		require.Equal(t, "1", do(t, replica, "EXISTS", "before"), "what it has stays")

		do(t, master, "DEL", "key")
		require.NoError(t, replica.WaitLink())
		require.NoError(t, master.WaitCaughtUp(replica, second))
		require.Equal(t, "1", do(t, replica, "EXISTS", "after"))
		require.EqualValues(t, 3, stat(t, master, "sync_full"), "the stream had such commands")

		do(t, master, append([]any{"EVAL", "redis.call(unpack(ARGV)) redis.call('DEL', ARGV[2]) " +
			"return redis.call('SET', 'with it', 1)", 0}, create...)...)
		require.NoError(t, master.WaitSame(second))
		require.NoError(t, replica.WaitInfo("replication", "what came with it",
			func(info map[string]string) bool {
				v, err := replica.Do("EXISTS", "with it")
				return err == nil && v.Int == 1
			}))
		require.EqualValues(t, 4, stat(t, master, "sync_full"))
	})
}

// TestForeignBelow checks the same of a replica's replica: what is relayed is not looked at, but
// what it has made is.
func TestForeignBelow(t *testing.T) {
	t.Parallel()
	top, middle, bottom := redis8.Run(t), godwit.Run(t), redis7.Run(t)
	link(t, middle, top.Addr)
	link(t, bottom, middle.Addr)
	do(t, top, "SET", "before", 1)
	require.NoError(t, top.WaitSame(middle, bottom))
	do(t, top, "HSETEX", "key", "EX", 1000, "FIELDS", 1, "a", "b")
	require.NoError(t, middle.WaitLog("it cannot hold hashes whose fields have deadlines"))
	require.NoError(t, bottom.WaitNoLink())
	do(t, top, "DEL", "key")
	require.NoError(t, bottom.WaitLink())
	require.NoError(t, top.WaitSame(middle, bottom))
}
