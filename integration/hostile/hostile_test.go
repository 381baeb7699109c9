// Package hostile sends the server what no client should: every command of the table, from many
// connections at once, with arguments made from the table's documentation and then damaged. The
// server is built with its invariants checked. It must stay alive, answer, keep its tables in order
// and its memory bounded, and have the same data after it was written to disk and read again.
//
// HOSTILETIME says how long the test runs. GODWIT_SEED makes the same commands again, but their
// order among connections is up to the machine. On failure the test names a file with the last
// commands.
package hostile

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
	"godwit/internal/testseed"
	"godwit/internal/testserver"
)

const (
	workers = 8
	round   = 8 * time.Second // between two looks at the whole data set
	// memoryBound is a limit of used_memory: maxmemory and what clients and scripts hold beside it.
	memoryBound = 1 << 30
	remembered  = 100_000 // commands that are shown on failure
)

// duration returns how long the test runs.
func duration(t *testing.T) time.Duration {
	text := os.Getenv("HOSTILETIME")
	if text == "" {
		return 5 * time.Second
	}
	d, err := time.ParseDuration(text)
	require.NoError(t, err, "HOSTILETIME")
	return d
}

// history holds the commands that were sent last.
type history struct {
	mu    sync.Mutex
	lines [remembered]string
	next  int
}

func (h *history) add(worker int, args []string) {
	line := fmt.Sprintf("%d: %.300q", worker, args)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines[h.next%remembered] = strconv.Itoa(h.next) + " " + line
	h.next++
}

// save writes the commands, the oldest first.
func (h *history) save(path string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var b strings.Builder
	for i := range remembered {
		if line := h.lines[(h.next+i)%remembered]; line != "" {
			b.WriteString(line + "\n")
		}
	}
	_ = os.WriteFile(path, []byte(b.String()), 0o644)
}

func TestHostile(t *testing.T) { attack(t, duration(t), []string{"--port", "0"}) }

// attack runs the test on a server with these arguments.
func attack(t *testing.T, d time.Duration, more []string) {
	seed, end := testseed.New(t), time.Now().Add(d)
	dir := testserver.Dir(t)
	p := start(t, dir, more)
	var h history
	var sent atomic.Int64
	defer func() {
		t.Logf("%d commands", sent.Load())
		if t.Failed() {
			path := filepath.Join(os.TempDir(), fmt.Sprintf("godwit-hostile-%d.log", seed))
			h.save(path)
			t.Logf("the last commands are in %s; the server's log:\n%s", path, p.Tail())
		}
	}()
	for n := uint64(0); n == 0 || time.Now().Before(end); n++ {
		until := time.Now().Add(min(round, max(time.Until(end), time.Second)))
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				m := &maker{rand.New(rand.NewPCG(seed, n<<8|uint64(w))), p.self}
				for time.Now().Before(until) && !p.Ended() {
					sent.Add(m.session(p, w, &h, until))
				}
			})
		}
		watch(t, p, &h, until)
		wg.Wait()
		p = examine(t, p, dir, n)
	}
	p.stop(t)
}

// watch checks now and then that the server answers.
func watch(t *testing.T, p *process, h *history, until time.Time) {
	for time.Now().Before(until) {
		require.False(t, p.Ended(), "the server has ended")
		h.mu.Lock()
		at := h.next
		h.mu.Unlock()
		if err := p.ping(); err != nil {
			p.dump()
			require.NoError(t, err, "it answered before command %d", at)
		}
		p.repair()
		if v, err := p.Do("INFO", "memory"); err == nil && !v.IsError() {
			require.Less(t, number(v.Text(), "used_memory"), int64(memoryBound))
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// number returns a field of INFO.
func number(info, field string) int64 {
	n, _ := strconv.ParseInt(testserver.Info(info)[field], 10, 64)
	return n
}

// session runs one connection from its start to its end. It sends batches of commands, and reads
// and forgets the replies.
func (m *maker) session(p *process, worker int, h *history, until time.Time) (sent int64) {
	c, err := p.Dial()
	if err != nil {
		return 0
	}
	defer c.Close()
	c.Timeout = 2 * time.Second
	var heard atomic.Int64
	go func() {
		buf := make([]byte, 64<<10)
		for {
			n, err := c.Conn().Read(buf)
			heard.Add(int64(n))
			if err != nil {
				return
			}
		}
	}()
	if m.chance(50) {
		m.write(c, worker, h, []string{"HELLO", pick(m, "2", "3")})
	}
	for quiet := 0; quiet < 3 && time.Now().Before(until); {
		before := heard.Load()
		for range 1 + m.rng.IntN(12) {
			if m.chance(3) {
				m.write(c, worker, h, []string{"SELECT", strconv.Itoa(m.rng.IntN(4))})
			}
			if m.write(c, worker, h, m.command()) != nil {
				return sent
			}
			sent++
		}
		if m.chance(1) {
			_ = c.Send([]byte(pick(m, "*3\r\n$3\r\nSET\r\n", "*-1\r\n", "$5\r\n", "GET k1\r\n",
				"*1\r\n$99999999999\r\n", "\x00\xff\r\n", "*2147483648\r\n")))
		}
		// There is at least one reply, unless the connection waits for a key or has asked for
		// silence.
		for range 20 {
			if heard.Load() != before {
				break
			}
			time.Sleep(time.Millisecond)
		}
		if quiet++; heard.Load() != before {
			quiet = 0
		}
	}
	return sent
}

// write sends one command.
func (m *maker) write(c *client.Client, worker int, h *history, args []string) error {
	h.add(worker, args)
	all := make([]any, len(args))
	for i, a := range args {
		all[i] = a
	}
	c.Queue(all...)
	return c.Flush()
}
