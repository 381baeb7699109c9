package integration

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
)

func TestConnection(t *testing.T) {
	everywhere(t, func(e *env) {
		c, ctx := e.conn(), e.ctx
		require.Equal(e, "PONG", c.Ping(ctx).Val())
		require.Equal(e, "héllo\x00", c.Echo(ctx, "héllo\x00").Val())
		hello, err := c.Do(ctx, "HELLO").Result()
		require.NoError(e, err)
		fields := pairs(e, hello)
		require.EqualValues(e, e.proto, fields["proto"])
		require.Equal(e, "standalone", fields["mode"])
		require.Equal(e, "master", fields["role"])
		require.Contains(e, fields, "version")
		id := c.ClientID(ctx).Val()
		require.Equal(e, fields["id"], id)

		info, err := c.ClientInfo(ctx).Result()
		require.NoError(e, err)
		require.Equal(e, id, info.ID)
		require.Equal(e, e.db, info.DB)
		require.Equal(e, "default", info.User)
		require.Equal(e, "client|info", info.LastCmd)
		require.Equal(e, e.proto, info.Resp)
		if e.opt.Network == "unix" {
			require.Equal(e, e.shard.unix+":0", info.Addr)
		} else {
			require.Contains(e, info.Addr, "127.0.0.1:")
		}

		_, err = c.Pipelined(ctx, func(p redis.Pipeliner) error {
			return p.ClientSetName(ctx, "tester").Err()
		})
		require.NoError(e, err)
		require.Equal(e, "tester", c.ClientGetName(ctx).Val())
		list := c.Do(ctx, "CLIENT", "LIST", "ID", id).Val().(string)
		require.Equal(e, 1, strings.Count(list, "\n"))
		require.Contains(e, list, fmt.Sprintf("id=%d ", id))
		require.Contains(e, list, " name=tester ")

		require.NoError(e, c.Do(ctx, "RESET").Err())
		require.NoError(e, c.Do(ctx, "SELECT", e.db).Err())
		require.Equal(e, "", c.ClientGetName(ctx).Val())
		hello, err = c.Do(ctx, "HELLO", e.proto, "SETNAME", "again").Result()
		require.NoError(e, err)
		require.EqualValues(e, e.proto, pairs(e, hello)["proto"])
		require.Equal(e, "again", c.ClientGetName(ctx).Val())
	})
}

// pairs reads what is a map in RESP3 and a flat array in RESP2.
func pairs(t testing.TB, v any) map[string]any {
	t.Helper()
	out := map[string]any{}
	switch v := v.(type) {
	case map[any]any:
		for k, e := range v {
			out[k.(string)] = e
		}
	case []any:
		for i := 0; i+1 < len(v); i += 2 {
			out[v[i].(string)] = v[i+1]
		}
	default:
		t.Fatalf("neither a map nor an array: %T", v)
	}
	return out
}

// TestClientIdentity checks that the server knows what go-redis says of itself.
func TestClientIdentity(t *testing.T) {
	godwitOnly(t) // CLIENT SETINFO is of Redis 7.2
	everywhere(t, func(e *env) {
		info, err := e.c.ClientInfo(e.ctx).Result()
		require.NoError(e, err)
		require.Contains(e, info.LibName, "go-redis")
		require.NotEmpty(e, info.LibVer)
		c := e.conn()
		require.NoError(e, c.Do(e.ctx, "CLIENT", "SETINFO", "LIB-NAME", "mine").Err())
		e.errs(c.Do(e.ctx, "CLIENT", "SETINFO", "LIB-NAME", "not mine").Err(),
			"ERR LIB-NAME cannot contain spaces, newlines or special characters.")
		e.errs(c.Do(e.ctx, "CLIENT", "SETINFO", "LIB-FOO", "mine").Err(),
			"ERR Unrecognized option 'LIB-FOO'")
		require.Equal(e, "mine", c.ClientInfo(e.ctx).Val().LibName)
		require.NoError(e, c.Do(e.ctx, "CLIENT", "NO-TOUCH", "ON").Err())
		require.NoError(e, c.Do(e.ctx, "CLIENT", "NO-TOUCH", "OFF").Err())
	})
}

func TestClientKill(t *testing.T) {
	everywhere(t, func(e *env) {
		victim, other := e.conn(), e.conn()
		id := victim.ClientID(e.ctx).Val()
		require.EqualValues(e, 0,
			e.c.ClientKillByFilter(e.ctx, "ID", fmt.Sprint(id), "TYPE", "pubsub").Val())
		require.EqualValues(e, 1,
			e.c.ClientKillByFilter(e.ctx, "ID", fmt.Sprint(id), "TYPE", "normal").Val())
		require.Error(e, victim.Ping(e.ctx).Err(), "a killed connection is closed")
		require.NoError(e, other.Ping(e.ctx).Err(), "others are not")
	})
}

// TestClientReply checks that OFF silences replies until ON, and SKIP that of the next command.
func TestClientReply(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	c := s.dial(t)
	if err := c.Send([]byte("CLIENT REPLY OFF\r\nSET a 1\r\nNOSUCH\r\nCLIENT REPLY ON\r\n" +
		"CLIENT REPLY SKIP\r\nINCR a\r\nGET a\r\n")); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"OK", "2"} {
		v, err := c.Receive()
		require.NoError(t, err)
		require.Equal(t, want, v.Text())
	}
	if err := c.Send([]byte("QUIT\r\nPING\r\n")); err != nil {
		t.Fatal(err)
	}
	v, err := c.Receive()
	require.NoError(t, err)
	require.Equal(t, "OK", v.Text())
	_, err = c.Receive()
	require.ErrorIs(t, err, io.EOF, "nothing after QUIT")
}

// TestClientPause checks that writers wait and readers do not, and that UNPAUSE releases the
// writers at once.
func TestClientPause(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{}, {"--io-threads", "4"}} {
		s := startServer(t, args...)
		c := s.client(t)
		ctx := t.Context()
		require.NoError(t, c.Do(ctx, "CLIENT", "PAUSE", 60_000, "WRITE").Err())
		var written atomic.Int64
		done := make(chan error, 4)
		for range cap(done) {
			go func() {
				err := c.Incr(ctx, "n").Err()
				written.Add(1)
				done <- err
			}()
		}
		reader := s.dial(t)
		for range 50 {
			require.True(t, do(t, reader, "GET", "n").IsNull())
		}
		require.Zero(t, written.Load())
		require.Equal(t, "OK", do(t, reader, "CLIENT", "UNPAUSE").Text())
		for range cap(done) {
			require.NoError(t, <-done)
		}
		require.Equal(t, "4", do(t, reader, "GET", "n").Text())
	}
}

func TestAuth(t *testing.T) {
	t.Parallel()
	s := startServer(t, "--requirepass", "sesame")
	ctx := t.Context()
	require.ErrorContains(t, s.client(t, func(o *redis.Options) {
		o.Protocol = 2
	}).Get(ctx, "k").Err(), "NOAUTH Authentication required.")
	for proto := 2; proto <= 3; proto++ {
		with := func(user, password string) *redis.Client {
			return s.client(t, func(o *redis.Options) {
				o.Protocol, o.Username, o.Password = proto, user, password
			})
		}
		require.NoError(t, with("", "sesame").Ping(ctx).Err())
		require.NoError(t, with("default", "sesame").Set(ctx, "k", "v", 0).Err())
		require.ErrorContains(t, with("", "wrong").Ping(ctx).Err(),
			"WRONGPASS invalid username-password pair or user is disabled.")
		require.ErrorContains(t, with("nobody", "sesame").Ping(ctx).Err(),
			"WRONGPASS invalid username-password pair or user is disabled.")
	}
	c := s.dial(t)
	for _, step := range []struct{ cmd, want string }{
		{"PING", "NOAUTH Authentication required."},
		{"NOSUCH", "ERR unknown command 'NOSUCH', with args beginning with: "},
		// After that, 7.0 and 7.2 differ.
		{"HELLO 3", "NOAUTH HELLO must be called with the client already authenticated, " +
			"otherwise the HELLO"},
		{"AUTH wrong", "WRONGPASS invalid username-password pair or user is disabled."},
		{"GET k", "NOAUTH Authentication required."},
		{"AUTH sesame", "OK"},
		{"GET k", "v"},
		{"AUTH wrong", "WRONGPASS invalid username-password pair or user is disabled."},
		{"GET k", "v"},
		{"RESET", "RESET"},
		{"GET k", "NOAUTH Authentication required."},
		{"AUTH default sesame", "OK"},
		{"CONFIG SET requirepass other", "OK"},
		{"GET k", "v"},
		{"AUTH sesame", "WRONGPASS invalid username-password pair or user is disabled."},
		{"AUTH other", "OK"},
		{"CONFIG SET requirepass \"\"", "OK"},
		{"AUTH other",
			"ERR AUTH <password> called without any password configured for the default user. " +
				"Are you sure your configuration is correct?"},
	} {
		args, err := words(step.cmd)
		require.NoError(t, err)
		v, err := c.Do(args...)
		require.NoError(t, err, step.cmd)
		require.True(t, strings.HasPrefix(v.Text(), step.want), "%s: %s", step.cmd, v.Text())
	}
	require.NoError(t, s.client(t).Ping(ctx).Err(), "no password any more")
}

// TestTLSClientCertificates checks that tls-auth-clients decides which clients are accepted.
func TestTLSClientCertificates(t *testing.T) {
	t.Parallel()
	p, err := newPKI(t.TempDir())
	require.NoError(t, err)
	stranger := p.client(false)
	stranger.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		return &p.strangerCert, nil // although the server names the authorities that it trusts
	}
	for _, mode := range []struct {
		auth                      string
		none, certified, stranger bool
	}{
		{"yes", false, true, false},
		{"optional", true, true, false},
		{"no", true, true, true},
	} {
		t.Run(mode.auth, func(t *testing.T) {
			t.Parallel()
			port := fmt.Sprint(freePort())
			startServer(t, append(p.args(), "--tls-port", port, "--tls-auth-clients", mode.auth)...)
			for _, who := range []struct {
				name string
				cfg  *tls.Config
				want bool
			}{{"without", p.client(false), mode.none},
				{"certified", p.client(true), mode.certified},
				{"stranger", stranger, mode.stranger}} {
				c := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + port,
					TLSConfig: who.cfg, MaxRetries: -1, DialerRetries: 1})
				defer c.Close()
				if err := c.Ping(context.Background()).Err(); (err == nil) != who.want {
					t.Errorf("%s: %v", who.name, err)
				}
			}
		})
	}
}

// TestTLSHandshakes checks that a client that does not speak TLS on the TLS port is dropped, and
// that the server goes on.
func TestTLSHandshakes(t *testing.T) {
	t.Parallel()
	p, err := newPKI(t.TempDir())
	require.NoError(t, err)
	addr := fmt.Sprintf("127.0.0.1:%d", freePort())
	startServer(t, append(p.args(), "--tls-port", addr[len("127.0.0.1:"):])...)
	half, err := net.Dial("tcp", addr) // and says nothing
	require.NoError(t, err)
	defer half.Close()
	c, err := client.Dial("tcp", addr)
	require.NoError(t, err)
	defer c.Close()
	if v, err := c.Do("PING"); err == nil {
		t.Errorf("a plain PING got %v", v)
	}
	good := redis.NewClient(&redis.Options{Addr: addr, TLSConfig: p.client(true)})
	defer good.Close()
	require.NoError(t, good.Ping(t.Context()).Err())
}

// TestTimeout checks that a client that is idle for longer than timeout is dropped.
func TestTimeout(t *testing.T) {
	t.Parallel()
	s := startServer(t, "--timeout", "1")
	c := s.dial(t)
	do(t, c, "PING")
	start := time.Now()
	if err := c.Conn().SetReadDeadline(start.Add(patience)); err != nil {
		t.Fatal(err)
	}
	_, err := c.Conn().Read(make([]byte, 1))
	require.True(t, errors.Is(err, io.EOF), err)
	require.GreaterOrEqual(t, time.Since(start), 900*time.Millisecond)
}

func TestMaxClients(t *testing.T) {
	t.Parallel()
	s := startServer(t, "--maxclients", "5")
	var first *client.Client
	eventually(t, "the server has forgotten its first client", func() bool {
		c := s.dial(t)
		v, err := c.Do("CLIENT", "LIST")
		if err != nil || strings.Count(v.Text(), "\n") != 1 {
			c.Close()
			return false
		}
		first = c
		return true
	})
	for range 4 {
		do(t, s.dial(t), "PING")
	}
	c := s.dial(t)
	v, err := c.Receive()
	require.NoError(t, err)
	require.Equal(t, "ERR max number of clients reached", v.Text())
	require.Contains(t, do(t, first, "INFO", "stats").Text(), "rejected_connections:")
	do(t, first, "CONFIG", "SET", "maxclients", 6)
	do(t, s.dial(t), "PING")
}
