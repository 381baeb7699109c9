package testserver

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestContents fills a real server with a key of each type and compares it with its replica, then
// with one that differs.
func TestContents(t *testing.T) {
	t.Parallel()
	master, replica := Redis8.Run(t), Redis8.Run(t)
	c := master.Client(t)
	do := func(args ...any) {
		t.Helper()
		v, err := c.Do(args...)
		require.NoError(t, err)
		require.False(t, v.IsError(), v.Text())
	}
	do("SET", "s", "x", "PX", 1000000)
	do("RPUSH", "l", "a", "b")
	do("SADD", "set", "a", "b", "1")
	do("HSET", "h", "f", "v", "g", "w")
	do("HPEXPIRE", "h", 1000000, "FIELDS", 1, "f")
	do("ZADD", "z", "1.5", "m")
	do("XADD", "x", "1-1", "f", "v")
	do("XGROUP", "CREATE", "x", "g", "0")
	do("XREADGROUP", "GROUP", "g", "c", "STREAMS", "x", ">")
	do("FUNCTION", "LOAD", "#!lua name=l\nredis.register_function('f',function() end)")
	do("SELECT", 3)
	do("SET", "other", "database")
	require.NoError(t, replica.Follow(master))
	require.NoError(t, replica.WaitLink())
	require.NoError(t, master.WaitSame(replica))
	all, err := replica.Read()
	require.NoError(t, err)
	require.Equal(t, 7, all.Keys())

	require.NoError(t, replica.Promote())
	for _, change := range [][]any{{"XACK", "x", "g", "1-1"}, {"PERSIST", "s"},
		{"HPERSIST", "h", "FIELDS", 1, "f"}, {"FUNCTION", "FLUSH"}} {
		before, err := replica.Read()
		require.NoError(t, err)
		v, err := replica.Do(change...)
		require.NoError(t, err)
		require.False(t, v.IsError(), v.Text())
		after, err := replica.Read()
		require.NoError(t, err)
		require.NotEmpty(t, before.Compare(after), change)
	}
	diff, err := Differences(master, replica)
	require.NoError(t, err)
	require.Contains(t, diff, `db 0 "x"`)
}
