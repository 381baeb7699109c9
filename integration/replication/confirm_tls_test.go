package replication

import (
	"crypto/tls"
	"io"
	"net"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/testserver"
)

// TestConfirmedOverTLS checks that a connection with goroutines ends behind the replies that it has
// waited for.
func TestConfirmedOverTLS(t *testing.T) {
	t.Parallel()
	port, err := testserver.Port()
	require.NoError(t, err)
	p := pair{godwit, godwit}
	master := p.run(t, godwit, append(testserver.Certificate(t), "--tls-port", strconv.Itoa(port),
		"--tls-auth-clients", "no", "--tls-replication", "no")...)
	replica := p.run(t, godwit)
	link(t, replica, master.Addr)
	do(t, master, "CONFIG", "SET", "min-replicas-ack-timeout", 60_000)
	do(t, master, "CONFIG", "SET", "min-replicas-to-ack", 1)
	c, err := tls.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)),
		&tls.Config{InsecureSkipVerify: true})
	require.NoError(t, err)
	defer c.Close()
	_, err = io.WriteString(c, "SET a 1\r\nQUIT\r\n")
	require.NoError(t, err)
	got, err := io.ReadAll(c)
	require.NoError(t, err)
	require.Equal(t, "+OK\r\n+OK\r\n", string(got))
	require.Equal(t, "1", do(t, replica, "GET", "a"))
}
