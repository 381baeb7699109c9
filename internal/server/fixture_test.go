package server

import (
	"crypto/tls"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"godwit/internal/config"
	"godwit/internal/engine"
	"godwit/internal/logging"
	"godwit/internal/logging/loggingtest"
	"godwit/internal/object"
	"godwit/internal/resp/client"
	"godwit/internal/spec"
	"godwit/internal/testserver"
)

// rig is a running server with a tiny command table: these tests are about connections, not
// commands.
type rig struct {
	t    testing.TB
	srv  *Server
	eng  *engine.Engine
	log  *loggingtest.Buffer
	addr string
	tls  *tls.Config // for clients, when the rig speaks TLS
	done chan error
}

// way is one way to carry a connection.
type way struct {
	name   string
	opts   Options
	config string
	tls    bool
}

func ways() []way {
	return []way{
		{name: "epoll"},
		{name: "epoll4", config: "io-threads 4\n"},
		{name: "goroutines", opts: Options{ForceGoroutines: true}},
		{name: "tls", tls: true},
	}
}

// everyWay runs a test over each way to carry a connection; over all at once when it mostly waits.
func everyWay(t *testing.T, conf string, waits bool, fn func(t *testing.T, r *rig)) {
	for _, w := range ways() {
		t.Run(w.name, func(t *testing.T) {
			if waits {
				t.Parallel()
			}
			fn(t, start(t, w, conf))
		})
	}
}

func newEngine(t testing.TB, conf string) (*engine.Engine, *loggingtest.Buffer) {
	t.Helper()
	cfg, err := config.Parse("test", "save \"\"\nprotected-mode no\n"+conf)
	if err != nil {
		t.Fatal(err)
	}
	logged := &loggingtest.Buffer{}
	log, err := logging.New(
		logging.Options{Out: logged, Level: cfg.LogLevel, Role: logging.Primary})
	if err != nil {
		t.Fatal(err)
	}
	return engine.New(cfg, testTable(), engine.Options{Log: log}), logged
}

func start(t testing.TB, w way, conf string) *rig {
	t.Helper()
	conf = "port 0\n" + w.config + conf
	var clientTLS *tls.Config
	if w.tls {
		dir := t.TempDir()
		clientTLS = certificates(t, dir)
		conf += "tls-cert-file " + filepath.Join(dir, "server.crt") + "\ntls-key-file " +
			filepath.Join(dir, "server.key") +
			"\ntls-auth-clients no\n"
	}
	e, logged := newEngine(t, conf)
	srv, err := New(e, w.opts)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if w.tls {
		if err := srv.AddTLS(ln); err != nil {
			t.Fatal(err)
		}
	} else {
		srv.Add(ln)
	}
	r := &rig{t: t, srv: srv, eng: e, log: logged, addr: ln.Addr().String(), tls: clientTLS,
		done: make(chan error, 1)}
	go func() { r.done <- srv.Run() }()
	t.Cleanup(r.stop)
	return r
}

func (r *rig) stop() {
	_ = r.srv.Shutdown(engine.ShutdownOptions{})
	select {
	case err := <-r.done:
		if err != nil {
			r.t.Errorf("Run: %v", err)
		}
	case <-time.After(testserver.Patience):
		r.t.Error("the server does not end")
	}
}

// raw opens a new connection.
func (r *rig) raw() net.Conn {
	r.t.Helper()
	nc, err := net.Dial("tcp", r.addr)
	if err != nil {
		r.t.Fatal(err)
	}
	if r.tls != nil {
		nc = tls.Client(nc, r.tls)
	}
	r.t.Cleanup(func() { nc.Close() })
	_ = nc.SetDeadline(time.Now().Add(testserver.Patience))
	return nc
}

// client opens a new client.
func (r *rig) client() *client.Client {
	r.t.Helper()
	c := client.New(r.raw())
	c.Timeout = testserver.Patience
	return c
}

// want runs a command and compares its reply.
func (r *rig) want(c *client.Client, reply string, args ...any) {
	r.t.Helper()
	v, err := c.Do(args...)
	if err != nil {
		r.t.Fatalf("%.60v: %v", args, err)
	}
	if got := v.Text(); got != reply {
		r.t.Fatalf("%.60v: got %.80q, want %.80q", args, got, reply)
	}
}

// locked runs fn with the executor held.
func (r *rig) locked(fn func()) {
	r.eng.Enter()
	defer r.eng.Leave()
	fn()
}

func (r *rig) clients() (n int) {
	r.locked(func() { n = r.eng.ClientCount() })
	return n
}

// eventually waits until cond holds.
func (r *rig) eventually(what string, cond func() bool) {
	r.t.Helper()
	for end := time.Now().Add(testserver.Patience); !cond(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatalf("never: %s\n%s", what, r.log)
		}
	}
}

// closed waits until the server ends the connection and returns what it sent before.
func closed(t testing.TB, nc net.Conn) string {
	t.Helper()
	var got strings.Builder
	buf := make([]byte, 64<<10)
	for {
		n, err := nc.Read(buf)
		got.Write(buf[:n])
		if err == nil {
			continue
		}
		if ne, ok := err.(net.Error); ok && ne.Timeout() {
			t.Fatalf("still open after %d bytes", got.Len())
		}
		return got.String()
	}
}

// testCommand is an entry of a table with its handler.
type testCommand struct {
	*spec.Command
	run func(*engine.Ctx)
}

// cmd returns a command of the group connection.
func cmd(name string, arity int, flags spec.Flag, run func(*engine.Ctx)) testCommand {
	return testCommand{&spec.Command{Name: name, Arity: arity, Flags: flags,
		Group: spec.GroupConnection, Since: "1", Summary: "test"}, run}
}

// testTable returns the commands of a rig.
func testTable() *engine.Table {
	var entries []*spec.Command
	handlers := engine.Handlers{}
	for _, c := range slices.Concat(blockingCommands(), orderCommands(), busyCommands(),
		dataCommands(), clientCommands(), leaseCommands()) {
		entries = append(entries, c.Command)
		handlers[c.Name] = c.run
	}
	return engine.NewTable(spec.NewTable(entries), handlers)
}

// dataCommands returns commands that reply, read, write, or take their time.
func dataCommands() []testCommand {
	return []testCommand{
		cmd("ping", -1, spec.Fast, func(c *engine.Ctx) { c.Simple("PONG") }),
		cmd("echo", 2, spec.Fast, func(c *engine.Ctx) { c.Bulk(c.Args[1]) }),
		cmd("count", -1, spec.Fast, func(c *engine.Ctx) { c.Int(int64(len(c.Args))) }),
		cmd("get", 2, spec.ReadOnly, func(c *engine.Ctx) {
			e := c.DB.LookupRead(c.Args[1])
			if !e.Exists() {
				c.Null()
				return
			}
			var scratch [24]byte
			c.Bulk(c.DB.StringBytes(e, &scratch))
		}),
		cmd("set", 3, spec.Write, func(c *engine.Ctx) {
			c.DB.Set(c.Args[1], object.StringValue(c.Args[2]), 0)
			c.Changed(c.Args[1])
			c.Dirty(1)
			c.OK()
		}),
		cmd("flood", 2, spec.ReadOnly, func(c *engine.Ctx) { // n bytes of reply
			n, _ := strconv.Atoi(string(c.Args[1]))
			c.BulkString(strings.Repeat("x", n))
		}),
		cmd("burn", 2, spec.ReadOnly, func(c *engine.Ctx) { // takes n ms
			ms, _ := strconv.Atoi(string(c.Args[1]))
			end := time.Now().Add(time.Duration(ms) * time.Millisecond)
			for time.Now().Before(end) {
			}
			c.OK()
		}),
	}
}

// clientCommands returns commands about clients and the server.
func clientCommands() []testCommand {
	return []testCommand{
		cmd("quit", -1, spec.Fast|spec.NoAuth, func(c *engine.Ctx) {
			c.Client.CloseAfterReply = true
			c.OK()
		}),
		cmd("auth", 2, spec.Fast|spec.NoAuth, func(c *engine.Ctx) {
			c.Client.Authenticated = true
			c.OK()
		}),
		cmd("monitor", 1, spec.Admin|spec.SkipMonitor, func(c *engine.Ctx) {
			c.E.StartMonitor(c.Client)
			c.OK()
		}),
		cmd("kill", 2, spec.Admin|spec.AllowBusy, func(c *engine.Ctx) {
			id, _ := strconv.Atoi(string(c.Args[1]))
			c.E.Clients(func(o *engine.Client) bool {
				if o.ID == uint64(id) {
					c.E.Kill(o)
				}
				return true
			})
			c.OK()
		}),
		cmd("id", 1, spec.Fast|spec.AllowBusy, func(c *engine.Ctx) { c.Int(int64(c.Client.ID)) }),
		cmd("pause", 2, spec.Admin, func(c *engine.Ctx) {
			ms, _ := strconv.Atoi(string(c.Args[1]))
			c.E.Pause(engine.PauseByClient, c.E.Steady()+int64(ms), true)
			c.OK()
		}),
		cmd("pubsub", 1, spec.Fast, func(c *engine.Ctx) {
			c.Client.Class = engine.ClassPubSub
			c.OK()
		}),
		cmd("shutdown", -1, spec.Admin, func(c *engine.Ctx) {
			if err := c.E.Shutdown(engine.ShutdownOptions{}); err != nil {
				c.Err("ERR " + err.Error())
			}
		}),
	}
}
