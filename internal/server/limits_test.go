package server

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/engine"
)

func TestMaxClients(t *testing.T) {
	everyWay(t, "maxclients 3\n", false, func(t *testing.T, r *rig) {
		for range 3 {
			r.want(r.client(), "PONG", "ping")
		}
		want := "-ERR max number of clients reached\r\n"
		if r.tls != nil {
			want = "" // there was no handshake to say it in
		}
		if got := closed(t, r.raw()); got != want {
			t.Errorf("the fourth got %q", got)
		}
		r.locked(func() {
			if n := r.eng.Stats.RejectedConnections; n != 1 {
				t.Errorf("%d rejected", n)
			}
		})
	})
}

// TestProtectedMode asks admit, because a test cannot count on an address other than the
// loopback's.
func TestProtectedMode(t *testing.T) {
	e, _ := newEngine(t, "port 0\n")
	s, err := New(e, Options{ForceGoroutines: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		mode       bool
		pass       string
		peer       peer
		wantDenied bool
	}{
		{true, "", peer{addr: "10.0.0.9:5"}, true},
		{true, "", peer{addr: "127.0.0.1:5", local: true}, false},
		{true, "", peer{addr: "/s:0", unix: true, local: true}, false},
		{true, "secret", peer{addr: "10.0.0.9:5"}, false},
		{false, "", peer{addr: "10.0.0.9:5"}, false},
	} {
		e.Cfg.ProtectedMode, e.Cfg.RequirePass = c.mode, c.pass
		e.Enter()
		e.ApplyRequirePass()
		cl, refusal := s.admit(nil, c.peer)
		e.Leave()
		if denied := strings.HasPrefix(refusal,
			"-DENIED Redis is running in protected mode"); denied != c.wantDenied ||
			denied != (cl == nil) {
			t.Errorf("%+v: %q", c, refusal)
		}
	}
}

func TestIdleTimeout(t *testing.T) {
	t.Parallel()
	everyWay(t, "timeout 1\nhz 50\n", true, func(t *testing.T, r *rig) {
		monitor, idle := r.client(), r.client()
		r.want(monitor, "OK", "monitor")
		r.want(idle, "PONG", "ping")
		closed(t, idle.Conn())
		r.eventually("only the monitor is left", func() bool { return r.clients() == 1 })
	})
}

// TestHeldInput has a client send what must not run yet. It counts as a sign of life: a migration's
// destination goes by that, which may be paused for longer than repl-timeout.
func TestHeldInput(t *testing.T) {
	everyWay(t, "", false, func(t *testing.T, r *rig) {
		c := r.client()
		r.want(c, "PONG", "ping")
		var cl *engine.Client
		var came int64
		r.locked(func() {
			r.eng.Clients(func(found *engine.Client) bool { cl = found; return false })
			r.eng.Pause(engine.PauseByClient, r.eng.Steady()+1e9, true)
		})
		for range 2 { // the first one is tried
			r.locked(func() { cl.LastUsed, came = 0, cl.NetIn })
			c.Queue("ping")
			require.NoError(t, c.Flush())
			r.eventually("it has come", func() (yes bool) {
				r.locked(func() { yes = cl.NetIn > came && cl.Postponed() })
				return yes
			})
		}
		r.locked(func() {
			require.NotZero(t, cl.LastUsed)
			r.eng.Unpause(engine.PauseByClient)
		})
		r.receives(c, "PONG")
		r.receives(c, "PONG")
	})
}

func TestQueryBufferLimit(t *testing.T) {
	t.Parallel()
	everyWay(t, "client-query-buffer-limit 1mb\n", true, func(t *testing.T, r *rig) {
		nc := r.raw()
		go func() {
			_, _ = io.WriteString(nc, "*2\r\n$4\r\necho\r\n$30000000\r\n")
			for range 300 {
				if _, err := nc.Write(make([]byte, 100_000)); err != nil {
					return
				}
			}
		}()
		if got := closed(t, nc); got != "" {
			t.Errorf("got %q", got)
		}
		if !strings.Contains(r.log.String(),
			"Closing client that reached max query buffer length: id=") {
			t.Error(r.log)
		}
		r.locked(func() {
			if r.eng.Stats.ClientQueryBufLimit != 1 {
				t.Error("not counted")
			}
		})
	})
}

// TestLyingLength announces large arguments from many connections, and checks what that costs.
func TestLyingLength(t *testing.T) {
	r := start(t, way{}, "")
	var conns []io.Writer
	for range 50 {
		nc := r.raw()
		conns = append(conns, nc)
		if _, err := io.WriteString(nc, "PING\r\n*2\r\n$4\r\necho\r\n$500000000\r\nx"); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(nc, make([]byte, 7)); err != nil {
			t.Fatal(err)
		}
	}
	r.locked(func() {
		r.eng.Clients(func(c *engine.Client) bool {
			if _, in, _ := c.Conn.Buffers(); in > 2<<20 {
				t.Errorf("a client that only announced 500 MB has a buffer of %d bytes", in)
			}
			return true
		})
	})
	_ = conns
}

// TestOutputLimits connects readers that do not read.
func TestOutputLimits(t *testing.T) {
	t.Parallel()
	const conf = "client-output-buffer-limit normal 8mb 0 0\nclient-output-buffer-limit pubsub 0 " +
		"1mb 1\nhz 50\n"
	everyWay(t, conf, true, func(t *testing.T, r *rig) {
		t.Run("hard", func(t *testing.T) { r.overflow("PING\r\n", 60_000_000) })
		t.Run("soft", func(t *testing.T) { r.overflow("PUBSUB\r\n", 12_000_000) })
		t.Run("below", func(t *testing.T) {
			nc := r.raw()
			if _, err := io.WriteString(nc, "FLOOD 7000000\r\n"); err != nil {
				t.Fatal(err)
			}
			want := fmt.Sprintf("$7000000\r\n%s\r\n", strings.Repeat("x", 7000000))
			got := make([]byte, len(want))
			if _, err := io.ReadFull(nc, got); err != nil || string(got) != want {
				t.Errorf("%v", err)
			}
		})
	})
}

// overflow asks for n bytes in replies and reads none. The server must hang up and say why.
func (r *rig) overflow(first string, n int) {
	nc := r.raw()
	if _, err := io.WriteString(nc, first); err != nil {
		r.t.Fatal(err)
	}
	var before int64
	r.locked(func() { before = r.eng.Stats.ClientOutBufLimit })
	go func() {
		for range n / 1_000_000 {
			if _, err := io.WriteString(nc, "FLOOD 1000000\r\n"); err != nil {
				return
			}
		}
	}()
	r.eventually("the client is closed", func() bool {
		var now int64
		r.locked(func() { now = r.eng.Stats.ClientOutBufLimit })
		return now == before+1 && r.clients() == 0
	})
	if !strings.Contains(r.log.String(),
		"scheduled to be closed ASAP for overcoming of output buffer limits.") {
		r.t.Error(r.log)
	}
}

// TestStrangers bounds what a client may cost before it has authenticated: its arguments, and the
// replies that it does not read.
func TestStrangers(t *testing.T) {
	everyWay(t, "requirepass secret\n", false, func(t *testing.T, r *rig) {
		nc := r.raw()
		if _, err := io.WriteString(nc, "PING\r\n*11\r\n"); err != nil {
			t.Fatal(err)
		}
		want := "-NOAUTH Authentication required.\r\n" +
			"-ERR Protocol error: unauthenticated multibulk length\r\n"
		if got := closed(t, nc); got != want {
			t.Errorf("got %q", got)
		}
		nc = r.raw()
		flood := bytes.Repeat([]byte("PING\r\n"), 10_000)
		go func() {
			for range 2000 {
				if _, err := nc.Write(flood); err != nil {
					return
				}
			}
		}()
		r.eventually("the stranger is closed", func() bool {
			return strings.Contains(r.log.String(), "overcoming of output buffer limits.") &&
				r.clients() == 0
		})
		c := r.client()
		r.want(c, "OK", "auth", "secret")
		for range 20_000 {
			c.Queue("ping")
		}
		if vs, err := c.Pipeline(); err != nil || len(vs) != 20_000 {
			t.Error(len(vs), err)
		}
	})
}

// TestShrink checks that the buffers of a large command are freed.
func TestShrink(t *testing.T) {
	t.Parallel()
	everyWay(t, "hz 100\n", true, func(t *testing.T, r *rig) {
		c := r.client()
		r.want(c, "OK", "set", "k", make([]byte, 5<<20))
		size := func() (n int) {
			r.locked(func() {
				r.eng.Clients(func(c *engine.Client) bool {
					_, n, _ = c.Conn.Buffers()
					return true
				})
			})
			return n
		}
		r.eventually("the buffer is gone", func() bool { return size() == 0 })
		r.want(c, "PONG", "ping")
	})
}

func TestNoGoroutinesStay(t *testing.T) {
	r := start(t, way{}, "")
	r.want(r.client(), "PONG", "ping")
	before := runtime.NumGoroutine()
	for range 50 {
		r.want(r.client(), "PONG", "ping")
	}
	// The clients of the test have none of their own.
	r.eventually(fmt.Sprintf("no more than %d goroutines", before), func() bool {
		return runtime.NumGoroutine() <= before
	})
}
