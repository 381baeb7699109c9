package integration

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestDroppedGroupMemory destroys a group and deletes a consumer that have much pending. That is
// freed in slices, after which used_memory is what it was before.
func TestDroppedGroupMemory(t *testing.T) {
	skipUnderRace(t)
	godwitOnly(t)
	s := startServer(t)
	c := s.dial(t)
	const fill = `for i = 1, 300000 do redis.call('XADD', 's', i .. '-1', 'f', 'v') end
redis.call('XGROUP', 'CREATE', 's', 'other', 0)
redis.call('XREADGROUP', 'GROUP', 'other', 'c', 'COUNT', 5, 'STREAMS', 's', '>')
return 1`
	const pend = `redis.call('XGROUP', 'CREATE', 's', 'g', 0)
local n = 0
repeat
	n = n + 1
	local r = redis.call('XREADGROUP', 'GROUP', 'g', 'c', 'COUNT', 1000, 'STREAMS', 's', '>')
until not r
return n`
	do(t, c, "EVAL", fill, 0)
	for _, drop := range [][]any{
		{"XGROUP", "DESTROY", "s", "g"}, {"XGROUP", "DELCONSUMER", "s", "g", "c"},
	} {
		before, size := memoryInfo(t, c, "used_memory"), do(t, c, "MEMORY", "USAGE", "s").Int
		freed := memoryInfo(t, c, "lazyfreed_objects")
		do(t, c, "EVAL", pend, 0)
		require.Greater(t, do(t, c, "MEMORY", "USAGE", "s").Int, size+mib)
		require.NotZero(t, do(t, c, drop...).Int)
		require.Less(t, do(t, c, "MEMORY", "USAGE", "s").Int, size+8192)
		eventually(t, "it is freed", func() bool {
			return memoryInfo(t, c, "lazyfreed_objects") > freed
		})
		require.Eventually(t, func() bool {
			return memoryInfo(t, c, "used_memory") < before+mib/2
		}, patience, 10*time.Millisecond, drop)
	}
	require.Equal(t, int64(5), do(t, c, "XPENDING", "s", "other").Elems[0].Int)
}

// TestConsumersShrink makes many consumers and deletes most of them, at random places between those
// that stay. Their memory goes with them, and those that stay keep what they have pending.
func TestConsumersShrink(t *testing.T) {
	skipUnderRace(t)
	godwitOnly(t)
	s := startServer(t)
	c := s.dial(t)
	const n, kept = 20_000, 50
	do(t, c, "XGROUP", "CREATE", "s", "g", 0, "MKSTREAM")
	size := do(t, c, "MEMORY", "USAGE", "s").Int
	all := func(f func(i int)) {
		for i := range n {
			f(i)
		}
		_, err := c.Pipeline()
		require.NoError(t, err)
	}
	all(func(i int) {
		if i%(n/kept) == n/kept-1 {
			c.Queue("XADD", "s", i+1, "f", "v")
			c.Queue("XREADGROUP", "GROUP", "g", i, "STREAMS", "s", ">")
		} else {
			c.Queue("XGROUP", "CREATECONSUMER", "s", "g", i)
		}
	})
	peak := do(t, c, "MEMORY", "USAGE", "s").Int - size
	require.Less(t, peak, int64(n*100))
	all(func(i int) {
		if i%(n/kept) != n/kept-1 {
			c.Queue("XGROUP", "DELCONSUMER", "s", "g", i)
		}
	})
	require.Less(t, do(t, c, "MEMORY", "USAGE", "s").Int-size, int64(kept*1000))
	for i := n/kept - 1; i < n; i += n / kept {
		c.Queue("XACK", "s", "g", i+1)
		c.Queue("XPENDING", "s", "g", "-", "+", 1)
	}
	replies, err := c.Pipeline()
	require.NoError(t, err)
	for i := 0; i < len(replies); i += 2 {
		require.Equal(t, int64(1), replies[i].Int)
	}
}
