package cluster

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/movein"
	"godwit/internal/testserver"
)

// kill is where a run of the tool is killed: before it sends the n-th command that has all words,
// or with after behind it.
type kill struct {
	words string // separated by spaces
	n     int
	after bool
}

// killed has a run of the tool end as kill -9 would end it: at some command nothing more leaves it.
type killed struct {
	at   kill
	mu   sync.Mutex
	seen int
	dead bool
	done chan struct{}
}

func (k *killed) dial(addr string, _ bool) (net.Conn, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.dead {
		return nil, net.ErrClosed
	}
	c, err := net.Dial("tcp", addr)
	return &killedConn{c, k}, err
}

// killedConn is a connection of such a run.
type killedConn struct {
	net.Conn
	of *killed
}

// Write implements net.Conn.
func (c *killedConn) Write(b []byte) (int, error) {
	k := c.of
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.seen == k.at.n // with after, so this is the next command
	match := true
	for word := range bytes.FieldsSeq([]byte(k.at.words)) {
		match = match && bytes.Contains(b, append([]byte("\r\n"), append(word, "\r\n"...)...))
	}
	if match {
		k.seen++
	}
	if !k.dead && (now || k.seen == k.at.n && !k.at.after) {
		k.dead = true
		close(k.done)
	}
	if k.dead {
		_ = c.Close()
		return 0, net.ErrClosed
	}
	return c.Conn.Write(b)
}

// killedRun begins to hand the slots over, and is killed.
func (w *moving) killedRun(t *testing.T, at kill) {
	t.Helper()
	k := &killed{at: at, done: make(chan struct{})}
	over := make(chan error, 1)
	go func() {
		over <- movein.Run(context.Background(), movein.Options{
			From: movein.Side{Addr: w.from.Nodes[0].Addr},
			To:   movein.Side{Addr: w.to.Nodes[0].Addr}, Dial: k.dial, Cutover: true,
			Hold: testserver.Patience, Patience: testserver.Patience, Sample: 10, Out: io.Discard})
	}()
	select {
	case <-k.done:
	case err := <-over:
		require.FailNow(t, "the run has ended", "%v", err)
	}
}

// The commands of a run that change something, in this order.
const (
	sendFollow = "CLUSTER FOLLOW SLOTSRANGE"
	sendFence  = "CONFIG SET min-replicas-to-write"
	sendStop   = "CLUSTER FOLLOW NO ONE"
	sendTake   = "CLUSTER ADDSLOTSRANGE"
)

// TestMoveInKilled has a run of the tool be killed at each of its steps. Whoever comes next is told
// what is left, and has a way back.
func TestMoveInKilled(t *testing.T) {
	takesLong(t)
	w := newMoving(t, testserver.Redis8, 0)
	fillKinds(t, w.from)
	for _, c := range []struct {
		at    kill
		force bool
		keeps int // master of the target that keeps its keys, plus one
	}{
		{kill{sendFollow, 2, false}, false, 0},
		{kill{sendFence, 2, false}, false, 0},
		{kill{sendStop, 1, false}, false, 0},
		{kill{sendStop, 2, false}, false, 1},
		{kill{sendTake, 1, false}, true, 0},
		{kill{sendTake, 2, false}, true, 0},
	} {
		t.Run(fmt.Sprintf("%s %d", c.at.words, c.at.n), func(t *testing.T) {
			w.killedRun(t, c.at)
			out, ok := w.run(t, "--cancel")
			if require.Equal(t, !c.force, ok, out); c.force {
				require.Contains(t, out, "has keys and")
				require.Contains(t, out, "refused (min-replicas-to-write) by ")
				require.Contains(t, out, w.from.Nodes[0].Addr)
				out, ok = w.run(t)
				require.False(t, ok)
				require.Contains(t, out, "--cancel undoes it, or says what is left")
				out, ok = w.run(t, "--cancel", "--force")
				require.True(t, ok, out)
			}
			if c.keeps > 0 {
				require.Contains(t, out, "has keys and no slots")
				w.say(t, w.to.Master(c.keeps-1), "FLUSHALL")
				w.say(t, w.to.Master(c.keeps-1), "FUNCTION", "FLUSH")
			}
			w.giveBack(t)
			w.untouched(t)
			client := connect(t, w.from, nil)
			require.NoError(t, client.Set(t.Context(), "k7", 7, 0).Err())
		})
	}

	w.killedRun(t, kill{sendTake, 3, true})
	for _, args := range [][]string{{"--cancel"}, {"--cancel", "--force"}} {
		out, ok := w.run(t, args...)
		require.False(t, ok)
		require.Contains(t, out, "the target serves slots")
	}
	w.same(t)
}

// TestMoveInAfterKill has a run be killed while the source refuses writes already, and another one
// take it up: it is told that, and hands the slots over. What the source asked for before is known.
func TestMoveInAfterKill(t *testing.T) {
	takesLong(t)
	w := newMoving(t, testserver.Valkey9, 0)
	fillKinds(t, w.from)
	for _, n := range w.from.Nodes {
		w.say(t, n, "CONFIG", "SET", "min-replicas-max-lag", 0, "min-replicas-to-write", 1)
	}
	w.killedRun(t, kill{sendStop, 1, false})
	r := w.start(t)
	r.wait(t, "a run that was handing the slots over has been killed")
	r.wait(t, "in step: 3 shards")
	r.stop(t)
	out, ok := w.run(t, "--cancel")
	require.True(t, ok, out)
	for _, n := range w.from.Nodes {
		for name, want := range map[string]string{"min-replicas-to-write": "1",
			"min-replicas-max-lag": "0"} {
			v, err := n.Do("CONFIG", "GET", name)
			require.NoError(t, err)
			require.Equal(t, []string{name, want}, v.Strings())
		}
	}
	w.giveBack(t)

	w.killedRun(t, kill{sendFence, 2, false})
	out, ok = w.run(t, "--cutover")
	require.True(t, ok, out)
	require.Contains(t, out, "the target has the slots")
	w.same(t)
}
