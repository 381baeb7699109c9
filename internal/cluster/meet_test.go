package cluster

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/cluster/topology"
	"godwit/internal/testserver"
)

// TestMeetNobody meets what is no node. The reply says why nothing comes of it.
func TestMeetNobody(t *testing.T) {
	t.Parallel()
	closed, err := testserver.Port()
	require.NoError(t, err)
	m := launch(t)
	for _, c := range []struct {
		port int
		why  string
	}{
		{closed, "connection refused"},
		{says(t, ""), "Nodes of Redis and Valkey do that"},
		{says(t, "-ERR Protocol error\r\n"), "a port for clients"},
		{m.port, "it is this node"},
	} {
		refusal := await(t, func(done func(string)) {
			m.Meet(topology.Address{IP: "127.0.0.1", Port: 1, BusPort: c.port}, done)
		})
		require.Contains(t, refusal, "ERR Cannot meet 127.0.0.1, bus port ")
		require.Contains(t, refusal, c.why)
	}
}

// says listens, says a text to all that come, reads what they say, and closes.
func says(t *testing.T, text string) (port int) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte(text))
			_, _ = conn.Read(make([]byte, 512))
			conn.Close()
		}
	}()
	return ln.Addr().(*net.TCPAddr).Port
}
