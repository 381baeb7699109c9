package server

import (
	"testing"

	"godwit/internal/engine"
)

// TestCycles compares what INFO says of the event loops with what they have done.
func TestCycles(t *testing.T) {
	everyWay(t, "", false, func(t *testing.T, r *rig) {
		c := r.client()
		r.want(c, "PONG", "ping")
		var before, now engine.LoopStats
		r.locked(func() { before = r.eng.Stats.Loop })
		for range 20 {
			r.want(c, "PONG", "ping")
		}
		for range 3 {
			if err := c.Send([]byte("PING\r\nPING\r\nPING\r\nPING\r\nPING\r\n")); err != nil {
				t.Fatal(err)
			}
			for range 5 {
				if v, err := c.Receive(); err != nil || v.Text() != "PONG" {
					t.Fatal(v, err)
				}
			}
		}
		r.want(c, "PONG", "ping") // a turn counts when the next one begins
		r.eventually("all turns are counted", func() bool {
			r.locked(func() { now = r.eng.Stats.Loop })
			return now.Cycles >= before.Cycles+22 && now.MostCommands >= 5 &&
				now.Nanos >= now.CommandNanos
		})
		if now.CommandNanos <= before.CommandNanos ||
			now.LongestNanos <= 0 || now.LongestNanos > now.Nanos {
			t.Errorf("%+v", now)
		}
		if r.tls != nil || len(r.srv.loops) == 0 {
			return // no loop has served it
		}
		r.eventually("what the loops have served is counted", func() bool {
			var sum engine.ThreadStats
			r.locked(func() {
				for _, s := range r.eng.Threads {
					sum.Clients += s.Clients
					sum.Reads += s.Reads
					sum.Writes += s.Writes
				}
			})
			return sum.Clients == 1 && sum.Reads >= 25 && sum.Writes >= 25
		})
	})
}
