package crash

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"godwit/internal/resp/client"
	"godwit/internal/testseed"
)

// directives are what a tinkerer changes, each with the values that it may get. DIR and ELSEWHERE
// stand for folders.
var directives = [][]string{
	{"appendfsync", "always", "everysec", "no"},
	{"appendfsync", "always", "everysec"}, // more often than others
	{"no-appendfsync-on-rewrite", "yes", "no"},
	{"aof-use-rdb-preamble", "yes", "no"},
	{"aof-timestamp-enabled", "yes", "no"},
	{"aof-disable-auto-gc", "yes", "no"},
	{"aof-rewrite-incremental-fsync", "yes", "no"},
	{"auto-aof-rewrite-percentage", "0", "1", "50"},
	{"auto-aof-rewrite-min-size", "1", "64kb", "1mb"},
	{"rdbcompression", "yes", "no"},
	{"save", "", "3600 1", "1 1"},
	{"dir", "DIR", "ELSEWHERE"},
}

// tinkerer changes directives while the log is written and rewritten. Now and then it sends a
// change and BGREWRITEAOF in one pipeline, so that the change meets the first stage of a rewrite.
type tinkerer struct {
	rnd     *rand.Rand
	dir     string
	toggles bool // appendonly, and not appendfsync
	// floor is a Unix time in ms. Writes acknowledged before it have been in the log while it was
	// on.
	floor atomic.Int64
	on    atomic.Bool // the log is on and complete
	err   error
}

func (k *tinkerer) run(p *process, killed <-chan struct{}) {
	k.on.Store(true)
	c, err := p.dial()
	if err == nil {
		defer c.Close()
	}
	for err == nil {
		select {
		case <-killed:
			return
		case <-time.After(time.Duration(k.rnd.IntN(60)) * time.Millisecond):
		}
		if k.toggles && k.rnd.IntN(3) == 0 {
			err = k.toggle(c)
		} else {
			err = k.change(c)
		}
	}
	select {
	case <-killed:
	case <-p.Done():
	default:
		k.err = err
	}
}

// change sets one directive.
func (k *tinkerer) change(c *client.Client) error {
	d := directives[k.rnd.IntN(len(directives))]
	// A log that is turned on again is in the current folder.
	if k.toggles && (d[0] == "appendfsync" || d[0] == "dir") {
		return nil
	}
	value := d[1+k.rnd.IntN(len(d)-1)]
	value = strings.NewReplacer("DIR", k.dir, "ELSEWHERE",
		filepath.Join(k.dir, "elsewhere")).Replace(value)
	n := 1
	if k.rnd.IntN(2) == 0 {
		c.Queue("BGREWRITEAOF")
		n++
	}
	c.Queue("CONFIG", "SET", d[0], value)
	if err := c.Flush(); err != nil {
		return err
	}
	for range n {
		v, err := c.Receive()
		if err != nil {
			return err
		}
		if v.IsError() && !strings.Contains(v.Text(), "already in progress") {
			return fmt.Errorf("%v: %s", d, v.Text())
		}
	}
	return nil
}

// toggle turns the log off and on again some times. Mostly it waits until the log is complete.
func (k *tinkerer) toggle(c *client.Client) error {
	if k.on.Load() {
		k.floor.Store(time.Now().UnixMilli())
	}
	k.on.Store(false)
	var began int64
	for range 1 + k.rnd.IntN(3) {
		if _, err := do(c, "CONFIG", "SET", "appendonly", "no"); err != nil {
			return err
		}
		began = time.Now().UnixMilli()
		if _, err := do(c, "CONFIG", "SET", "appendonly", "yes"); err != nil {
			return err
		}
	}
	for k.rnd.IntN(20) > 0 {
		info, err := do(c, "INFO", "persistence")
		if err != nil {
			return err
		}
		if strings.Contains(info.Text(), "aof_rewrite_in_progress:0") &&
			strings.Contains(info.Text(), "aof_rewrite_scheduled:0") {
			k.floor.Store(began)
			k.on.Store(true)
			return nil
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}

// TestCrashWhileDirectivesChange does what TestCrash does. Besides, one client changes every
// directive of the log at every stage of rewrites, and another turns the log off and on all the
// time. Nothing that was promised may be lost, and what is there is a prefix.
func TestCrashWhileDirectivesChange(t *testing.T) {
	rnd := testseed.Rand(t)
	n := max(*rounds/4, 3)
	for _, toggles := range []bool{false, true} {
		k := &tinkerer{rnd: rand.New(rand.NewPCG(rnd.Uint64(), 0)), toggles: toggles}
		p := policies[1] // everysec
		p.name = "changing"
		if toggles {
			p = policies[0]
			p.name = "toggled"
			p.mustHave = func(acked, _, _ int64) bool {
				return k.on.Load() || acked < k.floor.Load()
			}
		}
		p.args = append([]string{"--enable-protected-configs", "yes"}, p.args...)
		c := &chain{t: t, rnd: rand.New(rand.NewPCG(rnd.Uint64(), 0)), policy: p}
		c.alongside = func(p *process, killed <-chan struct{}) {
			k.dir = c.dir
			if err := os.MkdirAll(filepath.Join(c.dir, "elsewhere"), 0o755); err != nil {
				k.err = err
				return
			}
			k.run(p, killed)
		}
		err := c.run(n, 0)
		if err == nil {
			err = k.err
		}
		if err != nil {
			t.Errorf("%s: %v", p.name, err)
		}
	}
}
