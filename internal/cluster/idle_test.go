package cluster

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// BenchmarkIdle measures what clusters cost that do nothing, in one process. An iteration is a
// second.
func BenchmarkIdle(b *testing.B) {
	for _, n := range []int{3, 10, 30} {
		b.Run(fmt.Sprintf("nodes=%d", n), func(b *testing.B) {
			list := form(b, n, func(o *Options) { o.Timeout = 5 * time.Second })
			time.Sleep(2 * time.Second) // voters are chosen, links opened
			bytes, messages := traffic(list)
			cpu, began := used(b), time.Now()
			for b.Loop() {
				time.Sleep(time.Second)
			}
			spent := time.Since(began).Seconds() * float64(n)
			after, more := traffic(list)
			b.ReportMetric(float64((used(b)-cpu).Microseconds())/1000/spent, "cpu-ms/s/node")
			b.ReportMetric(float64(after-bytes)/spent, "bytes/s/node")
			b.ReportMetric(float64(more-messages)/spent, "messages/s/node")
		})
	}
}

// traffic returns what all nodes have sent.
func traffic(list []*member) (bytes, messages uint64) {
	for _, m := range list {
		s := m.Stats()
		bytes += s.Bus.BytesOut
		for _, n := range s.Sent {
			messages += n
		}
	}
	return bytes, messages
}

// used returns the process's CPU time.
func used(b *testing.B) time.Duration {
	var u unix.Rusage
	require.NoError(b, unix.Getrusage(unix.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
