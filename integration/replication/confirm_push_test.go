package replication

import (
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/testseed"
	"godwit/internal/testserver"
)

// TestMessagesBehindHeldReplies has clients of RESP2 subscribe, and monitor, behind a write whose
// reply waits. What they are sent comes behind that reply, or they would take it for that.
func TestMessagesBehindHeldReplies(t *testing.T) {
	t.Parallel()
	master, replica := pair{godwit, godwit}.start(t)
	proxy := testserver.RunProxy(t, master, testseed.New(t))
	link(t, replica, proxy.Addr)
	do(t, master, "CONFIG", "SET", "min-replicas-ack-timeout", 60_000)
	do(t, master, "CONFIG", "SET", "min-replicas-to-ack", 1)
	do(t, master, "SET", "a", 1)
	proxy.Stall(true)
	sub, monitor := master.Client(t), master.Client(t)
	sub.Queue("SET", "a", 2)
	sub.Queue("SUBSCRIBE", "ch")
	require.NoError(t, sub.Flush())
	monitor.Queue("SET", "a", 3)
	monitor.Queue("MONITOR")
	require.NoError(t, monitor.Flush())
	require.NoError(t, master.WaitInfo("replication", "both replies",
		func(info map[string]string) bool { return info["unconfirmed_replies"] == "2" }))
	require.Eventually(t, func() bool {
		v, err := master.Do("PUBLISH", "ch", "m")
		return err == nil && v.Int == 1
	}, testserver.Patience, testserver.Patience/10_000)
	proxy.Stall(false)
	for _, want := range []string{"simple:OK", `array["subscribe" "ch" 1]`,
		`array["message" "ch" "m"]`} {
		v, err := sub.Receive()
		require.NoError(t, err)
		require.Equal(t, want, v.String())
	}
	for range 2 {
		v, err := monitor.Receive()
		require.NoError(t, err)
		require.Equal(t, "simple:OK", v.String())
	}
}
