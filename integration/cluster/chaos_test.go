package cluster

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"godwit/internal/testseed"
	"godwit/internal/testserver"
)

// TestChaos kills, stops and cuts off nodes at random while clients write and read. No acknowledged
// write may be lost, and the histories of single keys must be linearizable. Redis and Valkey
// promise neither: what they do is shown.
func TestChaos(t *testing.T) {
	takesLong(t)
	each(t, func(t *testing.T, k testserver.Kind) {
		sum := &chaos{}
		for run := range *runs {
			t.Run(fmt.Sprint(run), func(t *testing.T) { sum.run(t, k, run) })
		}
		t.Logf("%d runs: %d writes acknowledged, %d not, %d lost; %d histories that are not "+
			"linearizable, %d of which nobody knows", *runs, sum.acked, sum.failed, sum.lost,
			sum.illegal, sum.unknown)
	})
}

// chaos is what runs have come to.
type chaos struct{ acked, failed, lost, illegal, unknown int }

// confirming has a master hold its replies until its replicas have what they tell.
var confirming = []string{"--min-replicas-to-ack", "1", "--min-replicas-ack-reads", "yes"}

// run makes chaos in a cluster of its own.
func (sum *chaos) run(t *testing.T, k testserver.Kind, number int) {
	o := testserver.ClusterOptions{Kind: k, Masters: 3, Replicas: 1, Proxied: true,
		Args: []string{"--appendonly", "yes"}} // a master that is back at once has its data
	if promises(k) {
		o.Masters, o.Replicas = 2, 2
		o.Args = append(o.Args, confirming...)
	}
	c := testserver.RunCluster(t, o)
	rnd := rand.New(rand.NewPCG(testseed.New(t), uint64(number)))
	var tags []string
	for i := range o.Masters {
		tags = append(tags, tagOf(t, c, i))
	}
	w := startWriters(t, c, tags...)
	h := &history{begin: time.Now()}
	ctx, stop := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	for range 3 {
		user, random := newWalker(c, 500*time.Millisecond), rand.New(rand.NewPCG(rnd.Uint64(), 0))
		wait.Go(func() { defer user.close(); h.use(ctx, user, random, tags) })
	}
	for range 3 {
		w.more(t, 50)
		require.NoError(t, harm(t, c, rnd))
		require.NoError(t, c.WaitReady())
	}
	w.more(t, 50)
	w.end()
	stop()
	wait.Wait()
	sum.judge(t, k, w, h)
}

// harm does one thing to one node, and puts it right after a while.
func harm(t *testing.T, c *testserver.Cluster, rnd *rand.Rand) error {
	view, err := c.Nodes[rnd.IntN(len(c.Nodes))].View()
	if err != nil {
		return err
	}
	n := c.Nodes[rnd.IntN(len(c.Nodes))]
	if masters := view.Masters(); rnd.IntN(3) > 0 {
		n = c.Node(masters[rnd.IntN(len(masters))].ID)
	}
	for_ := time.Duration((0.2 + 2.5*rnd.Float64()) * float64(c.Options.Timeout))
	way := rnd.IntN(3)
	t.Logf("%s %s for %v", []string{"kill", "freeze", "cut off"}[way], n.Addr, for_)
	switch way {
	case 0:
		n.Kill()
		time.Sleep(for_)
		return n.Revive()
	case 1:
		err = n.Freeze()
		time.Sleep(for_)
		return errors.Join(err, n.Thaw())
	}
	c.Cut(n)
	time.Sleep(for_)
	c.Heal()
	return nil
}

// judge adds a run to the sum, and fails the test for a broken promise.
func (sum *chaos) judge(t *testing.T, k testserver.Kind, w *writers, h *history) {
	acked, failed := w.acked()
	lost, verdict := w.lost(t), h.check()
	sum.acked, sum.failed, sum.lost = sum.acked+len(acked), sum.failed+failed, sum.lost+len(lost)
	switch verdict {
	case porcupine.Illegal:
		sum.illegal++
	case porcupine.Unknown:
		sum.unknown++
	}
	t.Logf("%d writes acknowledged, %d not, %d lost; a history of %d operations is %s", len(acked),
		failed, len(lost), len(h.ops), verdict)
	if promises(k) {
		require.Empty(t, lost, "acknowledged and lost")
		require.Equal(t, porcupine.Ok, verdict, "not linearizable, or not known to be")
	}
}

// TestModel has the model find the faults of histories that have some.
func TestModel(t *testing.T) {
	op := func(client int, call, ret int64, value, output string) porcupine.Operation {
		return porcupine.Operation{ClientId: client, Input: input{"k", value}, Call: call,
			Output: output, Return: ret}
	}
	for name, ops := range map[string][]porcupine.Operation{
		"a stale read": {op(1, 0, 1, "a", ""), op(1, 2, 3, "b", ""), op(2, 4, 5, "", "a")},
		"a lost write": {op(1, 0, 1, "a", ""), op(2, 4, 5, "", "")},
		"to and fro": {op(1, 0, 9, "a", ""), op(2, 1, 2, "", "a"), op(2, 3, 4, "", ""),
			op(2, 5, 6, "", "a")},
	} {
		require.Equal(t, porcupine.Illegal, (&history{ops: ops}).check(), name)
	}
	good := &history{ops: []porcupine.Operation{op(1, 0, 1, "a", ""),
		op(2, 2, math.MaxInt64, "b", ""), op(3, 3, 4, "", "a"), op(3, 5, 6, "", "b"),
		op(4, 7, math.MaxInt64, "c", "")}}
	require.Equal(t, porcupine.Ok, good.check())
}
