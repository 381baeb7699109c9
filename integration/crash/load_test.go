package crash

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"godwit/internal/resp/client"
)

// worker is the load of one connection, and what it knows. Its keys begin with its prefix and
// nobody else writes them. The mark is a counter that it increments after every operation. It shows
// how much of the history has survived.
type worker struct {
	n       int
	db      int
	base    state // what was there when the round began
	marks   int64 // the mark in base
	history []*unit
	gen     *generator
	err     error // any failure other than the server's end
}

func (w *worker) markKey() string { return w.gen.prefix + "mark" }

// run sends operations in pipelines until the connection breaks.
func (w *worker) run(p *process, killed <-chan struct{}) {
	c, err := p.dial()
	if err == nil {
		defer c.Close()
		_, err = do(c, "SELECT", w.db)
	}
	if err == nil && w.gen.has.script {
		var v client.Value
		v, err = do(c, "SCRIPT", "LOAD", script) // the server forgets scripts when it ends
		w.gen.sha = v.Text()
	}
	mark := w.marks
	for err == nil && w.err == nil {
		first := len(w.history)
		now := time.Now().UnixMilli()
		for range 1 + w.gen.rnd.IntN(12) {
			mark++
			n := mark
			set := &unit{mark: n, cmds: [][]string{{"INCR", w.markKey()}}, apply: func(s state) {
				s.get(w.markKey(), "string").str = strconv.FormatInt(n, 10)
			}}
			for _, u := range append(w.gen.next(), set) {
				u.sent = now
				u.queue(c)
				w.history = append(w.history, u)
			}
		}
		if err = c.Flush(); err == nil {
			err = w.receive(c, w.history[first:])
		}
	}
	select {
	case <-killed:
	case <-p.Done():
	default:
		if w.err == nil {
			w.err = err
		}
	}
}

func (w *worker) receive(c *client.Client, units []*unit) error {
	for _, u := range units {
		for range u.replies() {
			v, err := c.Receive()
			if err != nil {
				return err
			}
			if bad := failure(v); bad != "" {
				w.err = fmt.Errorf("%.300q: %s", u.cmds, bad)
				return nil
			}
		}
		u.acked = time.Now().UnixMilli()
	}
	return nil
}

// refusals are the errors that the model knows. A command that is refused so changes nothing.
var refusals = []string{"no such key", "in progress", "does not exist", "already exists",
	"item exists", "ot found", "is not equal", "overflow", "is full",
	"Maximum expansions", "as it should", "NOGROUP", "BUSYGROUP", "requires the key to exist"}

// failure returns the first error in the reply that no operation should meet, or "".
func failure(v client.Value) string {
	refused := func(sign string) bool { return strings.Contains(v.Text(), sign) }
	if v.IsError() && !slices.ContainsFunc(refusals, refused) {
		return v.Text()
	}
	for _, e := range v.Elems {
		if bad := failure(e); bad != "" {
			return bad
		}
	}
	return ""
}

// queue puts the unit into the pipeline.
func (u *unit) queue(c *client.Client) {
	switch u.wrap {
	case "":
		c.Queue(anys(u.cmds[0])...)
	case "multi":
		c.Queue("MULTI")
		for _, cmd := range u.cmds {
			c.Queue(anys(cmd)...)
		}
		c.Queue("EXEC")
	}
}

func (u *unit) replies() int {
	if u.wrap == "multi" {
		return len(u.cmds) + 2
	}
	return 1
}

func anys(args []string) []any {
	out := make([]any, len(args))
	for i, a := range args {
		out[i] = a
	}
	return out
}

// keeper makes the server write its files while clients write. It knows since when acknowledged
// writes must be in a dump.
type keeper struct {
	rnd             *rand.Rand
	rdb             bool  // no AOF: the last dump is the promise
	floor           int64 // Unix ms: writes acknowledged before are in a dump that has succeeded
	rewrites, dumps int
	err             error
}

func (k *keeper) run(p *process, killed <-chan struct{}) {
	c, err := p.dial()
	if err == nil {
		defer c.Close()
	}
	for err == nil {
		select {
		case <-killed:
			return
		case <-time.After(time.Duration(k.rnd.IntN(150)) * time.Millisecond):
		}
		switch n := k.rnd.IntN(10); {
		case k.rdb && n == 0:
			err = k.dump(c, "SAVE")
		case k.rdb || n < 3:
			err = k.dump(c, "BGSAVE")
		default:
			var v client.Value
			v, err = c.Do("BGREWRITEAOF")
			if k.rewrites++; err == nil && v.IsError() &&
				!strings.Contains(v.Text(), "already in progress") {
				err = fmt.Errorf("BGREWRITEAOF: %s", v.Text())
			}
		}
	}
	select {
	case <-killed:
	case <-p.Done():
	default:
		k.err = err
	}
}

// dump saves and waits for the end of it.
func (k *keeper) dump(c *client.Client, how string) error {
	began := time.Now().UnixMilli()
	v, err := c.Do(how)
	if err != nil {
		return err
	}
	if v.IsError() {
		if strings.Contains(v.Text(), "in progress") || strings.Contains(v.Text(), "active") {
			return nil
		}
		return fmt.Errorf("%s: %s", how, v.Text())
	}
	for {
		info, err := do(c, "INFO", "persistence")
		if err != nil {
			return err
		}
		if strings.Contains(info.Text(), "rdb_bgsave_in_progress:0") {
			if !strings.Contains(info.Text(), "rdb_last_bgsave_status:ok") {
				return fmt.Errorf("%s failed: %s", how, info.Text())
			}
			k.dumps++
			k.floor = began
			return nil
		}
		time.Sleep(2 * time.Millisecond)
	}
}
