package cluster

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/testserver"
)

// TestFailoverOnRequest has a replica take over from a master that is well, and back. Clients are
// redirected, and nothing else: no connection is closed and no write refused, be it that replies
// wait for replicas or not.
func TestFailoverOnRequest(t *testing.T) {
	each(t, func(t *testing.T, k testserver.Kind) {
		takesLong(t)
		args := map[string][]string{"alone": nil}
		if promises(k) {
			args["confirmed"] = []string{"--min-replicas-to-ack", "1"}
		}
		for name, args := range args {
			t.Run(name, func(t *testing.T) {
				failOverOnRequest(t, testserver.RunCluster(t, testserver.ClusterOptions{Kind: k,
					Masters: 3, Replicas: 1, Args: args,
					Timeout: 5 * time.Second, // no lease ends on a busy machine
				}))
			})
		}
	})
}

func failOverOnRequest(t *testing.T, c *testserver.Cluster) {
	old, next := c.Master(2), c.Replica(2)
	tag := tagOf(t, c, 2)
	w := startPlain(t, c, "{"+tag+"}")
	for range 4 {
		w.more(t, 100)
		v, err := next.Do("CLUSTER", "FAILOVER")
		require.NoError(t, err)
		require.Equal(t, "OK", v.Text())
		require.NoError(t, c.WaitOwner(slotOf(tag), next, c.Nodes...))
		require.NoError(t, c.WaitReady())
		w.more(t, 100)
		old, next = next, old
	}
	faults := w.end(t)
	if promises(c.Options.Kind) {
		require.Empty(t, faults)
	}
	t.Logf("%d writes, faults: %v", w.done.Load(), faults)
	v, err := c.Master(0).Do("CLUSTER", "FAILOVER")
	require.NoError(t, err)
	require.Equal(t, "ERR You should send CLUSTER FAILOVER to a replica", v.Text())
}

// plain are clients that follow redirections and never send a command again: one writes, and one
// waits for what another one pushes in the end.
type plain struct {
	prefix string
	writer *walker
	popper *walker
	stop   chan struct{}
	wait   sync.WaitGroup
	done   atomic.Int64 // writes
	faults []string     // replies and ends of connections that are none
	popped chan string
}

func startPlain(t *testing.T, c *testserver.Cluster, prefix string) *plain {
	p := &plain{prefix: prefix, writer: newWalker(c, testserver.Patience),
		popper: newWalker(c, 2*testserver.Patience), stop: make(chan struct{}),
		popped: make(chan string, 1)}
	t.Cleanup(p.writer.close)
	t.Cleanup(p.popper.close)
	p.wait.Go(func() {
		for {
			select {
			case <-p.stop:
				return
			default:
			}
			v, err := p.writer.do(prefix, "SET", fmt.Sprint(prefix, p.done.Load()), "x")
			if err != nil || v.Text() != "OK" {
				p.faults = append(p.faults, fmt.Sprint(v, err))
			}
			p.done.Add(1)
		}
	})
	go func() {
		v, err := p.popper.do(prefix, "BLPOP", prefix+"list", 0)
		p.popped <- fmt.Sprint(v, err)
	}()
	return p
}

// more waits until so many more writes are answered.
func (p *plain) more(t *testing.T, n int64) {
	t.Helper()
	n += p.done.Load()
	eventually(t, func() bool { return p.done.Load() >= n }, "writes are answered")
}

// end stops the clients and returns what has gone wrong. All that was written must be there.
func (p *plain) end(t *testing.T) []string {
	close(p.stop)
	p.wait.Wait()
	v, err := p.writer.do(p.prefix, "RPUSH", p.prefix+"list", "pushed")
	require.NoError(t, err)
	require.False(t, v.IsError(), v.Text())
	if got := <-p.popped; !strings.Contains(got, "pushed") {
		p.faults = append(p.faults, got)
	}
	for n := range p.done.Load() {
		v, err := p.writer.do(p.prefix, "EXISTS", fmt.Sprint(p.prefix, n))
		require.NoError(t, err)
		if v.Int != 1 {
			p.faults = append(p.faults, fmt.Sprint("lost: ", n))
		}
	}
	return p.faults
}

// TestFailoverInVain asks for a failover that is given up, because the replica does not get what it
// lacks, and then for one that is possible.
func TestFailoverInVain(t *testing.T) {
	each(t, func(t *testing.T, k testserver.Kind) {
		takesLong(t)
		var args []string
		const patience = 3 * testserver.ClusterTimeout
		if promises(k) {
			args = []string{"--cluster-manual-failover-timeout",
				fmt.Sprint(patience.Milliseconds())}
		}
		c := startCluster(t, k, true, args...)
		old, next := c.Master(0), c.Replica(0)
		tag := tagOf(t, c, 0)
		ask := func() {
			v, err := next.Do("CLUSTER", "FAILOVER")
			require.NoError(t, err)
			require.Equal(t, "OK", v.Text())
		}
		write := func() (took time.Duration) {
			began := time.Now()
			v, err := old.Do("SET", "{"+tag+"}", began.String())
			require.NoError(t, err)
			require.Equal(t, "OK", v.Text())
			return time.Since(began)
		}
		old.Door.Stall(true)
		write()
		ask()
		waited := write()
		for ; waited < c.Options.Timeout/2; waited = write() {
		}
		if promises(k) {
			require.Greater(t, waited, patience-c.Options.Timeout)
		}
		old.Door.Stall(false)
		require.NoError(t, c.WaitReady())
		ask()
		require.NoError(t, c.WaitOwner(slotOf(tag), next, c.Nodes...))
		require.NoError(t, next.WaitSame(old.Server))
	})
}
