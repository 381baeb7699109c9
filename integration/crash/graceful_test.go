package crash

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"syscall"
	"testing"
	"time"

	"godwit/internal/testseed"
)

var endings = flag.Int("endings", 9, "how often the server is ended gracefully")

// graceful are the policies that promise to keep everything when the server is ended in order.
var graceful = []policy{
	{"savepoint", []string{"--appendonly", "no", "--save", "3600 1"}, everything},
	{"aof-everysec", []string{"--appendonly", "yes", "--appendfsync", "everysec", "--save", ""},
		everything},
	{"savepoints", []string{"--appendonly", "no", "--save", "1 1 3600 1"}, everything},
	{"aof-no", []string{"--appendonly", "yes", "--appendfsync", "no", "--save", ""}, everything},
	{"both", []string{"--appendonly", "yes", "--appendfsync", "everysec", "--save", "3600 1"},
		everything},
	{"aof-always", []string{"--appendonly", "yes", "--appendfsync", "always", "--save", ""},
		everything},
}

func everything(_, _, _ int64) bool { return true }

// ending is a way to end the server in order. Some ask twice, with a pause in between.
type ending struct {
	name string
	do   func(p *process, pause time.Duration)
}

var endingWays = []ending{
	signalsEnd(syscall.SIGTERM), commandEnd("SHUTDOWN"), signalsEnd(syscall.SIGINT),
	signalsEnd(syscall.SIGTERM, syscall.SIGTERM), commandEnd("SHUTDOWN", "SAVE"),
	commandEnd("SHUTDOWN", "NOW"), signalsEnd(syscall.SIGINT, syscall.SIGTERM),
	commandEnd("SHUTDOWN", "FORCE"), commandEnd("SHUTDOWN", "SAVE", "NOW", "FORCE"),
	{"SHUTDOWN twice", func(p *process, pause time.Duration) {
		go commandEnd("SHUTDOWN").do(p, 0)
		time.Sleep(pause)
		commandEnd("SHUTDOWN").do(p, 0)
	}},
	{"SIGTERM and SHUTDOWN", func(p *process, pause time.Duration) {
		_ = p.Signal(syscall.SIGTERM) // it may have ended
		time.Sleep(pause)
		commandEnd("SHUTDOWN").do(p, 0)
	}},
}

// signalsEnd sends the signals in this order. The kernel may deliver two pending signals in any
// order, and a second SIGINT insists. So the first must have arrived before the next is sent.
func signalsEnd(list ...syscall.Signal) ending {
	return ending{fmt.Sprint(list), func(p *process, pause time.Duration) {
		for i, s := range list {
			if i > 0 {
				_ = p.WaitLog("scheduling shutdown") // it may have ended
				time.Sleep(pause)
			}
			_ = p.Signal(s) // it may have ended
		}
	}}
}

// commandEnd sends a command in the middle of a pipeline. The commands after it must not run.
func commandEnd(args ...any) ending {
	return ending{fmt.Sprint(args...), func(p *process, _ time.Duration) {
		c, err := p.dial()
		if err != nil {
			return // it has ended
		}
		defer c.Close()
		c.Queue("PING")
		c.Queue(args...)
		c.Queue("FLUSHALL")
		_, _ = c.Pipeline() // the closed connection is the answer
	}}
}

// endWell returns a function that ends the process as way says. It fails if that takes longer than
// patience or gives an error.
func endWell(way ending, pause time.Duration) func(p *process) error {
	return func(p *process) error {
		way.do(p, pause)
		select {
		case <-p.Done():
		case <-time.After(patience):
			return fmt.Errorf("%s does not end the server:\n%s", way.name, p.Tail())
		}
		if code := p.ExitCode(); code != 0 {
			return fmt.Errorf("%s: exit code %d:\n%s", way.name, code, p.Tail())
		}
		return nil
	}
}

// TestGracefulEnds checks that a server that is ended in order loses nothing that it has
// acknowledged, over any socket, with any number of threads. The loads and models are those of
// TestCrash.
//
//	GODWIT_SEED=42 go test ./integration/crash -run Graceful -endings 500
func TestGracefulEnds(t *testing.T) {
	if raceEnabled && !isSet("endings") {
		*endings = 6
	}
	rnd := testseed.Rand(t)
	for done, number := 0, rnd.IntN(len(graceful)); done < *endings && !t.Failed(); number++ {
		n := min(1+rnd.IntN(4), *endings-done)
		c := &chain{t: t, rnd: rand.New(rand.NewPCG(rnd.Uint64(), 0)),
			policy: graceful[number%len(graceful)]}
		c.end = func(p *process) error {
			way := endingWays[c.rnd.IntN(len(endingWays))]
			pause := time.Duration(c.rnd.IntN(20)) * time.Millisecond
			err := endWell(way, pause)(p)
			c.how = way.name
			return err
		}
		if err := c.run(n, done); err != nil {
			t.Errorf("ended by %s: %v", c.how, err)
		}
		done += n
	}
}

// TestGracefulSync checks that the last write is there of clients that wait for each reply. Such
// clients notice a turn that runs after the last snapshot.
func TestGracefulSync(t *testing.T) {
	rnd := testseed.Rand(t)
	for round := range max(*endings/2, 4) {
		dir := t.TempDir()
		args := []string{"--save", "3600 1", "--io-threads", strconv.Itoa(1 + round%4)}
		p, err := startWithDoors(dir, args)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Kill)
		counts := make([]int64, 6)
		over := make(chan int)
		for i := range counts {
			go func() {
				counts[i] = countUp(p, i)
				over <- i
			}()
		}
		time.Sleep(time.Duration(20+rnd.IntN(60)) * time.Millisecond)
		if err := endWell(endingWays[rnd.IntN(len(endingWays))], time.Millisecond)(p); err != nil {
			t.Fatal(err)
		}
		for range counts {
			<-over
		}
		if p, err = start(dir, args); err != nil {
			t.Fatal(err)
		}
		checkCounts(t, p, counts)
		p.Kill()
	}
}

// countUp increments a counter until the server ends, and returns the last reply.
func countUp(p *process, i int) (acked int64) {
	c, err := p.dial()
	if err != nil {
		return 0
	}
	defer c.Close()
	for {
		v, err := c.Do("INCR", fmt.Sprint("n", i))
		if err != nil || v.IsError() {
			return acked
		}
		acked = v.Int
	}
}

// checkCounts compares the counters with what was acknowledged. One more increment may have been
// written.
func checkCounts(t *testing.T, p *process, counts []int64) {
	t.Helper()
	c, err := p.dial()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for i, want := range counts {
		v, err := c.Do("GET", fmt.Sprint("n", i))
		if err != nil {
			t.Fatal(err)
		}
		got, _ := strconv.ParseInt(v.Text(), 10, 64) // a missing key is no number
		if got < want || got > want+1 {
			t.Errorf("client %d: %d increments, %d were acknowledged", i, got, want)
		}
	}
}

// TestGracefulEndOfSlowScripts checks that an end that a signal asks for waits for a script during
// which others are answered BUSY. The server never saves half of the script.
func TestGracefulEndOfSlowScripts(t *testing.T) {
	rnd := testseed.Rand(t)
	for i, args := range [][]string{
		{"--appendonly", "no", "--save", "3600 1"},
		{"--appendonly", "yes", "--appendfsync", "everysec", "--save", ""},
	} {
		dir := t.TempDir()
		args = append(args, "--busy-reply-threshold", "5", "--io-threads", text(1+2*i))
		p := startSlow(t, dir, args)
		life := time.Duration(rnd.IntN(300)) * time.Millisecond
		acked, busy, err := slowLoad(p, func() {
			time.AfterFunc(life, func() { _ = p.Signal(syscall.SIGTERM) })
		})
		if err != nil {
			t.Fatal(err)
		}
		<-p.Done()
		have, err := slowCount(startSlow(t, dir, args))
		if err != nil || have < acked || have > acked+1 || busy == 0 {
			t.Fatalf("%v: %d calls, %d acknowledged, %d times busy, %v", args, have, acked, busy,
				err)
		}
	}
}

// startWithDoors starts a server that listens on a unix socket and a TLS port too. Each dial of the
// process takes another way in.
func startWithDoors(dir string, args []string) (*process, error) {
	d, err := openDoors(dir)
	if err != nil {
		return nil, err
	}
	p, err := start(dir, append(d.args, args...))
	if err == nil {
		p.doors = d
	}
	return p, err
}
