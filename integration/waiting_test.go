package integration

import (
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/testserver"
)

// TestWaiting checks what depends on how the event loops wait, with as many processors of the Go
// scheduler as there are by default, with one and with two, and with one loop and three. What is
// lost here hangs.
func TestWaiting(t *testing.T) {
	t.Parallel()
	godwitOnly(t)
	for _, procs := range []string{"", "1", "2"} {
		for _, threads := range []string{"1", "3"} {
			t.Run("GOMAXPROCS="+procs+" io-threads="+threads, func(t *testing.T) {
				t.Parallel()
				w := startWaiting(t, procs, threads)
				w.quiet()
				w.busy()
				w.quiet()
				w.s.stop(t) // SIGTERM while all loops are parked
			})
		}
	}
}

type waiting struct {
	*testing.T
	s   *server
	tls string
	pki *pki
}

func startWaiting(t *testing.T, procs, threads string) *waiting {
	dir := t.TempDir()
	p, err := newPKI(dir)
	require.NoError(t, err)
	w := &waiting{T: t, pki: p}
	port := strconv.Itoa(freePort())
	w.tls = "127.0.0.1:" + port
	w.s = &server{testserver.Run(t, testserver.Options{Dir: dir,
		Env:  []string{"GOMAXPROCS=" + procs},
		Args: append([]string{"--tls-port", port, "--io-threads", threads}, p.args()...)})}
	return w
}

// quiet lets clients wait while nothing else happens.
func (w *waiting) quiet() {
	blocked, other := w.s.dial(w), w.s.dial(w)
	id := do(w, blocked, "CLIENT", "ID").Int
	for range 5 {
		require.True(w, do(w, blocked, "BLPOP", "none", "0.02").IsNull())
	}
	for _, wake := range [][]any{
		{"CLIENT", "UNBLOCK", id, "ERROR"}, {"RPUSH", "list", "element"},
	} {
		blocked.Queue("BLPOP", "list", "0")
		require.NoError(w, blocked.Flush())
		eventually(w, "the client blocks", func() bool {
			info := testserver.Info(do(w, other, "INFO", "clients").Text())
			return info["blocked_clients"] == "1"
		})
		do(w, other, wake...)
		_, err := blocked.Receive()
		require.NoError(w, err)
	}
	require.NoError(w, blocked.Close())
	require.NoError(w, other.Close())
}

// busy does what needs other goroutines while the loops have brisk traffic: new connections, TLS,
// timeouts, a snapshot.
func (w *waiting) busy() {
	var over atomic.Bool
	done := make(chan error, 3)
	for range cap(done) {
		c := w.s.dial(w)
		go func() {
			var err error
			for !over.Load() && err == nil {
				_, err = c.Do("INCR", "counter")
			}
			done <- err
		}()
	}
	for range 10 {
		c := w.s.dial(w)
		require.True(w, do(w, c, "BLPOP", "none", "0.005").IsNull())
		require.NoError(w, c.Close())
		c = w.pki.dial(w, w.tls)
		require.Equal(w, "PONG", do(w, c, "PING").Text())
		require.NoError(w, c.Close())
	}
	c := w.s.dial(w)
	do(w, c, "BGSAVE")
	eventually(w, "the snapshot is written", func() bool {
		info := testserver.Info(do(w, c, "INFO", "persistence").Text())
		return info["rdb_bgsave_in_progress"] == "0" && info["rdb_last_bgsave_status"] == "ok"
	})
	require.NoError(w, c.Close())
	over.Store(true)
	for range cap(done) {
		require.NoError(w, <-done)
	}
}
