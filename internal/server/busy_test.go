package server

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"

	"godwit/internal/engine"
	"godwit/internal/resp"
	"godwit/internal/resp/client"
	"godwit/internal/spec"
	"godwit/internal/testseed"
)

// busyCommands returns "busy payload", a script that is over its time until "free" is called and
// replies with its payload as it is then; "replyandbusy payload before", which replies with before
// and then runs such a script; and "isbusy".
func busyCommands() []testCommand {
	free := false
	busy := func(c *engine.Ctx) {
		free = false
		c.E.RunScript(c, engine.ScriptRun{Name: "busy"}, func(w *resp.Writer) {
			for !free {
				if err := c.E.ScriptCaller().Interrupt(); err != nil {
					w.Error(err.Error())
					return
				}
			}
			w.Bulk(c.Args[1])
		})
	}
	return []testCommand{
		cmd("busy", 2, 0, busy),
		cmd("replyandbusy", 3, 0, func(c *engine.Ctx) {
			c.Bulk(c.Args[2])
			busy(c)
		}),
		cmd("free", 1, spec.AllowBusy, func(c *engine.Ctx) {
			free = true
			c.OK()
		}),
		cmd("isbusy", 1, spec.AllowBusy, func(c *engine.Ctx) {
			if c.E.Busy() {
				c.Int(1)
			} else {
				c.Int(0)
			}
		}),
	}
}

// busyThreshold makes scripts busy soon.
const busyThreshold = "busy-reply-threshold 1\n"

// awaitBusy waits until a script is busy.
func (r *rig) awaitBusy(c *client.Client) {
	r.t.Helper()
	r.eventually("the script is busy", func() bool {
		v, err := c.Do("isbusy")
		return err == nil && v.Int == 1
	})
}

// filled returns a payload in which every byte tells which payload it is.
func filled(rnd *rand.Rand, n int) string {
	b := make([]byte, n)
	x := rnd.Uint64()
	for i := range b {
		x = x*6364136223846793005 + 1442695040888963407
		b[i] = 'a' + byte(x>>59)%26
	}
	return string(b)
}

// TestBusyInput checks that what a client sends while its script is busy runs afterwards, in order
// and complete. The arguments of the script and of what was read ahead with it stay as they were.
// Others use the pool of buffers meanwhile, so a buffer that is freed too early is overwritten.
func TestBusyInput(t *testing.T) {
	seed := testseed.New(t)
	everyWay(t, busyThreshold, false, func(t *testing.T, r *rig) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		sizes := []int{1, 3000, 6 << 10, 60 << 10, 200 << 10, 3 << 20}
		for round := range len(sizes) {
			var want []string
			var before, after bytes.Buffer
			add := func(to *bytes.Buffer, name string, n int) {
				arg := filled(rnd, n)
				want = append(want, arg)
				fmt.Fprintf(to, "*2\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", len(name), name, n, arg)
			}
			for range rnd.IntN(3) {
				add(&before, "echo", sizes[rnd.IntN(4)])
			}
			add(&before, "busy", sizes[round%len(sizes)])
			for range rnd.IntN(5) {
				add(&before, "echo", sizes[rnd.IntN(5)])
			}
			for range 1 + rnd.IntN(30) {
				add(&after, "echo", sizes[rnd.IntN(len(sizes))])
			}
			if round%3 == 0 { // a piece of what comes later is there already
				cut := rnd.IntN(min(after.Len(), 300<<10))
				before.Write(after.Next(cut))
			}
			busy, other := r.client(), r.client()
			isBusy := make(chan struct{})
			var sending sync.WaitGroup
			sending.Go(func() {
				_, _ = busy.Conn().Write(before.Bytes()) // an error shows in the replies
				<-isBusy
				_, _ = busy.Conn().Write(after.Bytes())
			})
			r.awaitBusy(other)
			close(isBusy)
			r.churn(t, rnd)
			r.want(other, "OK", "free")
			for i, w := range want {
				v, err := busy.Receive()
				if err != nil || v.Text() != w {
					t.Fatalf("round %d: reply %d of %d: %v %.40q, want %d bytes %.40q",
						round, i, len(want), err, v.Text(), len(w), w)
				}
			}
			sending.Wait()
			busy.Close()
			other.Close()
		}
		r.drained()
	})
}

// churn lets another client fill and drop input buffers while a script is busy.
func (r *rig) churn(t *testing.T, rnd *rand.Rand) {
	t.Helper()
	c := r.client()
	for _, n := range []int{20 << 10, 100 << 10, 1 << 20} {
		v, err := c.Do("echo", strings.Repeat("#", n+rnd.IntN(2*n)))
		if err != nil || !strings.HasPrefix(v.Text(), "BUSY ") {
			t.Fatalf("%v %.40q, want BUSY", err, v.Text())
		}
	}
	c.Close()
}

// TestBusyLeavesRepliesAlone checks that what waits for the client of a busy script is taken out of
// shared memory once, however often others are served, and is sent unchanged.
func TestBusyLeavesRepliesAlone(t *testing.T) {
	seed := testseed.New(t)
	everyWay(t, busyThreshold, false, func(t *testing.T, r *rig) {
		const turns = 100
		rnd := rand.New(rand.NewPCG(seed, 3))
		for _, size := range []int{100, 8 << 20} {
			busy, other := r.client(), r.client()
			want := []string{filled(rnd, 50), filled(rnd, size), "payload"}
			busy.Queue("echo", want[0])
			busy.Queue("replyandbusy", want[2], want[1])
			go func() { _ = busy.Flush() }()
			r.awaitBusy(other)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for range turns {
				r.want(other, "1", "isbusy")
			}
			runtime.ReadMemStats(&after)
			if copied := after.TotalAlloc - before.TotalAlloc; copied > turns*8<<20/4 {
				t.Errorf("%d bytes were allocated in %d turns", copied, turns)
			}
			r.want(other, "OK", "free")
			for _, w := range want {
				if v, err := busy.Receive(); err != nil || v.Text() != w {
					t.Fatalf("%v %.40q, want %.40q", err, v.Text(), w)
				}
			}
			busy.Close()
			other.Close()
		}
	})
}

// drained waits until no connection holds a buffer of the pool.
func (r *rig) drained() {
	r.t.Helper()
	r.eventually("all buffers are back", func() bool { return r.eng.Buffers.Used() == 0 })
	if err := r.eng.Buffers.Check(); err != nil {
		r.t.Fatal(err)
	}
}

// TestBusyEnds checks that a client that leaves or is killed while its script is busy stays, with
// its input, until the script has ended, and leaves nothing behind.
func TestBusyEnds(t *testing.T) {
	seed := testseed.New(t)
	everyWay(t, busyThreshold, false, func(t *testing.T, r *rig) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		for round, n := range []int{10, 60 << 10, 60 << 10, 1 << 20, 3 << 20, 3 << 20} {
			busy, other := r.client(), r.client()
			id, err := busy.Do("id")
			if err != nil {
				t.Fatal(err)
			}
			kept := fmt.Sprint("kept", round)
			arg := filled(rnd, n)
			busy.Queue("busy", arg)
			busy.Queue("set", kept, arg)
			go func() { _ = busy.Flush() }()
			r.awaitBusy(other)
			killed := round%2 == 1
			if killed {
				r.want(other, "OK", "kill", id.Int)
			} else {
				busy.Close()
			}
			r.churn(t, rnd)
			r.want(other, "1", "isbusy")
			r.want(other, "OK", "free")
			if killed {
				closed(t, busy.Conn())
				busy.Close()
			}
			r.eventually("the client is forgotten", func() bool { return r.clients() == 1 })
			v, err := other.Do("get", kept)
			if err != nil || !v.IsNull() && v.Text() != arg {
				t.Fatalf("round %d: %v %.40q, want null or %.40q", round, err, v.Text(), arg)
			}
			other.Close()
			r.eventually("no client is left", func() bool { return r.clients() == 0 })
		}
		r.drained()
	})
}

// TestBusyAtEnd checks that the server can end while the reader of a connection waits for its busy
// script.
func TestBusyAtEnd(t *testing.T) {
	everyWay(t, busyThreshold, true, func(t *testing.T, r *rig) {
		busy, other := r.client(), r.client()
		busy.Queue("take", "k", 0)
		busy.Queue("busy", strings.Repeat("x", 1<<20))
		go func() { _ = busy.Flush() }()
		r.eventually("it waits", func() bool { return r.blocked() == 1 })
		r.want(other, "OK", "give", "k")
		r.awaitBusy(other)
		go func() { _ = busy.Send(bytes.Repeat([]byte("PING\r\n"), 1<<18)) }()
		r.want(other, "1", "isbusy")
		r.srv.stop() // Shutdown would wait for the script
	})
}
