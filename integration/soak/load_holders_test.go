package soak

import (
	"math/rand/v2"
	"time"
)

// moveLimit moves maxmemory up and down, at times down to a nearly empty table.
func moveLimit(r *run, rnd *rand.Rand, working <-chan struct{}) {
	for r.ok() && !over(working) {
		limit := chaosLimit/4 + rnd.Int64N(chaosLimit*3/4)
		if rnd.IntN(4) == 0 {
			limit = 4*mb + rnd.Int64N(4*mb)
		}
		r.limited(limit)
		pause(working, time.Duration(20+rnd.IntN(200))*time.Millisecond)
	}
}

// persistAll keeps snapshots and rewrites of the log going.
func persistAll(r *run, rnd *rand.Rand, working <-chan struct{}) {
	c := r.dial()
	for r.ok() && !over(working) {
		switch rnd.IntN(5) {
		case 0:
			c.do("CONFIG", "SET", "appendonly", "yes")
		case 1:
			c.do("CONFIG", "SET", "appendonly", "no")
		case 2:
			c.do("BGREWRITEAOF")
		default:
			c.do("BGSAVE")
		}
		pause(working, time.Duration(20+rnd.IntN(100))*time.Millisecond)
	}
}

// readSlowly asks for more than it reads, then reads the rest or hangs up. It leaves at most a
// quarter of the limit unread.
func readSlowly(r *run, rnd *rand.Rand, working <-chan struct{}) {
	setter := r.dial()
	for r.ok() && !over(working) {
		size := 1 << (10 + rnd.IntN(11))
		setter.do("SET", "slow", blob(rnd, size))
		reader := r.dial()
		n := min(2000, int(chaosLimit)/4/size)
		for range n {
			reader.add("GET", "slow")
		}
		if !r.ok() {
			return
		}
		if err := reader.c.Flush(); err != nil {
			r.fail(err)
			return
		}
		pause(working, time.Duration(rnd.IntN(300))*time.Millisecond)
		if rnd.IntN(2) == 0 {
			for range n {
				if _, err := reader.c.Receive(); err != nil {
					r.fail(err)
					return
				}
			}
		}
		reader.hangUp()
	}
}

// track fills the tracking table and reads the invalidations.
func track(r *run, rnd *rand.Rand, working <-chan struct{}) {
	for r.ok() && !over(working) {
		c := r.dial()
		c.do("HELLO", 3)
		args := []any{"CLIENT", "TRACKING", "ON"}
		if rnd.IntN(3) == 0 {
			args = append(args, "BCAST", "PREFIX", "str:")
		}
		c.do(args...)
		for range 20 {
			if over(working) {
				break
			}
			for range batch {
				c.add("GET", key("str", rnd.IntN(5*families)))
			}
			c.flush()
			pause(working, time.Duration(rnd.IntN(20))*time.Millisecond)
		}
		c.hangUp()
	}
}

// queueUp holds queues of MULTI open, then runs, drops or abandons them. It looks only at the last
// reply, which may be an error if the server was full meanwhile.
func queueUp(r *run, rnd *rand.Rand, working <-chan struct{}) {
	for r.ok() && !over(working) {
		c := r.dial()
		c.do("MULTI")
		for range 50 {
			c.add("SET", key("str", rnd.IntN(families)), blob(rnd, mixedSize(rnd, 1<<16)))
		}
		c.flush()
		pause(working, time.Duration(rnd.IntN(200))*time.Millisecond)
		if end := rnd.IntN(3); end < 2 {
			c.do([]string{"EXEC", "DISCARD"}[end])
		}
		c.hangUp()
	}
}

// pause waits for d, or until the work is done.
func pause(working <-chan struct{}, d time.Duration) {
	select {
	case <-working:
	case <-time.After(d):
	}
}
