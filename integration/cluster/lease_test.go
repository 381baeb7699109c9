package cluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/testserver"
)

// busyWrite writes and takes two seconds to end.
const busyWrite = `redis.call('SET', KEYS[1], 'old')
local start = redis.call('TIME')[1]
while redis.call('TIME')[1] - start < 2 do end
return redis.call('GET', KEYS[1])`

// TestStoppedBeforeReply stops a master between a write and its reply, until another one takes
// writes. The reply must not come when it goes on: the write is lost.
func TestStoppedBeforeReply(t *testing.T) {
	each(t, func(t *testing.T, k testserver.Kind) {
		takesLong(t)
		c := startCluster(t, k, false)
		old, next := c.Master(0), c.Replica(0)
		key := "{" + tagOf(t, c, 0) + "}stopped"
		waiting := old.Client(t)
		waiting.Queue("EVAL", busyWrite, 1, key)
		require.NoError(t, waiting.Flush())
		time.Sleep(500 * time.Millisecond) // it has begun, or it is refused later: both will do
		require.NoError(t, old.Freeze())
		eventually(t, func() bool {
			v, err := next.Do("SET", key, "new")
			return err == nil && v.Text() == "OK"
		}, "the replica takes writes")
		require.NoError(t, old.Thaw())
		v, err := waiting.Receive()
		t.Logf("the reply of the stopped master: %s (%v)", v, err)
		if promises(k) && err == nil {
			require.True(t, v.IsError(), "confirmed by both: %s", v)
		}
		require.NoError(t, c.WaitReady())
		require.NoError(t, next.WaitSame(old.Server))
		v, err = next.Do("GET", key)
		require.NoError(t, err)
		require.Equal(t, "new", v.Text())
	})
}
