package soak

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"godwit/internal/resp/client"
	"godwit/internal/testserver"
)

const (
	mb = int64(1) << 20

	// roomForProcess is what the process may hold beyond its memory at the start and its limit:
	// code that was paged in, stacks, and the runtime's reserve.
	roomForProcess = 32 * mb
	// roomAfterFlush is what may stay resident after FLUSHALL: memory that Go's heap and the arena
	// keep because giving it back is not worth it, the runtime's structures, and code.
	roomAfterFlush = 24 * mb
	// roomForUsed is how far used_memory may be above its value at the start under the lowest
	// limits.
	roomForUsed = 2 * mb
	// settleTime is how long memory may take to reach its bound after a load.
	settleTime = 10 * time.Second
)

// figures are the results of a run.
type figures struct {
	limit             int64         // maxmemory at the end
	keys              float64       // mean of a full cache, see census; 0 if not measured
	hits              float64       // share of reads that found their key; 0 if not measured
	used, rss         int64         // at the end of the load, settled
	peakUsed, peakRSS int64         // during the load
	overUsed, overRSS int64         // largest excess over what is allowed during the load
	restUsed, restRSS int64         // excess over what is allowed, settled
	atWorst           string        // what INFO memory shows at the largest excess of used_memory
	grown             string        // what INFO memory shows of the growth
	atRest            string        // what INFO memory shows at the end of the load, settled
	left, leftRSS     int64         // above a fresh start after FLUSHALL
	frag              float64       // mem_fragmentation_ratio when a scenario asks for it
	mark              int64         // bytes that a scenario measures
	wait              time.Duration // the longest wait of a request, less the machine's stalls
	waitFor           string
	loadTime          time.Duration // of the load alone
	done, refused     int           // commands answered, and those refused with OOM
	err               error
}

// run is one scenario on one server.
type run struct {
	side     *side
	rnd      *rand.Rand
	size     int   // 1 in the first round, larger later
	inFlight int64 // what the clients may have in flight: beside the limit of resident bytes
	stalls   stalls
	// evictsAll reports whether the policy evicts any key.
	evictsAll bool
	meter     meter
	conns     []*conn
	control   *conn

	mu sync.Mutex
	f  figures
}

// ok reports whether the run has not failed.
func (r *run) ok() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.f.err == nil
}

// fail ends the run. The first reason counts.
func (r *run) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.f.err == nil {
		r.f.err = err
	}
}

// waited counts the wait of a request that was sent at start and has just been answered.
func (r *run) waited(start time.Time, what string) {
	wait := time.Since(start)
	r.mu.Lock()
	longest := r.f.wait
	r.mu.Unlock()
	if wait <= longest {
		return
	}
	if wait > shortWait && r.side.judged { // Redis gets no excuse: its waits are the allowance
		wait -= r.stalls.since(start)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if wait > r.f.wait {
		r.f.wait, r.f.waitFor = wait, what
	}
}

// count looks at the replies of a batch.
func (r *run) count(replies []client.Value, what string) {
	refused := 0
	var odd error
	for _, v := range replies {
		switch {
		case !v.IsError() && v.Kind == client.Array:
			for _, e := range v.Elems { // of an EXEC
				if e.IsError() && !isExpected(e.Text()) && !outOfMemory(e.Text()) {
					odd = errors.New(e.Text())
				}
			}
		case !v.IsError(), isExpected(v.Text()):
		case outOfMemory(v.Text()):
			refused++
		default:
			odd = errors.New(v.Text())
		}
	}
	if odd != nil {
		r.fail(fmt.Errorf("%s …: %w", what, odd))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.f.done += len(replies)
	r.f.refused += refused
}

// dial opens a connection that ends with the run.
func (r *run) dial() *conn {
	c, err := r.side.p.Dial()
	if err != nil {
		r.fail(err)
		return &conn{r: r}
	}
	k := &conn{r: r, c: c}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conns = append(r.conns, k)
	return k
}

// hangUp closes a connection before the end of the run.
func (c *conn) hangUp() {
	if c.c != nil {
		c.c.Close()
	}
}

// source returns a new source of random numbers for a part of the load.
func (r *run) source() *rand.Rand { return rand.New(rand.NewPCG(r.rnd.Uint64(), r.rnd.Uint64())) }

// limited sets maxmemory.
func (r *run) limited(bytes int64) { r.control.must("CONFIG", "SET", "maxmemory", bytes) }

// mayUse returns the used_memory that the limit allows: 5 % more, and no less than an empty server.
func (r *run) mayUse(limit int64) int64 {
	if limit == 0 {
		return math.MaxInt64 / 2
	}
	return max(limit+limit/20, r.side.freshUsed+roomForUsed)
}

// mayReside returns the resident bytes that the limit allows: 25 % more and the process itself.
func (r *run) mayReside(limit int64) int64 {
	if limit == 0 {
		return math.MaxInt64 / 2
	}
	return limit + limit/4 + r.side.freshRSS + roomForProcess
}

// measure takes one sample with the run's own connection.
func (r *run) measure() sample {
	if !r.ok() {
		return sample{}
	}
	s, err := r.take(r.control.c)
	if err != nil {
		r.fail(err)
	}
	return s
}

// patience returns how long the server may take to reach its bounds.
func (r *run) patience() time.Duration {
	if r.side.judged {
		return settleTime
	}
	return settleTime / 50
}

// until takes samples until one is good, and returns the last. It gives up after the patience and
// the time that the machine's scheduler has taken.
func (r *run) until(good func(sample) bool) sample {
	start := time.Now()
	for {
		s := r.measure()
		if !r.ok() || good(s) || r.overdue(start) {
			return s
		}
		time.Sleep(meterPeriod)
	}
}

// overdue reports whether the server has had its time since the start.
func (r *run) overdue(start time.Time) bool {
	return time.Since(start) > r.patience() &&
		time.Since(start)-r.stalls.since(start) > r.patience()
}

// settle waits until memory is within the limit that is in force.
func (r *run) settle() {
	s := r.until(func(s sample) bool {
		return s.used <= r.mayUse(s.limit) && s.rss <= r.mayReside(s.limit)
	})
	r.f.limit, r.f.used, r.f.rss = s.limit, s.used, s.rss
	r.f.restUsed, r.f.restRSS = s.used-r.mayUse(s.limit), s.rss-r.mayReside(s.limit)
	r.f.atRest = s.grown(r.side.fresh)
}

// clear empties the server and waits until its memory is what it was at the start.
func (r *run) clear() {
	for _, c := range r.conns {
		if c != r.control {
			c.hangUp()
		}
	}
	for _, cmd := range []string{"CONFIG SET maxmemory 0 appendonly no", "FLUSHALL SYNC",
		"SCRIPT FLUSH", "FUNCTION FLUSH", "SLOWLOG RESET",
		"CONFIG SET maxmemory-policy noeviction"} {
		r.control.must(words(cmd)...)
	}
	r.quiet()
	s := r.until(func(s sample) bool {
		return s.used <= r.side.freshUsed+mb && s.rss <= r.side.freshRSS+roomAfterFlush
	})
	r.f.left, r.f.leftRSS = s.used-r.side.freshUsed, s.rss-r.side.freshRSS
	r.f.grown = s.grown(r.side.fresh)
}

// quiet waits until no snapshot and no rewrite of the log runs.
func (r *run) quiet() {
	for end := time.Now().Add(patience); r.ok(); time.Sleep(meterPeriod) {
		m := testserver.Info(r.control.do("INFO", "persistence").Text())
		if m["rdb_bgsave_in_progress"] == "0" && m["aof_rewrite_in_progress"] == "0" &&
			m["aof_rewrite_scheduled"] == "0" {
			return
		}
		if time.Now().After(end) {
			r.fail(errors.New("a snapshot or a rewrite of the log does not end"))
		}
	}
}

// fragmentation returns INFO's mem_fragmentation_ratio.
func (r *run) fragmentation() float64 {
	m := testserver.Info(r.control.do("INFO", "memory").Text())
	f, err := strconv.ParseFloat(m["mem_fragmentation_ratio"], 64)
	if err != nil && r.ok() {
		r.fail(err)
	}
	return f
}
