package server

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"godwit/internal/engine"
	"godwit/internal/listpack"
	"godwit/internal/object"
	"godwit/internal/resp/client"
	"godwit/internal/spec"
)

// blockingCommands returns "give key", which makes a list, and "take key ms", which waits for one
// and removes it.
func blockingCommands() []testCommand {
	return []testCommand{
		cmd("give", 2, spec.Write, func(c *engine.Ctx) {
			listpack.Append(c.DB.Create(c.Args[1], object.List, object.EncListpack,
				listpack.Empty()), []byte("x"))
			c.OK()
		}),
		cmd("take", 3, spec.Write|spec.Blocking, func(c *engine.Ctx) {
			if c.DB.Delete(c.Args[1]) {
				c.Simple("taken")
				return
			}
			deadline, _ := strconv.ParseInt(string(c.Args[2]), 10, 64)
			if deadline != 0 {
				deadline += c.E.Steady()
			}
			late := func(c *engine.Ctx) { c.Simple("late") }
			c.Block(engine.Wait{Keys: c.Args[1:2], Type: object.List, Deadline: deadline,
				OnTimeout: late})
		}),
	}
}

// waiting sends a client the command and waits until n clients are blocked.
func (r *rig) waiting(c *client.Client, n int, args ...any) {
	r.t.Helper()
	c.Queue(args...)
	if err := c.Flush(); err != nil {
		r.t.Fatal(err)
	}
	r.eventually(fmt.Sprint(n, " clients are blocked"), func() bool { return r.blocked() == n })
}

func (r *rig) blocked() int {
	r.eng.Enter()
	defer r.eng.Leave()
	return r.eng.BlockedClients()
}

func (r *rig) receives(c *client.Client, want string) {
	r.t.Helper()
	v, err := c.Receive()
	if err != nil || v.Text() != want {
		r.t.Fatalf("%v %v, want %s", v, err, want)
	}
}

// TestBlockedClients wakes clients from other loops' turns and from goroutines, in order, while
// their pipelines are held back.
func TestBlockedClients(t *testing.T) {
	everyWay(t, "", false, func(t *testing.T, r *rig) {
		giver := r.client()
		var takers []*client.Client
		for i := range 20 {
			c := r.client()
			r.waiting(c, i+1, "take", "k", 0)
			c.Queue("echo", i)
			if err := c.Flush(); err != nil {
				t.Fatal(err)
			}
			takers = append(takers, c)
		}
		for i, c := range takers {
			r.want(giver, "OK", "give", "k")
			r.receives(c, "taken")
			r.receives(c, fmt.Sprint(i))
			if n := r.blocked(); n != len(takers)-1-i {
				t.Fatalf("%d clients are blocked after the turn of number %d", n, i)
			}
		}
		gone := r.client()
		r.waiting(gone, 1, "take", "k", 0)
		gone.Close()
		r.eventually("a blocked client may leave", func() bool { return r.blocked() == 0 })
	})
}

// TestBlockedTimeouts has short and long deadlines, the shorter ones later: none is missed because
// somebody sleeps until a longer one. With one cron turn a second, only who watches the deadlines
// can be on time.
func TestBlockedTimeouts(t *testing.T) {
	t.Parallel()
	everyWay(t, "hz 1\n", true, func(t *testing.T, r *rig) {
		long := r.client()
		r.waiting(long, 1, "take", "k", 3_600_000)
		start := time.Now()
		const rounds = 40
		for i := range rounds {
			c := r.client()
			c.Queue("take", "k", 10)
			asked := time.Now()
			if err := c.Flush(); err != nil {
				t.Fatal(err)
			}
			r.receives(c, "late")
			if d := time.Since(asked); d < 10*time.Millisecond {
				t.Fatalf("round %d: up after %v", i, d)
			}
		}
		// Waiting for the cron would take a second each.
		if d := time.Since(start); d > rounds*time.Second/2 {
			t.Errorf("%d timeouts of 10 ms took %v", rounds, d)
		}
		r.want(r.client(), "OK", "give", "k")
		r.receives(long, "taken")
	})
}
