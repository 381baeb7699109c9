package server

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"godwit/internal/resp/client"
	"godwit/internal/testseed"
	"godwit/internal/testserver"
)

func TestCommands(t *testing.T) {
	everyWay(t, "", false, func(t *testing.T, r *rig) {
		c := r.client()
		r.want(c, "PONG", "ping")
		r.want(c, "OK", "set", "k", "v")
		r.want(c, "v", "get", "k")
		if err := c.Send([]byte("ECHO 'a b'\r\n\r\nPING\r\n")); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"a b", "PONG"} {
			if v, err := c.Receive(); err != nil || v.Text() != want {
				t.Fatalf("inline: %v %v", v, err)
			}
		}
		v, err := c.Do("nonesuch", "a")
		if err != nil ||
			v.Text() != "ERR unknown command 'nonesuch', with args beginning with: 'a' " {
			t.Fatal(v, err)
		}
		r.want(c, "OK", "quit")
		closed(t, c.Conn())
		r.eventually("the client is forgotten", func() bool { return r.clients() == 0 })
	})
}

// TestPieces sends commands in pieces of random sizes, among them single bytes.
func TestPieces(t *testing.T) {
	seed := testseed.New(t)
	everyWay(t, "", false, func(t *testing.T, r *rig) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		c := r.client()
		var want []string
		for range 60 {
			s := strings.Repeat("x", rnd.IntN(40)*rnd.IntN(40)*rnd.IntN(40))
			c.Queue("echo", s)
			want = append(want, s)
		}
		var all bytes.Buffer
		for _, s := range want {
			fmt.Fprintf(&all, "*2\r\n$4\r\nECHO\r\n$%d\r\n%s\r\n", len(s), s)
		}
		go func() {
			for b := all.Bytes(); len(b) > 0; {
				n := min(len(b), 1+rnd.IntN(3)*rnd.IntN(20000))
				if _, err := c.Conn().Write(b[:n]); err != nil {
					return
				}
				b = b[n:]
			}
		}()
		for i, s := range want {
			v, err := c.Receive()
			if err != nil || v.Text() != s {
				t.Fatalf("reply %d: %.40v %v, want %d bytes", i, v, err, len(s))
			}
		}
	})
}

// TestDeepPipeline sends a million commands before it reads the first reply.
func TestDeepPipeline(t *testing.T) {
	n := 1_000_000
	if testserver.Race || testing.Short() {
		n = 100_000
	}
	everyWay(t, "", false, func(t *testing.T, r *rig) {
		nc := r.raw()
		req := bytes.Repeat([]byte("*1\r\n$4\r\nPING\r\n"), n)
		if _, err := nc.Write(req); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 7*n)
		if _, err := io.ReadFull(nc, got); err != nil {
			t.Fatal(err)
		}
		if want := bytes.Repeat([]byte("+PONG\r\n"), n); !bytes.Equal(got, want) {
			t.Fatal("replies differ")
		}
	})
}

// TestBigBulk moves 32 MiB in and out, many times what a connection reads at once.
func TestBigBulk(t *testing.T) {
	size := 32 << 20
	if testserver.Race || testing.Short() {
		size = 8 << 20
	}
	value := make([]byte, size)
	for i := range value {
		value[i] = byte(i*7 + i>>16)
	}
	seed := maphash.MakeSeed()
	sum := maphash.Bytes(seed, value)
	everyWay(t, "", false, func(t *testing.T, r *rig) {
		if r.tls != nil || len(r.srv.loops) != 1 {
			value := value[:size/10]
			r.bigBulk(seed, maphash.Bytes(seed, value), value)
			return
		}
		r.bigBulk(seed, sum, value)
	})
}

func (r *rig) bigBulk(seed maphash.Seed, sum uint64, value []byte) {
	c := r.client()
	r.want(c, "OK", "set", "big", value)
	v, err := c.Do("get", "big")
	if err != nil {
		r.t.Fatal(err)
	}
	if len(v.Str) != len(value) || maphash.String(seed, v.Str) != sum {
		r.t.Fatalf("got %d other bytes", len(v.Str))
	}
	r.want(c, "PONG", "ping")
}

// TestManyArguments sends one command of many arguments, which must cost time in proportion.
func TestManyArguments(t *testing.T) {
	everyWay(t, "", false, func(t *testing.T, r *rig) {
		const n = 200_000
		args := make([]any, n)
		args[0] = "count"
		for i := 1; i < n; i++ {
			args[i] = "argument"
		}
		r.want(r.client(), fmt.Sprint(n), args...)
	})
}

// TestGarbage sends bytes that are no requests; only the connection that sends them may suffer.
func TestGarbage(t *testing.T) {
	seed := testseed.New(t)
	everyWay(t, "", false, func(t *testing.T, r *rig) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		bystander := r.client()
		for range 100 {
			nc := r.raw()
			b := make([]byte, 1+rnd.IntN(2000))
			alphabet := "*$\r\n0123456789-+PINGechoset \"'\\x\x00\xff"
			for i := range b {
				b[i] = alphabet[rnd.IntN(len(alphabet))]
			}
			if _, err := nc.Write(b); err != nil {
				t.Fatal(err)
			}
			if rnd.IntN(2) == 0 {
				nc.Close()
			}
			r.want(bystander, "PONG", "ping")
		}
	})
}

func TestProtocolErrors(t *testing.T) {
	everyWay(t, "", false, func(t *testing.T, r *rig) {
		for _, c := range []struct{ send, reply string }{
			{"*1\r\n+4\r\nPING\r\n", "-ERR Protocol error: expected '$', got '+'\r\n"},
			{"*x\r\n", "-ERR Protocol error: invalid multibulk length\r\n"},
			{"*1\r\n$-5\r\n", "-ERR Protocol error: invalid bulk length\r\n"},
			{"PING\r\nGET \"x\r\n",
				"+PONG\r\n-ERR Protocol error: unbalanced quotes in request\r\n"},
		} {
			nc := r.raw()
			if _, err := io.WriteString(nc, c.send); err != nil {
				t.Fatal(err)
			}
			if got := closed(t, nc); got != c.reply {
				t.Errorf("%q: got %q", c.send, got)
			}
		}
		r.eventually("no client is left", func() bool { return r.clients() == 0 })
	})
}

// TestHalfOpen closes the sending side in the middle of a command, and kills connections without
// warning.
func TestHalfOpen(t *testing.T) {
	everyWay(t, "", false, func(t *testing.T, r *rig) {
		for i := range 20 {
			nc := r.raw()
			if _, err := io.WriteString(nc, "PING\r\n*3\r\n$3\r\nSET\r\n$1"); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(nc, make([]byte, 7)); err != nil {
				t.Fatal(err)
			}
			switch half, ok := nc.(interface{ CloseWrite() error }); {
			case i%2 == 0 && ok:
				_ = half.CloseWrite()
			default:
				nc.Close()
			}
		}
		r.eventually("no client is left", func() bool { return r.clients() == 0 })
	})
}

// TestFairness runs a pipeline of slow commands that takes seconds. Another client must have its
// reply before the end.
func TestFairness(t *testing.T) {
	everyWay(t, "", false, func(t *testing.T, r *rig) {
		slow, quick := r.client(), r.client()
		r.want(quick, "PONG", "ping")
		const n = 2000
		for range n {
			slow.Queue("burn", 2)
		}
		if err := slow.Flush(); err != nil {
			t.Fatal(err)
		}
		if v, err := slow.Receive(); err != nil || v.Text() != "OK" { // it has begun
			t.Fatal(v, err)
		}
		r.want(quick, "PONG", "ping")
		var ran int64
		r.locked(func() { ran = r.eng.Stats.Commands })
		if ran > n {
			t.Errorf("the quick client waited for %d commands of the other", ran)
		}
		for range 3 {
			if v, err := slow.Receive(); err != nil || v.Text() != "OK" {
				t.Fatal(v, err)
			}
		}
	})
}

// TestKillOther ends another client's connection, with one loop or another.
func TestKillOther(t *testing.T) {
	everyWay(t, "", false, func(t *testing.T, r *rig) {
		killer := r.client()
		for range 8 {
			victim := r.client()
			id, err := victim.Do("id")
			if err != nil {
				t.Fatal(err)
			}
			r.want(killer, "OK", "kill", id.Text())
			if got := closed(t, victim.Conn()); got != "" {
				t.Fatalf("the victim got %q", got)
			}
		}
		id, _ := killer.Do("id")
		r.want(killer, "OK", "kill", id.Text()) // of itself: after the reply
		closed(t, killer.Conn())
		r.eventually("no client is left", func() bool { return r.clients() == 0 })
	})
}

// TestMonitor has replies written to clients that asked for nothing, from other loops' turns.
func TestMonitor(t *testing.T) {
	everyWay(t, "", false, func(t *testing.T, r *rig) {
		var watchers []*client.Client
		for range 6 {
			c := r.client()
			r.want(c, "OK", "monitor")
			watchers = append(watchers, c)
		}
		const n = 500
		c := r.client()
		for i := range n {
			r.want(c, fmt.Sprint(i), "echo", i)
		}
		for _, w := range watchers {
			for i := range n {
				v, err := w.Receive()
				if err != nil || !strings.HasSuffix(v.Text(), fmt.Sprintf(`"echo" "%d"`, i)) {
					t.Fatalf("line %d: %v %v", i, v, err)
				}
			}
		}
	})
}

// TestPause holds commands back and lets them go, in order.
func TestPause(t *testing.T) {
	t.Parallel()
	everyWay(t, "hz 100\n", true, func(t *testing.T, r *rig) {
		c, held := r.client(), r.client()
		r.want(held, "PONG", "ping")
		start := time.Now()
		r.want(c, "OK", "pause", 150)
		for i := range 100 {
			held.Queue("echo", i)
			if i%10 == 0 {
				if err := held.Flush(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := held.Flush(); err != nil {
			t.Fatal(err)
		}
		for i := range 100 {
			v, err := held.Receive()
			if err != nil || v.Text() != fmt.Sprint(i) {
				t.Fatalf("%d: %v %v", i, v, err)
			}
		}
		if d := time.Since(start); d < 149*time.Millisecond { // the server's clock counts whole ms
			t.Errorf("held back for %v only", d)
		}
		gone := r.client()
		r.want(gone, "PONG", "ping")
		r.want(c, "OK", "pause", 60000)
		gone.Queue("ping")
		if err := gone.Flush(); err != nil {
			t.Fatal(err)
		}
		gone.Close()
		r.eventually("a client that is held back may leave", func() bool {
			return r.clients() == 2
		})
	})
}

// TestCrowd has many clients work at once; each checks that it gets its own replies in order.
func TestCrowd(t *testing.T) {
	seed := testseed.New(t)
	rounds := 8
	if testserver.Race {
		rounds = 4
	}
	everyWay(t, "", false, func(t *testing.T, r *rig) {
		var wg sync.WaitGroup
		for k := range 24 {
			wg.Go(func() {
				rnd := rand.New(rand.NewPCG(seed, uint64(k)))
				c := r.client()
				defer c.Close()
				for round := range rounds {
					n := 1 + rnd.IntN(50)
					size := rnd.IntN(2000)
					if rnd.IntN(20) == 0 {
						size = 200_000
					}
					for i := range n {
						c.Queue("echo",
							fmt.Sprintf("%d-%d-%d-%s", k, round, i, strings.Repeat("y", size)))
					}
					if err := c.Flush(); err != nil {
						t.Error(err)
						return
					}
					for i := range n {
						v, err := c.Receive()
						if err != nil ||
							!strings.HasPrefix(v.Text(), fmt.Sprintf("%d-%d-%d-", k, round, i)) {
							t.Errorf("client %d: %.40v %v", k, v, err)
							return
						}
					}
				}
			})
		}
		wg.Wait()
		r.eventually("no client is left", func() bool { return r.clients() == 0 })
	})
}

// TestIdleConnections holds 10,000 connections and looks at what each costs.
func TestIdleConnections(t *testing.T) {
	if testserver.Race {
		t.Skip("the race detector's own memory drowns what is measured")
	}
	n := 10_000
	if got, err := raiseDescriptors(uint64(2*n + 200)); got < uint64(2*n+200) {
		if got < 3000 {
			t.Skipf("only %d descriptors: %v", got, err)
		}
		n = int(got-200) / 2
	}
	r := start(t, way{}, "maxclients 20000\nhz 100\n")
	before := heap()
	conns := make([]net.Conn, 0, n)
	for range n {
		nc, err := net.Dial("tcp", r.addr)
		if err != nil {
			t.Fatalf("connection %d: %v", len(conns), err)
		}
		conns = append(conns, nc)
		if _, err := io.WriteString(nc, "*2\r\n$4\r\nECHO\r\n$2\r\nhi\r\n"); err != nil {
			t.Fatal(err)
		}
	}
	buf := make([]byte, 8)
	for _, nc := range conns {
		if _, err := io.ReadFull(nc, buf); err != nil || string(buf) != "$2\r\nhi\r\n" {
			t.Fatalf("%q %v", buf, err)
		}
	}
	r.eventually("all are there", func() bool { return r.clients() == n })
	r.want(r.client(), "PONG", "ping")
	per := (heap() - before) / int64(n)
	t.Logf("%d connections: %d bytes of heap each, both ends", n, per)
	if per > 2048+1024 { // the client end, a net.Conn, takes its share
		t.Errorf("%d bytes for each idle connection", per)
	}
	if g := runtime.NumGoroutine(); g > 100 {
		t.Errorf("%d goroutines", g)
	}
	for _, nc := range conns {
		nc.Close()
	}
	r.eventually("all are gone", func() bool { return r.clients() <= 1 })
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}
