package integration

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOptimisticCounter has clients increment a counter by WATCH, GET and SET. No increment may be
// lost.
func TestOptimisticCounter(t *testing.T) {
	everywhere(t, func(e *env) {
		const clients, each = 4, 30
		together(clients, func(int) {
			for range each {
				assert.NoError(e, watchUntilDone(e, func(tx *redis.Tx) error {
					n, err := tx.Get(e.ctx, "n").Int()
					if err != nil && !errors.Is(err, redis.Nil) {
						return err
					}
					_, err = tx.TxPipelined(e.ctx, func(p redis.Pipeliner) error {
						p.Set(e.ctx, "n", n+1, 0)
						return nil
					})
					return err
				}, "n"))
			}
		})
		n, err := e.c.Get(e.ctx, "n").Int()
		require.NoError(e, err)
		require.Equal(e, clients*each, n)
	})
}

// watchUntilDone tries again for as long as the keys change under the transaction.
func watchUntilDone(e *env, f func(tx *redis.Tx) error, keys ...string) error {
	for until := time.Now().Add(patience); time.Now().Before(until); {
		if err := e.c.Watch(e.ctx, f, keys...); !errors.Is(err, redis.TxFailedErr) {
			return err
		}
	}
	return context.DeadlineExceeded
}

// TestTransactionEnds checks that the queue of a connection that ends is dropped, and that its
// watched keys are forgotten.
func TestTransactionEnds(t *testing.T) {
	godwitOnly(t) // the fields of INFO are those of later versions
	t.Parallel()
	s := startServer(t)
	c, watcher := s.dial(t), s.dial(t)
	for _, cmd := range []string{"WATCH k", "MULTI", "SET k 1", "SET k2 1"} {
		do(t, watcher, argsOf(cmd)...)
	}
	require.Contains(t, do(t, c, "INFO", "clients").Text(), "watching_clients:1")
	watcher.Close()
	eventually(t, "the client is gone", func() bool {
		return strings.Contains(do(t, c, "INFO", "clients").Text(), "watching_clients:0")
	})
	require.Zero(t, do(t, c, "EXISTS", "k", "k2").Int)
	require.Contains(t, do(t, c, "INFO", "clients").Text(), "total_watched_keys:0")
}

func argsOf(line string) (out []any) {
	for _, w := range strings.Fields(line) {
		out = append(out, w)
	}
	return out
}

// TestTransactionQueueLimit checks that a queue counts as input that was not run. A client whose
// queue exceeds client-query-buffer-limit is closed.
func TestTransactionQueueLimit(t *testing.T) {
	godwitOnly(t)
	t.Parallel()
	s := startServer(t, "--client-query-buffer-limit", "1mb")
	c, queuing := s.dial(t), s.dial(t)
	do(t, queuing, "MULTI")
	value := strings.Repeat("v", 100_000)
	n := 0
	for ; n < 100; n++ {
		if _, err := queuing.Do("SET", "k", value); err != nil {
			break
		}
	}
	require.InDelta(t, 11, n, 2)
	require.Contains(t, do(t, c, "INFO", "stats").Text(),
		"client_query_buffer_limit_disconnections:1")
	require.Zero(t, do(t, c, "EXISTS", "k").Int)
}

// TestTransactionInTheLog checks that a transaction is one unit of the append-only file, wherever
// its end is torn.
func TestTransactionInTheLog(t *testing.T) {
	godwitOnly(t)
	t.Parallel()
	s := startServer(t, with("--appendonly", "yes")...)
	c := s.dial(t)
	for _, cmd := range []string{"SET a 0", "MULTI", "SET a 1", "SELECT 3", "SET b 1",
		"BGREWRITEAOF", "INCR b", "SELECT 0", "INCR a", "EXEC"} {
		do(t, c, argsOf(cmd)...)
	}
	eventually(t, "the rewrite ends", func() bool {
		return persistInfo(t, c, "aof_rewrites") != "0" &&
			persistInfo(t, c, "aof_rewrite_in_progress") == "0" &&
			persistInfo(t, c, "aof_rewrite_scheduled") == "0"
	})
	for _, cmd := range []string{"MULTI", "INCR a", "SELECT 3", "INCR b", "EXEC"} {
		do(t, c, argsOf(cmd)...)
	}
	s.stop(t)
	checkAOF(t, s.Dir)
	s, err := launchReady(s.Dir, with("--appendonly", "yes")...)
	require.NoError(t, err)
	t.Cleanup(func() { s.Finish(t) })
	c = s.dial(t)
	require.Equal(t, "3", do(t, c, "GET", "a").Text())
	do(t, c, "SELECT", "3")
	require.Equal(t, "3", do(t, c, "GET", "b").Text())
}

// TestWatchSeesReload checks that keys from a file or a payload count as changed, and so does what
// a blocked client was given.
func TestWatchSeesReload(t *testing.T) {
	t.Parallel()
	s := startServer(t, "--enable-debug-command", "yes")
	c, other := s.dial(t), s.dial(t)
	do(t, c, "SET", "other", "v")
	payload := do(t, c, "DUMP", "other").Text()
	for _, step := range []struct {
		what   string
		change func()
		seen   bool
	}{
		{"nothing", func() { do(t, other, "GET", "k") }, false},
		{"RESTORE", func() { do(t, other, "RESTORE", "k", 0, payload, "REPLACE") }, true},
		{"DEBUG RELOAD", func() { do(t, other, "DEBUG", "RELOAD") }, true},
		{"a transaction", func() {
			do(t, other, "MULTI")
			do(t, other, "APPEND", "k", "x")
			do(t, other, "EXEC")
		}, true},
		{"a transaction that is dropped", func() {
			do(t, other, "MULTI")
			do(t, other, "APPEND", "k", "x")
			do(t, other, "DISCARD")
		}, false},
		{"BLMOVE served", func() {
			waiting := s.dial(t)
			do(t, other, "DEL", "k", "source")
			do(t, c, "UNWATCH")
			do(t, c, "WATCH", "k")
			waiting.Queue("BLMOVE", "source", "k", "LEFT", "LEFT", 0)
			require.NoError(t, waiting.Flush())
			eventually(t, "it waits", func() bool {
				return strings.Contains(do(t, other, "INFO", "clients").Text(), "blocked_clients:1")
			})
			do(t, other, "RPUSH", "source", "x")
			_, err := waiting.Receive()
			require.NoError(t, err)
		}, true},
	} {
		do(t, c, "SET", "k", "v")
		do(t, c, "WATCH", "k")
		step.change()
		do(t, c, "MULTI")
		do(t, c, "PING")
		require.Equal(t, step.seen, do(t, c, "EXEC").IsNull(), step.what)
	}
}

// TestTransactionServesAfterwards checks that a client that waits for a list gets what is left of
// it after the whole transaction, not what was there in between.
func TestTransactionServesAfterwards(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	c, waiting := s.dial(t), s.dial(t)
	waiting.Queue("BLPOP", "l", 0)
	require.NoError(t, waiting.Flush())
	eventually(t, "it waits", func() bool {
		return strings.Contains(do(t, c, "INFO", "clients").Text(), "blocked_clients:1")
	})
	for _, cmd := range []string{"MULTI", "RPUSH l a", "LPOP l", "BLPOP none 0", "RPUSH l b c",
		"LPOP l", "EXEC"} {
		do(t, c, argsOf(cmd)...)
	}
	v, err := waiting.Receive()
	require.NoError(t, err)
	require.Equal(t, []string{"l", "c"}, v.Strings())
}

// TestTransactionPaused checks that CLIENT PAUSE WRITE holds back an EXEC that writes, and what is
// queued meanwhile if it writes.
func TestTransactionPaused(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	c, reader, writer := s.dial(t), s.dial(t), s.dial(t)
	for _, cmd := range []string{"MULTI", "GET k"} {
		do(t, reader, argsOf(cmd)...)
	}
	for _, cmd := range []string{"MULTI", "SET k v"} {
		do(t, writer, argsOf(cmd)...)
	}
	do(t, c, "CLIENT", "PAUSE", 60_000, "WRITE")
	require.Len(t, do(t, reader, "EXEC").Elems, 1)
	writer.Queue("EXEC")
	require.NoError(t, writer.Flush())
	eventually(t, "it is held back", func() bool {
		return strings.Contains(do(t, c, "INFO", "clients").Text(), "blocked_clients:1")
	})
	require.Zero(t, do(t, c, "EXISTS", "k").Int)
	do(t, c, "CLIENT", "UNPAUSE")
	v, err := writer.Receive()
	require.NoError(t, err)
	require.Len(t, v.Elems, 1)
	require.EqualValues(t, 1, do(t, c, "EXISTS", "k").Int)
}
