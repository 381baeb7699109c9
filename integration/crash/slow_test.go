package crash

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"godwit/internal/testseed"
)

// slow is a script, and with its first line a function. It writes half of what it writes, takes its
// time, and writes the rest. Meanwhile others are answered BUSY, and a file that is begun then
// could have one half.
const (
	slowCounters = 20
	slowBody     = `
	for i = 1, 10 do redis.call('INCR', 'slow:' .. i) end
	local till = os.clock() + 0.06
	while os.clock() < till do end
	for i = 11, 20 do redis.call('INCR', 'slow:' .. i) end
	return 1
`
	slowLibrary = "#!lua name=slow\nredis.register_function('slow', function(keys, args)" +
		slowBody + "end)"
)

// TestSlowScripts checks that a script during which other clients are answered BUSY is there after
// a crash as a whole or not at all, whatever files were begun in the middle of it.
func TestSlowScripts(t *testing.T) {
	rnd := testseed.Rand(t)
	for _, args := range [][]string{
		{"--appendonly", "yes", "--appendfsync", "always", "--auto-aof-rewrite-min-size", "1kb",
			"--auto-aof-rewrite-percentage", "1", "--save", ""},
		{"--appendonly", "no", "--save", "1 1"},
	} {
		dir := t.TempDir()
		args = append(args, "--busy-reply-threshold", "5", "--rdb-key-save-delay", "100")
		var base, acked int64
		for round := range 2 {
			p := startSlow(t, dir, append(args, "--io-threads", text(1+2*round)))
			have, err := slowCount(p)
			if err != nil {
				t.Fatal(args, err)
			}
			if args[1] == "yes" && have < base+acked || have > base+acked+1 {
				t.Fatalf("%v: %d calls, of %d and one that was not answered", args, have,
					base+acked)
			}
			base = have
			life := 1200*time.Millisecond + time.Duration(rnd.IntN(200))*time.Millisecond
			var busy int
			if acked, busy, err = slowLoad(p, func() { time.AfterFunc(life, p.Kill) }); err != nil {
				t.Fatal(err)
			}
			if t.Logf("%v: %d calls, %d times busy", args, acked, busy); busy == 0 ||
				p.Sick() != "" {
				t.Fatalf("no client was refused, or: %s", p.Sick())
			}
			<-p.Done()
		}
		if _, err := slowCount(startSlow(t, dir, args)); err != nil {
			t.Fatal(args, err)
		}
	}
}

func startSlow(t *testing.T, dir string, args []string) *process {
	p, err := start(dir, args)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	has, err := p.probe()
	if err != nil {
		t.Fatal(err)
	}
	if !has.throttle {
		t.Skip("another server, which may have no os.clock")
	}
	return p
}

// slowLoad calls the script and the function by turns, while another client asks for snapshots,
// until the server ends. It calls refused when that client is refused for the first time.
func slowLoad(p *process, refused func()) (acked int64, busy int, err error) {
	c, err := p.dial()
	if err != nil {
		return 0, 0, err
	}
	defer c.Close()
	if _, err := do(c, "FUNCTION", "LOAD", "REPLACE", slowLibrary); err != nil {
		return 0, 0, err
	}
	others := []any{"MSET"}
	for i := range 1000 { // so that a snapshot takes longer than a script
		others = append(others, fmt.Sprint("other:", i), i)
	}
	if _, err := do(c, others...); err != nil {
		return 0, 0, err
	}
	defer time.AfterFunc(patience, p.Kill).Stop() // if nobody is ever refused
	over := make(chan struct{})
	go func() {
		defer close(over)
		other, err := p.dial()
		if err != nil {
			return
		}
		defer other.Close()
		for i := 0; ; i++ {
			v, err := other.Do([]any{"BGREWRITEAOF", "BGSAVE", "PING"}[i%3])
			if err != nil {
				return
			}
			if strings.HasPrefix(v.Text(), "BUSY") {
				if busy++; busy == 1 {
					refused()
				}
			}
			time.Sleep(3 * time.Millisecond)
		}
	}()
	for {
		args := []any{"EVAL", slowBody, 0}
		if acked%2 == 1 {
			args = []any{"FCALL", "slow", 0}
		}
		v, err := c.Do(args...)
		if err != nil { // the end
			<-over
			return acked, busy, nil
		}
		if v.IsError() {
			return 0, 0, fmt.Errorf("%v: %s", args[0], v.Text())
		}
		acked++
	}
}

// slowCount returns how many calls the counters show. They must agree.
func slowCount(p *process) (int64, error) {
	c, err := p.dial()
	if err != nil {
		return 0, err
	}
	defer c.Close()
	args := []any{"MGET"}
	for i := range slowCounters {
		args = append(args, fmt.Sprint("slow:", i+1))
	}
	v, err := do(c, args...)
	if err != nil {
		return 0, err
	}
	var n int64
	for i, e := range v.Elems {
		var k int64
		if !e.IsNull() {
			if _, err := fmt.Sscan(e.Text(), &k); err != nil {
				return 0, err
			}
		}
		if i > 0 && k != n {
			return 0, fmt.Errorf("half of a script: the first counter is %d, number %d is %d", n,
				i+1, k)
		}
		n = k
	}
	return n, nil
}
