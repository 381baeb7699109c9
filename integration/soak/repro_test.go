package soak

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// populate writes n small keys.
func (c *conn) populate(n int) {
	for i := 0; i < n && c.r.ok(); i += 2 * batch {
		for k := range 2 * batch {
			c.add("SET", key("k", i+k), "12345678")
		}
		c.flush()
	}
}

// sparseTable lowers the limit until next to nothing fits into a table that was made for a million
// keys. Eviction finds nothing in most of its buckets.
func sparseTable(r *run) {
	c := r.dial()
	c.populate(1000000)
	r.limited(4 * mb)
	for range 200 {
		c.do("SET", "after", "x")
		c.do("GET", "k:1")
	}
}

// largeIntoSmall gives values of 1 MB to a cache that is full of small ones.
func largeIntoSmall(r *run) {
	c, rnd := r.dial(), r.source()
	c.populate(1000000)
	for i := range 100 * r.size {
		c.do("SET", key("large", i), blob(rnd, 1<<20))
	}
	for i := range 50 {
		c.do("SET", key("small", i), "x")
	}
}

// distinctDeadlines writes keys that live for a day, each once.
func distinctDeadlines(r *run) {
	fill(r, 1000000*r.size, func(_ *rand.Rand, i int) []any {
		return []any{"SET", key("k", i), "v", "EX", 86400}
	})
}

// deadDeadlines ends keys long before their deadlines, in every way. The mark is the memory that
// remains.
func deadDeadlines(r *run) {
	c := r.dial()
	before := r.measure()
	for i := 0; i < 300000*r.size && r.ok(); i += batch / 2 {
		for k := range batch / 2 {
			name := key("k", i+k)
			c.add("SET", name, "v", "EX", 86400)
			switch i / batch % 4 {
			case 0:
				c.add("DEL", name)
			case 1:
				c.add("GETDEL", name)
			case 2:
				c.add("PERSIST", name)
				c.add("UNLINK", name)
			case 3:
				c.add("EXPIRE", name, 1000000)
				c.add("PEXPIREAT", name, 1)
			}
		}
		c.flush()
	}
	s := r.until(func(s sample) bool { return s.used <= before.used+mb })
	r.f.mark = s.used - before.used
}

// bitopNot replaces a value of 84 MB again and again, as commands, in a script, in a transaction.
func bitopNot(r *run) {
	const long = 84 << 20
	c := r.dial()
	c.must("SETRANGE", "src", long-1, "x")
	for range 20 {
		c.do("BITOP", "NOT", "dst", "src")
	}
	c.do("EVAL", "for i=1,10 do redis.call('BITOP','NOT',KEYS[1],KEYS[2]) end", 2, "dst", "src")
	c.add("MULTI")
	for range 10 {
		c.add("BITOP", "NOT", "dst", "src")
	}
	c.add("EXEC")
	c.flush()
}

// unionStore replaces a large sorted set again and again. The mark is what that adds at its peak.
func unionStore(r *run) {
	c := r.dial()
	for i := 0; i < 200000; i += batch {
		args := []any{"ZADD", "src"}
		for k := range batch {
			args = append(args, i+k, key("member", i+k))
		}
		c.add(args...)
	}
	c.flush()
	before := r.measure()
	for range 8 {
		c.add("ZUNIONSTORE", "dst", 1, "src")
	}
	c.flush()
	after := r.measure()
	r.f.mark = max(after.used, r.peakSince(before.at)) - before.used
}

// peakSince returns the largest used_memory that was sampled since the moment. It may lag by a
// sample.
func (r *run) peakSince(at time.Time) int64 {
	r.meter.mu.Lock()
	defer r.meter.mu.Unlock()
	var peak int64
	for i := len(r.meter.samples) - 1; i >= 0 && r.meter.samples[i].at.After(at); i-- {
		peak = max(peak, r.meter.samples[i].used)
	}
	return peak
}

// smallCache puts values of 1 MB into a cache of 8 MB.
func smallCache(r *run) {
	c, rnd := r.dial(), r.source()
	for i := range 100 * r.size {
		c.add("SET", key("large", i), blob(rnd, 1<<20))
		if i%5 == 4 {
			c.flush()
		}
	}
	c.flush()
}

// unreadReplies leaves 300 replies of 1 MB unread and hangs up. The mark is how much of them
// used_memory showed.
func unreadReplies(r *run) {
	c := r.dial()
	c.must("SET", "v", noise()[:mb])
	before := r.measure()
	reader := r.dial()
	for range 300 {
		reader.add("GET", "v")
	}
	if !r.ok() {
		return
	}
	if err := reader.c.Flush(); err != nil {
		r.fail(err)
		return
	}
	s := r.until(func(s sample) bool { return s.used-before.used > 200*mb })
	r.f.mark = s.used - before.used
	reader.hangUp()
	r.until(func(s sample) bool {
		return s.used < before.used+mb && s.rss < before.rss+roomForProcess
	})
}

// deepCoroutines runs scripts whose coroutines, tables and strings take much memory while they run.
// Nothing of it stays, even without SCRIPT FLUSH and MEMORY PURGE.
func deepCoroutines(r *run) {
	c := r.dial()
	c.must("EVAL", `
local function deep(n) if n == 0 then coroutine.yield() else deep(n - 1) return n end end
local t = {}
for i = 1, 1500 do
	local co = coroutine.create(deep)
	coroutine.resume(co, 150)
	t[i] = co
end
return #t`, 0)
	c.must("EVAL", "local t = {} for i = 1, 500000 do t[i] = 'v' .. i end return #t", 0)
	c.must("EVAL", "local s = string.rep('x', 1000000) local t = {} "+
		"for i = 1, 50 do t[i] = s .. i end return #t", 0)
}

// holes deletes 70 % of keys of mixed sizes at random. All but a few of them are small enough to
// share pages with others. What remains, 150 MB, is so large that the 20 MB of the process itself
// hardly show in the ratio.
func holes(r *run) {
	c, rnd := r.dial(), r.source()
	n := 800000 * r.size
	for i := 0; i < n && r.ok(); i += batch {
		for k := range batch {
			c.add("SET", key("k", i+k), blob(rnd, mixedSize(rnd, 1<<15)*8))
		}
		c.flush()
	}
	for i := 0; i < n && r.ok(); i += batch {
		for k := range batch {
			if rnd.IntN(10) < 7 {
				c.add("DEL", key("k", i+k))
			}
		}
		c.flush()
	}
	start := time.Now()
	for r.f.frag = r.fragmentation(); r.f.frag >= 1.3 && r.ok() && !r.overdue(start); {
		time.Sleep(10 * meterPeriod)
		r.f.frag = r.fragmentation()
	}
}

// markAtMost returns a check that the mark is at most limit.
func markAtMost(limit int64) func(figures) string {
	return func(ours figures) string {
		if ours.mark <= limit {
			return ""
		}
		return fmt.Sprintf("%s MB marked, %s are allowed", megabytes(ours.mark), megabytes(limit))
	}
}
