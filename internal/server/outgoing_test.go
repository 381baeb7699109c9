package server

import (
	"cmp"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/engine"
	"godwit/internal/resp/client"
)

// TestConnect opens connections from one server to another, of all kinds and in both ways, and has
// them answered.
func TestConnect(t *testing.T) {
	certs, sock := t.TempDir(), filepath.Join(t.TempDir(), "s")
	certificates(t, certs)
	tlsConf := "tls-cert-file " + filepath.Join(certs, "server.crt") +
		"\ntls-key-file " + filepath.Join(certs, "server.key") +
		"\ntls-ca-cert-file " + filepath.Join(certs, "ca.crt") + "\n"
	tlsPort := freePort(t)
	e, _ := newEngine(t, "port "+freePort(t)+"\nbind 127.0.0.1\nunixsocket "+sock+
		"\ntls-port "+tlsPort+"\n"+tlsConf)
	target := runListening(t, e)
	from := start(t, ways()[0], tlsConf)
	stranger := t.TempDir()
	certificates(t, stranger)

	secure := engine.DialOptions{Addr: "127.0.0.1:" + tlsPort, TLS: true}
	for name, c := range map[string]struct {
		o     engine.DialOptions
		ca    string // another authority
		fails bool
	}{
		"plain":           {o: engine.DialOptions{Addr: target.addr}},
		"from an address": {o: engine.DialOptions{Addr: target.addr, Source: "127.0.0.1"}},
		"from no address": {o: engine.DialOptions{Addr: target.addr, Source: "203.0.113.77"},
			fails: true},
		"unix":              {o: engine.DialOptions{Addr: sock, Unix: true}},
		"TLS":               {o: secure},
		"TLS of a stranger": {o: secure, ca: filepath.Join(stranger, "ca.crt"), fails: true},
		"no handshake": {fails: true,
			o: engine.DialOptions{Addr: target.addr, TLS: true, Timeout: 50 * time.Millisecond}},
		"nobody":                {o: engine.DialOptions{Addr: "127.0.0.1:1"}, fails: true},
		"a host that is a path": {o: engine.DialOptions{Addr: sock}, fails: true},
	} {
		c.o.Timeout = cmp.Or(c.o.Timeout, time.Minute)
		own := from.eng.Cfg.TLSCACertFile
		conns, errs := make(chan net.Conn, 2), make(chan error, 2)
		from.locked(func() {
			if c.ca != "" {
				from.eng.Cfg.TLSCACertFile = c.ca
			}
			nc, err := from.eng.Dialer.Dial(c.o)
			conns <- nc
			errs <- err
			from.eng.Dialer.Connect(c.o, func(nc net.Conn, err error) {
				// the executor's: the race detector would see another goroutine
				from.eng.Stats.Commands++
				conns <- nc
				errs <- err
			})
			from.eng.Cfg.TLSCACertFile = own // Connect works with what it was called with
		})
		for range 2 {
			nc, err := <-conns, <-errs
			require.Equal(t, c.fails, err != nil, "%s: %v", name, err)
			if err != nil {
				require.True(t, nc == nil, "%s: an error and a connection", name)
				continue
			}
			target.want(client.New(nc), "PONG", "ping")
			require.NoError(t, nc.Close())
		}
	}
}

// TestConnectAtTheEnd checks that a server that has ended calls nobody back.
func TestConnectAtTheEnd(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	r := start(t, ways()[0], "")
	r.locked(func() {
		o := engine.DialOptions{Addr: l.Addr().String(), Timeout: time.Minute}
		r.eng.Dialer.Connect(o, func(net.Conn, error) { t.Error("called") })
		require.NoError(t, r.eng.Shutdown(engine.ShutdownOptions{}))
	})
	nc, err := l.Accept()
	require.NoError(t, err)
	require.NoError(t, nc.SetReadDeadline(time.Now().Add(time.Minute)))
	_, err = nc.Read(make([]byte, 1))
	require.ErrorContains(t, err, "EOF", "it is closed")
}
