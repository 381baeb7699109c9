package sim

import (
	"flag"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var scale = flag.Bool("scale", false, "measure idle clusters of up to 200 nodes")

// TestScale prints what an idle cluster costs and how long it takes to agree on a promotion.
func TestScale(t *testing.T) {
	if !*scale {
		t.Skip("without -scale")
	}
	t.Log("nodes  messages/s  KB/s all  KB/s leader  CPU ms/s all  kill to promotion  to write")
	for _, n := range []int{3, 10, 30, 100, 200} {
		within(t, Options{Seed: 1, Nodes: n, Confirm: -1, Calm: true}, func(w *World) {
			w.runFor(2 * Timeout)
			w.net.sent, w.net.bytes = 0, map[*host]int{}
			start := time.Now()
			w.runFor(10 * Timeout)
			used := time.Since(start)
			total, sent := 0, w.net.sent
			for _, b := range w.net.bytes {
				total += b
			}
			led := w.net.bytes[w.leader()]
			var victim *host
			for _, h := range w.hosts {
				if h.server.able(0) {
					victim = h
				}
			}
			cluster := victim.node.State().Cluster
			victim.crash()
			killed, promoted := w.now, int64(0)
			ok := w.runUntil(3*Timeout/2, func() bool {
				sh := w.check.newest[cluster].ShardOf(victim.id)
				if promoted == 0 && sh.Master != "" && sh.Master != victim.id {
					promoted = w.now - killed
				}
				return w.accepts(0)
			})
			require.True(t, ok)
			t.Logf("%5d  %10d  %8d  %11d  %12.1f  %17v  %8v", n, sent/10, total/10240, led/10240,
				float64(used.Microseconds())/1e4, time.Duration(promoted).Round(time.Millisecond),
				time.Duration(w.now-killed).Round(time.Millisecond))
			runtime.GC()
		})
	}
}
