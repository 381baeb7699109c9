package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestLargeTransactionReply runs transactions whose replies are large. They arrive whole and in
// order, and while nobody reads them the server holds them about once. TLS connections are served
// by goroutines, the others by a loop.
func TestLargeTransactionReply(t *testing.T) {
	skipUnderRace(t)
	godwitOnly(t)
	const n, size = 100, mib
	s := startServer(t)
	c, other := s.dial(t), s.dial(t)
	for i := range 3 {
		do(t, c, "SET", fmt.Sprint("k", i), strings.Repeat(fmt.Sprint(i), size))
	}
	do(t, c, "CONFIG", "SET", "commandlog-reply-larger-than", size,
		"client-output-buffer-limit", "pubsub 0 0 0")
	before := s.status(t, "VmHWM")
	c.Queue("ECHO", "first")
	c.Queue("MULTI")
	for i := range n {
		c.Queue("GET", fmt.Sprint("k", i%3))
	}
	c.Queue("SUBSCRIBE", "ch")
	c.Queue("EXEC")
	require.NoError(t, c.Flush())
	require.Eventually(t, func() bool {
		return memoryInfo(t, other, "mem_clients_normal") > n*size/2
	}, patience/2, 10*time.Millisecond)
	require.Less(t, s.status(t, "VmHWM")-before, int64(2*n*size))
	for _, want := range append([]string{"first", "OK"}, strings.Split(
		strings.Repeat("QUEUED ", n+1), " ")[:n+1]...) {
		v, err := c.Receive()
		require.NoError(t, err)
		require.Equal(t, want, v.Text())
	}
	v, err := c.Receive()
	require.NoError(t, err)
	require.Len(t, v.Elems, n+1)
	for i, e := range v.Elems[:n] {
		require.Equal(t, strings.Repeat(fmt.Sprint(i%3), size), e.Text(), "reply %d", i)
	}
	require.Equal(t, "ch", v.Elems[n].Elems[1].Text())
	require.Equal(t, int64(n), do(t, other, "COMMANDLOG", "LEN", "large-reply").Int)
}
