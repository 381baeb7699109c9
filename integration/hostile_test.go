package integration

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
	"godwit/internal/testseed"
	"godwit/internal/testserver"
)

// raw opens a connection over the transport without a protocol.
func (e *env) raw() *client.Client {
	e.Helper()
	network := e.opt.Network
	if network == "" {
		network = "tcp"
	}
	conn, err := net.Dial(network, e.opt.Addr)
	if err != nil {
		e.Fatal(err)
	}
	if e.opt.TLSConfig != nil {
		conn = tls.Client(conn, e.opt.TLSConfig)
	}
	e.Cleanup(func() { conn.Close() })
	return client.New(conn)
}

// TestProtocolErrors checks that a protocol error ends its own connection after one error reply,
// and no other connection.
func TestProtocolErrors(t *testing.T) {
	cases := []struct{ send, want string }{
		{"*abc\r\n", "invalid multibulk length"},
		{"*2147483648\r\n", "invalid multibulk length"},
		{"*99999999999999999999\r\n", "invalid multibulk length"},
		{"*1\r\n:3\r\n", "expected '$', got ':'"},
		{"*1\r\n$-1\r\n", "invalid bulk length"},
		{"*1\r\n$abc\r\n", "invalid bulk length"},
		{"*1\r\n$536870913\r\n", "invalid bulk length"},
		{"*2\r\n$3\r\nGET\r\n+k\r\n", "expected '$', got '+'"},
		{"GET \"k\r\n", "unbalanced quotes in request"},
		{"GET 'k'x\r\n", "unbalanced quotes in request"},
		{strings.Repeat("x", 65<<10), "too big inline request"},
		{"*" + strings.Repeat("1", 65<<10), "too big mbulk count string"},
		{"*1\r\n$" + strings.Repeat("1", 65<<10), "too big bulk count string"},
	}
	everywhere(t, func(e *env) {
		for _, c := range cases {
			conn := e.raw()
			require.NoError(e, conn.Send([]byte("PING\r\n\r\n*0\r\n*-1\r\n"+c.send)))
			v, err := conn.Receive()
			require.NoError(e, err)
			require.Equal(e, "PONG", v.Text(), "what came before is answered")
			v, err = conn.Receive()
			require.NoError(e, err, "%.40q", c.send)
			require.Equal(e, "ERR Protocol error: "+c.want, v.Text(), "%.40q", c.send)
			_, err = conn.Receive()
			require.Error(e, err, "%.40q", c.send)
		}
		require.NoError(e, e.c.Ping(e.ctx).Err())
	})
}

// TestPieces sends a request byte by byte.
func TestPieces(t *testing.T) {
	everywhere(t, func(e *env) {
		conn := e.raw()
		commands := "*3\r\n$3\r\nSET\r\n$5\r\npie\x00e\r\n$2\r\n\r\n\r\n" +
			"*2\r\n$3\r\nGET\r\n$5\r\npie\x00e\r\nDEL \"pie\\x00e\"\r\n"
		for _, b := range []byte(commands) {
			require.NoError(e, conn.Send([]byte{b}))
		}
		for _, want := range []string{"simple:OK", `"\r\n"`, "1"} {
			v, err := conn.Receive()
			require.NoError(e, err)
			require.Equal(e, want, v.String())
		}
	})
}

// TestGarbage checks that random bytes and randomly damaged commands harm no other client.
func TestGarbage(t *testing.T) {
	seed := testseed.New(t)
	everywhere(t, func(e *env) {
		rnd := rand.New(rand.NewPCG(seed, uint64(e.db)))
		for range 40 {
			conn := e.raw()
			var b bytes.Buffer
			for range 20 {
				fmt.Fprintf(&b, "*3\r\n$3\r\nSET\r\n$4\r\nk%03d\r\n$5\r\nvalue\r\n", rnd.IntN(1000))
			}
			raw := b.Bytes()
			for range rnd.IntN(8) {
				raw[rnd.IntN(len(raw))] = byte(rnd.Uint32())
			}
			if err := conn.Send(raw); err != nil && !errors.Is(err, syscall.EPIPE) &&
				!errors.Is(err, syscall.ECONNRESET) {
				e.Fatal(err)
			}
			if rnd.IntN(2) == 0 {
				conn.Close()
				continue
			}
			if tc, ok := conn.Conn().(interface{ CloseWrite() error }); ok {
				_ = tc.CloseWrite() // half-open: the server still answers what it got
			}
			for err := error(nil); err == nil; {
				_, err = conn.Receive()
			}
		}
		require.NoError(e, e.c.Ping(e.ctx).Err())
	})
}

// TestSlowReader checks that a client that asks and does not read is dropped at its limit. Other
// clients do not notice, and its memory comes back.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{}, {"--io-threads", "3"}} {
		s := startServer(t, append(args, "--client-output-buffer-limit", "normal 4mb 0 0")...)
		c, ctx := s.client(t), t.Context()
		require.NoError(t, c.Set(ctx, "big", strings.Repeat("x", 1<<20), 0).Err())
		slow := s.dial(t)
		do(t, slow, "PING") // the list has it from now on
		for range 200 {
			slow.Queue("GET", "big")
		}
		require.NoError(t, slow.Flush())
		eventually(t, "the slow reader is dropped", func() bool {
			list := c.ClientList(ctx).Val()
			require.NotEmpty(t, list)
			return !strings.Contains(list, "addr="+slow.Conn().LocalAddr().String())
		})
		got := 0
		for {
			v, err := slow.Receive()
			if err != nil {
				require.False(t, errors.Is(err, io.EOF) && got == 200, "all replies arrived")
				break
			}
			require.Len(t, v.Str, 1<<20)
			got++
		}
		require.Less(t, got, 200)
		require.NoError(t, c.Ping(ctx).Err())
	}
}

// startForMany starts a server for n clients: ten thousand, or fewer where that takes too long.
func startForMany(t *testing.T) (s *server, n int) {
	t.Helper()
	n = 10_000
	if testing.Short() || raceEnabled {
		n = 2000
	}
	var limit syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	if limit.Max < uint64(n)+500 {
		t.Skipf("at most %d descriptors are allowed", limit.Max)
	}
	return startServer(t, "--maxclients", fmt.Sprint(n+10)), n
}

// dialMany opens n connections, which the end of the test closes, and waits until the server has
// accepted them all. It asks through c.
func (s *server) dialMany(t *testing.T, c *redis.Client, n int) []net.Conn {
	t.Helper()
	conns := make([]net.Conn, n)
	for i := range conns {
		var err error
		conns[i], err = net.Dial("tcp", s.Addr)
		require.NoError(t, err)
		t.Cleanup(func() { conns[i].Close() })
	}
	eventually(t, "all are accepted", func() bool {
		return infoInt(t, c, "connected_clients") >= int64(n)
	})
	return conns
}

// TestIdleConnections checks that ten thousand idle connections cost little, and that all work when
// they wake.
func TestIdleConnections(t *testing.T) {
	s, n := startForMany(t)
	c := s.client(t)
	before := infoInt(t, c, "used_memory_rss")
	conns := s.dialMany(t, c, n)
	if built.godwit && !raceEnabled {
		if per := (infoInt(t, c, "used_memory_rss") - before) / int64(n); per > 16<<10 {
			t.Errorf("%d bytes for each idle connection", per)
		}
	}
	for _, conn := range conns {
		_, err := conn.Write([]byte("PING\r\n"))
		require.NoError(t, err)
	}
	buf := make([]byte, 7)
	for i, conn := range conns {
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(patience)))
		_, err := io.ReadFull(conn, buf)
		require.NoError(t, err, "connection %d", i)
		require.Equal(t, "+PONG\r\n", string(buf))
	}
	for _, conn := range conns {
		conn.Close()
	}
	eventually(t, "all are forgotten", func() bool {
		return infoInt(t, c, "connected_clients") < 10
	})
}

// TestQueryBufferLimit checks that a request without end is cut off at the limit.
func TestQueryBufferLimit(t *testing.T) {
	t.Parallel()
	s := startServer(t, "--client-query-buffer-limit", "1mb")
	c := s.dial(t)
	// The server may cut the connection.
	_ = c.Send([]byte("*2\r\n$4\r\nECHO\r\n$400000000\r\n" + strings.Repeat("x", 4<<20)))
	_, err := c.Receive()
	require.Error(t, err)
	require.True(t, testserver.Answers("tcp", s.Addr))
}

// TestUnauthenticatedLimits checks that a client that has not authenticated can make the server
// hold only little.
func TestUnauthenticatedLimits(t *testing.T) {
	t.Parallel()
	s := startServer(t, "--requirepass", "x")
	for send, want := range map[string]string{
		"*11\r\n":                        "ERR Protocol error: unauthenticated multibulk length",
		"*1\r\n$16385\r\n":               "ERR Protocol error: unauthenticated bulk length",
		"*2\r\n$4\r\nAUTH\r\n$16385\r\n": "ERR Protocol error: unauthenticated bulk length",
	} {
		c := s.dial(t)
		require.NoError(t, c.Send([]byte(send)))
		v, err := c.Receive()
		require.NoError(t, err)
		require.Equal(t, want, v.Text())
		_, err = c.Receive()
		require.ErrorIs(t, err, io.EOF)
	}
	c := s.client(t, func(o *redis.Options) { o.Password = "x" })
	require.NoError(t, c.Set(t.Context(), "k", strings.Repeat("v", 100_000), 0).Err())
}
