package replication

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
	"godwit/internal/testserver"
)

// load is clients that write at random.
type load struct {
	cancel context.CancelFunc
	wait   sync.WaitGroup
	mu     sync.Mutex
	errs   []error
	sent   int
}

// refused are errors that a master's clients never get.
var refused = []string{"READONLY", "MASTERDOWN", "LOADING", "NOREPLICAS", "MISCONF", "OOM",
	"EXECABORT", "ERR unknown"}

// startLoad starts clients that write to the server until stop. The kinds are all that the writes
// will come to: what one of them lacks is not written.
func startLoad(t *testing.T, s *testserver.Server, seed uint64, clients int,
	kinds ...testserver.Kind) *load {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	l := &load{cancel: cancel}
	for i := range clients {
		w := newWords(seed, i, kinds...)
		l.wait.Go(func() {
			if err := l.write(ctx, s, w); err != nil {
				l.mu.Lock()
				l.errs = append(l.errs, err)
				l.mu.Unlock()
			}
		})
	}
	return l
}

func newWords(seed uint64, client int, kinds ...testserver.Kind) *words {
	w := &words{rnd: rand.New(rand.NewPCG(seed, uint64(client))), fields: true}
	for _, k := range kinds {
		if k == redis7 {
			w.fields = false
		}
	}
	return w
}

// stop ends the load. It fails the test if a client was refused or lost its connection.
func (l *load) stop(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool { // or it has not begun
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.sent > 0 || len(l.errs) > 0
	}, testserver.Patience, time.Millisecond)
	l.cancel()
	l.wait.Wait()
	require.NoError(t, errors.Join(l.errs...))
}

func (l *load) write(ctx context.Context, s *testserver.Server, w *words) error {
	c, err := s.Dial()
	if err != nil {
		return err
	}
	defer c.Close()
	for ctx.Err() == nil {
		if err := send(c, w, 1+w.n(20)); err != nil {
			return err
		}
		l.mu.Lock()
		l.sent++
		l.mu.Unlock()
	}
	return nil
}

// send sends some writes in a pipeline.
func send(c *client.Client, w *words, n int) error {
	for range n {
		for _, args := range w.next() {
			c.Queue(args...)
		}
	}
	replies, err := c.Pipeline()
	if err != nil {
		return err
	}
	for _, v := range replies {
		for _, prefix := range refused {
			if v.IsError() && strings.HasPrefix(v.Text(), prefix) {
				return fmt.Errorf("refused: %s", v.Text())
			}
		}
	}
	return nil
}

// fill makes so many random writes.
func fill(t *testing.T, s *testserver.Server, seed uint64, n int, kinds ...testserver.Kind) {
	t.Helper()
	c := s.Client(t)
	w := newWords(seed, 0, kinds...)
	_, err := c.Do("FUNCTION", "LOAD", "REPLACE", library)
	require.NoError(t, err)
	for range (n + 49) / 50 {
		require.NoError(t, send(c, w, 50))
	}
}
