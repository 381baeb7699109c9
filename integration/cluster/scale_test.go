package cluster

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/testserver"
)

var (
	scale     = flag.Bool("scale", false, "measure idle clusters of up to 30 processes")
	scaleTime = flag.Duration("scaletime", 20*time.Second, "for how long each is measured")
)

// spent is what processes have used: CPU time in seconds, bytes written to links and files, and
// resident bytes.
type spent struct {
	cpu, written, resident float64
}

// spentBy sums up what the nodes of a cluster have used, as Linux counts it.
func spentBy(t *testing.T, c *testserver.Cluster) (s spent) {
	t.Helper()
	const ticks = 100 // USER_HZ
	for _, n := range c.Nodes {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", n.Pid))
		if os.IsNotExist(err) {
			t.Skip("without /proc")
		}
		require.NoError(t, err)
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		for _, f := range fields[11:13] { // user and system time
			v, err := strconv.ParseFloat(f, 64)
			require.NoError(t, err)
			s.cpu += v / ticks
		}
		io, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", n.Pid))
		require.NoError(t, err)
		for line := range strings.Lines(string(io)) {
			if f, ok := strings.CutPrefix(line, "wchar: "); ok {
				v, err := strconv.ParseFloat(strings.TrimSpace(f), 64)
				require.NoError(t, err)
				s.written += v
			}
		}
		rss, err := testserver.RSS(n.Pid)
		require.NoError(t, err)
		s.resident += float64(rss)
	}
	return s
}

// TestScale prints what an idle cluster of real processes costs, and how long it takes to replace a
// master that was killed.
func TestScale(t *testing.T) {
	if !*scale {
		t.Skip("without -scale")
	}
	inTurn(t, func(t *testing.T, k testserver.Kind) {
		t.Log("nodes  CPU ms/s all  CPU ms/s a node  KB/s all  KB/s a node  MB a node  promoted" +
			"  first write, node timeouts")
		for _, masters := range []int{3, 5, 15} {
			c := testserver.RunCluster(t, testserver.ClusterOptions{Kind: k, Masters: masters,
				Replicas: 1, Timeout: 5 * time.Second})
			time.Sleep(2 * c.Options.Timeout) // what joining has begun is over
			nodes := float64(len(c.Nodes))
			before, begun := spentBy(t, c), time.Now()
			time.Sleep(*scaleTime)
			after, took := spentBy(t, c), time.Since(begun).Seconds()
			cpu := (after.cpu - before.cpu) * 1000 / took
			kb := (after.written - before.written) / 1024 / took

			old, next := c.Master(0), c.Replica(0)
			tag := tagOf(t, c, 0)
			moment := time.Now()
			old.Kill()
			require.NoError(t, c.WaitOwner(slotOf(tag), next, c.Master(1)))
			promoted := time.Since(moment)
			eventually(t, func() bool {
				v, err := next.Do("SET", "{"+tag+"}", 1)
				return err == nil && v.Text() == "OK"
			}, "a write")
			written := time.Since(moment)
			t.Logf("%5.0f  %12.1f  %15.2f  %8.1f  %11.2f  %9.1f  %8.2f  %11.2f", nodes, cpu,
				cpu/nodes, kb, kb/nodes, after.resident/nodes/(1<<20),
				promoted.Seconds()/c.Options.Timeout.Seconds(),
				written.Seconds()/c.Options.Timeout.Seconds())
			c.Close()
		}
	})
}
