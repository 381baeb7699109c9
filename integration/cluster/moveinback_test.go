package cluster

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/slot"
	"godwit/internal/testserver"
)

// TestMoveInRefused has what stands in the way of a move named before anything is changed, and
// whatever goes wrong later undone.
func TestMoveInRefused(t *testing.T) {
	takesLong(t)
	w := newMoving(t, testserver.Redis8, 0)
	a, b := w.from.Master(0), w.from.Master(1)
	before := func(t *testing.T, want string, args ...string) {
		t.Helper()
		out, ok := w.run(t, append(args, "--cutover", "--patience", "2")...)
		require.False(t, ok)
		require.Contains(t, out, want)
		require.NotContains(t, out, "follows")
		w.untouched(t)
	}

	before(t, "AUTH", "--from-pass", "wrong")
	before(t, "AUTH", "--to-pass", "wrong")

	w.say(t, a, "CLUSTER", "DELSLOTS", 7)
	require.NoError(t, w.from.WaitState("fail", a))
	before(t, "1 slots have no owner: 7")
	w.say(t, a, "CLUSTER", "ADDSLOTS", 7)
	require.NoError(t, w.from.WaitState("ok", w.from.Nodes...))

	w.say(t, b, "CLUSTER", "SETSLOT", 7, "IMPORTING", a.ID)
	before(t, "slot 7 is being moved")
	w.say(t, b, "CLUSTER", "SETSLOT", 7, "STABLE")

	client := connect(t, w.to, nil)
	require.NoError(t, client.Set(t.Context(), "in the way", 1, 0).Err())
	out, ok := w.run(t)
	require.False(t, ok)
	require.Contains(t, out, "has keys")
	require.NoError(t, client.Del(t.Context(), "in the way").Err())
	w.untouched(t)

	w.foreign(t, a, b)
	w.dies(t)
}

// foreign has a node of the source have a key that is not of its slots, before and while it is
// followed.
func (w *moving) foreign(t *testing.T, a, b *testserver.Node) {
	const key = "{stray}1"
	owner, err := w.from.Owner(a, slot.Of([]byte(key)))
	require.NoError(t, err)
	if owner == a {
		a = b
	}
	stray := func() {
		w.say(t, a, "CLUSTER", "SETSLOT", slot.Of([]byte(key)), "IMPORTING", owner.ID)
		c := a.Client(t)
		for _, args := range [][]any{{"ASKING"}, {"SET", key, 1}} {
			v, err := c.Do(args...)
			require.NoError(t, err)
			require.Equal(t, "OK", v.Text())
		}
		w.say(t, a, "CLUSTER", "SETSLOT", slot.Of([]byte(key)), "STABLE")
	}
	want := fmt.Sprintf("is in slot %d, which is not one of the shard's", slot.Of([]byte(key)))

	r := w.start(t, "--patience", "5")
	r.wait(t, "in step: 3 shards")
	stray()
	r.failed(t)
	require.Contains(t, r.said(), want)
	w.untouched(t)

	out, ok := w.run(t, "--patience", "5") // it is still there
	require.False(t, ok)
	require.Contains(t, out, want)
	w.untouched(t)
	w.say(t, a, "FLUSHALL")
}

// dies ends a master of the source, which has no replica, while it is followed.
func (w *moving) dies(t *testing.T) {
	client := connect(t, w.from, nil)
	for i := range 100 {
		require.NoError(t, client.Set(t.Context(), fmt.Sprint("k", i), i, 0).Err())
	}
	r := w.start(t, "--patience", "5")
	r.wait(t, "in step: 3 shards")
	for _, n := range w.masters() { // who writes is sent away, who reads is served
		v, err := n.Do("FLUSHALL")
		require.NoError(t, err)
		require.Contains(t, v.Text(), "READONLY")
		v, err = n.Do("CLUSTER", "ADDSLOTS", 0)
		require.NoError(t, err)
		require.Contains(t, v.Text(), "follows a master of another cluster")
	}
	w.reads(t, "k7")
	r.stop(t)
	out, ok := w.run(t, "--cancel")
	require.True(t, ok, out)
	w.giveBack(t)
	w.untouched(t)
	w.late(t)

	r = w.start(t, "--patience", "2")
	r.wait(t, "in step: 3 shards")
	w.from.Master(2).Kill()
	r.failed(t)
	require.Contains(t, r.said(), "undone")
	w.untouched(t)
}

// masters returns the masters of the target.
func (w *moving) masters() []*testserver.Node { return w.to.Nodes[:3] }

// giveBack gives the target's masters the slots that they had: only the run that has taken them
// knows which.
func (w *moving) giveBack(t *testing.T) {
	t.Helper()
	for i, n := range w.masters() {
		w.say(t, n, "CLUSTER", "ADDSLOTSRANGE", i*slot.Count/3, (i+1)*slot.Count/3-1)
	}
}

// late has the last step of a move fail, when writers of the source wait already: another node of
// the target has one of the slots.
func (w *moving) late(t *testing.T) {
	r := w.start(t)
	r.wait(t, "in step: 3 shards")
	r.stop(t)
	spare := w.to.Nodes[3]
	host, port := spare.HostPort()
	w.say(t, w.to.Nodes[0], "CLUSTER", "MEET", host, port)
	w.say(t, spare, "CLUSTER", "ADDSLOTS", slot.Count-1)
	out, ok := w.run(t, "--cutover")
	require.False(t, ok)
	require.Contains(t, out, "Slot 16383 is already busy")
	require.Contains(t, out, "undone")
	w.say(t, spare, "CLUSTER", "FLUSHSLOTS")
	w.giveBack(t)
	w.untouched(t)
	client := connect(t, w.from, nil)
	require.NoError(t, client.Set(t.Context(), "k7", 7, 0).Err())
}

// reads reads a key of the target while it follows.
func (w *moving) reads(t *testing.T, key string) {
	t.Helper()
	owner, err := w.from.Owner(w.from.Nodes[0], slot.Of([]byte(key)))
	require.NoError(t, err)
	for i, n := range w.from.Nodes {
		if n != owner {
			continue
		}
		c := w.to.Nodes[i].Client(t)
		v, err := c.Do("GET", key)
		require.NoError(t, err)
		require.Equal(t, "CLUSTERDOWN Hash slot not served", v.Text())
		_, err = c.Do("READONLY")
		require.NoError(t, err)
		v, err = c.Do("GET", key)
		require.NoError(t, err)
		require.Equal(t, key[1:], v.Text())
	}
}

// untouched makes sure that the target is as it was, and that the source takes writes.
func (w *moving) untouched(t *testing.T) {
	t.Helper()
	for i, n := range w.masters() {
		v, err := n.Do("DBSIZE")
		require.NoError(t, err)
		require.Zero(t, v.Int)
		view, err := n.View()
		require.NoError(t, err)
		want := slot.SetOf(slot.Range{First: i * slot.Count / 3, Last: (i+1)*slot.Count/3 - 1})
		require.Equal(t, want.String(), view.Find(n.ID).Slots.String())
		info, err := n.Info("replication")
		require.NoError(t, err)
		require.Equal(t, "master", info["role"])
	}
	for _, n := range w.from.Nodes {
		if !n.Ended() {
			v, err := n.Do("CONFIG", "GET", "min-replicas-to-write")
			require.NoError(t, err)
			require.Equal(t, []string{"min-replicas-to-write", "0"}, v.Strings())
		}
	}
}
