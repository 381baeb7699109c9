package server

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"godwit/internal/engine"
	"godwit/internal/logging/loggingtest"
	"godwit/internal/resp/client"
	"godwit/internal/testserver"
)

// freePort returns a port that nobody listens on now.
func freePort(t testing.TB) string {
	t.Helper()
	port, err := testserver.Port()
	if err != nil {
		t.Fatal(err)
	}
	return strconv.Itoa(port)
}

// Addrs returns the addresses that the server listens on.
func (s *Server) Addrs() []net.Addr {
	s.eng.Enter()
	defer s.eng.Release()
	var list []net.Addr
	for _, l := range s.listeners {
		list = append(list, l.ln.Addr())
	}
	return list
}

// runListening runs a server on the sockets of its configuration.
func runListening(t testing.TB, e *engine.Engine) *rig {
	t.Helper()
	srv, err := New(e, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := srv.Listen(); err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, srv: srv, eng: e, log: &loggingtest.Buffer{},
		addr: srv.Addrs()[0].String(), done: make(chan error, 1)}
	go func() { r.done <- srv.Run() }()
	t.Cleanup(r.stop)
	return r
}

func dialPing(network, addr string) error {
	c, err := client.Dial(network, addr)
	if err != nil {
		return err
	}
	defer c.Close()
	v, err := c.Do("ping")
	if err == nil && v.Text() != "PONG" {
		err = errors.New(v.Text())
	}
	return err
}

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	if err := os.WriteFile(path, []byte("stale"), 0o600); err != nil {
		t.Fatal(err)
	}
	e, logged := newEngine(t, "port 0\nunixsocketperm 700\nunixsocket "+path+"\nmaxclients 100\n")
	r := runListening(t, e)
	if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o700 ||
		fi.Mode()&os.ModeSocket == 0 {
		t.Fatal(fi, err)
	}
	c, err := client.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r.want(c, "PONG", "ping")
	r.locked(func() {
		e.Clients(func(cl *engine.Client) bool {
			if cl.Addr != path+":0" || !cl.Unix || !cl.Local || cl.FD < 0 {
				t.Errorf("addr %q unix %v local %v fd %d", cl.Addr, cl.Unix, cl.Local, cl.FD)
			}
			return true
		})
	})
	r.eng.Enter()
	r.srv.Running()
	r.eng.Leave()
	if _, err := c.Do("shutdown"); err == nil {
		t.Error("shutdown was answered")
	}
	if err := <-r.done; err != nil {
		t.Error(err)
	}
	r.done <- nil
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Error("the socket's file is still there:", err)
	}
	for _, line := range []string{"Ready to accept connections unix " + path,
		"User requested shutdown...",
		"Removing the unix socket file.", "is now ready to exit, bye bye..."} {
		if !strings.Contains(logged.String(), line) {
			t.Errorf("the log lacks %q:\n%s", line, logged)
		}
	}
}

func TestBind(t *testing.T) {
	port := freePort(t)
	e, _ := newEngine(t, "bind 127.0.0.1 -::1 -192.0.2.77\nport "+port+"\n")
	r := runListening(t, e)
	if err := dialPing("tcp", "127.0.0.1:"+port); err != nil {
		t.Error(err)
	}
	if n := len(r.srv.Addrs()); n != 1 && n != 2 {
		t.Errorf("%d sockets", n)
	}
	if len(r.srv.Addrs()) == 2 {
		if err := dialPing("tcp", "[::1]:"+port); err != nil {
			t.Error(err)
		}
	}

	for _, c := range []struct{ conf, want string }{
		{"bind 127.0.0.1\nport " + port + "\n",
			"Could not create server TCP listening socket 127.0.0.1:" + port +
				": bind: Address already in use"},
		{"bind -127.0.0.1\nport " + port + "\n",
			"Failed listening on port " + port + " (TCP), aborting."},
		{"bind 192.0.2.77\nport " + port + "\n",
			"listening socket 192.0.2.77:" + port + ": bind: Cannot assign requested address"},
		{"port 0\nunixsocket /nonexistent/x\n",
			"Failed opening Unix socket: bind: No such file or directory"},
		{"port 0\n", "Configured to not listen anywhere, exiting."},
		{"port 0\ntls-port " + port + "\n", "Failed to configure TLS"},
	} {
		e, logged := newEngine(t, c.conf)
		srv, err := New(e, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if srv.Listen() == nil {
			t.Errorf("%q: listens", c.conf)
		}
		if !strings.Contains(logged.String(), c.want) {
			t.Errorf("%q: the log lacks %q:\n%s", c.conf, c.want, logged)
		}
	}
}

// set does what CONFIG SET does.
func (r *rig) set(pairs ...string) (err error) {
	r.locked(func() {
		var list [][2]string
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, [2]string{pairs[i], pairs[i+1]})
		}
		err = r.eng.Cfg.Set(list, r.eng.ConfigChanged)
	})
	return err
}

func TestReconfigure(t *testing.T) {
	port, other, taken := freePort(t), freePort(t), freePort(t)
	ln, err := net.Listen("tcp", "127.0.0.1:"+taken)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	e, _ := newEngine(t, "bind 127.0.0.1\nport "+port+"\n")
	r := runListening(t, e)
	c := r.clientAt("127.0.0.1:" + port)
	r.want(c, "PONG", "ping") // accepted: what waits in a socket's backlog is closed with it
	if err := r.set("port", other); err != nil {
		t.Fatal(err)
	}
	r.want(c, "PONG", "ping") // connections outlive their socket
	if dialPing("tcp", "127.0.0.1:"+port) == nil {
		t.Error("the old port is still served")
	}
	if err := dialPing("tcp", "127.0.0.1:"+other); err != nil {
		t.Error(err)
	}
	if err := r.set("port", taken); err == nil ||
		!strings.Contains(err.Error(), "Unable to listen on this port") {
		t.Error("port in use:", err)
	}
	if e.Cfg.Port != atoi(other) {
		t.Errorf("the port is %d after a failed change", e.Cfg.Port)
	}
	if err := dialPing("tcp", "127.0.0.1:"+other); err != nil {
		t.Error("after a failed change:", err)
	}
	if err := r.set("bind", "192.0.2.77"); err == nil ||
		!strings.Contains(err.Error(), "Failed to bind to specified addresses") {
		t.Error("bad address:", err)
	}
	if err := r.set("bind", "*"); err != nil {
		t.Error(err)
	}
	if err := dialPing("tcp", "127.0.0.1:"+other); err != nil {
		t.Error(err)
	}
	if err := r.set("tls-port", freePort(t)); err == nil {
		t.Error("TLS without a certificate")
	}
	if err := r.set("maxclients", "2"); err != nil {
		t.Error(err)
	}
	r.eventually("those who only pinged are gone", func() bool { return r.clients() == 1 })
	c2 := r.clientAt("127.0.0.1:" + other)
	r.want(c2, "PONG", "ping")
	nc, err := net.Dial("tcp", "127.0.0.1:"+other)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if got := closed(t, nc); !strings.Contains(got, "max number of clients reached") {
		t.Errorf("over maxclients: %q", got)
	}
}

func atoi(s string) (n int) {
	fmt.Sscan(s, &n)
	return n
}

func (r *rig) clientAt(addr string) *client.Client {
	r.t.Helper()
	c, err := client.Dial("tcp", addr)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { c.Close() })
	return c
}
